import { describe, expect, it } from 'vitest';
import { startInput } from '../../src/core/terminal-input.js';
import { flushKeys, readKeys, type Key } from '../../src/demo/keys.js';

const typed = 'hé日\x1b[A\x1bOB\x7f\x1b[200~a\rb\x1b[201~\x1b[?1;2c\x1b]11;rgb:0/0/0\x07\x1b[<0;3;4M\r';
const names: readonly Key[] = [
  { name: 'text', text: 'hé日' },
  { name: 'up' },
  { name: 'down' },
  { name: 'backspace' },
  { name: 'text', text: 'a b' }, // a line break in a paste does not submit
  { name: 'enter' },
];

describe('keys', () => {
  it('are read from bytes; replies and reports of the terminal are not keys', () => {
    expect(readKeys(startInput, typed)).toEqual({ keys: names, state: startInput });
  });

  it('are the same however the bytes are split', () => {
    for (let at = 0; at <= typed.length; at += 1) {
      const first = readKeys(startInput, typed.slice(0, at));
      const second = readKeys(first.state, typed.slice(at));
      const keys = [...first.keys, ...second.keys];
      const text = keys.map((key) => (key.name === 'text' ? key.text : `<${key.name}>`)).join('');
      expect(text).toBe('hé日<up><down><backspace>a b<enter>');
    }
  });

  it('are the Escape key only when nothing follows the ESC', () => {
    const { keys, state } = readKeys(startInput, '\x1b');
    expect(keys).toEqual([]);
    expect(flushKeys(state).keys).toEqual([{ name: 'escape' }]);
    expect(readKeys(state, 'x').keys).toEqual([{ name: 'escape' }, { name: 'text', text: 'x' }]);
  });

  it('are the same in the keyboard protocols', () => {
    const written = '\x1b[99;5u\x1b[27;5;100~\x1b[13u\x1b[27u\x1b[127u\x1b[57419u\x1b[99;5:3u\x1b[13;2u';
    const names = readKeys(startInput, written).keys.map(({ name }) => name);
    expect(names).toEqual(['ctrl-c', 'ctrl-d', 'enter', 'escape', 'backspace', 'up']);
  });
});
