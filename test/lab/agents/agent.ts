// What the lab has to know of an agent: where it comes from, how it is started far from everything, and how a user gets about in it.

/** Where a user can be in an agent while no key of ours may be typed. */
export type PlaceName =
  | 'slash popup'
  | 'model picker'
  | 'rewind'
  | 'transcript'
  | 'history search'
  | 'shell mode'
  | 'vim normal';

export interface Place {
  /** keys that lead there from an empty prompt, pressed one after the other */
  readonly keys: readonly string[];
  /** is on the screen then */
  readonly shows: RegExp;
  /** keys that lead back */
  readonly back: readonly string[];
}

/** One start of an agent: a home of its own, a folder to work in, and the port of the model server. */
export interface Ground {
  readonly home: string;
  readonly project: string;
  readonly port: number;
  readonly isVim: boolean;
}

export interface LabAgent {
  readonly name: string;
  /** the one that is installed when no other is named */
  readonly version: string;
  /** what npm installs */
  readonly packages: (version: string) => readonly string[];
  readonly args: readonly string[];
  readonly env: (ground: Ground) => Readonly<Record<string, string>>;
  /** files to write before the start, by their paths in the home */
  readonly files: (ground: Ground) => Readonly<Record<string, string>>;
  /** its own command that compacts, as a user types it, and as ctxwrap does: the text and the key that submits it */
  readonly compact: string;
  readonly strokes: readonly [string, string];
  /** its own command that begins another conversation */
  readonly clear: string;
  /** the screen when it can be typed to for the first time */
  readonly ready: RegExp;
  /** a tool has asked for permission */
  readonly dialog: RegExp;
  /** tokens at which it compacts by itself when the next turn begins */
  readonly ownTrigger: number;
  /** the key that leads into vim's insert mode, and what shows it, for an agent that does not start there */
  readonly vimStart?: { readonly key: string; readonly shows: RegExp };
  /** Esc stops a compaction that is under way */
  readonly canInterrupt: boolean;
  /** ctxwrap types the command during a turn where the user wants that, and the agent runs it behind the turn */
  readonly canQueue: boolean;
  /** the key that puts a draft aside */
  readonly stash?: string;
  readonly places: Readonly<Partial<Record<PlaceName, Place>>>;
}

export const ESC = '\x1b';
export const ENTER = '\r';
export const BACKSPACE = '\x7f';
const CTRL_MASK = 0x1f;

export const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) & CTRL_MASK);
