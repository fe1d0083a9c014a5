import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { kill } from 'node:process';
import { errorCode } from '../core/json.js';

// What the system tells of processes: whether one that was written down once still runs, and who reads a terminal. And how to end them.

const ZOMBIE = 'Z'; // has ended, and its parent has not asked how
const MOST_PROCESSES = 256; // looked at below one

/** A process as /proc/PID/stat tells it (proc(5)). */
export interface ProcessStat {
  /** one letter, as `R` for running and `T` for stopped: field 3 */
  readonly state: string;
  /** its process group, and the one that reads its terminal: fields 5 and 8 */
  readonly group: number;
  readonly foregroundGroup: number;
  /** clock ticks from the start of the machine to its own: field 22 */
  readonly start: string;
}

/** Undefined where the system does not tell, and for a process that is gone. */
export const processStat = (pid: number | 'self'): ProcessStat | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // the second field is the name in brackets, which may hold blanks and brackets of its own
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', , group, , , foregroundGroup] = fields;
    const start = fields[19];
    if (state === ZOMBIE || start === undefined) return undefined;
    return { state, group: Number(group), foregroundGroup: Number(foregroundGroup), start };
  } catch {
    return undefined;
  }
};

/** When a process began, in clock ticks since the machine did; undefined where the system does not tell, or for a process that is gone. */
export const processStart = (pid: number): string | undefined => processStat(pid)?.start;

/** Whether a process runs. With its start, a later process that was given the same pid is another one. */
export const isRunning = (pid: number, start?: string): boolean => {
  if (start !== undefined && existsSync('/proc/self/stat')) return processStart(pid) === start;
  try {
    return kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
};

/** Its children, where the kernel lists them (CONFIG_PROC_CHILDREN). */
const childrenOf = (pid: number): readonly number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
};

const inputOf = (pid: number): string | undefined => {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`);
  } catch {
    return undefined;
  }
};

/**
 * Who reads what is typed into the terminal of a process: it and all below it that are in the terminal's foreground group and have the
 * terminal as their standard input, each as `pid:start`. What an agent starts for itself, with a pipe as its input, is not among them.
 * Undefined where the system does not tell (no /proc).
 */
export const terminalReaders = (pid: number): readonly string[] | undefined => {
  const own = processStat(pid);
  const terminal = inputOf(pid);
  if (!own || terminal === undefined || !existsSync(`/proc/${pid}/task/${pid}/children`)) return undefined;
  const found: string[] = [];
  const family = [pid];
  for (let index = 0; index < family.length && index < MOST_PROCESSES; index += 1) {
    const each = family[index] ?? pid;
    family.push(...childrenOf(each));
    const stat = processStat(each);
    if (stat && stat.group === own.foregroundGroup && inputOf(each) === terminal)
      found.push(`${each}:${stat.start}`);
  }
  return found.toSorted();
};

/** Kills a process group, which has the pid of the process that leads it. */
export const endGroup = (leader: number | undefined): void => {
  try {
    if (leader !== undefined) kill(-leader, 'SIGKILL');
  } catch {
    // it has ended meanwhile
  }
};
