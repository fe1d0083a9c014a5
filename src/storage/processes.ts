// Whether a process that was written down once still runs, and is the same one.
import { existsSync, readFileSync } from 'node:fs';
import { kill } from 'node:process';

const ZOMBIE = 'Z'; // has ended, and its parent has not asked how

/** When a process began, in clock ticks since the machine did; undefined where the system does not tell, or for a process that is gone. */
export const processStart = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // field 22; the second one is the name in brackets, which may hold blanks and brackets of its own
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === ZOMBIE ? undefined : fields[19];
  } catch {
    return undefined;
  }
};

/** Whether a process runs. With its start, a later process that was given the same pid is another one. */
export const isRunning = (pid: number, start?: string): boolean => {
  if (start !== undefined && existsSync('/proc/self/stat')) return processStart(pid) === start;
  try {
    return kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};
