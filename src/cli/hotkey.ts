import { readControlKey } from '../core/control-key.js';
import type { ControlKey } from '../core/control-key.js';
import { badValue } from './messages.js';

/** The control byte of a key as people write it: `Ctrl-]`, `ctrl+g`, `C-g`, `^G`. */
export const parseHotkey = (text: string): ControlKey => {
  const key = readControlKey(text);
  if (typeof key === 'object') throw badValue('--hotkey', key.rule, text, 'Ctrl-]');
  return key;
};
