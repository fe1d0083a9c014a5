import type { DirectAction } from '../core/overview-keys.js';
import type { InputElement } from '../core/terminal-input.js';
import type { ChildEnd } from '../terminal/pty.js';

type Bytes = { readonly bytes: Uint8Array };
type Elements = { readonly elements: readonly InputElement[] };

/**
 * What happens between terminal and child, as the parts of the main thread emit it; route.ts says who reacts, and in which order. The worker
 * gets what it means for the session: an `Event`.
 */
export type TerminalEvent =
  /** the child has written */
  | ({ readonly type: 'child-output' } & Bytes)
  /** a piece of the child's output is filtered, written and recorded; a failure in what follows is logged, and means `failure` */
  | ({ readonly type: 'output-written' } & Bytes)
  /** that piece has left the cursor where only the terminal knows; the next ones may have to wait */
  | { readonly type: 'cursor-unsure' }
  /** the child has read everything queued */
  | { readonly type: 'child-drained' }
  /** the child has just ended; its last output may still follow */
  | { readonly type: 'child-gone' }
  /** after the last byte of its output */
  | { readonly type: 'child-ended'; readonly end: ChildEnd }

  /** the terminal has sent the user's keys, or an answer */
  | ({ readonly type: 'input' } & Bytes)
  /** this was sent to the child: keys, and answers of the terminal; not ctxwrap's own keys, and not all of the plain text */
  | ({ readonly type: 'input-forwarded' } & Elements)
  /** what was sent includes Enter; comes before `input-forwarded` */
  | { readonly type: 'entered' }
  /** what was sent includes a key of the user, or the hotkey was pressed; comes after `input-forwarded` */
  | { readonly type: 'typed' }
  /** Escape was pressed while a countdown is shown */
  | { readonly type: 'not-now' }
  /** Enter was pressed at hard, and is held back until the footer has asked */
  | { readonly type: 'enter-held' }
  /** the hotkey was pressed, and there is no overview to open */
  | { readonly type: 'hotkey-unused' }
  /** the hotkey was followed by the key of this action */
  | { readonly type: 'direct-action'; readonly action: DirectAction }

  /** the terminal has accepted everything written to it */
  | { readonly type: 'terminal-drained' }
  /** an answer has told the terminal's background */
  | { readonly type: 'background-known' }
  /** the terminal's first cursor report has come after its timeout, so long after the question */
  | { readonly type: 'cursor-late'; readonly afterMs: number }
  /** an answer to the child that the terminal has not given */
  | ({ readonly type: 'answer-made' } & Elements)
  /** no more reads or writes */
  | { readonly type: 'terminal-gone' }

  /** SIGWINCH */
  | { readonly type: 'size-changed' }
  /** neither footer nor overview may cover the child's screen until `resized` */
  | { readonly type: 'resizing' }
  | { readonly type: 'resized' }

  /** SIGTSTP */
  | { readonly type: 'suspend-asked' }
  /** SIGCHLD: a process of ctxwrap's has stopped or ended */
  | { readonly type: 'process-changed' }
  /** neither footer nor overview may cover the child's screen from here on */
  | { readonly type: 'suspending' }
  /** ctxwrap has the terminal again: the cursor position and the size have to be read anew */
  | { readonly type: 'resumed' }
  /** a signal that is the child's, too */
  | { readonly type: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly type: 'overview-opened' }
  /** the user has pressed a key in it; comes before the overview acts on it */
  | { readonly type: 'overview-key' }
  | { readonly type: 'overview-closed' }
  /** a key in the overview closes it */
  | { readonly type: 'overview-left' }
  /** the child's screen is visible again, without the footer */
  | { readonly type: 'uncovered' }
  /** the hint at the overview has changed */
  | { readonly type: 'hint-changed' }

  /** what is between child and terminal has failed */
  | { readonly type: 'failure' }
  /** something has failed that nobody has guarded */
  | { readonly type: 'uncaught-error'; readonly error: unknown };

/** Has the parts of the session react to an event, before it returns. */
export type Emit = (event: TerminalEvent) => void;
