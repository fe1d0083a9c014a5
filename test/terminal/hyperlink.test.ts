import { describe, expect, it } from 'vitest';
import { own } from '../../src/core/printable.js';
import { makeOverviewSequences } from '../../src/terminal/overview/sequences.js';
import { saveScreen } from '../../src/terminal/overview/saved-screen.js';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { paintSequence } from '../../src/terminal/footer-sequences.js';
import { makeEmulator } from '../support/emulator.js';
import { bytesOf, cut, play } from '../support/side-by-side.js';

const [COLUMNS, ROWS] = [20, 5];
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** What a paint of the footer and the overview send in the middle of this output, as Latin-1. */
const ours = (output: Uint8Array, size = output.length): readonly string[] => {
  const painted = makeStreamFilter(makeGrid(COLUMNS, ROWS, ROWS + 1));
  const covered = makeStreamFilter(makeGrid(COLUMNS, ROWS, ROWS + 1));
  for (const piece of cut(output, [size])) {
    painted.push(piece);
    covered.push(piece);
  }
  const sequences = makeOverviewSequences(covered.grid, covered.modeTracker);
  const sent = [
    paintSequence(painted.grid, painted.modeTracker, own`FOOTER`),
    sequences.open + sequences.close(''),
  ];
  return sent.map((text) => Buffer.from(text).toString('latin1'));
};

const CLOSED = '\x1b]8;;\x1b\\';
const again = (link: string): string => `\x1b]8;${link}\x1b\\`;
/** the UTF-8 bytes of the text, as Latin-1 */
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
    'is closed while the wrapper draws and then opened again: %s',
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
  it.each(Object.entries(notRepeatable))(
    'is closed while the wrapper draws and stays closed if it cannot be repeated: %s',
    (_, link) => {
      for (const size of [1, 10_000])
        for (const sent of ours(latin1(`\x1b]8;${link}\x1b\\text`), size)) {
          expect(sent).toContain(CLOSED);
          expect(sent.split('\x1b]8;')).toHaveLength(2);
        }
    },
  );

  it('is repeated without C1 controls', () => {
    for (const sent of ours(latin1('\x1b]8;;https://example.com/\xc2\x9b31m\x1b\\text')))
      expect(sent).toContain(again(';https://example.com/31m'));
  });

  it('is not open after a command that was cancelled, malformed, or closed the link', () => {
    const link = '\x1b]8;;https://example.com\x1b\\text';
    for (const output of ['\x1b]8;;https://example.com\x18', '\x1b]8;nothing\x07', `${link}${CLOSED}`])
      for (const sent of ours(latin1(output))) expect(sent).not.toContain('\x1b]8;');
  });

  it('covers the same characters as without the footer', async () => {
    const output = '\x1b]8;id=1;https://example.com/grün;x\x1b\\one\r\ntwo\x1b]8;;\x07three';
    const { plain, wrapped } = await play(cut(bytesOf(output), [6]), COLUMNS, ROWS, () => true);
    const rows = saveScreen(plain.terminal, true).rows;
    expect(rows[0]?.[1]?.link).toBe('id=1;https://example.com/grün;x');
    expect(saveScreen(wrapped.terminal, true).rows.slice(0, ROWS)).toEqual(rows);
  });

  it('is not redrawn from a saved screen if its address contains a control character', async () => {
    const emulator = makeEmulator(COLUMNS, ROWS);
    await emulator.write('\x1b]8;;https://example.com/\x7f\x1b\\text');
    expect(saveScreen(emulator.terminal, true).rows[0]?.[0]?.link).toBe('');
  });
});
