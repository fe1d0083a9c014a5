// Moments at which an undo must wait, be done once, or be given up.
import { setTimeout as pause } from 'node:timers/promises';
import { getRecord, getText, parseRecord } from '../../../src/core/json.js';
import { assertThat, untilCompacted } from '../../../src/verify/checks.js';
import { ctrl } from '../agents/agent.js';
import { processTree } from '../process-tree.js';
import { startedIn } from './ends.js';
import { startLongTurn } from './long-turn.js';
import {
  FULL,
  LITTLE,
  QUICK_SUMMARY_MS,
  WATCH_MS,
  whileRunning,
  type LabSession,
  type Scenario,
} from './scenario.js';
import { fill } from './steps.js';
import { asksWith } from './undo.js';

const PIECE_MS = 500;
const CHORD_MS = 200; // between the hotkey and its second key
const WORKING_MS = 2_000; // a turn that is over at once is not drawn, and the next compaction waits for one
const MORE = 2_000; // tokens: the same number as at the last compaction would be nothing new

const typedCount = ({ log }: LabSession): number => log().split(/ typing \/\w+ .*: sent/).length - 1;

/** `ctxwrap undo --json`, whatever its status. */
const ask = async ({ runCtxwrap }: LabSession) => {
  const output = await runCtxwrap('undo', '--json').catch((error: unknown) =>
    typeof error === 'object' && error !== null ? String(Reflect.get(error, 'stdout')) : '',
  );
  const report = parseRecord(output);
  const live = getRecord(report, 'live');
  const session = getText(getRecord(report, 'session'), 'path');
  return { outcome: getText(live, 'outcome'), words: getText(live, 'words'), session };
};

const pressUndo = async ({ terminal }: LabSession): Promise<void> => {
  terminal.pressForWrapper(ctrl(']'));
  await pause(CHORD_MS);
  terminal.pressForWrapper('u');
};

const compactOnce = async (session: LabSession): Promise<void> => {
  await fill(session);
  await untilCompacted(session);
};

const whileBusy: Scenario = {
  name: 'undo while it works',
  expects: 'during a turn: no key before its end, then undone',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    await compactOnce(session);
    const ending = await startLongTurn(session, PIECE_MS);
    const before = typedCount(session);
    await pressUndo(session);
    await session.untilFooter(/undo waiting: the agent is busy/);
    await session.terminal.until(() => ending() !== undefined, 'the end of the long answer');
    assertThat(ending() === 'answered', `the long answer was ${ending()}`);
    assertThat(typedCount(session) === before, 'something was typed during the turn');
    await session.untilFooter(/compaction undone/);
    return asksWith(session, [1, 2, 3]);
  },
};

const inCountdown: Scenario = {
  name: 'undo during the countdown',
  expects: 'while ctxwrap counts down to the next compaction: undone, and that compaction does not come',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    await compactOnce(session);
    session.mock.configure({ turn: { waitMs: WORKING_MS } });
    await session.turn(FULL + MORE);
    await session.untilFooter(/compacting in/);
    const summaries = session.summaryCount();
    await pressUndo(session);
    await session.untilFooter(/compaction undone/);
    await pause(WATCH_MS);
    assertThat(session.summaryCount() === summaries, 'it was compacted all the same');
    return asksWith(session, [1, 2, 3], [4]);
  },
};

const fromTwoTerminals: Scenario = {
  name: 'undo from two terminals',
  expects: 'two at the same time: one is done, the other is refused, and one command is typed',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    await compactOnce(session);
    const before = typedCount(session);
    const both = await Promise.all([ask(session), ask(session)]);
    const outcomes = both.map(({ outcome }) => outcome).toSorted();
    assertThat(JSON.stringify(outcomes) === '["refused","switched"]', `they say ${outcomes.join(' and ')}`);
    assertThat(typedCount(session) === before + 1, 'the command was not typed once');
    const words = both.find(({ outcome }) => outcome === 'refused')?.words ?? '';
    return `the other says "${words}"; ${await asksWith(session, [1, 2, 3])}`;
  },
};

const whileKilled: Scenario = {
  name: 'undo of a killed agent',
  expects: 'kill -9 of the agent while the undo waits: it is given up, and the new session can be resumed',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { terminal, log, turn } = session;
    await compactOnce(session);
    await turn(LITTLE);
    await terminal.type('half a thought');
    const asked = ask(session);
    await session.untilLog(/the agent's session is|activity draft/);
    await pause(WATCH_MS);
    for (const pid of processTree(startedIn(log()))) process.kill(pid, 'SIGKILL');
    await terminal.ended;
    const { outcome, words, session: path } = await asked;
    assertThat(outcome === 'refused', `it says ${outcome}: ${words}`);
    // a running Gemini would have taken a checkpoint; the session file is written when it has gone
    assertThat(path !== undefined, 'no new session is named');
    return `"${words}", and the new session is there`;
  },
};

export const undoTraps: readonly Scenario[] = [whileBusy, inCountdown, fromTwoTerminals, whileKilled].map(
  whileRunning,
);
