import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  flushOverlayKeys,
  isAnswerHeld,
  noOverlayKeys,
  readOverlayKeys,
} from '../../src/terminal/overlay/keys.js';

/** The keys in these pieces, with `<…>` around what is for the child. */
const read = (pieces: readonly string[], awaitsCursor = false): string => {
  let state = noOverlayKeys;
  const seen: string[] = [];
  for (const piece of pieces) {
    let rest: Uint8Array = Buffer.from(piece, 'latin1');
    while (rest.length > 0) {
      const input = readOverlayKeys(state, rest, awaitsCursor);
      ({ rest, state } = input);
      if (input.key) seen.push(input.key);
      if (input.forChild) seen.push(`<${Buffer.from(input.forChild).toString('latin1')}>`);
    }
  }
  const { key } = flushOverlayKeys(state);
  return [...seen, ...(key ? [key] : [])].join(' ');
};

const keys: readonly { keys: string; meaning: string }[] = [
  ...[...'capnd?q'].map((key) => ({ keys: key, meaning: key })),
  ...[...'capndq'].map((key) => ({ keys: `\x1b[${key.charCodeAt(0)}u`, meaning: key })),
  ...[...'capndq'].map((key) => ({ keys: `\x1b[27;1;${key.charCodeAt(0)}~`, meaning: key })),
  { keys: '\x1b', meaning: 'esc' },
  { keys: '\x1b[27u', meaning: 'esc' },
  { keys: '\x1b[27;1:1u', meaning: 'esc' },
  { keys: '\x1b[27;1;27~', meaning: 'esc' },
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
  { keys: '\x1b[<64;10;4M\x1b[<65;10;4M', meaning: 'wheel-up wheel-down' },
];

const nothing: readonly { what: string; keys: string }[] = [
  { what: 'other letters and Enter', keys: 'xyzCAP \r\n\t\x7f' },
  { what: 'characters of several bytes', keys: Buffer.from('áç漢👍').toString('latin1') },
  { what: 'letters with Ctrl', keys: '\x03\x01\x10\x1a\x1b[99;5u\x1b[27;5;99~' },
  { what: 'letters with Alt', keys: '\x1bc\x1bq\x1b[99;3u' },
  { what: 'the release of a key', keys: '\x1b[99;1:3u\x1b[27;1:3u\x1b[1;1:3A\x1b[5;1:3~' },
  { what: 'arrows with Shift or Ctrl', keys: '\x1b[1;2A\x1b[1;5B\x1b[5;5~' },
  { what: 'function keys', keys: '\x1bOP\x1bOR\x1b[15~\x1b[1;2R\x1b[1;5R' },
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

describe('keys for a screen of ours', () => {
  it.each(keys)('$meaning is read from $keys, however it is cut', ({ keys: typed, meaning }) => {
    expect(read([typed])).toBe(meaning);
    expect(read([...typed])).toBe(meaning);
  });

  it.each(nothing)('$what mean nothing', ({ keys: typed }) => {
    expect(read([typed])).toBe('');
    expect(read([...typed])).toBe('');
    expect(read([`${typed}d`])).toBe('d');
  });

  it.each(speech)('%j is what the terminal says to the child', (said) => {
    expect(read([said])).toBe(`<${said}>`);
    expect(read([...said])).toBe(`<${said}>`);
    expect(read([`c${said}a`])).toBe(`c <${said}> a`);
  });

  it('the cursor’s position is told from F3 by whether the child has asked', () => {
    expect(read(['\x1b[1;5R'], true)).toBe('<\x1b[1;5R>');
    expect(read(['\x1b[1;5R'], false)).toBe('');
  });

  it('half an answer is waited for, half a key is not', () => {
    const heldOf = (text: string) => readOverlayKeys(noOverlayKeys, Buffer.from(text, 'latin1'), false).state;
    expect(isAnswerHeld(heldOf('\x1b]11;rgb:dada'))).toBe(true);
    expect(isAnswerHeld(heldOf('\x1b'))).toBe(false);
    expect(isAnswerHeld(heldOf('\x1b]'))).toBe(false);
    expect(isAnswerHeld(heldOf('\x1b[<64;'))).toBe(false);
  });

  it('whatever comes, in whatever pieces, is read the same', () => {
    const all = fc.constantFrom(
      ...keys.map((each) => each.keys),
      ...nothing.map((each) => each.keys),
      ...speech,
    );
    const stream = fc
      .array(all, { maxLength: 8 })
      .map((parts) => parts.filter((part) => part !== '\x1b').join(''));
    fc.assert(
      fc.property(stream, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (text, sizes) => {
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        expect(read(pieces)).toBe(read([text]));
      }),
      { seed: 20261121 },
    );
  });
});
