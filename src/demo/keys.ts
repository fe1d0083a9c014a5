import {
  CONTROL,
  splitElements,
  flushElements,
  parseKey,
  readElements,
  type InputElement,
  type InputRead,
  type InputState,
} from '../core/terminal-input.js';

// Converts terminal input to the keys that the demo agent knows.

/** A key the agent knows; `text` is typed or pasted text. */
export type Key =
  | { readonly name: 'text'; readonly text: string }
  | { readonly name: (typeof keyNames)[number] };

const keyNames = ['enter', 'backspace', 'escape', 'up', 'down', 'ctrl-c', 'ctrl-d', 'ctrl-u'] as const;

export interface KeyRead {
  readonly keys: readonly Key[];
  readonly state: InputState;
}

/** An ESC byte that nothing follows within this time was the Escape key. */
export const escapeWaitMs = 50;

/** Reads keys; sequences may be split anywhere. */
export const readKeys = (state: InputState, bytes: string): KeyRead => keysOf(readElements(state, bytes));

/** The keys of an unfinished sequence when nothing has followed it. */
export const flushKeys = (state: InputState): KeyRead => keysOf(flushElements(state));

const keysOf = ({ elements, state }: InputRead): KeyRead => ({ keys: elements.flatMap(keyIn), state });

// replies of the terminal, mouse and focus reports and unknown keys are ignored
const keyIn = ({ kind, text }: InputElement): readonly Key[] => {
  if (kind === 'text') return [{ name: 'text', text }];
  if (kind === 'paste') return [{ name: 'text', text: text.replaceAll(/[\x00-\x1f\x7f]+/g, ' ') }];
  if (kind !== 'key') return [];
  if (/^\x1b[^\x1b]$/.test(text)) return [{ name: 'escape' }, ...splitElements(text.slice(1)).flatMap(keyIn)]; // Alt is not supported
  const { name, modifiers, isRelease } = parseKey(text);
  const written =
    text === '\n' ? 'enter' : text === '\b' ? 'backspace' : modifiers === CONTROL ? `ctrl-${name}` : name;
  const known =
    isRelease || (modifiers & ~CONTROL) !== 0 ? undefined : keyNames.find((each) => each === written);
  return known === undefined ? [] : [{ name: known }];
};
