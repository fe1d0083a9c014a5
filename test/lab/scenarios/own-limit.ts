// A limit of the user's own in a window of a million, where the ladder alone would wait until 947k.
import { assertThat, untilCompacted } from '../../../src/verify/checks.js';
import { ENTER } from '../agents/agent.js';
import { LITTLE, QUICK_SUMMARY_MS, type LabSession, type Scenario } from './scenario.js';
import { fill, pressChord } from './steps.js';
import { asksWith, undo } from './undo.js';

const LIMIT = 200_000;
const BEFORE_LIMIT = 195_000;
const BEYOND_LIMIT = 210_000;
const STEP_MS = 1_000;

const inTheMillion: Pick<Scenario, 'isFor' | 'adapt' | 'hasUsualBounds' | 'summaryMs'> = {
  isFor: ({ largeModel }) => largeModel !== undefined,
  adapt: (agent) => ({ ...agent, args: (where) => [...agent.args(where), ...(agent.largeModel ?? [])] }),
  hasUsualBounds: true,
  summaryMs: QUICK_SUMMARY_MS,
};

/** The compaction at the limit is proved, and undone. */
const compactedAndUndone = async (session: LabSession): Promise<string> => {
  const line = await untilCompacted(session);
  await undo(session);
  return `${await asksWith(session, [1, 2, 3])}; ${line}`;
};

const set: Scenario = {
  ...inTheMillion,
  name: 'limit of 200k',
  expects: 'a limit of 200k in a window of a million: warn below it, typed at it, verified, undone',
  options: ['--auto', String(LIMIT)],
  play: async (session) => {
    await session.turn(LITTLE);
    await session.untilFooter(/10k\/1\.0M +safe: compacts at 200k +190k to your limit/);
    await session.turn(BEFORE_LIMIT);
    await session.untilFooter(/195k\/1\.0M +warn/);
    await session.turn(BEYOND_LIMIT);
    return compactedAndUndone(session);
  },
};

const offered: Scenario = {
  ...inTheMillion,
  name: 'limit offered',
  expects:
    'in a window of a million a limit is offered at 200k; chosen, it is typed at once, verified, undone',
  play: async (session) => {
    const { terminal, summaryCount, untilFooter, waitFor } = session;
    await fill(session, BEYOND_LIMIT);
    await untilFooter(/200k used · Ctrl-\] l keeps it below a limit/);
    assertThat(summaryCount() === 0, 'a summary was asked for before there was a limit');
    await pressChord(session, 'l');
    await terminal.until(() => /no limit/.test(terminal.screen()), 'the choice');
    terminal.pressForWrapper('1');
    await waitFor(STEP_MS);
    terminal.pressForWrapper(ENTER);
    return compactedAndUndone(session);
  },
};

export const ownLimits: readonly Scenario[] = [set, offered];
