import { choicePageKeys, type OverviewKey } from '../core/overview-keys.js';

// Keys that were meant for the choice of a limit and come when it is no longer there. In the agent they could answer a dialog.

const REPEAT_MS = 700; // a held key repeats after up to 660 ms (X11); later only ever sooner
const LOST_MS = 1_000; // to see that the choice has gone

export interface LateKeys {
  /** the choice was taken by Enter, which may be held or pressed twice */
  readonly noteTaken: () => void;
  /** the choice has closed by itself, or could not open */
  readonly noteLost: () => void;
  /** keys may still come */
  readonly isOpen: () => boolean;
  /** true for a key that was meant for the choice; any other one, also one that means nothing there, ends the waiting */
  readonly takes: (key: OverviewKey | undefined) => boolean;
}

export const makeLateKeys = (): LateKeys => {
  let until = -Infinity;
  let isTaken = false;
  const isOpen = (): boolean => performance.now() < until;
  const wait = (ms: number): void => {
    until = performance.now() + ms;
  };
  return {
    noteTaken: () => {
      isTaken = true;
      wait(REPEAT_MS);
    },
    noteLost: () => {
      isTaken = false;
      wait(LOST_MS);
    },
    isOpen,
    takes: (key) => {
      if (!isOpen()) return false;
      const isMeant = key !== undefined && (isTaken ? key === 'enter' : choicePageKeys.includes(key));
      if (!isMeant) until = -Infinity;
      else if (isTaken) wait(REPEAT_MS);
      return isMeant;
    },
  };
};
