// Limits that keep the wrapper from trying again and again.
import { untilCompacted, assertThat, logMessage } from '../../../src/verify/checks.js';
import { errorWith } from './faults.js';
import { FULL, HARD, LITTLE, type Scenario, type LabSession } from './scenario.js';
import { fill } from './steps.js';

const PATIENCE_MS = 400_000; // the breaker stays open for five minutes
const WATCH_MS = 30_000;

/** Three failures, one a turn, at so many used tokens. */
const failThrice = async (session: LabSession, usedTokens: number, patienceMs?: number): Promise<void> => {
  const { mock, turn, untilLog, log } = session;
  mock.configure({ summary: { error: errorWith(400) } });
  await fill(session, usedTokens);
  for (let failure = 1; failure <= 3; failure += 1) {
    const from = log().length;
    if (failure > 1) await turn(usedTokens + failure);
    await untilLog(/compaction by us: failed/, failure > 1 ? from : 0, patienceMs);
  }
};

const breaker: Scenario = {
  name: 'breaker',
  expects: 'three failures: paused for five minutes, then one attempt, which works and ends the pause',
  typed: 4,
  isFor: ({ retriesItself }) => !retriesItself,
  play: async (session) => {
    const { mock, turn, untilFooter, log } = session;
    await failThrice(session, FULL, PATIENCE_MS);
    mock.configure({ summary: { error: undefined } });
    await turn(FULL + 1_000);
    const from = log().length;
    await untilFooter(/compaction failed 3×/);
    return `paused after three failures; then ${await untilCompacted(session, { from, patienceMs: PATIENCE_MS })}`;
  },
};

const hard: Scenario = {
  name: 'hard tier',
  expects: 'hard: a failure is not waited for, three attempts at most, and only after something new',
  typed: 3,
  isFor: ({ retriesItself }) => !retriesItself,
  play: async (session) => {
    const { turn, untilFooter, waitFor } = session;
    const started = performance.now();
    await failThrice(session, HARD);
    assertThat(performance.now() - started < 120_000, 'it waited for the pause after a failure');
    await turn(HARD + 1_000);
    await untilFooter(/tried 3×/);
    await waitFor(WATCH_MS);
    return `three attempts without a pause, then "tried 3×" for ${WATCH_MS / 1000} s`;
  },
};

const madeUpFor: Scenario = {
  name: 'failure made up for',
  expects:
    'after a failure the agent makes the summary with the next message: nothing more is typed, and its success counts',
  typed: 1,
  isFor: ({ retriesItself }) => retriesItself === true,
  play: async (session) => {
    const { mock, submit, untilLog, waitFor } = session;
    mock.configure({ summary: { error: errorWith(400) } });
    await fill(session);
    await untilLog(/compaction by us: failed/);
    mock.configure({ summary: { error: undefined }, turn: { usedTokens: LITTLE, text: 'heard it' } });
    await submit('go on');
    const line = logMessage(await untilLog(/compaction by (?:the (?:agent|user)|us): verified/));
    await waitFor(WATCH_MS);
    return line;
  },
};

export const limits: readonly Scenario[] = [breaker, hard, madeUpFor];
