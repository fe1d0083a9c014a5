// What the typist is asked to do, and the world it does it in.
import type { Activity } from '../../core/activity.js';
import type { PromptLook, Recipe } from '../../runtimes/recipe.js';

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
