import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toOverviewKey } from '../../src/core/overview-keys.js';
import {
  splitElements,
  flushElements,
  isPressed,
  isTyped,
  parseKey,
  readElements,
  startInput,
  type InputElement,
} from '../../src/core/terminal-input.js';

const read = (pieces: readonly string[]): readonly InputElement[] => {
  let state = startInput;
  const elements = pieces.flatMap((piece) => {
    const found = readElements(state, piece);
    ({ state } = found);
    return found.elements;
  });
  return [...elements, ...flushElements(state).elements];
};

/** The keys of the overview in these pieces, with `<…>` around what the terminal says. */
const keysIn = (pieces: readonly string[]): string =>
  read(pieces)
    .map(({ kind, text }) => {
      if (kind === 'answer' || kind === 'focus') return `<${text}>`;
      const keys =
        kind === 'text'
          ? [...text].map((each) => toOverviewKey({ kind, text: each }))
          : [toOverviewKey({ kind, text })];
      return keys.filter((key) => key !== undefined).join(' ');
    })
    .filter((seen) => seen !== '')
    .join(' ')
    .replaceAll('> <', '><');

const keys: readonly { keys: string; meaning: string }[] = [
  ...[...'capndx?q'].map((key) => ({ keys: key, meaning: key })),
  ...[...'capndq'].map((key) => ({ keys: `\x1b[${key.charCodeAt(0)}u`, meaning: key })),
  ...[...'capndq'].map((key) => ({ keys: `\x1b[27;1;${key.charCodeAt(0)}~`, meaning: key })),
  { keys: '\x1b', meaning: 'escape' },
  { keys: '\x1b[27u', meaning: 'escape' },
  { keys: '\x1b[27;1:1u', meaning: 'escape' },
  { keys: '\x1b[27;1;27~', meaning: 'escape' },
  { keys: '\x1b[47:63;2u', meaning: '?' },
  { keys: '\x1b[63;2u', meaning: '?' },
  { keys: '\x1b[27;2;63~', meaning: '?' },
  { keys: '\x1b[99;65u', meaning: 'c' }, // caps lock
  { keys: '\x1b[1;129A\x1b[5;65~\x1b[1;193:1B', meaning: 'up pageup down' }, // num lock, caps lock
  { keys: '\x1b[99;1:2u', meaning: 'c' }, // held down
  { keys: '\x1b[A\x1bOB\x1b[1;1:1A', meaning: 'up down up' },
  { keys: '\x1b[5~\x1b[6~\x1b[5;1:1~', meaning: 'pageup pagedown pageup' },
  { keys: '\x1b[H\x1bOF\x1b[1~\x1b[4~\x1b[7~\x1b[8~', meaning: 'home end home end home end' },
  { keys: '\x1b[57419u\x1b[57424u', meaning: 'up end' },
  { keys: 'l14\t\r\x1b[D\x1b[C', meaning: 'l 1 4 tab enter left right' },
  { keys: '\x1b[<64;10;4M\x1b[<65;10;4M', meaning: 'wheel-up wheel-down' },
];

const nothing: readonly { what: string; keys: string }[] = [
  { what: 'other letters and digits', keys: 'wyzCAP0569\n\x7f' },
  { what: 'characters of several bytes', keys: Buffer.from('áç漢👍').toString('latin1') },
  { what: 'letters with Ctrl', keys: '\x03\x01\x10\x1a\x1b[99;5u\x1b[27;5;99~' },
  { what: 'letters with Alt', keys: '\x1bc\x1bq\x1b[99;3u' },
  { what: 'the release of a key', keys: '\x1b[99;1:3u\x1b[27;1:3u\x1b[1;1:3A\x1b[5;1:3~' },
  { what: 'arrows with Shift or Ctrl', keys: '\x1b[1;2A\x1b[1;5B\x1b[5;5~' },
  { what: 'function keys', keys: '\x1bOP\x1bOR\x1b[15~\x1b[1;2P\x1b[1;5Q' },
  { what: 'clicks and movements of the mouse', keys: '\x1b[<0;99;99M\x1b[<0;99;99m\x1b[<35;1;1M' },
  { what: 'a click in the old form, whose bytes look like keys', keys: '\x1b[M cq' },
  { what: 'a paste', keys: '\x1b[200~cq\x1b\x1b[27u\x1d\r\x1b[A\x1b[201~' },
];

const speech: readonly string[] = [
  '\x1b[?64;1;2c',
  '\x1b[>41;379;0c',
  '\x1b[0n',
  '\x1b[?997;1n',
  '\x1b[?3;4R',
  '\x1b[?5u',
  '\x1b[?2026;2$y',
  '\x1b[4;2$y',
  '\x1b[8;24;80t',
  '\x1b[48;24;80;480;640t',
  '\x1b[I',
  '\x1b[O',
  '\x1b]11;rgb:dada/caca/aaaa\x07',
  '\x1b]4;1;rgb:dada/caca/aaaa\x1b\\',
  '\x1bP>|XTerm(379)\x1b\\',
  '\x1bP1$r0m\x1b\\',
  '\x1bP1+r544e=787465726d\x1b\\',
  '\x1b_Gi=31;OK\x1b\\',
];

describe('the overview’s keys', () => {
  it.each(keys)('$meaning is read from $keys, however it is cut', ({ keys: typed, meaning }) => {
    expect(keysIn([typed])).toBe(meaning);
    expect(keysIn([...typed])).toBe(meaning);
  });

  it.each(nothing)('$what mean nothing', ({ keys: typed }) => {
    expect(keysIn([typed])).toBe('');
    expect(keysIn([...typed])).toBe('');
    expect(keysIn([`${typed}d`])).toBe('d');
  });
});

describe('what the terminal says by itself', () => {
  it.each(speech)('%j is no key', (said) => {
    expect(keysIn([said])).toBe(`<${said}>`);
    expect(keysIn([...said])).toBe(`<${said}>`);
    expect(keysIn([`c${said}a`])).toBe(`c <${said}> a`);
  });

  it('is known as an answer also where it is too long to be held, and ends where an answer ends', () => {
    const clipboard = `\x1b]52;c;${'cacaca'.repeat(5_000)}\x1b\\`;
    const pieces = Array.from({ length: Math.ceil(clipboard.length / 1_000) }, (_, count) =>
      clipboard.slice(count * 1_000, (count + 1) * 1_000),
    );
    for (const cut of [[clipboard], pieces, [clipboard.slice(0, -1), '\\'], [...pieces.join('')]]) {
      const elements = read([...cut, 'd']);
      expect(elements.map(({ text }) => text).join('')).toBe(`${clipboard}d`);
      expect(elements.filter(({ kind }) => kind !== 'answer')).toEqual([{ kind: 'text', text: 'd' }]);
    }
  });

  it('leaves the keys alive where its end has got lost', () => {
    expect(keysIn([`\x1b]52;c;${'cacaca'.repeat(50)}`, '\x1b', '[A', 'd'])).toMatch(/> up d$/);
    expect(read(['\x1b]11;rgb\rc']).at(-1)).toEqual({ kind: 'text', text: 'c' });
  });
});

describe('input', () => {
  const anything = fc.constantFrom(
    ...keys.map((each) => each.keys),
    ...nothing.map((each) => each.keys),
    ...speech,
  );
  const cutting = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  const cut = (text: string, sizes: readonly number[]): readonly string[] => {
    const pieces: string[] = [];
    for (let at = 0, turn = 0; at < text.length; turn += 1) {
      const size = sizes[turn % sizes.length] ?? 1;
      pieces.push(text.slice(at, at + size));
      at += size;
    }
    return pieces;
  };

  it('is read the same in whatever pieces it comes', () => {
    const stream = fc
      .array(anything, { maxLength: 8 })
      .map((parts) => parts.filter((part) => part !== '\x1b').join(''));
    fc.assert(
      fc.property(stream, cutting, (text, sizes) => {
        expect(keysIn(cut(text, sizes))).toBe(keysIn([text]));
      }),
      { seed: 20261121 },
    );
  });

  it('comes out as it went in, whatever it is and whenever it is waited for no longer', () => {
    const noise = fc
      .uint8Array({ minLength: 1, maxLength: 20 })
      .map((bytes) => Buffer.from(bytes).toString('latin1'));
    const begun = fc.constantFrom(
      '\x1b',
      '\x1b\x1b',
      '\x1b[',
      '\x1b[20',
      '\x1b[200~',
      '\x1b[201~',
      '\x1b]1',
      '\x1bP1$r',
      '\x1b[M ',
    );
    const pieces = fc.array(fc.tuple(fc.oneof(noise, begun, anything), fc.boolean()), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, (given) => {
        let state = startInput;
        let out = '';
        for (const [piece, isWaitedFor] of given) {
          const found = readElements(state, piece);
          const flushed = isWaitedFor ? { elements: [], state: found.state } : flushElements(found.state);
          ({ state } = flushed);
          out += [...found.elements, ...flushed.elements].map(({ text }) => text).join('');
        }
        expect(out + state.held).toBe(given.map(([piece]) => piece).join(''));
      }),
    );
  });

  // work that grew with the square of the length would take minutes, and end at the time limit of a test
  it.each(['\x1b', '\x1b[', '\x1b]1', '\x1bO', '\x1b[1;2', '\x1b[200~', 'é\r', '\x1b\x1b['])(
    'of many bytes is read whole: %j, two hundred thousand times',
    (piece) => {
      const text = piece.repeat(200_000);
      expect(
        splitElements(text)
          .map((element) => element.text)
          .join('') === text,
      ).toBe(true);
    },
  );
});

describe('a key', () => {
  it.each([
    ['\x1d', ']', 4],
    ['\x1b[93;5u', ']', 4],
    ['\x1b[93::93;69u', ']', 4],
    ['\x1b[27;5;93~', ']', 4],
    ['\x1b\x1d', ']', 6],
    ['\x1b\x1b[93;5u', ']', 6],
    ['\r', 'enter', 0],
    ['\x1b\r', 'enter', 2],
    ['\x1b[13;2u', 'enter', 1],
    ['\x1b[57414u', 'enter', 0],
    ['\x1b[27;5;13~', 'enter', 4],
    ['\t', 'tab', 0],
    ['\x7f', 'backspace', 0],
    ['\x1b\x7f', 'backspace', 2],
    ['\x1b\x1b[A', 'up', 2],
    ['\x1b[99:67;2u', 'C', 1],
    ['\x1b[57442;5u', 'modifier', 4],
    ['\x1b[9999999999u', '', 0],
    ['\x1b[1;2P', '', 0],
  ])('%j is %s with modifiers %i', (text, name, modifiers) => {
    expect(parseKey(text)).toMatchObject({ name, modifiers });
    expect(splitElements(text)).toEqual([{ kind: 'key', text }]);
  });

  it.each([
    ['a letter that goes down', 'a', true],
    ['a paste', '\x1b[200~a\x1b[201~', true],
    ['a release', '\x1b[97;1:3u', false],
    ['Shift by itself', '\x1b[57441;2u', false],
    ['an answer', '\x1b[?1;2c', false],
  ])('is pressed: %s, %j: %s', (_, text, expected) => {
    expect(splitElements(text).some(isPressed)).toBe(expected);
  });
});

describe('typing', () => {
  it.each([
    ['a letter', 'a'],
    ['Escape', '\x1b'],
    ['an arrow', '\x1b[A'],
    ['a function key', '\x1b[15~'],
    ['a key of the kitty protocol', '\x1b[99;5u'],
    ['a paste', '\x1b[200~text\x1b[201~'],
    ['a letter behind an answer', '\x1b[12;40Ra'],
    ['the release of a key', '\x1b[99;1:3u'],
    ['Shift-Right of rxvt', '\x1b[c'],
  ])('is %s', (_, text) => expect(splitElements(text).some(isTyped)).toBe(true));

  it.each([
    ['a cursor report', '\x1b[12;40R'],
    ['device attributes', '\x1b[?62;22c'],
    ['a mode report', '\x1b[?2026;2$y'],
    ['keyboard flags', '\x1b[?1u'],
    ['the focus', '\x1b[I\x1b[O'],
    ['the mouse', '\x1b[<35;10;5M\x1b[<0;10;5m'],
    ['the mouse in the old form', '\x1b[M !!'],
    ['a colour', '\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\'],
    ['a version', '\x1bP>|xterm(380)\x1b\\'],
  ])('is not %s', (_, text) => expect(splitElements(text).some(isTyped)).toBe(false));
});
