import { commandOf, commandRestore } from './lasting-commands.js';
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
  /** an operating system command, its first bytes */
  command: (text: string) => void;
  /** `softly`: DECSTR; else RIS */
  reset: (softly: boolean) => void;
  isSet: (mode: number) => boolean;
  /** whose the terminal's next answers are */
  readonly questions: Questions;
  /** parameters and address of the hyperlink (OSC 8) that is open, if one is */
  link: () => string | undefined;
  /** true if what `restore` sends has changed since the last call, frames aside */
  takeChanged: () => boolean;
  /** turns everything on again, after a stop during which the shell had the terminal */
  reapply: (alternate: boolean) => string;
  /** what to send so that nothing stays on; `died`: the title and agent state are cleared too */
  restore: (died: boolean) => LedgerRestore;
}

/** Sequences in three parts, because the keyboard stack and the screen buffer have an order (facts/terminals.md §4). */
export interface LedgerRestore {
  readonly inBuffer: string;
  readonly modes: string;
  /** something was still on: the child did not clean up */
  readonly dirty: boolean;
}

// DEC private modes that are on in a fresh terminal: autorepeat, autowrap, cursor
const onByDefault = new Set([7, 8, 25]);
// Switching these back is the caller's business (buffer), or they have no state of their own, or a user preference (meta keys).
const notCounted = new Set([2, 3, 40, 47, 1034, 1035, 1036, 1037, 1039, 1047, 1048, 1049]);
const switchesBuffer = new Set([47, 1047, 1049]);
const SYNCHRONIZED = 2026;
const CURSOR = 25;
// Programs switch these with every frame: who restores without being told switches them back in any case.
const everyFrame = new Set([SYNCHRONIZED, CURSOR]);

/** What to send first when nobody could be told of the last change. */
export const endOfFrame = `\x1b[?${SYNCHRONIZED}l\x1b[?${CURSOR}h`;
const ansiCounted = new Set([2, 4, 20]); // KAM, IRM, LNM

interface State {
  modes: Map<number, boolean>;
  ansi: Set<number>;
  stack: { main: readonly number[]; alternate: readonly number[] };
  keyboardFlags: number;
  modifiedKeys: Map<number, number>;
  cursorStyle: number;
  keypad: boolean;
  commands: Map<string, string>;
  changed: boolean;
}

const emptyState = (): State => ({
  modes: new Map(),
  ansi: new Set(),
  stack: { main: [], alternate: [] },
  keyboardFlags: 0,
  modifiedKeys: new Map(),
  cursorStyle: 0,
  keypad: false,
  commands: new Map(),
  changed: true,
});

const modesRestore = ({ modes }: State): string =>
  [...modes]
    .filter(([mode, on]) => mode !== SYNCHRONIZED && on !== onByDefault.has(mode))
    .map(([mode, on]) => (on ? `\x1b[?${mode}l` : onByDefault.has(mode) ? `\x1b[?${mode}h` : ''))
    .join('');

const keysRestore = (state: State): string =>
  [...state.modifiedKeys.keys()].map((resource) => `\x1b[>${resource}m`).join('') +
  (state.keyboardFlags === 0 ? '' : '\x1b[=0;1u');

const MAX_PUSHES = 99;

/** A child that is not told of a stop expects its modes to be as it left them. */
const reapplied = (state: State, alternate: boolean): string => {
  const modes = [...state.modes].filter(
    ([mode, on]) => mode !== SYNCHRONIZED && on !== onByDefault.has(mode),
  );
  const keys = [...state.modifiedKeys].map(([resource, value]) => `\x1b[>${resource};${value}m`).join('');
  const flags = state.keyboardFlags === 0 ? '' : `\x1b[=${state.keyboardFlags};1u`;
  return [
    ...state.stack[alternate ? 'alternate' : 'main'].map((pushed) => `\x1b[>${pushed}u`),
    flags + keys,
    ...modes.map(([mode, on]) => `\x1b[?${mode}${on ? 'h' : 'l'}`),
    ...[...state.ansi].map((mode) => `\x1b[${mode}h`),
    state.keypad ? '\x1b=' : '',
    state.cursorStyle === 0 ? '' : `\x1b[${state.cursorStyle} q`,
  ].join('');
};

const restoreOf = (state: State, died: boolean): LedgerRestore => {
  const commands = [...state.commands].map(([name, text]) => commandRestore(name, text, died)).join('');
  const ansi = [...state.ansi].map((mode) => `\x1b[${mode}l`).join('');
  const keypad = state.keypad ? '\x1b>' : '';
  const style = state.cursorStyle !== 0 ? '\x1b[0 q' : '';
  const modes = modesRestore(state);
  const synchronized = state.modes.get(SYNCHRONIZED) === true ? `\x1b[?${SYNCHRONIZED}l` : '';
  const popped = state.stack.alternate.length > 0 ? `\x1b[<${state.stack.alternate.length}u` : '';
  const main = state.stack.main.length > 0 ? `\x1b[<${state.stack.main.length}u` : '';
  const keys = keysRestore(state);
  const dirty = synchronized + popped + main + keys + modes + keypad !== '';
  return {
    inBuffer: synchronized + popped,
    modes: main + keys + modes + ansi + keypad + style + commands,
    dirty,
  };
};

type KeyboardRecorder = Pick<
  Ledger,
  'pushKeyboard' | 'popKeyboard' | 'keyboardFlags' | 'modifyKeys' | 'cursorStyle' | 'keypad'
>;

/** Keyboard protocols and the cursor's style. `change` applies something to the state and remembers that it has changed. */
const keyboardRecorder = (change: (apply: (state: State) => void) => void): KeyboardRecorder => ({
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

const recordMode = (state: State, mode: number, on: boolean): void => {
  state.changed ||= switchesBuffer.has(mode);
  if (notCounted.has(mode) || state.modes.get(mode) === on) return;
  state.modes.set(mode, on);
  state.changed ||= !everyFrame.has(mode);
};

const recordCommand = (state: State, text: string): void => {
  const command = commandOf(text);
  if (!command) return;
  const [name, value] = command;
  state.changed ||= state.commands.has(name) !== (value !== '');
  if (value === '') state.commands.delete(name);
  else state.commands.set(name, value);
};

/** DECSTR resets what DEC's terminals know, and leaves the modes that xterm and others have added. */
const afterReset = (before: State, softly: boolean): State =>
  softly
    ? { ...before, modes: new Map([...before.modes].filter(([mode]) => mode > 99)), changed: true }
    : emptyState();

export const makeLedger = (): Ledger => {
  let state = emptyState();
  const change = (apply: (state: State) => void): void => {
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
    command: (text) => recordCommand(state, text),
    reset: (softly) => {
      state = afterReset(state, softly);
    },
    isSet: (mode) => state.modes.get(mode) ?? onByDefault.has(mode),
    link: () => state.commands.get('link'),
    takeChanged: () => {
      const { changed } = state;
      state.changed = false;
      return changed;
    },
    reapply: (alternate) => reapplied(state, alternate),
    restore: (died) => restoreOf(state, died),
  };
};
