import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeScreenModel } from '../../src/terminal/screen-model.js';
import { makeCharacterJoiner } from '../../src/terminal/time-sliced-parser.js';

const cut = (bytes: Buffer, sizes: readonly number[]): readonly Buffer[] => {
  const pieces: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
};

const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });

describe('characters split between chunks', () => {
  it('are passed on whole, and nothing is lost or changed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), sizes, (text, pieces) => {
        const whole = makeCharacterJoiner();
        const parts = cut(Buffer.from(text), pieces).map((piece) => Buffer.from(whole(piece)));
        expect(parts.map((part) => part.toString()).join('')).toBe(text);
      }),
    );
  });

  it('are not waited for if the bytes are not UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array(), sizes, (bytes, pieces) => {
        const whole = makeCharacterJoiner();
        const parts = cut(Buffer.from(bytes), pieces).map((piece) => Buffer.from(whole(piece)));
        const all = Buffer.concat([...parts, whole(Buffer.from('.'))]);
        expect(all).toEqual(Buffer.concat([Buffer.from(bytes), Buffer.from('.')]));
      }),
    );
  });

  it('appear on the screen as written, wherever they were split', async () => {
    const text = 'Worked for 1s • 08:19 é 漢字 🎉';
    for (let at = 1; at < Buffer.byteLength(text); at += 1) {
      const screen = makeScreenModel({ columns: 80, rows: 3 }, () => '');
      screen.feed(Buffer.from(text).subarray(0, at));
      await screen.settled();
      screen.feed(Buffer.from(text).subarray(at));
      await screen.settled();
      expect(screen.snapshot()?.screen.text(0)).toBe(text);
    }
  });
});
