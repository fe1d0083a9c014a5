// The conversation is shortened without the agent's compact command: the model gets exactly what stays.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spreadOver } from '../../../src/verify/mock/api.js';
import { parseRecord } from '../../../src/core/json.js';
import { assertThat, ENDED } from '../../../src/verify/checks.js';
import { BACKSPACE, definitionOf, type LabAgent } from '../agents/agent.js';
import { tooLong } from './faults.js';
import { orphanIn, partsIn } from '../request.js';
import { leave, ownFile, pressChord, resumeArgsIn, runInSession, talk } from './steps.js';
import {
  FULL,
  LITTLE,
  QUICK_SUMMARY_MS,
  SOME,
  SUMMARY_MS,
  WATCH_MS,
  whileRunning,
  type LabSession,
  type Scenario,
} from './scenario.js';
import { asksWithTask, doTasks, goesOnWith, KEPT, TURNS } from './tasks.js';

const TALKED = 8; // turns
// about 1,200 tokens; Gemini takes an answer that repeats itself for a loop
const FILLER = Array.from({ length: 260 }, (_, index) => `Point ${index * 7919} is clear.`).join(' ');
const DRAFT = 'half a thought';
const REST_MS = 2_000;
const REMOVE_MS = 5; // the agent reads it some tenths of a second after it is there

/** A turn with a long answer, which is told from the others by its number. */
const longTurn = async (session: LabSession, number: number, usedTokens: number): Promise<void> => {
  const { mock, submit, untilRequest, terminal, activity } = session;
  const question = `long question ${number} please`;
  mock.configure({ turn: { usedTokens, text: `answer ${number} begins. ${FILLER}` } });
  await submit(question);
  await untilRequest(
    ({ purpose, said, end }) => purpose === 'turn' && said.includes(question) && end === 'answered',
    `an answer to "${question}"`,
  );
  await terminal.until(() => activity() === 'ready', 'activity ready after the turn');
};

const talkLong = async (session: LabSession, usedTokens: number): Promise<void> => {
  for (let number = 1; number <= TALKED; number += 1)
    await longTurn(session, number, Math.round(LITTLE + ((usedTokens - LITTLE) * number) / TALKED));
};

/** The next request has the last messages with what fits of their answers, and no answer to the first ones. */
const asksShortened = async (session: LabSession, mark: RegExp): Promise<string> => {
  const { mock, submit, untilRequest } = session;
  mock.configure({ turn: { usedTokens: SOME, text: 'so it is' } });
  await submit('what is left of it');
  await untilRequest(
    ({ purpose, said, end }) =>
      purpose === 'turn' && said.includes('what is left of it') && end === 'answered',
    'an answer after it was shortened',
  );
  const sent = mock.lastTurn();
  for (const number of [TALKED - 2, TALKED - 1, TALKED])
    assertThat(
      sent.includes(`long question ${number} please`),
      `message ${number} is not in the next request`,
    );
  assertThat(sent.includes(`answer ${TALKED} begins`), 'the last answer is not in the next request');
  for (const number of [1, 2, 3])
    assertThat(
      !sent.includes(`answer ${number} begins. ${FILLER}`),
      `answer ${number} is still in the next request`,
    );
  assertThat(mark.test(sent), 'what replaces the rest is not in the next request');
  return `the last 3 messages and answer ${TALKED} are in the next request, answers 1–3 are not`;
};

const optionsOf = (strategy: string): readonly string[] =>
  `--strategy ${strategy} --keep-recent ${KEPT} --budget 5000`.split(' ');

const shorten = async (session: LabSession, strategy: string): Promise<void> => {
  await runInSession(session, 'shortened', ['compact', ...optionsOf(strategy)]);
};

const REMOVED = /removed to make room/;

const shortenedBy = (strategy: string, mark: RegExp): Scenario => ({
  name: `shortened by ${strategy}`,
  expects: `\`ctxwrap compact --strategy ${strategy}\` after ${TURNS} turns in which tools run and write files: the next request has exactly what stays, word for word, no tool call without its result, and a text for the rest`,
  isUnasked: true,
  play: async (session) => {
    const before = await doTasks(session);
    await shorten(session, strategy);
    return goesOnWith(session, before, mark);
  },
});

const BY_AGENT = { '.config/ctxwrap/config.jsonc': '{ "summariser.url": "agent" }' };
const WRITTEN = 'Four subjects were discussed and settled.';
const hasPrintMode = (agent: LabAgent): boolean => definitionOf(agent)?.printMode !== undefined;

/** The agent itself writes the summary, in its print mode. */
const summarised: Scenario = {
  name: 'shortened by summarize',
  expects: "the same, with a summary that the agent's print mode writes",
  isFor: hasPrintMode,
  isUnasked: true,
  files: () => BY_AGENT,
  play: async (session) => {
    const before = await doTasks(session);
    session.mock.configure({ print: { text: WRITTEN } });
    await shorten(session, 'summarize');
    return goesOnWith(session, before, new RegExp(WRITTEN));
  },
};

/** The prompt keeps the draft for a while; when it is gone, the conversation is shortened. */
const holdsDraft = async (session: LabSession, shortened: Promise<void>): Promise<void> => {
  const { terminal, log } = session;
  await pause(WATCH_MS);
  assertThat(terminal.screen().includes(DRAFT), 'the draft is gone');
  assertThat(!/ typing \//.test(log()), 'something was typed beside the draft');
  await terminal.type(BACKSPACE.repeat(DRAFT.length));
  await shortened;
};

const withDraft: Scenario = {
  name: 'shortened with a draft',
  expects: 'text in the prompt: waits, and the text stays; shortened when it is gone',
  isUnasked: true,
  play: async (session) => {
    const before = await doTasks(session);
    await session.terminal.type(DRAFT);
    await holdsDraft(session, shorten(session, 'truncate'));
    return goesOnWith(session, before, REMOVED);
  },
};

const whileTyping: Scenario = {
  name: 'shortened while you type',
  expects: 'text that is typed while the summary is written: the same',
  isFor: hasPrintMode,
  isUnasked: true,
  files: () => BY_AGENT,
  play: async (session) => {
    const { mock, terminal } = session;
    const before = await doTasks(session);
    mock.configure({ print: { text: WRITTEN, ...spreadOver(SUMMARY_MS) } });
    const shortened = shorten(session, 'summarize');
    await session.untilRequest(({ purpose }) => purpose === 'print', 'a request for the summary');
    await terminal.type(DRAFT);
    await session.untilRequest(
      ({ purpose, end }) => purpose === 'print' && end === 'answered',
      'the end of the summary',
    );
    await holdsDraft(session, shortened);
    return goesOnWith(session, before, new RegExp(WRITTEN));
  },
};

const restarted: Scenario = {
  name: 'shortened, and started again',
  expects:
    'with "apply": "restart": the agent ends by its own command and is started again in the same terminal with the shortened session; u brings the whole conversation back',
  isFor: (agent) => definitionOf(agent)?.restarting !== undefined,
  isUnasked: true,
  files: () => ({ '.config/ctxwrap/config.jsonc': '{ "apply": "restart" }' }),
  play: async (session) => {
    const { runCtxwrap, untilScreen, untilFooter, agent } = session;
    const before = await doTasks(session);
    await runCtxwrap('compact', ...optionsOf('truncate'));
    await untilFooter(/shortened, waiting for the new size/);
    await untilScreen(agent.ready);
    const evidence = await goesOnWith(session, before, REMOVED);
    await pressChord(session, 'u');
    await untilFooter(/(?:whole conversation is back|compaction undone)/);
    await longTurn(session, TURNS + 1, SOME);
    assertThat(asksWithTask(session, 2), 'the whole conversation is not back');
    return `${evidence}; and u brings it all back`;
  },
};

const afterTheEnd: Scenario = {
  name: 'shortened after the end',
  expects:
    'the session has ended: the shortened session is resumed by the command that `ctxwrap compact --strategy truncate` prints, with exactly what stays',
  isUnasked: true,
  play: async (session) => {
    const { terminal, runCtxwrap } = session;
    const before = await doTasks(session);
    const file = await ownFile(session);
    await leave(session, terminal);
    const report = parseRecord(await runCtxwrap('compact', file, ...optionsOf('truncate'), '--json'));
    const args = resumeArgsIn(report);
    const submit = async (text: string): Promise<void> => void (await talk(session, text, args));
    const evidence = await goesOnWith({ ...session, submit }, before, REMOVED);
    return `resumed with ${session.agent.name} ${args.join(' ')}: ${evidence}`;
  },
};

/** Session files and checkpoints of the agent. */
const storedIn = ({ home }: LabSession): readonly string[] =>
  readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.jsonl?$/.test(path) && !path.startsWith('.local'),
  );

/** What a command that failed has said. */
const outputOf = (error: unknown): string =>
  error instanceof Error
    ? ['stdout', 'stderr'].map((key) => String(Reflect.get(error, key))).join('')
    : String(error);

// Gemini does not even list it
const NOT_SHORTENED = /does not show that it has switched|the prompt did not hold the command alone/;

const refused: Scenario = {
  name: 'shortened, and refused',
  expects:
    'the new session is gone before the agent reads it: not confirmed, and the agent goes on with the whole conversation',
  play: async (session) => {
    const { home, runCtxwrap } = session;
    await talkLong(session, SOME);
    const before = storedIn(session);
    const options = ['--strategy', 'truncate', '--keep-recent', String(KEPT), '--budget', '6000'];
    let words: string | undefined;
    const asked = runCtxwrap('compact', ...options).then(
      (said) => (words = `done: ${said}`),
      (error: unknown) => (words = outputOf(error)),
    );
    while (words === undefined) {
      for (const path of storedIn(session))
        if (!before.includes(path)) rmSync(join(home, path), { force: true });
      await pause(REMOVE_MS);
    }
    await asked;
    assertThat(NOT_SHORTENED.test(words), `it says "${words}"`);
    await pause(REST_MS);
    await longTurn(session, TALKED + 1, SOME);
    for (const number of [1, TALKED])
      assertThat(session.mock.lastTurn().includes(`answer ${number} begins`), `answer ${number} is gone`);
    return 'not confirmed, and the next request has the whole conversation';
  },
};

/** The agent refuses to compact; the rescue by this strategy, and the way back. */
const rescuedBy = async (session: LabSession, strategy: string, mark: RegExp): Promise<string> => {
  const { mock, untilLog, untilFooter } = session;
  mock.configure({ summary: { error: tooLong }, print: { text: WRITTEN } });
  await talkLong(session, FULL);
  await untilLog(ENDED, 0, 400_000);
  await pressChord(session, 'r');
  await untilFooter(new RegExp(`rescued by ${strategy}`));
  const evidence = await asksShortened(session, mark);
  await pressChord(session, 'u');
  await untilFooter(/(?:whole conversation is back|compaction undone)/);
  await longTurn(session, TALKED + 1, SOME);
  assertThat(mock.lastTurn().includes('answer 1 begins'), 'the whole conversation is not back');
  return `${evidence}; and u brings it all back`;
};

const rescued: Scenario = {
  name: 'rescue',
  expects:
    'the agent says that it is too long to compact: the hotkey and r shorten it, and it goes on; u undoes that',
  summaryMs: QUICK_SUMMARY_MS,
  play: (session) => rescuedBy(session, 'truncate', REMOVED),
};

const rescuedWithSummary: Scenario = {
  name: 'rescue with a summary',
  expects:
    "the same with a summariser: the agent's print mode writes the summary that it cannot write itself",
  isFor: hasPrintMode,
  summaryMs: QUICK_SUMMARY_MS,
  files: () => BY_AGENT,
  play: (session) => rescuedBy(session, 'summarize', new RegExp(WRITTEN)),
};

const STEPS = 20; // of work after the compaction
const PLAN = 'implement the plan, never push to main';
const ALL_DONE = 'all of it is done';
const step = (number: number, usedTokens: number) => ({
  command: `echo ran ${number}; seq 1 1500`,
  text: `step ${number} begins`,
  usedTokens,
});

/** The next request has the agent's own summary and the last steps, whole. */
const asksUnattended = ({ mock }: LabSession): string => {
  const sent = mock.lastTurn();
  const parts = partsIn(mock.requests().findLast(({ purpose }) => purpose === 'turn')?.api ?? '', sent);
  const orphan = orphanIn(parts);
  assertThat(orphan === undefined, orphan ?? '');
  assertThat(
    parts.some(({ kind, text }) => kind === 'user' && text.includes(WRITTEN)),
    'the summary is gone',
  );
  assertThat(REMOVED.test(sent), 'what replaces the rest is not in the next request');
  assertThat(sent.includes(`- ${PLAN}`), 'what you demanded before is not on record');
  const ran = parts.filter(({ kind, text }) => kind === 'result' && text.includes('ran '));
  assertThat(ran.length >= 2 && ran.length < STEPS, `${ran.length} steps are in the next request`);
  assertThat(ran.at(-1)?.text.includes(`ran ${STEPS}`) ?? false, 'the last step is not in the next request');
  return `the summary and the last ${ran.length} of ${STEPS} steps are in the next request, and what you demanded before it is on record`;
};

/** Claude compacts by itself in the middle of a turn, and works on: no message of the user is left in the window. */
const unattended: Scenario = {
  name: 'shortened in the middle of work',
  expects:
    'the agent has compacted by itself in the middle of a turn, so that no message of yours is in the window: its summary, what you demanded and the last steps stay',
  isFor: ({ name }) => name === 'claude',
  hasUsualBounds: true,
  isUnasked: true,
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { mock, submit, untilScreen, untilRequest, terminal, activity } = session;
    const later = Array.from({ length: STEPS }, (_, index) => step(index + 1, LITTLE + index * 500));
    mock.configure({
      summary: { text: WRITTEN },
      turn: { usedTokens: SOME, text: ALL_DONE },
      work: [step(-1, SOME), step(0, 172_000), ...later],
    });
    await submit(PLAN);
    await untilScreen(new RegExp(ALL_DONE));
    await terminal.until(() => activity() === 'ready', 'activity ready after the work');
    assertThat(
      mock.requests().some(({ purpose }) => purpose === 'summary'),
      'Claude has not compacted',
    );
    await runInSession(session, 'shortened', ['compact', ...'--strategy truncate --budget 8000'.split(' ')]);
    mock.configure({ turn: { usedTokens: SOME, text: 'so it is' } });
    await submit('go on');
    await untilRequest(
      ({ purpose, said, end }) => purpose === 'turn' && said.includes('go on') && end === 'answered',
      'an answer after it was shortened',
    );
    return asksUnattended(session);
  },
};

export const rescuing: readonly Scenario[] = [
  ...[shortenedBy('truncate', REMOVED), shortenedBy('clustering', /grouped by subject/)].map(whileRunning),
  ...[summarised, withDraft, whileTyping, refused, unattended].map(whileRunning),
  restarted,
  afterTheEnd,
  ...[rescued, rescuedWithSummary].map(whileRunning),
];
