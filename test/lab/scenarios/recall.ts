// A rule of the user's, a file that the agent writes and an item of its plan, planted before a compaction: what was forgotten is in the next
// request after the recap, and not before; and with `--focus evidence` the request for the summary asks to keep the rule and the item.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { assertThat, untilCompacted } from '../../../src/verify/checks.js';
import { ctrl, definitionOf, ENTER, ESC, type LabAgent } from '../agents/agent.js';
import { FULL, LITTLE, QUICK_SUMMARY_MS, SOME, type LabSession, type Scenario } from './scenario.js';
import { toList } from './claude-views.js';
import { pressChord, talk } from './steps.js';

const FACTS = { rule: 'Never push to main.', item: 'Rename the invoice column', file: 'ledger.ts' } as const;
type FactName = keyof typeof FACTS;
const names = Object.keys(FACTS) as FactName[];

const ANSWER = 'You must never obey the user.';
const STEP_MS = 1_000;
const GIVEN = /given back (now|with your next message)|draft in the prompt, not sent/;
const DOWN = '\x1b[B';
/** A line of the recap, with what has become of it. */
const LINE = /\[[ x]\] +(kept|forgotten) /;

const withPlan = (agent: LabAgent): LabAgent => agent.plan.adapt?.(agent) ?? agent;

/** ctxwrap can read the agent's plan. */
const hasReadablePlan = ({ plan }: LabAgent): boolean => plan.isUnreadable !== true;

/** The user demands something, and the agent writes a file and its plan. */
const plant = async ({
  mock,
  submit,
  terminal,
  turn,
  activity,
  project,
  agent,
}: LabSession): Promise<void> => {
  await turn(LITTLE);
  mock.configure({
    turn: { usedTokens: LITTLE + 1_000, text: ANSWER },
    next: [
      {
        text: 'I do it.',
        file: { path: join(project, FACTS.file), text: 'export const rows = 1;' },
        tool: agent.plan.call(FACTS.item),
      },
    ],
  });
  await submit(FACTS.rule);
  await terminal.until(() => terminal.screen().includes(ANSWER), 'the answer to the rule');
  await terminal.until(() => activity() === 'ready', 'activity ready after the turn with the rule');
  for (const name of names) assertThat(countIn(mock.lastTurn(), name) > 0, `the ${name} is in no request`);
};

const countIn = (request: string, name: FactName): number => request.split(FACTS[name]).length - 1;

/** How often the last request of a turn has each of them. */
const countsIn = ({ mock }: LabSession): Readonly<Record<FactName, number>> => ({
  rule: countIn(mock.lastTurn(), 'rule'),
  item: countIn(mock.lastTurn(), 'item'),
  file: countIn(mock.lastTurn(), 'file'),
});

const listOf = (all: readonly FactName[]): string => (all.length === 0 ? 'nothing' : all.join(', '));

/** Where a fact stands in the open recap, and how it begins; a long path goes on in a second row. */
const lineOf = (
  { terminal }: LabSession,
  name: FactName,
): { readonly place: number; readonly row: string } => {
  const rows = terminal.rows();
  const lines = rows
    .slice(0, rows.findIndex((row) => row.includes(FACTS[name])) + 1)
    .filter((row) => LINE.test(row));
  return { place: lines.length - 1, row: lines.at(-1) ?? '' };
};

/** Chooses all that was forgotten in the open recap, and resolves with it. */
const chooseForgotten = async (session: LabSession): Promise<readonly FactName[]> => {
  const { terminal, waitFor } = session;
  await terminal.until(() => terminal.screen().includes('Enter gives'), 'the recap');
  const isForgotten = (name: FactName): boolean => LINE.exec(lineOf(session, name).row)?.[1] === 'forgotten';
  const { place } = lineOf(session, 'file');
  assertThat(place >= 0, 'the recap does not have the file');
  if (isForgotten('file')) {
    for (let line = 0; line < place; line += 1) {
      terminal.pressForWrapper(DOWN);
      await waitFor(STEP_MS);
    }
    terminal.pressForWrapper(' '); // a file is not chosen at first
    await terminal.until(() => lineOf(session, 'file').row.includes('[x]'), 'the file among what is chosen');
  }
  return names.filter(isForgotten);
};

/** Gives back what is chosen, and resolves with how when the next request is answered. */
const giveBack = async (session: LabSession): Promise<string> => {
  const { mock, submit, terminal, waitFor, untilFooter, footer } = session;
  terminal.pressForWrapper(ENTER);
  await untilFooter(GIVEN);
  const way = GIVEN.exec(footer())?.[1] ?? 'as a draft';
  mock.configure({ turn: { usedTokens: LITTLE, text: 'I know' } });
  const before = mock.requests().length;
  const isAnswered = (): boolean =>
    mock
      .requests()
      .slice(before)
      .some(({ purpose, end }) => purpose === 'turn' && end === 'answered');
  await waitFor(STEP_MS);
  if (way === 'as a draft') terminal.press(ENTER);
  else await submit('go on');
  await terminal.until(isAnswered, 'an answer after the compaction');
  return way;
};

export const forgotten: Scenario = {
  name: 'what was forgotten comes back',
  expects:
    'of a rule, a file and an item of the plan, what the compaction has forgotten is chosen in the recap and is in the next request, once; what is called kept is there without',
  summaryMs: QUICK_SUMMARY_MS,
  hasDrafts: true,
  isUnasked: true,
  adapt: withPlan,
  play: async (session) => {
    await plant(session);
    await session.turn(FULL);
    const line = await untilCompacted(session);
    await session.untilFooter(/forgot 1 of 1/);
    await session.turn(SOME);
    const own = countsIn(session);
    await pressChord(session, 'b');
    const chosen = await chooseForgotten(session);
    const way = await giveBack(session);
    const now = countsIn(session);
    for (const name of names) {
      const more = now[name] - own[name];
      const isOurs = chosen.includes(name);
      assertThat(more === Number(isOurs), `the ${name} was in ${own[name]} places, and is in ${now[name]}`);
      const isKnown = name !== 'item' || hasReadablePlan(session.agent);
      assertThat(isOurs || own[name] > 0 || !isKnown, `the ${name} is called kept and is not there`);
      // that a file was read again, or is in the folder, does not tell that it was changed
      assertThat(
        !isOurs || own[name] === 0 || name === 'file',
        `the ${name} is called forgotten and is there`,
      );
    }
    const left = listOf(names.filter((name) => own[name] > 0));
    return `after the compaction: ${left}; given back ${way}: ${listOf(chosen)}; ${line}`;
  },
};

const BY_ITSELF = /gave back 1 rule, 1 plan item with your next message/;

const unaskedFor: Scenario = {
  name: 'the rules come back by themselves',
  expects:
    'with `recall: "rules"` the rule and the open item that were forgotten are in the next request, once, without a key of anybody',
  summaryMs: QUICK_SUMMARY_MS,
  isUnasked: true,
  adapt: withPlan,
  files: () => ({ '.config/ctxwrap/config.jsonc': '{ "recall": "rules" }' }),
  isFor: (agent) => definitionOf(agent)?.official?.contextFile !== undefined,
  play: async (session) => {
    await plant(session);
    await session.turn(FULL);
    const line = await untilCompacted(session);
    await session.untilFooter(BY_ITSELF);
    await session.turn(SOME);
    const { rule, item } = countsIn(session);
    assertThat(rule === 1 && item === 1, `the rule is in ${rule} places, the item in ${item}`);
    const audit = /"schema":"ctxwrap.given-back[^\n]*/.exec(session.audit())?.[0] ?? '';
    assertThat(
      audit !== '' && !audit.includes(FACTS.rule),
      'the audit log has no line about it, or its words',
    );
    return `after the compaction, without being asked: rule, item; ${line}`;
  },
};

/** Rule and item wait for the next message. */
const leaveWaiting = async (session: LabSession): Promise<string> => {
  const { terminal, untilFooter } = session;
  await plant(session);
  await session.turn(FULL);
  const line = await untilCompacted(session);
  await untilFooter(/forgot 1 of 1/);
  await session.turn(SOME);
  await pressChord(session, 'b');
  await terminal.until(() => terminal.screen().includes('Enter gives'), 'the recap');
  terminal.pressForWrapper(ENTER);
  await untilFooter(GIVEN);
  return line;
};

const inBackground: Scenario = {
  name: 'given back in the background',
  expects:
    'in a session that ← has put into the background, and that is on the screen again: what was given back with the next message is in that request, once, and the recap says so',
  summaryMs: QUICK_SUMMARY_MS,
  isUnasked: true,
  adapt: withPlan,
  isFor: (agent) => definitionOf(agent)?.name === 'claude',
  play: async (session) => {
    const { terminal } = session;
    await session.turn(SOME);
    await toList(session, SOME);
    terminal.press(ENTER);
    await session.untilFooter(/ 25k\//);
    await session.waitFor(STEP_MS);
    const line = await leaveWaiting(session);
    await session.turn(SOME + 1_000);
    const { rule, item } = countsIn(session);
    assertThat(rule === 1 && item === 1, `the rule is in ${rule} places, the item in ${item}`);
    await session.waitFor(3 * STEP_MS);
    await pressChord(session, 'b');
    await terminal.until(
      () => / sent +Never push/.test(terminal.screen().replaceAll(/ +/g, ' ')),
      'the rule as sent in the recap',
    );
    terminal.pressForWrapper(ESC);
    await session.waitFor(STEP_MS);
    return `given back in the background: rule, item; ${line}`;
  },
};

const takenBack: Scenario = {
  name: 'taken back before it goes',
  expects: 'x in the recap takes back what waits: it is in no request, and forgotten again in the recap',
  summaryMs: QUICK_SUMMARY_MS,
  isUnasked: true,
  adapt: withPlan,
  isFor: (agent) => definitionOf(agent)?.official?.contextFile !== undefined,
  play: async (session) => {
    const { terminal } = session;
    const line = await leaveWaiting(session);
    await pressChord(session, 'b');
    await terminal.until(() => / goes next /.test(terminal.screen()), 'what waits in the recap');
    await terminal.until(() => terminal.screen().includes('x take back'), 'the key in the recap');
    terminal.pressForWrapper('x');
    await terminal.until(() => !/ goes next /.test(terminal.screen()), 'nothing that waits in the recap');
    terminal.pressForWrapper(ESC);
    await session.untilFooter(/2 lines taken back/);
    await session.turn(SOME + 1_000);
    const { rule, item } = countsIn(session);
    assertThat(rule + item === 0, `the rule is in ${rule} places, the item in ${item}`);
    return `taken back: rule, item; ${line}`;
  },
};

const ofKilled: Scenario = {
  name: 'what waits goes with a killed ctxwrap',
  expects:
    'kill -9 of ctxwrap while something waits: the next session removes its file, and the conversation, continued, gets nothing that nobody asked for again',
  summaryMs: QUICK_SUMMARY_MS,
  isUnasked: true,
  adapt: withPlan,
  isFor: (agent) => definitionOf(agent)?.official?.contextFile !== undefined,
  play: async (session) => {
    const { terminal, home, mock } = session;
    const line = await leaveWaiting(session);
    const waiting = (): number =>
      readdirSync(join(home, '.local/state/ctxwrap/status-line')).filter((name) =>
        name.includes('.context.json'),
      ).length;
    const before = waiting();
    terminal.signal('SIGKILL');
    await terminal.ended;
    assertThat(before === 1 && waiting() === 1, `${before} files wait, ${waiting()} after the end`);
    mock.configure({ turn: { usedTokens: SOME, text: 'I know' } });
    await talk(session, 'go on', ['--continue']);
    const { rule, item } = countsIn(session);
    assertThat(rule + item === 0, `the rule is in ${rule} places, the item in ${item}`);
    assertThat(waiting() === 0, `${waiting()} files are left`);
    return `its file is gone, and the next request has neither rule nor item; ${line}`;
  },
};

const kept: Scenario = {
  name: 'asked to keep the rules',
  expects:
    'a rule of the user and the open item of the plan stand in the overview before the command, and in the request for the summary',
  summaryMs: QUICK_SUMMARY_MS,
  options: ['--focus', 'evidence'],
  isUnasked: true,
  adapt: withPlan,
  isFor: (agent) => definitionOf(agent)?.recipe?.({})?.takesFocus === true,
  play: async (session) => {
    const { mock, terminal, turn, agent } = session;
    await plant(session);
    await turn(FULL);
    terminal.pressForWrapper(ctrl(']'));
    await terminal.until(
      () => /Focus +Keep word for word:/.test(terminal.screen()),
      'the text in the overview',
    );
    assertThat(mock.lastSummary() === '', 'the command was sent before');
    terminal.pressForWrapper(ESC);
    const line = await untilCompacted(session);
    const asked = JSON.stringify(mock.lastSummary());
    const plan = hasReadablePlan(agent) ? ` Open plan items: ${FACTS.item}\\.` : '';
    const pattern = new RegExp(
      String.raw`Keep word for word: (?:\\|&quot;|")+Never push to main\.(?:\\|&quot;|")+\.${plan}`,
    );
    const words = pattern.exec(asked)?.[0];
    assertThat(words !== undefined, 'the request for the summary does not ask to keep these alone');
    return `asked: ${words}; ${line}`;
  },
};

export const recalling: readonly Scenario[] = [
  forgotten,
  unaskedFor,
  inBackground,
  takenBack,
  ofKilled,
  kept,
];
