// Processes that a session may have left: an agent can have helpers that outlive it.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 3_000; // for what is about to end by itself
const LOOK_MS = 50;

/** Waits for the end of all that has a home in this folder, and ends the rest. Where the system tells of no process nothing can be done. */
export const endLeftovers = async (folder: string): Promise<void> => {
  const end = performance.now() + PATIENCE_MS;
  while (livingIn(folder).length > 0 && performance.now() < end) await pause(LOOK_MS);
  for (const pid of livingIn(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended meanwhile
    }
  }
};

/** Those of which the environment names a home there (proc(5)). */
const livingIn = (folder: string): readonly number[] => {
  const own = (name: string): boolean => {
    try {
      const variables = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0');
      return variables.some((each) => each === `HOME=${folder}` || each.startsWith(`HOME=${folder}/`));
    } catch {
      return false; // another user's, or gone
    }
  };
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && own(name))
      .map(Number);
  } catch {
    return [];
  }
};
