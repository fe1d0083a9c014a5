import { setImmediate as nextTurn, setTimeout as pass } from 'node:timers/promises';
import type { PromptLook, Recipe } from '../agents/agent.js';
import type { Activity } from '../core/reading.js';

// Waiting for something to be on the screen, without trusting a screen that the machine had no time to draw.

/** Time in which there was somebody to look, in milliseconds: a stop of the wrapper, or of the whole machine, does not count. */
export interface AwakeClock {
  ms: number;
  /** when a screen was seen last, by this clock */
  seenAt: number;
}

export const startClock = (): AwakeClock => ({ ms: 0, seenAt: 0 });

/** Nothing can be seen, and perhaps never again: the user's keys must not wait for it. */
export const isBlind = ({ ms, seenAt }: AwakeClock): boolean => ms - seenAt > BLIND_MS;

export interface Expectation {
  readonly wanted: (look: Look) => boolean;
  /** not looked at before, in milliseconds */
  readonly pauseMs: number;
  /** runs while it is waited for */
  readonly clock: AwakeClock;
  readonly isOver: () => boolean;
  readonly signal: AbortSignal;
}

const LOOK_MS = 20; // between two looks
const LATE_MS = 100; // a timer that rings so much too late rings before anybody has read what the child wrote meanwhile
const BLIND_MS = 5_000; // a screen that is drawn without a pause for so long is no prompt's
const MOST_LATE = 100; // looks put off in a row, on a machine that is never on time

/** Resolves with true when it is seen, with false when the time is over or there is nobody left to look for. */
export const seeing = async (port: TypistPort, expected: Expectation): Promise<boolean> => {
  const { wanted, pauseMs, clock, isOver, signal } = expected;
  await resting(pauseMs, signal, clock);
  while (!signal.aborted) {
    const look = await lookWhenRested(port, signal, clock);
    if (look && wanted(look)) return true;
    if (isOver()) return false;
  }
  return false;
};

/**
 * Looks after a short rest. Where the rest took much longer than asked, what was written meanwhile has not been read: it rests again, so
 * that after a stop nothing is decided on what stood on the screen before. Undefined while the screen is being drawn.
 */
export const lookWhenRested = async (
  port: Pick<TypistPort, 'look'>,
  signal: AbortSignal,
  clock: AwakeClock,
): Promise<Look | undefined> => {
  for (let late = 0; !signal.aborted && late < MOST_LATE; late += 1) {
    if (await resting(LOOK_MS, signal, clock)) continue;
    const look = port.look();
    if (look) clock.seenAt = clock.ms;
    return look;
  }
  return undefined;
};

/** Lets time pass, and then whatever has come be read; true when it took much longer than asked. Ends at once with the signal. */
export const resting = async (ms: number, signal: AbortSignal, clock = startClock()): Promise<boolean> => {
  const startedAt = performance.now();
  await pass(ms, undefined, { ref: false, signal }).catch(() => undefined);
  await nextTurn();
  const passedMs = performance.now() - startedAt;
  clock.ms += Math.min(passedMs, ms + LATE_MS);
  return passedMs > ms + LATE_MS;
};

// What the typist is asked to do, and the world it does it in.

/** The child's screen at this moment. */
export interface Look {
  readonly activity: Activity;
  /** undefined where no prompt is seen */
  readonly prompt: PromptLook | undefined;
  /** whoever has drawn it may not be there any more */
  readonly isDoubted?: boolean;
}

/** What the typist does to the world. */
export interface TypistPort {
  /** undefined while the screen is not drawn to its end, or cannot be read */
  readonly look: () => Look | undefined;
  /** resolves when everything that a look needs beside the screen has been read anew */
  readonly refresh: () => Promise<void>;
  readonly write: (bytes: Uint8Array) => void;
  /** keeps the user's keys back until they are released */
  readonly holdKeys: () => KeyHold;
  /** how often the user has typed so far, what is held included */
  readonly typed: () => number;
  /** grows with everything that the child writes */
  readonly drawn: () => number;
}

/** Keys of the user that wait. */
export interface KeyHold {
  /** reads of the terminal that wait */
  readonly waiting: () => number;
  /** sends one of them: the oldest, or the oldest behind so many that wait on */
  readonly releaseOne: (behind: number) => void;
  /** sends all of them in their order; from then on none waits */
  readonly release: () => void;
}

export interface TypeOrder {
  readonly recipe: Recipe;
  readonly focus?: string | undefined;
  /** the agent works, and takes the command behind its turn */
  readonly isQueued: boolean;
  /** the user allows that a draft is put aside */
  readonly mayStash: boolean;
  readonly port: TypistPort;
  /** a draft that was put aside is being given back without a compaction: resolves with whether it is in the prompt again */
  readonly onGivingBack?: (back: Promise<boolean>) => void;
  /** the child has ended, or another attempt begins */
  readonly signal: AbortSignal;
}

/** The text as it is typed. */
export const textOf = ({ recipe, focus }: TypeOrder): string =>
  focus === undefined || focus === '' || !recipe.takesFocus ? recipe.command : `${recipe.command} ${focus}`;

/** Without blanks: where a row is broken at one, it is not seen. */
export const bare = (text: string): string => text.replaceAll(/\s/g, '');
