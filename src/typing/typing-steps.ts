import { setImmediate as nextTurn, setTimeout as pass } from 'node:timers/promises';
import type { CompactRecipe } from '../agents/agent.js';
import type { ScreenObservation, KeyHold } from '../session/ports.js';

// Waits for something to appear on the screen, without using a screen that is out of date because the machine was busy or asleep.

/** Milliseconds in which the wrapper could observe the screen: time in which the wrapper or the machine was stopped does not count. */
export interface AwakeClock {
  ms: number;
  /** when a screen was last observed, by this clock */
  observedAt: number;
}

export const startAwakeClock = (): AwakeClock => ({ ms: 0, observedAt: 0 });

/** The screen cannot be read for a long time, perhaps forever: the user's keys must not wait for it. */
export const hasLostScreen = ({ ms, observedAt }: AwakeClock): boolean => ms - observedAt > LOST_MS;

export interface WaitOptions {
  readonly isMet: (observed: ScreenObservation) => boolean;
  /** milliseconds before the first observation */
  readonly pauseMs: number;
  /** advances while waiting */
  readonly clock: AwakeClock;
  readonly isOver: () => boolean;
  readonly signal: AbortSignal;
}

const LOOK_MS = 20; // between two observations
const LATE_MS = 100; // a timer that fires this much too late fires before the child's output has been read
const LOST_MS = 5_000; // a screen that is redrawn without a pause for so long shows no prompt
const MOST_LATE = 100; // postponed observations in a row, on a machine whose timers are always late

/** Resolves with true when the condition holds, with false when the time is over or the signal is aborted. */
export const waitUntil = async (port: TypistPort, options: WaitOptions): Promise<boolean> => {
  const { isMet, pauseMs, clock, isOver, signal } = options;
  await sleep(pauseMs, signal, clock);
  while (!signal.aborted) {
    const observed = await observeAfterPause(port, signal, clock);
    if (observed && isMet(observed)) return true;
    if (isOver()) return false;
  }
  return false;
};

/**
 * Observes the screen after a short sleep. If the sleep took much longer than asked, output may not have been read yet: it sleeps again, so
 * that nothing is decided on an outdated screen. Undefined while the screen is incomplete.
 */
export const observeAfterPause = async (
  port: Pick<TypistPort, 'observe'>,
  signal: AbortSignal,
  clock: AwakeClock,
): Promise<ScreenObservation | undefined> => {
  for (let late = 0; !signal.aborted && late < MOST_LATE; late += 1) {
    if (await sleep(LOOK_MS, signal, clock)) continue;
    const observed = port.observe();
    if (observed) clock.observedAt = clock.ms;
    return observed;
  }
  return undefined;
};

/** Sleeps, then lets pending input be read; true when it took much longer than asked. Ends at once when the signal is aborted. */
export const sleep = async (ms: number, signal: AbortSignal, clock = startAwakeClock()): Promise<boolean> => {
  const startedAt = performance.now();
  await pass(ms, undefined, { ref: false, signal }).catch(() => undefined);
  await nextTurn();
  const passedMs = performance.now() - startedAt;
  clock.ms += Math.min(passedMs, ms + LATE_MS);
  return passedMs > ms + LATE_MS;
};

// The request to type the command, and the typist's access to the child.

/** Gives one turn at a time. */
export const makeTurns = (): TypistPort['takeTurn'] => {
  let isTaken = false;
  return () => {
    if (isTaken) return undefined;
    isTaken = true;
    return () => {
      isTaken = false;
    };
  };
};

/** The typist's access to the child. */
export interface TypistPort {
  /** one command is typed at a time: call the result when its effect is known; undefined while another one is typed */
  readonly takeTurn: () => (() => void) | undefined;
  /** undefined while the screen is incomplete or cannot be read */
  readonly observe: () => ScreenObservation | undefined;
  /** resolves when everything that an observation needs beside the screen has been read again */
  readonly refresh: () => Promise<void>;
  /**
   * writes to the child; dropped where no keys are held and the user has typed since `typedCount` was read. `name` is for the audit, in
   * place of the bytes
   */
  readonly write: (bytes: Uint8Array, name?: string) => void;
  /** holds the user's keys until they are released; undefined if the user has typed since the count was `typedBefore` */
  readonly holdKeys: (typedBefore: number) => Promise<KeyHold | undefined>;
  /** how many reads with keys of the user there were so far, held ones included */
  readonly typedCount: () => number;
  /** the user has typed something that the session has not been told of yet */
  readonly hasUnreportedKeys: () => boolean;
  /** grows with everything that the child writes */
  readonly outputBytes: () => number;
}

export interface TypeRequest {
  readonly recipe: CompactRecipe;
  readonly focus?: string | undefined;
  /** in its place, from the conversation: neither log nor audit may hold it */
  readonly found?: string | undefined;
  /** the agent is busy, and queues the command until its turn ends */
  readonly isQueued: boolean;
  /** the user allows stashing a draft */
  readonly mayStash: boolean;
  readonly port: TypistPort;
  /** called when a stashed draft is being restored without a compaction; the promise resolves with whether it is in the prompt again */
  readonly onRestoring?: (back: Promise<boolean>) => void;
  /** aborted when the child has ended or another attempt begins */
  readonly signal: AbortSignal;
  /** aborted, with the reason for the user, when the command must not be sent any more; it is taken back then */
  readonly withdrawal?: AbortSignal;
}

/** Why the command must not be sent any more; undefined while it may. */
export const withdrawalOf = ({ withdrawal }: Pick<TypeRequest, 'withdrawal'>): string | undefined =>
  withdrawal?.aborted ? String(withdrawal.reason) : undefined;

/** The text that is typed. */
export const commandText = ({ recipe, focus, found = focus }: TypeRequest): string =>
  found === undefined || found === '' || !recipe.takesFocus ? recipe.command : `${recipe.command} ${found}`;

/** The same for log and audit; undefined where they may hold the text itself. */
export const commandName = (request: TypeRequest): string | undefined =>
  request.found === undefined
    ? undefined
    : `${request.recipe.command} with ${[...request.found].length} characters of the conversation`;

/** Without whitespace: a blank at which a row is wrapped does not appear on the screen. */
export const withoutWhitespace = (text: string): string => text.replaceAll(/\s/g, '');
