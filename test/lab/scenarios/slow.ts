// Summaries that take as long as real ones do: the outcome is ours, however long it takes and whatever is typed meanwhile.
import { setTimeout as pause } from 'node:timers/promises';
import { ENTER } from '../agents/agent.js';
import { compacted, must } from '../../../src/verify/certificate.js';
import { lasting, type Answer } from '../../../src/verify/mock/api.js';
import { SUMMARY_MS, type Scenario, type Stage } from './scenario.js';
import { fill } from './steps.js';

const OUTCOMES = /compaction by (?:us|the user|the agent): .*/g;
const WATCH_MS = 10_000;

/** The one outcome there is: ours, verified, not before the summary was there, and never taken for one that did not start. */
const oneOutcome = async (stage: Stage, patienceMs?: number): Promise<string> => {
  const { mock, log, watch, untilFooter } = stage;
  const line = await compacted(stage, { patienceMs });
  const summaries = mock.asked().filter(({ purpose }) => purpose === 'summary');
  must(summaries.length > 0, 'no summary was asked for');
  must(
    summaries.every(({ end }) => end === 'answered'),
    'verified before the summary had come',
  );
  await untilFooter(/compacted/);
  await watch(WATCH_MS);
  const outcomes = log().match(OUTCOMES) ?? [];
  must(outcomes.length === 1, `more than one outcome: ${outcomes.join(' · ')}`);
  must(!/did not start/.test(log()), 'the log says that it did not start');
  return line;
};

const slow: Scenario = {
  name: 'slow',
  expects: `a summary takes ${SUMMARY_MS / 1000} s, word by word: one outcome, which is ours and verified`,
  typed: 1,
  play: async (stage) => {
    await fill(stage);
    return oneOutcome(stage);
  },
};

/** For most of the time not a byte comes: a model that works through a long question, behind a server that does not tell. */
const lastingSilently = (ms: number): Partial<Answer> => {
  const { waitMs, spreadMs, ...rest } = lasting(ms);
  return { ...rest, waitMs: spreadMs, spreadMs: waitMs };
};

const silent: Scenario = {
  name: 'slow, and silent',
  expects: 'the same, and for most of the time the model server sends not a byte',
  typed: 1,
  play: async (stage) => {
    const { mock, agent } = stage;
    mock.control({ summary: lastingSilently(SUMMARY_MS / agent.summaries) });
    await fill(stage);
    return oneOutcome(stage);
  },
};

const VERY_SLOW_MS = 90_000;
const WORD_MS = 4_500; // between two words of a user who thinks
const WORDS = 'the harbour lies quiet below a wide meadow and no boat has come home before dawn'.split(' ');

const isWhole = (stage: Stage): boolean => stage.terminal.screen().includes(WORDS.join(' '));

/** What is typed now goes nowhere, whoever passes it on. */
const isDeaf = ({ agent, terminal }: Stage): boolean =>
  agent.goingPrompt !== undefined && !agent.goingPrompt.test(terminal.screen());

const verySlow: Scenario = {
  name: 'very slow',
  expects: `a summary takes ${VERY_SLOW_MS / 1000} s, and the user writes the next message meanwhile: one outcome, ours and verified; every key arrives, in order, and the message can be sent as it was written (Qwen 0.15.10 has no prompt meanwhile and drops what is typed, also without ctxwrap: there it is written again)`,
  summaryMs: VERY_SLOW_MS,
  typed: 1,
  play: async (stage) => {
    const { terminal, untilAsked } = stage;
    await fill(stage);
    await untilAsked(({ purpose }) => purpose === 'summary', 'a summary');
    for (const [index, word] of WORDS.entries()) {
      await pause(WORD_MS);
      await terminal.type(index === 0 ? word : ` ${word}`);
    }
    const isLost = isDeaf(stage);
    const line = await oneOutcome(stage, 2 * VERY_SLOW_MS);
    if (isLost) await terminal.type(WORDS.join(' '));
    await terminal.until(() => isWhole(stage), 'the whole message in the prompt');
    terminal.press(ENTER);
    await untilAsked(
      ({ said, purpose }) => purpose === 'turn' && said.includes(WORDS.join(' ')),
      'the message as it was written',
    );
    const when = isLost ? 'then, for it had no prompt meanwhile' : 'meanwhile';
    return `${WORDS.length} words written ${when}, and sent; ${line}`;
  },
};

export const waiting: readonly Scenario[] = [slow, silent, verySlow];
