import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { describeTerminal } from '../support/emulator.js';
import { bytesOf, cut, play } from '../support/side-by-side.js';

const SIZE = 20_000; // bytes

const filled = (beginning: string, part: string): Uint8Array =>
  Buffer.from(beginning + part.repeat(SIZE / part.length), 'latin1');

/** How many bytes are copied from one array into another while `act` runs. */
const copiedBytes = (act: () => void): number => {
  let copied = 0;
  const { set, slice } = Uint8Array.prototype;
  const spies = [
    vi.spyOn(Uint8Array.prototype, 'set').mockImplementation(function (this: Uint8Array, from, at) {
      copied += from.length;
      set.call(this, from, at);
    }),
    vi.spyOn(Uint8Array.prototype, 'slice').mockImplementation(function (this: Uint8Array, start, end) {
      const part = slice.call(this, start, end);
      copied += part.length;
      return part;
    }),
  ];
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  act();
  spies.forEach((spy) => spy.mockRestore());
  return copied;
};

const rewritten = (pieces: readonly Uint8Array[]): string => {
  const filter = makeStreamFilter(makeGrid(20, 8, 9));
  const parts = pieces.map((piece) => Buffer.concat(filter.push(piece)));
  return Buffer.concat([...parts, filter.flush()]).toString('latin1');
};

describe('a sequence with other bytes inside', () => {
  const worst = {
    controls: filled('\x1b[', '\x01'),
    'controls between digits': filled('\x1b[', '0\x01'),
    'bytes that are no UTF-8': filled('\x1b[', '\xff'),
    'a control, and another sequence': filled('', '\x1b[1;\x01'),
    'a character, and another sequence': filled('', '\x1b[1;\xc3\xa9'),
    'no end': filled('\x1b[', '0;'),
    'nothing but ESC': filled('', '\x1b'),
  };

  it.each(Object.entries(worst))('is collected with few copies of each byte: %s', (_, bytes) => {
    for (const size of [1, 7, 4095, SIZE + 2]) {
      const pieces = cut(bytes, [size]);
      const filter = makeStreamFilter(makeGrid(20, 8, 9));
      const copied = copiedBytes(() => {
        for (const piece of pieces) filter.push(piece);
      });
      expect(copied).toBeLessThan(8 * bytes.length);
    }
  });

  it('takes effect after the controls in it, wherever it is split', async () => {
    const bytes = bytesOf('one\x1b[3\n;\r5\x7fHtwo\x1b[3\b1mred\x1b(\n0qqq\x1b\n(Bend');
    for (const size of [1, 2, 3, 5, 100]) {
      const { plain, wrapped } = await play(cut(bytes, [size]), 20, 8);
      expect(describeTerminal(wrapped.terminal, 1)).toEqual(describeTerminal(plain.terminal));
    }
  });

  it('is dropped together with a character inside, and continues after a byte that is not UTF-8', () => {
    for (const size of [1, 2, 100]) {
      const cutUp = (text: string): string => rewritten(cut(Buffer.from(text, 'latin1'), [size]));
      expect(cutUp('a\x1b[3\xc3\xa9b')).toBe('ab');
      expect(cutUp('a\x1b[3\xff1mb')).toBe('a\x1b[31mb');
      expect(cutUp('a\x1b[3\xc2\x9b1mb')).toBe('a\x1b[1mb');
      expect(cutUp('a\x1b[3\x1b[1mb')).toBe('a\x1b[1mb');
      expect(cutUp('a\x1b[3\x18b')).toBe('a\x1b[3\x18b');
    }
  });

  it('is dropped when it is longer than any real one, at any chunk size', () => {
    const endless = Buffer.from(`a\x1b[${'0'.repeat(5000)}99;1Hb`);
    for (const size of [1, 1000, 6000]) expect(rewritten(cut(endless, [size]))).toBe('ab');
  });

  it('never leaves a string open that it should end', async () => {
    for (const inside of ['\n', 'é', '\x1b', '\x18', '[3\n1m', '[2é']) {
      const bytes = bytesOf(`one\x1bPstring\x1b${inside}\r\ntwo\r\nthree`);
      for (const size of [1, 4, 100]) {
        const { plain, wrapped } = await play(cut(bytes, [size]), 20, 8);
        expect(describeTerminal(wrapped.terminal, 1)).toEqual(describeTerminal(plain.terminal));
      }
    }
  });
});

describe('a long string of characters on which terminals disagree', () => {
  // one chunk of a megabyte: a search for the string’s end at each character would take hours
  const characters = '\xff'.repeat(1_000_000);
  it.each([
    ['APC', '\x1b_', characters],
    ['the beginning of a DCS', '\x1bP', characters],
    ['PM', '\x1b^', '\xc3\xa9'.repeat(500_000)],
    ['a title', '\x1b]0;', '\xc2\x85'.repeat(500_000)],
  ])('is read to its end, without them: %s', (_, start, text) => {
    expect(rewritten([Buffer.from(`${start}${text}\x1b\\end`, 'latin1')])).toBe(`${start}\x1b\\end`);
  });
});
