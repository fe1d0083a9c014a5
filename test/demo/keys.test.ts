import { describe, expect, it } from 'vitest';
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
    expect(readKeys(typed)).toEqual({ keys: names, rest: '' });
  });

  it('are the same however the bytes are split', () => {
    for (let at = 0; at <= typed.length; at += 1) {
      const first = readKeys(typed.slice(0, at));
      const second = readKeys(first.rest + typed.slice(at));
      const keys = [...first.keys, ...second.keys];
      const text = keys.map((key) => (key.name === 'text' ? key.text : `<${key.name}>`)).join('');
      expect(text).toBe('hé日<up><down><backspace>a b<enter>');
    }
  });

  it('know the Escape key only when nothing has followed it', () => {
    expect(readKeys('\x1b')).toEqual({ keys: [], rest: '\x1b' });
    expect(flushKeys('\x1b')).toEqual([{ name: 'escape' }]);
    expect(readKeys('\x1bx').keys).toEqual([{ name: 'escape' }, { name: 'text', text: 'x' }]);
  });
});
