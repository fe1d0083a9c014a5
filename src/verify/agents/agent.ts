// What has to be known of an agent to try it: how it is started far from everything, and what shows where it is.

/** An agent as it is installed here. */
export interface Installed {
  readonly version: string;
  /** what it prints with --help: no version is given an argument that it does not know */
  readonly help: string;
}

/** One start of an agent: a home of its own, a folder to work in, and the port of the model server. */
export interface Ground {
  /** of the agent */
  readonly version: string;
  readonly home: string;
  readonly project: string;
  readonly port: number;
  readonly isVim: boolean;
}

/** An agent that can be tried. Where its arguments, variables and files come from: facts/<name>.md §1. */
export interface TriedAgent {
  readonly name: string;
  readonly args: (installed: Installed) => readonly string[];
  readonly env: (ground: Ground) => Readonly<Record<string, string>>;
  /** files to write before the start, by their paths in the home */
  readonly files: (ground: Ground) => Readonly<Record<string, string>>;
  /** its own command that compacts, as a user types it, and as ctxwrap does: the text and the key that submits it */
  readonly compact: string;
  readonly strokes: readonly [string, string];
  /** the screen when it can be typed to for the first time */
  readonly ready: RegExp;
  /** a tool has asked for permission */
  readonly dialog: RegExp;
  /** questions for a summary in one compaction, one after the other */
  readonly summaries: number;
  /** its own command that ends it, as a user types it */
  readonly exit: string;
  /** of the model that it is started with, in tokens */
  readonly windowTokens: number;
  /** tokens that count as none in its percentage, of the window and of what is used; 0 when absent */
  readonly freeTokens?: number;
}

export const ENTER = '\r';
export const ESC = '\x1b';
export const BACKSPACE = '\x7f';
