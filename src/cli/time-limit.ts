import { createContext, Script } from 'node:vm';
import type { TimeLimit } from '../agents/defined/pattern.js';
import { getText } from '../core/json.js';

const LIMIT_MS = 100; // a reading takes less than one; a shorter limit would also end it where another program has the processor

/** A regular expression cannot be stopped by itself, but a script that calls it can. A call takes 0.05 ms more than the work. */
export const makeTimeLimit = (): TimeLimit => {
  const script = new Script('work()');
  const globals: { work: () => void } = { work: () => undefined };
  const context = createContext(globals);
  return <T>(work: () => T) => {
    const done: { value: T }[] = [];
    globals.work = () => {
      done.push({ value: work() });
    };
    try {
      script.runInContext(context, { timeout: LIMIT_MS });
    } catch (error) {
      if (!isTimeout(error)) throw error;
    }
    return done[0];
  };
};

// an error of the script's own context is no Error of this one
const isTimeout = (error: unknown): boolean => getText(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
