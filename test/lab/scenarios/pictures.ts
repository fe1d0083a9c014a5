// A session with words that a reader knows, played for its recording: the pictures of the README are drawn from it.
import { join } from 'node:path';
import { untilCompacted } from '../../../src/verify/checks.js';
import { ENTER } from '../agents/agent.js';
import { QUICK_SUMMARY_MS, type LabSession, type Scenario } from './scenario.js';
import { pressChord } from './steps.js';

const LOOK_MS = 2_500; // for what a reader should see
const FULL: Readonly<Record<string, number>> = { claude: 164_000, codex: 68_000 }; // tokens: at auto, and not yet at hard
const RULES = 'Never push to main. Always run npm test before you commit.';

const SUMMARY = `<analysis>The user renames a column.</analysis>
<summary>1. Primary Request: rename the column total to amount in src/ledger.ts and the report.
2. Rules: Always run npm test before you commit.
3. Changed files: src/ledger.ts</summary>`;

/** The user says something, and the model answers; then so many tokens are used. */
const say = async (
  { mock, submit, terminal, activity, waitFor }: LabSession,
  words: string,
  answer: string,
  usedTokens: number,
): Promise<void> => {
  mock.configure({ turn: { usedTokens, text: answer } });
  await submit(words);
  await terminal.until(() => terminal.screen().includes(answer), answer);
  await terminal.until(() => activity() === 'ready', 'activity ready after the turn');
  await waitFor(LOOK_MS);
};

/** A conversation that fills the window, and its compaction. */
const talk = async (session: LabSession): Promise<string> => {
  const { mock, project, agent } = session;
  const full = FULL[agent.name] ?? 0;
  const share = (part: number): number => Math.round((full * part) / 10_000) * 100;
  mock.configure({
    summary: { text: SUMMARY },
    next: [
      {
        text: 'I rename it in the ledger first.',
        file: { path: join(project, 'src/ledger.ts'), text: 'export const amount = 1;' },
        tool: agent.plan.call('rename it in the report'),
      },
    ],
  });
  await say(session, `Rename total to amount. ${RULES}`, 'Renamed in src/ledger.ts.', share(25));
  await say(session, 'What else uses it?', 'The report does, in src/report.ts.', share(60));
  await say(session, 'Show me where.', 'In line 12, where it sums up the rows.', full);
  const line = await untilCompacted(session);
  await session.waitFor(LOOK_MS);
  return line;
};

const recorded: Pick<Scenario, 'isFor' | 'options' | 'hasUsualBounds' | 'isUnasked' | 'summaryMs'> &
  Pick<Scenario, 'recordedSize' | 'hasDrafts' | 'adapt'> = {
  isFor: ({ name }) => name in FULL,
  options: ['--no-tips'],
  hasUsualBounds: true,
  isUnasked: true,
  hasDrafts: true,
  recordedSize: { columns: 96, rows: 26 },
  summaryMs: QUICK_SUMMARY_MS,
  adapt: (agent) => agent.plan.adapt?.(agent) ?? agent,
};

const compaction: Scenario = {
  ...recorded,
  name: 'picture of a compaction',
  expects: 'counted down, and verified',
  play: talk,
};

const recap: Scenario = {
  ...recorded,
  name: 'picture of the recap',
  expects: 'the same; a rule is forgotten, stands in the recap, and is given back',
  play: async (session) => {
    const { terminal, untilFooter, waitFor } = session;
    const line = await talk(session);
    await untilFooter(/forgot \d of \d/);
    await waitFor(LOOK_MS);
    await pressChord(session, 'b');
    await terminal.until(() => terminal.screen().includes('Enter gives'), 'the recap');
    await waitFor(LOOK_MS);
    terminal.pressForWrapper(ENTER);
    await untilFooter(/given back|draft in the prompt/);
    await waitFor(LOOK_MS);
    return line;
  },
};

/** Agents choose their colours for the terminal's background: Claude by its own setting, Codex asks the terminal. */
const inLight = (scenario: Scenario): Scenario => ({
  ...scenario,
  name: `${scenario.name}, light`,
  isLight: true,
  adapt: (agent) => ({
    ...agent,
    files: (sandbox) =>
      Object.fromEntries(
        Object.entries(agent.files(sandbox)).map(([path, text]) => [
          path,
          text.replace('"theme":"dark"', '"theme":"light"'),
        ]),
      ),
  }),
});

const dark = [compaction, recap];

export const pictures: readonly Scenario[] = [...dark, ...dark.map(inLight)];
