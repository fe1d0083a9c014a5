import { badValue } from './messages.js';

/** Ctrl-], which no agent and no shell uses. */
export const defaultHotkey = 0x1d;

// A wrapper that swallows one of these would leave the user without it.
const taken: Readonly<Record<string, string>> = {
  C: 'interrupts the agent',
  D: 'ends the input',
  H: 'is Backspace',
  I: 'is Tab',
  J: 'is a line feed',
  M: 'is Enter',
  Z: 'suspends the agent',
  '[': 'is Escape',
};

/** The control byte of a key as people write it: `Ctrl-]`, `ctrl+g`, `C-g`, `^G`. */
export const parseHotkey = (text: string): number | 'none' => {
  if (text.toLowerCase() === 'none') return 'none';
  const key = /^(?:ctrl[-+]|c-|\^)([a-z@[\\\]^_])$/i.exec(text)?.[1]?.toUpperCase();
  if (key === undefined) {
    throw badValue('--hotkey', 'Ctrl with a letter or one of @ \\ ] ^ _, or none', text, 'Ctrl-]');
  }
  const reason = taken[key];
  if (reason !== undefined) {
    throw badValue('--hotkey', `a key the agent can do without (Ctrl-${key} ${reason})`, text, 'Ctrl-]');
  }
  return key.charCodeAt(0) & 0x1f;
};
