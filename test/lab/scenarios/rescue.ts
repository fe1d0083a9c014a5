// The conversation is shortened without the agent's compact command: the model gets exactly what stays.
import { setTimeout as pause } from 'node:timers/promises';
import { assertThat, ENDED } from '../../../src/verify/checks.js';
import { BACKSPACE } from '../agents/agent.js';
import { tooLong } from './faults.js';
import { pressChord, runInSession } from './steps.js';
import {
  FULL,
  LITTLE,
  QUICK_SUMMARY_MS,
  SOME,
  WATCH_MS,
  type LabSession,
  type Scenario,
} from './scenario.js';

const TURNS = 8;
// about 1,200 tokens; Gemini takes an answer that repeats itself for a loop
const FILLER = Array.from({ length: 260 }, (_, index) => `Point ${index * 7919} is clear.`).join(' ');
const DRAFT = 'half a thought';

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

const talk = async (session: LabSession, usedTokens: number): Promise<void> => {
  for (let number = 1; number <= TURNS; number += 1)
    await longTurn(session, number, Math.round(LITTLE + ((usedTokens - LITTLE) * number) / TURNS));
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
  for (const number of [TURNS - 2, TURNS - 1, TURNS])
    assertThat(
      sent.includes(`long question ${number} please`),
      `message ${number} is not in the next request`,
    );
  assertThat(sent.includes(`answer ${TURNS} begins`), 'the last answer is not in the next request');
  for (const number of [1, 2, 3])
    assertThat(
      !sent.includes(`answer ${number} begins. ${FILLER}`),
      `answer ${number} is still in the next request`,
    );
  assertThat(mark.test(sent), 'what replaces the rest is not in the next request');
  return `the last 3 messages and answer ${TURNS} are in the next request, answers 1–3 are not`;
};

const shorten = async (session: LabSession, strategy: string): Promise<void> => {
  const options = ['--strategy', strategy, '--keep-recent', '3', '--budget', '6000'];
  await runInSession(session, 'shortened', ['compact', ...options]);
};

const shortenedBy = (strategy: string, mark: RegExp): Scenario => ({
  name: `shortened by ${strategy}`,
  expects: `\`ctxwrap compact --strategy ${strategy}\`: the next request has what stays, word for word, and a text for the rest`,
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    await talk(session, SOME);
    await shorten(session, strategy);
    return asksShortened(session, mark);
  },
});

/** The agent itself writes the summary, in its print mode. */
const summarised: Scenario = {
  name: 'shortened by summarize',
  expects:
    "`--strategy summarize` with the agent's print mode: the next request has its summary for the rest",
  summaryMs: QUICK_SUMMARY_MS,
  files: () => ({ '.config/ctxwrap/config.jsonc': '{ "summariser.url": "agent" }' }),
  play: async (session) => {
    await talk(session, SOME);
    session.mock.configure({ turn: { usedTokens: SOME, text: 'Four subjects were discussed and settled.' } });
    await shorten(session, 'summarize');
    return asksShortened(session, /Four subjects were discussed and settled/);
  },
};

const withDraft: Scenario = {
  name: 'shortened with a draft',
  expects: 'text in the prompt: waits, and the text stays; shortened when it is gone',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { terminal } = session;
    await talk(session, SOME);
    await terminal.type(DRAFT);
    const shortened = shorten(session, 'truncate');
    await pause(WATCH_MS);
    assertThat(terminal.screen().includes(DRAFT), 'the draft is gone');
    await terminal.type(BACKSPACE.repeat(DRAFT.length));
    await shortened;
    return asksShortened(session, /removed to make room/);
  },
};

const rescued: Scenario = {
  name: 'rescue',
  expects:
    'the agent says that it is too long to compact: the hotkey and r shorten it, and it goes on; u undoes that',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { mock, untilLog, untilFooter } = session;
    mock.configure({ summary: { error: tooLong } });
    await talk(session, FULL);
    await untilLog(ENDED, 0, 400_000);
    await pressChord(session, 'r');
    await untilFooter(/rescued by truncate/);
    const evidence = await asksShortened(session, /removed to make room/);
    await pressChord(session, 'u');
    await untilFooter(/(?:whole conversation is back|compaction undone)/);
    await longTurn(session, TURNS + 1, SOME);
    assertThat(mock.lastTurn().includes('answer 1 begins'), 'the whole conversation is not back');
    return `${evidence}; and u brings it all back`;
  },
};

export const rescuing: readonly Scenario[] = [
  shortenedBy('truncate', /removed to make room/),
  shortenedBy('clustering', /grouped by subject/),
  summarised,
  withDraft,
  rescued,
];
