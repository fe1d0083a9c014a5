import { makeQueryQueue, type QueryQueue } from './query-queue.js';

/*
 * Tracks the modes, keyboard flags and OSC settings that the child has set in the terminal, so that they can be undone.
 *
 * First, operating system commands (OSC) with a lasting effect: titles, hyperlinks, progress bars, agent states, colours (xterm ctlseqs;
 * OSC 8, 9;4 and 7501 as in facts/).
 */

const STRING_END = '\x1b\\';
const NO_LINK = `\x1b]8;;${STRING_END}`;

// Dynamic colours that OSC 10–19 set and 110–119 reset; 4 and 104 are the palette (xterm ctlseqs).
const colourReset = (number: number): string | undefined => {
  if (number === 4) return `\x1b]104${STRING_END}`;
  return number >= 10 && number <= 19 ? `\x1b]${number + 100}${STRING_END}` : undefined;
};

/** An operating system command: its bytes as Latin-1, only the first ones of a long command; `isComplete`: `text` is all of it. */
export interface PersistentCommand {
  readonly text: string;
  readonly isComplete: boolean;
}

const NOT_REPEATABLE = '\0'; // cannot occur in the text of a command

/** True for text without control characters, which is safe to send to the terminal inside a string. */
export const isControlFree = (text: string): boolean => !/[\x00-\x1f\x7f-\x9f]/.test(text);

/** OSC 8: parameters and address as characters, if they are complete and can be sent again byte for byte. */
const linkCommand = (rest: string, isComplete: boolean): readonly [string, string] | undefined => {
  if (!isComplete) return ['link', NOT_REPEATABLE];
  const beforeAddress = rest.indexOf(';');
  if (beforeAddress < 0) return undefined;
  if (beforeAddress === rest.length - 1) return ['link', '']; // without an address it closes the open link
  const bytes = Buffer.from(rest, 'latin1');
  const text = bytes.toString();
  return ['link', isControlFree(text) && Buffer.from(text).equals(bytes) ? text : NOT_REPEATABLE];
};

/** Name and value of the lasting effect ('' = ended), or undefined for a command without one. */
const persistentEffect = ({ text, isComplete }: PersistentCommand): readonly [string, string] | undefined => {
  const [, digits = '', rest = ''] = /^(\d+);?([^]*)$/.exec(text) ?? [];
  const code = digits === '' ? -1 : Number(digits);
  if (code >= 0 && code <= 2) return ['title', rest];
  if (code === 8) return linkCommand(rest, isComplete);
  if (code === 9 && rest.startsWith('4;')) return ['progress', rest.startsWith('4;0') ? '' : rest];
  if (code === 7501 && rest === '?') return undefined;
  if (code === 7501) return ['agent', rest.includes('state=clear') ? '' : rest];
  if (code === 104 || code === 4) return ['4', code === 4 && !rest.endsWith('?') ? rest : ''];
  if (code >= 10 && code <= 19) return rest === '?' ? undefined : [`${code}`, rest];
  return code >= 110 && code <= 119 ? [`${code - 100}`, ''] : undefined;
};

/** Sequences that close the open hyperlink before the wrapper draws, and open it again. Empty if no link is open. */
export interface LinkSequences {
  readonly close: string;
  readonly reopen: string;
}

/** `text` as `persistentEffect` returns it. A link that cannot be repeated stays closed. */
const linkSequences = (text: string | undefined): LinkSequences => {
  if (text === undefined) return { close: '', reopen: '' };
  return { close: NO_LINK, reopen: text === NOT_REPEATABLE ? '' : `\x1b]8;${text}${STRING_END}` };
};

/** OSC 10 to 11: each further value is for the colour with the next number (xterm ctlseqs), so `10;?;?` asks for the background, too. */
const asksBackground = (text: string): boolean => {
  if (!text.includes('?')) return false;
  const [digits = '', ...values] = text.split(';', 3);
  const code = /^\d+$/.test(digits) ? Number(digits) : undefined; // `011`, too
  return (code === 10 || code === 11) && values[11 - code] === '?';
};

const undoSequence = (name: string, text: string, hasDied: boolean): string => {
  if (name === 'link') return NO_LINK;
  if (name === 'progress') return `\x1b]9;4;0${STRING_END}`;
  if (name === 'title') return hasDied ? `\x1b]0;${STRING_END}` : '';
  if (name === 'agent')
    return hasDied ? `\x1b]7501;state=clear${/:app=[\w.-]+/.exec(text)?.[0] ?? ''}${STRING_END}` : '';
  return colourReset(Number.parseInt(name, 10)) ?? '';
};

/** Sequences in two parts, because the keyboard stack must be restored before the screen buffer is switched (docs/facts/terminals.md#reset). */
export interface ModeRestore {
  readonly inBuffer: string;
  readonly modes: string;
  /** a mode was still on: the child did not clean up */
  readonly isDirty: boolean;
}

// DEC private modes that are on in a fresh terminal: autorepeat, autowrap, cursor
const onByDefault = new Set([7, 8, 25]);
export const SYNCHRONIZED = 2026;
export const CURSOR = 25;
/** To send first when the last frame's modes may not have been tracked: ends the frame and shows the cursor. */
export const endOfFrame = `\x1b[?${SYNCHRONIZED}l\x1b[?${CURSOR}h`;

/** Everything that differs from a fresh terminal. The mode tracker changes it in place. */
export interface ModeState {
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

const defaultModes = (): ModeState => ({
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

const modesRestore = ({ modes }: ModeState): string =>
  [...modes]
    .filter(([mode, on]) => mode !== SYNCHRONIZED && on !== onByDefault.has(mode))
    .map(([mode, on]) => (on ? `\x1b[?${mode}l` : onByDefault.has(mode) ? `\x1b[?${mode}h` : ''))
    .join('');

const keysRestore = (state: ModeState): string =>
  [...state.modifiedKeys.keys()].map((resource) => `\x1b[>${resource}m`).join('') +
  (state.keyboardFlags === 0 ? '' : '\x1b[=0;1u');

/** Sets the child's modes again: a child that was not notified of a suspend expects them unchanged. */
const reapplySequence = (state: ModeState, alternate: boolean): string => {
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

const restoreSequences = (state: ModeState, hasDied: boolean): ModeRestore => {
  const commands = [...state.commands].map(([name, text]) => undoSequence(name, text, hasDied)).join('');
  const ansi = [...state.ansi].map((mode) => `\x1b[${mode}l`).join('');
  const keypad = state.keypad ? '\x1b>' : '';
  const style = state.cursorStyle !== 0 ? '\x1b[0 q' : '';
  const modes = modesRestore(state);
  const synchronized = state.modes.get(SYNCHRONIZED) === true ? `\x1b[?${SYNCHRONIZED}l` : '';
  const popped = state.stack.alternate.length > 0 ? `\x1b[<${state.stack.alternate.length}u` : '';
  const main = state.stack.main.length > 0 ? `\x1b[<${state.stack.main.length}u` : '';
  const keys = keysRestore(state);
  const isDirty = synchronized + popped + main + keys + modes + keypad !== '';
  return {
    inBuffer: synchronized + popped,
    modes: main + keys + modes + ansi + keypad + style + commands,
    isDirty,
  };
};

/**
 * The modes that the child has turned on and not off again. After a child that dies without cleaning up, the wrapper uses them to leave
 * the terminal as the user's shell needs it. The filter calls the setters.
 */
export interface ModeTracker {
  setPrivateMode: (mode: number, on: boolean) => void;
  setAnsiMode: (mode: number, on: boolean) => void;
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
  /** a complete operating system command */
  trackCommand: (command: PersistentCommand) => void;
  /** `softly`: DECSTR; otherwise RIS */
  reset: (softly: boolean) => void;
  isModeSet: (mode: number) => boolean;
  /** the child has set it at some time, perhaps not now: reports from then may still come */
  wasModeSet: (mode: number) => boolean;
  /** a copy of `isModeSet` with the present values */
  copyModes: () => (mode: number) => boolean;
  /** flags of the kitty keyboard protocol in this screen buffer */
  currentKeyboardFlags: (alternate: boolean) => number;
  /** DECSCUSR; 0 = the user's own */
  currentCursorStyle: () => number;
  /** open queries, to tell whose the terminal's next answer is */
  readonly queries: QueryQueue;
  /** sequences to interrupt the open hyperlink (OSC 8), if there is one */
  linkSequences: () => LinkSequences;
  /** true if the result of `restore` has changed since the last call, apart from modes that change with each frame */
  takeChanged: () => boolean;
  /** turns everything on again, after a suspend during which the shell used the terminal */
  reapply: (alternate: boolean) => string;
  /** turns everything off; `hasDied`: clears the title and agent state too */
  restore: (hasDied: boolean) => ModeRestore;
}

// Not tracked: the caller switches the buffer back; the others have no state of their own or are a user preference (meta keys).
const untrackedModes = new Set([2, 3, 40, 47, 1034, 1035, 1036, 1037, 1039, 1047, 1048, 1049]);
const switchesBuffer = new Set([47, 1047, 1049]);
// Programs switch these with each frame, so a change of them alone is not reported; restoring always resets them.
const frameModes = new Set([SYNCHRONIZED, CURSOR]);

const trackedAnsiModes = new Set([2, 4, 20]); // KAM, IRM, LNM

const MAX_PUSHES = 99;
const MAX_MODES = 256; // no terminal knows as many

type KeyboardRecorder = Pick<
  ModeTracker,
  'pushKeyboard' | 'popKeyboard' | 'keyboardFlags' | 'modifyKeys' | 'cursorStyle' | 'keypad'
>;

/** Setters for keyboard protocols and cursor style. `change` applies a change to the state and marks it as changed. */
const keyboardRecorder = (change: (apply: (state: ModeState) => void) => void): KeyboardRecorder => ({
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

const recordMode = (state: ModeState, mode: number, on: boolean): void => {
  state.changed ||= switchesBuffer.has(mode);
  if (untrackedModes.has(mode) || state.modes.get(mode) === on) return;
  if (state.modes.size >= MAX_MODES && !state.modes.has(mode)) return;
  state.modes.set(mode, on);
  state.changed ||= !frameModes.has(mode);
};

const recordCommand = (state: ModeState, command: PersistentCommand): void => {
  const effect = persistentEffect(command);
  if (!effect) return;
  const [name, value] = effect;
  state.changed ||= state.commands.has(name) !== (value !== '');
  if (value === '') state.commands.delete(name);
  else state.commands.set(name, value);
};

/** DECSTR resets the modes of DEC's terminals and keeps those that xterm and others have added. */
const resetModes = (before: ModeState, softly: boolean): ModeState =>
  softly
    ? { ...before, modes: new Map([...before.modes].filter(([mode]) => mode > 99)), changed: true }
    : defaultModes();

export const makeModeTracker = (): ModeTracker => {
  let state = defaultModes();
  const change = (apply: (state: ModeState) => void): void => {
    apply(state);
    state.changed = true;
  };
  const queries = makeQueryQueue();
  return {
    ...keyboardRecorder(change),
    queries,
    setPrivateMode: (mode, on) => recordMode(state, mode, on),
    setAnsiMode: (mode, on) => {
      if (trackedAnsiModes.has(mode)) change(({ ansi }) => (on ? ansi.add(mode) : ansi.delete(mode)));
    },
    trackCommand: (command) => {
      if (asksBackground(command.text)) queries.addChild('background');
      recordCommand(state, command);
    },
    reset: (softly) => {
      state = resetModes(state, softly);
    },
    isModeSet: (mode) => state.modes.get(mode) ?? onByDefault.has(mode),
    wasModeSet: (mode) => state.modes.has(mode),
    copyModes: () => {
      const modes = new Map(state.modes);
      return (mode) => modes.get(mode) ?? onByDefault.has(mode);
    },
    currentKeyboardFlags: (alternate) =>
      state.stack[alternate ? 'alternate' : 'main'].at(-1) ?? state.keyboardFlags,
    currentCursorStyle: () => state.cursorStyle,
    linkSequences: () => linkSequences(state.commands.get('link')),
    takeChanged: () => {
      const { changed } = state;
      state.changed = false;
      return changed;
    },
    reapply: (alternate) => reapplySequence(state, alternate),
    restore: (hasDied) => restoreSequences(state, hasDied),
  };
};
