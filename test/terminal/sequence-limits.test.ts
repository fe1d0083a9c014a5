import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeSequenceLimits } from '../../src/terminal/sequence-limits.js';
import { makeCharacterJoiner } from '../../src/terminal/time-sliced-parser.js';
import { casts } from '../support/casts.js';
import { describeTerminal, makeEmulator } from '../support/emulator.js';
import { runs } from '../support/runs.js';

const size = { columns: 80, rows: 24 };

const limited = (chunks: readonly Uint8Array[]): string => {
  const characters = makeCharacterJoiner();
  const limits = makeSequenceLimits(() => size);
  return Buffer.concat(chunks.map((chunk) => limits(characters(chunk)))).toString('latin1');
};

const whole = (text: string): string => limited([Buffer.from(text, 'latin1')]);
const byteByByte = (text: string): string =>
  limited([...Buffer.from(text, 'latin1')].map((byte) => Uint8Array.of(byte)));

describe('a control sequence', () => {
  it.each([
    ['\x1b[2147483647L', '\x1b[24L'],
    ['\x1b[2147483647M', '\x1b[24M'],
    ['\x1b[25S\x1b[24S', '\x1b[24S\x1b[24S'],
    ['\x1b[25T', '\x1b[24T'],
    ['\x1b[81I\x1b[99999999999999999999999Z', '\x1b[80I\x1b[80Z'],
    ['x\x1b[2147483647b', 'x\x1b[1920b'],
    ['\x1b[70000@\x1b[70000 @', '\x1b[9999@\x1b[9999 @'],
    ['\x1b[1;99999H', '\x1b[1;9999H'],
    ['\x1b[?2026;2147483647h', '\x1b[?2026;9999h'],
    ['\x1b[38:2::99999:1:1m', '\x1b[38:2::9999:1:1m'],
    ['\x1b[0000000000000099L', '\x1b[24L'],
    ['\x1b[21\n47\r483\x07647L', '\n\r\x07\x1b[24L'], // controls take effect at once
    ['\x1b[99\x7f99L', '\x1b[24L'],
    ['\x1b[99\xff\xc399L', '\x1b[24L'], // what is no UTF-8 is nothing
    ['\x1b[\xc2\xc281I\x00', '\x1b[80I\x00'],
    ['\x1b[\xe2\x82\xc281I', '\x1b[80I'],
    ['\x1b\x00[999L', '\x00\x1b[24L'],
    ['\x1b\x1b[999L', '\x1b\x1b[24L'],
    ['\x1b[9\x1b[999L', '\x1b[9\x1b[24L'],
    ['\x1b]0;title\x1b[999L', '\x1b]0;title\x1b[24L'], // ESC ends a string
    [`\x1b[${'0;'.repeat(1000)}5Hx`, 'x'], // longer than any terminal keeps
  ])('%j is made %j', (given, expected) => {
    expect(whole(given)).toBe(expected);
    expect(byteByByte(given)).toBe(whole(given));
  });

  it('is limited in the same way after the one-character introducer (C1)', () => {
    expect(limited([Buffer.from('a\u009b999Lb')])).toBe('a\x1b[24Lb');
    expect(limited([Buffer.from('a\u009b99'), Buffer.from('9Lb')])).toBe('a\x1b[24Lb');
    expect(whole('\xc2\x9b24L')).toBe('\xc2\x9b24L');
  });

  it.each(['\x1b[24L', '\x1b[0024L', '\x1b[m', '\x1b[?1049;9999h', '\x1b[38;2;255;255;255m', '\x1b[99\x18L'])(
    '%j stays unchanged',
    (given) => {
      expect(whole(given)).toBe(given);
      expect(byteByByte(given)).toBe(given);
    },
  );
});

describe('a string', () => {
  it.each([
    '\x1b]0;[99999L\x07',
    '\x1b]8;;http://host/[99999999L\x1b\\',
    '\x1bPq#99999999L\x1b\\',
    '\x1b_G99999999L\x07more\x1b\\',
    '\x1b^99999L\x1b\\\x1bX99999L\x1b\\',
    '\xc2\x9d0;99999L\xc2\x9c99999L',
    `\x1b]52;c;${'A'.repeat(4000)}\x07`,
  ])('%j stays unchanged', (given) => {
    expect(whole(given)).toBe(given);
    expect(byteByByte(given)).toBe(given);
  });

  it.each([
    ['\x1b]0;', '\x07'],
    ['\x1bP', '\x1b\\'],
    ['\x1b_', '\x18'],
  ])('that begins with %j and is too long for anybody has no effect and no end', (start, end) => {
    const given = `${start}${'A'.repeat(20_000)}${end}after`;
    expect(whole(given).length).toBeLessThan(4200);
    expect(whole(given)).toMatch(/A\x18.{1,2}after$/s);
    expect(byteByByte(given)).toBe(whole(given));
  });

  it.each(['\x07', '\x1b\\'])(
    "that tells an agent's state is cut and still tells it (ends with %j)",
    (end) => {
      const given = `\x1b]7501;state=blocked:app=claude-code:msg=${'A'.repeat(20_000)}${end}after`;
      expect(whole(given).length).toBeLessThan(4200);
      expect(whole(given)).toBe(`${given.slice(0, 2 + 4096)}${end}after`);
      expect(byteByByte(given)).toBe(whole(given));
    },
  );
});

/** A terminal that parses the output, limited or not. */
const drawn = async (pieces: readonly Uint8Array[]): Promise<unknown> => {
  const { terminal, write } = makeEmulator(size.columns, size.rows, 0);
  for (const piece of pieces) await write(piece);
  const state = describeTerminal(terminal);
  terminal.dispose();
  return state;
};

const number = fc.oneof(fc.constant(''), fc.integer({ min: 0, max: 24 }).map(String));
const sequence = fc
  .tuple(
    fc.constantFrom('', '?', '>'),
    number,
    number,
    fc.constantFrom('', ' ', "'", '"'),
    fc.integer({ min: 0x40, max: 0x7e }),
  )
  .map(
    ([prefix, one, two, between, final]) =>
      `\x1b[${prefix}${one};${two}${between}${String.fromCharCode(final)}`,
  );
const sensible = fc.array(
  fc.oneof(
    sequence,
    fc.constantFrom(
      '\x1b7',
      '\x1b8',
      '\x1bM',
      '\x1b#8',
      '\x1b]0;t\x07',
      '\x1b]8;;u\x1b\\',
      '\u009b3L',
      '\x1b(0',
      '\r\n',
    ),
    fc.string({ unit: fc.constantFrom('a', ' ', 'é', '漢', 'e\u0301', '²'), maxLength: 30 }),
  ),
  { maxLength: 60 },
);

const cutInto = (bytes: Uint8Array, lengths: readonly number[]): readonly Uint8Array[] => {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (let index = 0; from < bytes.length; index += 1) {
    const length = lengths[index % lengths.length] ?? 1;
    pieces.push(bytes.subarray(from, from + length));
    from += length;
  }
  return pieces;
};
const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\x1b',
        '\x1b[',
        '\xc2\x9b',
        '\x1b]',
        '\x1bP',
        '\x1b_',
        '\x07',
        '\x18',
        '\n',
        '\x7f',
        ':',
        ';',
        '?',
        ' ',
      ),
      fc.integer({ min: 0, max: 2 ** 33 }).map(String),
      fc.integer({ min: 0x40, max: 0x7e }).map((final) => String.fromCharCode(final)),
      fc.uint8Array({ minLength: 1, maxLength: 3 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    ),
    { maxLength: 200 },
  )
  .map((pieces) => Buffer.from(pieces.join(''), 'latin1'));

const LARGE_LINES = /(?:\x1b\[|\xc2\x9b)[<-?]?[\d:;]*(?<!\d)0*(?:2[5-9]|[3-9]\d|[1-9]\d{2,})[\d:;]*[LMST]/;

describe('the limited output', () => {
  it('of every recording equals the input', () => {
    const changed = casts().filter(({ columns, rows, output }) => {
      const characters = makeCharacterJoiner();
      const limits = makeSequenceLimits(() => ({ columns, rows }));
      const pieces = cutInto(output, [61]).map((piece) => limits(characters(piece)));
      return !Buffer.concat(pieces).equals(output);
    });
    expect(changed.map(({ name }) => name)).toEqual([]);
  });

  it('draws the same screen if all numbers are in a normal range', async () => {
    await fc.assert(
      fc.asyncProperty(sensible, lengths, async (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(''));
        const out = Buffer.from(limited(cutInto(bytes, cuts)), 'latin1');
        expect(await drawn([out])).toEqual(await drawn([bytes]));
      }),
      runs(200),
    );
  });

  it('is the same at any chunk size, and no number in it is too large', () => {
    fc.assert(
      fc.property(hostile, lengths, (bytes, cuts) => {
        const out = limited([bytes]);
        expect(out).not.toMatch(LARGE_LINES);
        const ended = (chunks: readonly Uint8Array[]): string => limited([...chunks, Buffer.from('\x18')]);
        expect(ended(cutInto(bytes, cuts))).toBe(ended([bytes]));
      }),
      runs(2000),
    );
  });
});
