import { commandOf, linkPause, type LastingCommand, type LinkPause } from './lasting-commands.js';
import { CURSOR, nothingOn, onByDefault, reapplySequence, restoreOf, SYNCHRONIZED } from './left-on.js';
import type { LedgerRestore, LeftOn } from './left-on.js';
import { makeQuestions, type Questions } from './questions.js';

/**
 * The modes that the child has turned on and not off again, so that a child that dies without cleaning up leaves the terminal as
 * the user's shell needs it. One value changed in place; the filter reports to it.
 */
export interface Ledger {
  privateMode: (mode: number, on: boolean) => void;
  ansiMode: (mode: number, on: boolean) => void;
  /** kitty keyboard protocol, `CSI > flags u`; each screen buffer has its own stack */
  pushKeyboard: (flags: number, alternate: boolean) => void;
  /** `CSI < n u` */
  popKeyboard: (count: number, alternate: boolean) => void;
  /** `CSI = flags ; mode u` */
  keyboardFlags: (flags: number) => void;
  /** XTMODKEYS `CSI > resource ; value m` */
  modifyKeys: (resource: number, value: number) => void;
  cursorStyle: (style: number) => void;
  keypad: (application: boolean) => void;
  /** an operating system command that has come to its end */
  command: (command: LastingCommand) => void;
  /** `softly`: DECSTR; else RIS */
  reset: (softly: boolean) => void;
  isSet: (mode: number) => boolean;
  /** `isSet` as it is now, for later */
  modesNow: () => (mode: number) => boolean;
  /** flags of the kitty keyboard protocol in this buffer */
  keyboardNow: (alternate: boolean) => number;
  /** DECSCUSR; 0 = the user's own */
  cursorStyleNow: () => number;
  /** whose the terminal's next answers are */
  readonly questions: Questions;
  /** how to interrupt the hyperlink (OSC 8) that is open, if one is */
  linkPause: () => LinkPause;
  /** true if what `restore` sends has changed since the last call, frames aside */
  takeChanged: () => boolean;
  /** turns everything on again, after a stop during which the shell had the terminal */
  reapply: (alternate: boolean) => string;
  /** what to send so that nothing stays on; `died`: the title and agent state are cleared too */
  restore: (died: boolean) => LedgerRestore;
}

// Switching these back is the caller's business (buffer), or they have no state of their own, or a user preference (meta keys).
const notCounted = new Set([2, 3, 40, 47, 1034, 1035, 1036, 1037, 1039, 1047, 1048, 1049]);
const switchesBuffer = new Set([47, 1047, 1049]);
// Programs switch these with every frame: who restores without being told switches them back in any case.
const everyFrame = new Set([SYNCHRONIZED, CURSOR]);

const ansiCounted = new Set([2, 4, 20]); // KAM, IRM, LNM

const MAX_PUSHES = 99;
const MAX_MODES = 256; // no terminal knows as many

type KeyboardRecorder = Pick<
  Ledger,
  'pushKeyboard' | 'popKeyboard' | 'keyboardFlags' | 'modifyKeys' | 'cursorStyle' | 'keypad'
>;

/** Keyboard protocols and the cursor's style. `change` applies something to the state and remembers that it has changed. */
const keyboardRecorder = (change: (apply: (state: LeftOn) => void) => void): KeyboardRecorder => ({
  pushKeyboard: (flags, alternate) => {
    const buffer = alternate ? 'alternate' : 'main';
    change(({ stack }) => (stack[buffer] = [...stack[buffer], flags].slice(-MAX_PUSHES)));
  },
  popKeyboard: (count, alternate) => {
    const buffer = alternate ? 'alternate' : 'main';
    change(({ stack }) => (stack[buffer] = stack[buffer].slice(0, -count)));
  },
  keyboardFlags: (flags) => change((state) => (state.keyboardFlags = flags)),
  modifyKeys: (resource, value) =>
    change(({ modifiedKeys }) =>
      value === 0 ? modifiedKeys.delete(resource) : modifiedKeys.set(resource, value),
    ),
  cursorStyle: (style) => change((state) => (state.cursorStyle = style)),
  keypad: (application) => change((state) => (state.keypad = application)),
});

const recordMode = (state: LeftOn, mode: number, on: boolean): void => {
  state.changed ||= switchesBuffer.has(mode);
  if (notCounted.has(mode) || state.modes.get(mode) === on) return;
  if (state.modes.size >= MAX_MODES && !state.modes.has(mode)) return;
  state.modes.set(mode, on);
  state.changed ||= !everyFrame.has(mode);
};

const recordCommand = (state: LeftOn, command: LastingCommand): void => {
  const lasting = commandOf(command);
  if (!lasting) return;
  const [name, value] = lasting;
  state.changed ||= state.commands.has(name) !== (value !== '');
  if (value === '') state.commands.delete(name);
  else state.commands.set(name, value);
};

/** DECSTR resets what DEC's terminals know, and leaves the modes that xterm and others have added. */
const afterReset = (before: LeftOn, softly: boolean): LeftOn =>
  softly
    ? { ...before, modes: new Map([...before.modes].filter(([mode]) => mode > 99)), changed: true }
    : nothingOn();

export const makeLedger = (): Ledger => {
  let state = nothingOn();
  const change = (apply: (state: LeftOn) => void): void => {
    apply(state);
    state.changed = true;
  };
  return {
    ...keyboardRecorder(change),
    questions: makeQuestions(),
    privateMode: (mode, on) => recordMode(state, mode, on),
    ansiMode: (mode, on) => {
      if (ansiCounted.has(mode)) change(({ ansi }) => (on ? ansi.add(mode) : ansi.delete(mode)));
    },
    command: (command) => recordCommand(state, command),
    reset: (softly) => {
      state = afterReset(state, softly);
    },
    isSet: (mode) => state.modes.get(mode) ?? onByDefault.has(mode),
    modesNow: () => {
      const modes = new Map(state.modes);
      return (mode) => modes.get(mode) ?? onByDefault.has(mode);
    },
    keyboardNow: (alternate) => state.stack[alternate ? 'alternate' : 'main'].at(-1) ?? state.keyboardFlags,
    cursorStyleNow: () => state.cursorStyle,
    linkPause: () => linkPause(state.commands.get('link')),
    takeChanged: () => {
      const { changed } = state;
      state.changed = false;
      return changed;
    },
    reapply: (alternate) => reapplySequence(state, alternate),
    restore: (died) => restoreOf(state, died),
  };
};
