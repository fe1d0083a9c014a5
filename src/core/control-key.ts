// A key that the user presses for us, as people write it and as a terminal sends it.

/** A control byte, or no key at all. */
export type ControlKey = number | 'none';

/** Ctrl-], which no agent and no shell uses. */
export const defaultHotkey = 0x1d;

/** What can stand for it: `Ctrl-]`, `ctrl+g`, `C-g`, `^G`. */
const controlKeyForms = 'Ctrl with a letter or one of @ \\ ] ^ _, or none';

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

/** The control byte of a key, or what a key must be to be one. */
export const readControlKey = (text: string): ControlKey | { readonly rule: string } => {
  if (text.toLowerCase() === 'none') return 'none';
  const key = /^(?:ctrl[-+]|c-|\^)([a-z@[\\\]^_])$/i.exec(text)?.[1]?.toUpperCase();
  if (key === undefined) return { rule: controlKeyForms };
  const reason = taken[key];
  if (reason !== undefined) return { rule: `a key the agent can do without (Ctrl-${key} ${reason})` };
  return key.charCodeAt(0) & 0x1f;
};

/** As people write it. */
export const controlKeyName = (key: ControlKey): string =>
  key === 'none' ? key : `Ctrl-${String.fromCharCode(key | 0x40)}`;
