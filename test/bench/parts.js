// The parts of the bench. Each gives rows `{ name, …numbers }` or `{ name, failure }`, one for each candidate.
import { BARE, buildsOf } from './candidates.js';
import { echo, quit } from './echo.js';
import { measureContinue } from './measure-continue.js';
import { measureEarly } from './measure-early.js';
import { measureHistory } from './measure-history.js';
import { countPaints, measureIdle } from './measure-idle.js';
import { measureLatency } from './measure-latency.js';
import { measureGrowth, measureResident, measureTenSessions } from './measure-memory.js';
import { measureOverview } from './measure-overview.js';
import { measurePty } from './measure-pty.js';
import { measureScan } from './measure-scan.js';
import { measureStart } from './measure-start.js';
import { measureThroughput } from './measure-throughput.js';
import { measureWorker } from './measure-worker.js';
import { measureWorst } from './measure-worst.js';
import { sleep } from './numbers.js';
import { writeStream } from './streams.js';
import { withTerminal } from './terminal.js';

const STREAM_BYTES = 30e6;
const RESIDENT_BYTES = 37e6;
const GROWTH_BYTES = 50e6;

const throughput = (content) => ({
  rounds: 9, // they vary by a third on a machine with two cores
  measure: (all, { folder, rounds }) =>
    measureThroughput(all, writeStream(folder, content, STREAM_BYTES), rounds),
});
const start = (rounds, answers) => ({
  rounds,
  measure: (all, { folder, rounds: of }) => measureStart(all, { folder, rounds: of, answers }),
});
const early = (answers) => ({
  rounds: 6,
  measure: (all, { rounds }) => measureEarly(all, { rounds, answers }),
});
const proxies = (all) => [...all.filter(({ name }) => name === BARE), ...buildsOf(all)];

/** `rounds`: of all runs together; `isOnce`: not in every run, because it takes long or varies little; `isOnlyNamed`: not among all. */
export const parts = {
  latency: { rounds: 10, measure: (all, { rounds }) => measureLatency(all, rounds) },
  plain: throughput('plainLines'),
  frames: throughput('frames'),
  recordings: throughput('recordings'),
  start: start(24, true),
  silent: start(18, false),
  early: early(true),
  earlySilent: early(false),
  idle: { isOnce: true, measure: measureIdle },
  resident: {
    measure: (all, { folder }) => measureResident(all, writeStream(folder, 'recordings', RESIDENT_BYTES)),
  },
  overview: {
    rounds: 3,
    measure: (all, { folder, rounds }) => measureOverview(buildsOf(all), folder, rounds),
  },
  worker: { rounds: 3, measure: (all, { folder, rounds }) => measureWorker(buildsOf(all), folder, rounds) },
  continue: {
    rounds: 3,
    measure: (all, { folder, rounds }) => measureContinue(buildsOf(all), folder, rounds),
  },
  ten: { isOnce: true, measure: (all, { folder }) => measureTenSessions(proxies(all), folder) },
  history: {
    isOnce: true,
    measure: (all, { folder, size }) => measureHistory(buildsOf(all), folder, size),
  },
  growth: {
    isOnce: true,
    measure: (all, { folder }) =>
      measureGrowth(buildsOf(all), writeStream(folder, 'plainLines', GROWTH_BYTES), 10),
  },
  paints: { isOnce: true, measure: (all) => countPaints(buildsOf(all)) },
  scan: { isOnce: true, measure: (all, { folder }) => measureScan(folder) },
  pty: {
    rounds: 6,
    isOnlyNamed: true,
    measure: (all, { folder, rounds }) =>
      measurePty(all, { folder, rounds, stream: writeStream(folder, 'recordings', STREAM_BYTES) }),
  },
  worst: { isOnce: true, isOnlyNamed: true, measure: (all, { folder }) => measureWorst(folder) },
};

const KEPT_MS = 5_000; // by then a build has kept its compiled code

/** Starts each build once, so that its compiled code is there as it is from the second start on. What fails here fails in the parts, too. */
export const warmUp = async (all) => {
  for (const build of buildsOf(all))
    await withTerminal(build.words(echo), {}, async (terminal) => {
      await terminal.until('READY');
      await sleep(KEPT_MS);
      await terminal.leave(quit);
    }).catch(() => undefined);
};
