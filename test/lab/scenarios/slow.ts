// Summaries that take as long as real ones: the compaction is attributed to the wrapper, however long it takes and whatever is typed
// meanwhile.
import { setTimeout as pause } from 'node:timers/promises';
import { ENTER } from '../agents/agent.js';
import { untilCompacted, assertThat } from '../../../src/verify/checks.js';
import { spreadOver, type Answer } from '../../../src/verify/mock/api.js';
import { SUMMARY_MS, type Scenario, type LabSession } from './scenario.js';
import { fill } from './steps.js';

const OUTCOMES = /compaction by (?:us|the user|the agent): .*/g;
const WATCH_MS = 10_000;

/** The only correct outcome: by the wrapper, verified, not before the summary was sent, and never reported as not started. */
const oneOutcome = async (session: LabSession, patienceMs?: number): Promise<string> => {
  const { mock, log, waitFor, untilFooter } = session;
  const line = await untilCompacted(session, { patienceMs });
  const summaries = mock.requests().filter(({ purpose }) => purpose === 'summary');
  assertThat(summaries.length > 0, 'no summary was asked for');
  assertThat(
    summaries.every(({ end }) => end === 'answered'),
    'verified before the summary had come',
  );
  await untilFooter(/compacted/);
  await waitFor(WATCH_MS);
  const outcomes = log().match(OUTCOMES) ?? [];
  assertThat(outcomes.length === 1, `more than one outcome: ${outcomes.join(' · ')}`);
  assertThat(!/did not start/.test(log()), 'the log says that it did not start');
  return line;
};

const slow: Scenario = {
  name: 'slow',
  expects: `a summary takes ${SUMMARY_MS / 1000} s, word by word: one outcome, which is ours and verified`,
  typed: 1,
  play: async (session) => {
    await fill(session);
    return oneOutcome(session);
  },
};

/** Sends nothing for most of the time: a model that works through a long prompt, behind a server that does not ping. */
const lastingSilently = (ms: number): Partial<Answer> => {
  const { waitMs, spreadMs, ...rest } = spreadOver(ms);
  return { ...rest, waitMs: spreadMs, spreadMs: waitMs };
};

const silent: Scenario = {
  name: 'slow, and silent',
  expects: 'the same, and for most of the time the model server sends not a byte',
  typed: 1,
  play: async (session) => {
    const { mock, agent } = session;
    mock.configure({ summary: lastingSilently(SUMMARY_MS / agent.summaries) });
    await fill(session);
    return oneOutcome(session);
  },
};

const VERY_SLOW_MS = 90_000;
const WORD_MS = 4_500; // between two words of a user who pauses
const WORDS = 'the harbour lies quiet below a wide meadow and no boat has come home before dawn'.split(' ');

const isWhole = (session: LabSession): boolean => session.terminal.screen().includes(WORDS.join(' '));

/** The agent ignores keys now, with and without the wrapper. */
const isDeaf = ({ agent, terminal }: LabSession): boolean =>
  agent.goingPrompt !== undefined && !agent.goingPrompt.test(terminal.screen());

const verySlow: Scenario = {
  name: 'very slow',
  expects: `a summary takes ${VERY_SLOW_MS / 1000} s, and the user writes the next message meanwhile: one outcome, ours and verified; every key arrives, in order, and the message can be sent as it was written (Qwen 0.15.10 has no prompt meanwhile and drops what is typed, also without ctxwrap: there it is written again)`,
  summaryMs: VERY_SLOW_MS,
  typed: 1,
  play: async (session) => {
    const { terminal, untilRequest } = session;
    await fill(session);
    await untilRequest(({ purpose }) => purpose === 'summary', 'a summary');
    for (const [index, word] of WORDS.entries()) {
      await pause(WORD_MS);
      await terminal.type(index === 0 ? word : ` ${word}`);
    }
    const isLost = isDeaf(session);
    const line = await oneOutcome(session, 2 * VERY_SLOW_MS);
    if (isLost) await terminal.type(WORDS.join(' '));
    await terminal.until(() => isWhole(session), 'the whole message in the prompt');
    terminal.press(ENTER);
    await untilRequest(
      ({ said, purpose }) => purpose === 'turn' && said.includes(WORDS.join(' ')),
      'the message as it was written',
    );
    const when = isLost ? 'then, for it had no prompt meanwhile' : 'meanwhile';
    return `${WORDS.length} words written ${when}, and sent; ${line}`;
  },
};

export const waiting: readonly Scenario[] = [slow, silent, verySlow];
