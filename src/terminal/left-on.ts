import { commandRestore } from './lasting-commands.js';

/** Sequences in three parts, because the keyboard stack and the screen buffer have an order (facts/terminals.md §4). */
export interface LedgerRestore {
  readonly inBuffer: string;
  readonly modes: string;
  /** something was still on: the child did not clean up */
  readonly dirty: boolean;
}

// DEC private modes that are on in a fresh terminal: autorepeat, autowrap, cursor
export const onByDefault = new Set([7, 8, 25]);
export const SYNCHRONIZED = 2026;
export const CURSOR = 25;
/** What to send first when nobody could be told of the last change. */
export const endOfFrame = `\x1b[?${SYNCHRONIZED}l\x1b[?${CURSOR}h`;

/** Everything that is on now and was not in a fresh terminal. Changed in place by the ledger. */
export interface LeftOn {
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

export const nothingOn = (): LeftOn => ({
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

const modesRestore = ({ modes }: LeftOn): string =>
  [...modes]
    .filter(([mode, on]) => mode !== SYNCHRONIZED && on !== onByDefault.has(mode))
    .map(([mode, on]) => (on ? `\x1b[?${mode}l` : onByDefault.has(mode) ? `\x1b[?${mode}h` : ''))
    .join('');

const keysRestore = (state: LeftOn): string =>
  [...state.modifiedKeys.keys()].map((resource) => `\x1b[>${resource}m`).join('') +
  (state.keyboardFlags === 0 ? '' : '\x1b[=0;1u');

/** A child that is not told of a stop expects its modes to be as it left them. */
export const reapplySequence = (state: LeftOn, alternate: boolean): string => {
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

export const restoreOf = (state: LeftOn, died: boolean): LedgerRestore => {
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
