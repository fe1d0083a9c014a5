// What the kernel says about processes. Linux only: elsewhere the columns stay empty.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

const read = (pid, file) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
};

/** Resident megabytes of all these processes. */
export const residentMegabytes = (pids) =>
  pids.reduce((sum, pid) => sum + Number(/VmRSS:\s*(\d+)/.exec(read(pid, 'status'))?.[1] ?? NaN) / 1024, 0);

/** Seconds of processor time that these processes have used. */
export const cpuSeconds = (pids) =>
  pids.reduce((sum, pid) => {
    const stat = read(pid, 'stat');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }, 0);
