// What keeps us from trying again and again.
import { FULL, HARD } from '../stage.js';
import { brief, fill } from './grow.js';
import { must, type Scenario } from './scenario.js';

const PATIENCE_MS = 400_000; // the breaker stays open for five minutes
const WATCH_MS = 30_000;
const ENDED = /compaction by us: /;

const breaker: Scenario = {
  name: 'breaker',
  expects: 'three failures: paused for five minutes, then one attempt, which works and ends the pause',
  typed: 4,
  play: async (stage) => {
    const { mock, turn, untilLog, untilFooter, log } = stage;
    mock.control({ summary: { fault: { kind: 'status', status: 400 } } });
    await fill(stage);
    for (let failure = 1; failure <= 3; failure += 1) {
      const from = log().length;
      if (failure > 1) await turn(FULL + failure);
      await untilLog(/compaction by us: failed/, failure > 1 ? from : 0, PATIENCE_MS);
    }
    mock.control({ summary: { fault: null } });
    await turn(FULL + 1_000);
    const from = log().length;
    await untilFooter(/failed 3×, paused/);
    const line = brief(await untilLog(ENDED, from, PATIENCE_MS));
    must(/: verified/.test(line), line);
    return `paused after three failures; then ${line}`;
  },
};

const hard: Scenario = {
  name: 'hard tier',
  expects: 'hard: a failure is not waited for, three attempts at most, and only after something new',
  typed: 3,
  play: async (stage) => {
    const { mock, turn, untilLog, untilFooter, watch, log } = stage;
    mock.control({ summary: { fault: { kind: 'status', status: 400 } } });
    await fill(stage, HARD);
    const started = performance.now();
    for (let failure = 1; failure <= 3; failure += 1) {
      const from = log().length;
      if (failure > 1) await turn(HARD + failure);
      await untilLog(/compaction by us: failed/, failure > 1 ? from : 0);
    }
    must(performance.now() - started < 120_000, 'it waited for the pause after a failure');
    await turn(HARD + 1_000);
    await untilFooter(/tried 3×, no more/);
    await watch(WATCH_MS);
    return `three attempts without a pause, then "tried 3×, no more" for ${WATCH_MS / 1000} s`;
  },
};

export const limits: readonly Scenario[] = [breaker, hard];
