import { describe, expect, it } from 'vitest';
import { makeCover } from '../../src/terminal/overlay/cover.js';
import { pictureOf } from '../../src/terminal/overlay/picture.js';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { paintSequence } from '../../src/terminal/painter.js';
import { makeEmulator } from '../support/emulator.js';
import { bytesOf, cut, play } from '../support/side-by-side.js';

const [COLUMNS, ROWS] = [20, 5];
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** What a paint and our own screen send in the middle of this output, as Latin-1. */
const ours = (output: Uint8Array, size = output.length): readonly string[] => {
  const painted = makeStreamFilter(makeGrid(COLUMNS, ROWS, ROWS + 1));
  const covered = makeStreamFilter(makeGrid(COLUMNS, ROWS, ROWS + 1));
  for (const piece of cut(output, [size])) {
    painted.push(piece);
    covered.push(piece);
  }
  const cover = makeCover(covered.grid, covered.ledger);
  const sent = [paintSequence(painted.grid, painted.ledger, 'FOOTER'), cover.open + cover.close('')];
  return sent.map((text) => Buffer.from(text).toString('latin1'));
};

const CLOSED = '\x1b]8;;\x1b\\';
const again = (link: string): string => `\x1b]8;${link}\x1b\\`;
/** UTF-8, as the bytes that it has */
const bytes = (text: string): string => Buffer.from(text).toString('latin1');

describe('a hyperlink of the agent', () => {
  const repeatable = {
    ASCII: ';https://example.com/a;b?c=%20',
    parameters: 'id=a1:x=y;https://example.com',
    'an address that ends with a semicolon': ';https://example.com/;',
    'characters beyond ASCII': bytes(';https://example.com/grün/漢字'),
    'a long address': `;https://example.com/${'a'.repeat(3000)}`,
    'characters that contain bytes of C1 controls': bytes(';https://example.com/ě/Ŝ/λ'),
  };
  it.each(Object.entries(repeatable))(
    'is closed for what we draw and opened again as it was: %s',
    (_, link) => {
      for (const end of ['\x07', '\x1b\\'])
        for (const size of [1, 3, 10_000])
          for (const sent of ours(latin1(`\x1b]8;${link}${end}text`), size)) {
            expect(sent).toContain(CLOSED);
            expect(sent).toContain(again(link));
            expect(sent.split('\x1b]8;')).toHaveLength(3);
          }
    },
  );

  const notRepeatable = {
    'bytes that are no UTF-8': ';https://example.com/\x9b31m/\xff',
    'a raw C1 control': ';https://example.com/\x9b31m',
    'a C0 control': ';https://example.com/\n',
    DEL: ';https://example.com/\x7f',
    'an address that is too long to be kept': `;https://example.com/${'a'.repeat(5000)}`,
  };
  it.each(Object.entries(notRepeatable))('is closed for what we draw and stays closed: %s', (_, link) => {
    for (const size of [1, 10_000])
      for (const sent of ours(latin1(`\x1b]8;${link}\x1b\\text`), size)) {
        expect(sent).toContain(CLOSED);
        expect(sent.split('\x1b]8;')).toHaveLength(2);
      }
  });

  it('has no C1 control in it for the terminal, so that none is repeated', () => {
    for (const sent of ours(latin1('\x1b]8;;https://example.com/\xc2\x9b31m\x1b\\text')))
      expect(sent).toContain(again(';https://example.com/31m'));
  });

  it('is none when the command was broken off, malformed, or closed the link', () => {
    const link = '\x1b]8;;https://example.com\x1b\\text';
    for (const output of ['\x1b]8;;https://example.com\x18', '\x1b]8;nothing\x07', `${link}${CLOSED}`])
      for (const sent of ours(latin1(output))) expect(sent).not.toContain('\x1b]8;');
  });

  it('is on the same characters as without the footer', async () => {
    const output = '\x1b]8;id=1;https://example.com/grün;x\x1b\\one\r\ntwo\x1b]8;;\x07three';
    const { plain, wrapped } = await play(cut(bytesOf(output), [6]), COLUMNS, ROWS, () => true);
    const rows = pictureOf(plain.terminal, true).rows;
    expect(rows[0]?.[1]?.link).toBe('id=1;https://example.com/grün;x');
    expect(pictureOf(wrapped.terminal, true).rows.slice(0, ROWS)).toEqual(rows);
  });

  it('is not drawn again from a screen that has a control in its address', async () => {
    const emulator = makeEmulator(COLUMNS, ROWS);
    await emulator.write('\x1b]8;;https://example.com/\x7f\x1b\\text');
    expect(pictureOf(emulator.terminal, true).rows[0]?.[0]?.link).toBe('');
  });
});
