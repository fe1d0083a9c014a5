import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { kill } from 'node:process';
import { errorCode } from '../core/errors.js';

// Information about processes: whether a recorded process still runs, which ones read a terminal, and from which shell one was started. And
// how to kill a group.

const ZOMBIE = 'Z'; // has ended, but its parent has not collected the exit status
const MAX_PROCESSES = 256; // examined below one process

/** The parent and group of a process: fields 4 and 5. */
export interface ProcessPlace {
  readonly parent: number;
  /** its process group: a shell gives each job a group of its own */
  readonly group: number;
}

/** A process according to /proc/PID/stat (proc(5)). */
export interface ProcessStat extends ProcessPlace {
  /** one letter, as `R` for running and `T` for stopped: field 3 */
  readonly state: string;
  /** field 6: a server that is to outlive its terminal begins one of its own */
  readonly session: number;
  /** the foreground group of its terminal: field 8 */
  readonly foregroundGroup: number;
  /** start time in clock ticks since boot: field 22 */
  readonly start: string;
}

/** Undefined without /proc and for a process that has ended. */
export const processStat = (pid: number | 'self'): ProcessStat | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // field 2 is the name in parentheses, which may contain blanks and parentheses
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent, group, session, , foregroundGroup] = fields;
    const start = fields[19];
    if (state === ZOMBIE || start === undefined) return undefined;
    return {
      state,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      foregroundGroup: Number(foregroundGroup),
      start,
    };
  } catch {
    return undefined;
  }
};

/** Start time of a process in clock ticks since boot; undefined without /proc and for a process that has ended. */
export const processStart = (pid: number): string | undefined => processStat(pid)?.start;

/**
 * Whether a process runs. With `start`, a later process with the same pid does not count. One that has ended does not, either, while nobody
 * collects it, as in a container without an init.
 */
export const isRunning = (pid: number, start?: string): boolean => {
  const hasProc = existsSync('/proc/self/stat');
  if (start !== undefined && hasProc) return processStart(pid) === start;
  try {
    return kill(pid, 0) && (!hasProc || processStat(pid) !== undefined);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
};

/** The children that a thread has started, by default the main one, if the kernel lists them (CONFIG_PROC_CHILDREN). */
const childrenOf = (pid: number, thread: number | string = pid): readonly number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
};

/** The children that any thread of a process has started. Empty without /proc. */
export const allChildrenOf = (pid: number): readonly number[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => childrenOf(pid, thread));
  } catch {
    return [];
  }
};

/** A process and all below it, nearest first, also those in a session of their own; only itself without /proc. */
export const withDescendants = (pid: number): readonly number[] => {
  const found = [pid];
  for (let index = 0; index < found.length && found.length < MAX_PROCESSES; index += 1)
    found.push(...allChildrenOf(found[index] ?? pid));
  return found;
};

const stdinOf = (pid: number): string | undefined => {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`);
  } catch {
    return undefined;
  }
};

/**
 * The processes that read input from a process's terminal: the process and its descendants that are in the terminal's foreground group
 * and have the terminal as standard input, each as `pid:start`. Tools that an agent starts with a pipe as input are not among them.
 * Undefined without /proc.
 */
export const terminalReaders = (pid: number): readonly string[] | undefined => {
  const own = processStat(pid);
  const terminal = stdinOf(pid);
  if (!own || terminal === undefined || !existsSync(`/proc/${pid}/task/${pid}/children`)) return undefined;
  const found: string[] = [];
  const processTree = [pid];
  for (let index = 0; index < processTree.length && index < MAX_PROCESSES; index += 1) {
    const each = processTree[index] ?? pid;
    processTree.push(...childrenOf(each));
    const stat = processStat(each);
    if (stat && stat.group === own.foregroundGroup && stdinOf(each) === terminal)
      found.push(`${each}:${stat.start}`);
  }
  return found.toSorted();
};

/** The same from ps(1), for systems without /proc. */
export const placeFromPs = (pid: number): ProcessPlace | undefined => {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=', '-o', 'pgid=', '-p', `${pid}`], { encoding: 'utf8' });
  const [parent, group] = (stdout ?? '').trim().split(/\s+/).map(Number);
  return parent === undefined || group === undefined ? undefined : { parent, group };
};

const placeOf = (pid: number): ProcessPlace | undefined =>
  existsSync('/proc/self/stat') ? processStat(pid) : placeFromPs(pid);

/**
 * A process and those above it up to the shell in which the user started it: the rest of its job (`npx`, a script), and the process that
 * started the job. What is above that belongs to another shell.
 */
export const processesUpToShell = (pid: number): readonly number[] => {
  const found = [pid];
  const own = placeOf(pid);
  let place = own;
  while (place && place.group === own?.group && place.parent > 0 && found.length < MAX_PROCESSES) {
    found.push(place.parent);
    place = placeOf(place.parent);
  }
  return found;
};

/** Kills the process group of this leader (SIGKILL). */
export const killGroup = (leader: number | undefined): void => {
  try {
    if (leader !== undefined) kill(-leader, 'SIGKILL');
  } catch {
    // it has already ended
  }
};
