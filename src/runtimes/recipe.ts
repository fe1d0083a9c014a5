// How an agent's own compaction is asked for: data, with the figures that facts/ proved on the real agents.
import type { Seen } from './seen.js';

export interface Recipe {
  /** as a user would type it: `/compact` */
  readonly command: string;
  /** text after the command tells the agent what its summary must keep */
  readonly takesFocus: boolean;
  /** the text goes in as a bracketed paste with a blank behind it, for agents that take fast typing for a paste of their own */
  readonly isPasted: boolean;
  /** between the text and the key that submits it, at least, in milliseconds */
  readonly pauseMs: number;
  /** the bytes of the key that submits the command */
  readonly submit: string;
  /** how long the agent may take to begin and to end, in milliseconds */
  readonly startMs: number;
  readonly finishMs: number;
  /** the bytes that put a draft aside until the command has run, and how long to wait for it, in milliseconds */
  readonly stash?: { readonly keys: string; readonly pauseMs: number };
  /**
   * the agent always lists what could be meant below a command, and the key that submits takes the first of the list: it must be the
   * command, or another one runs
   */
  readonly isListed?: true;
  /** the agent takes the command while it works, and runs it after the turn */
  readonly isQueued?: true;
}

/** What stands in the agent's prompt, as it is drawn. */
export interface PromptLook {
  /** the user's text without glyph, hint and suggestion; '' when there is none; rows of one text are joined by what was typed between them, where it can be known */
  readonly text: string;
  /** the command that is chosen in the list below the prompt, with its slash; absent where there is no list */
  readonly listed?: string;
  /** a draft has been put aside */
  readonly isStashed?: true;
}

/** The prompt on this screen; undefined where none is seen, or where what is typed would not be taken as a message. */
export type PromptReader = (seen: Seen) => PromptLook | undefined;
