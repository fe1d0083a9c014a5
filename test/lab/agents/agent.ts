// What the lab has to know of an agent beyond what it takes to try it: where it comes from, and how a user gets about in it.
import type { TriedAgent } from '../../../src/verify/agents.js';

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

export interface LabAgent extends TriedAgent {
  /** the one that is installed when no other is named */
  readonly version: string;
  /** what npm installs in this version */
  readonly npmName: string;
  /** its own command that begins another conversation */
  readonly clear: string;
  /** tokens at which it compacts by itself when the next turn begins */
  readonly ownTrigger: number;
  /** some version of it reports its state to its terminal (OSC 7501) */
  readonly tellsState: boolean;
  /** the key that leads into vim's insert mode, and what shows it, for an agent that does not start there */
  readonly vimStart?: { readonly key: string; readonly shows: RegExp };
  /** Esc stops a compaction that is under way */
  readonly canInterrupt: boolean;
  /** ctxwrap types the command during a turn where the user wants that, and the agent runs it behind the turn */
  readonly canQueue: boolean;
  /** its prompt, for an agent of which some version has none while it compacts, and takes no key then, with ctxwrap or without */
  readonly goingPrompt?: RegExp;
  /** the key that puts a draft aside */
  readonly stash?: string;
  readonly places: Readonly<Partial<Record<PlaceName, Place>>>;
}

export { BACKSPACE, ENTER, ESC } from '../../../src/verify/agents.js';
const CTRL_MASK = 0x1f;

export const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) & CTRL_MASK);
