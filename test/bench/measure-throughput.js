// Megabytes of the child's output a second, until the last byte has come out: the first time in a process, whose code is not compiled yet,
// and the second time.
import { sleep } from './numbers.js';
import { catOf, getReady, stop, writeOut } from './output.js';
import { cpuSeconds } from './processes.js';
import { withTerminal } from './terminal.js';
import { measureInTurn } from './turns.js';

const PAUSE_MS = 400; // the worker reads what is left

/** `cold` and `warm` in MB/s, and `cpu` in seconds of processor time for 1 GB, by candidate. */
export const measureThroughput = (candidates, { file, bytes }, rounds) =>
  measureInTurn(candidates, rounds, (candidate) =>
    withTerminal(candidate.words(catOf(file, 2)), {}, async (terminal) => {
      await getReady(terminal);
      const pids = [terminal.pid, ...candidate.helpers()];
      const cpuBefore = cpuSeconds(pids);
      const cold = await writeOut(terminal);
      await sleep(PAUSE_MS);
      const warm = await writeOut(terminal);
      await sleep(PAUSE_MS);
      const cpu = cpuSeconds(pids) - cpuBefore;
      await terminal.leave(stop);
      return {
        cold: bytes / 1e3 / cold,
        warm: bytes / 1e3 / warm,
        cpu: candidate.isAlone ? NaN : cpu / ((2 * bytes) / 1e9),
      };
    }),
  );
