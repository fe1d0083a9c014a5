import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { renditionSequence } from '../../src/terminal/filter/rendition.js';
import { makeStreamFilter, type StreamFilter } from '../../src/terminal/filter/filter.js';
import { csi, element } from '../support/elements.js';
import { describeTerminal, makeEmulator } from '../support/emulator.js';
import { runs } from '../support/runs.js';
import { bytesOf } from '../support/side-by-side.js';

const few = fc.integer({ min: 0, max: 11 });
const usual = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('H', 'A', 'B', 'C', 'D', 'G', 'K').chain((final) => csi(final, few)),
  },
  { weight: 4, arbitrary: csi('H', few, few) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'ab',
      'é',
      '\u00a0',
      '漢',
      '\n',
      '\r',
      'x'.repeat(19),
      'e\u0301',
      '\x1b[?25l',
      '\x1b[?25h',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\x1b[3;6r',
      '\x1b[r',
      '\x1b[20h',
      '\x1b[?6h',
      '\x1b[?6l',
      '\x1b[?7l',
      '\x1b[?69h\x1b[3;9s',
    ),
  },
  { weight: 1, arbitrary: element },
);

const filterOf = (): StreamFilter => makeStreamFilter(makeGrid(20, 10, 11));

const textOf = (parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString();

const bytewise = (filter: StreamFilter, bytes: Uint8Array): string =>
  textOf([...bytes].map((byte) => Buffer.concat(filter.push(Uint8Array.of(byte)))));

describe('an element that arrives in one chunk', () => {
  it('has the same effect as one that arrives byte by byte, which the fast path never reads', () => {
    fc.assert(
      fc.property(fc.array(usual, { minLength: 1, maxLength: 40 }), (elements) => {
        const [whole, parts] = [filterOf(), filterOf()];
        for (const each of elements) {
          const sent = textOf(whole.push(bytesOf(each)));
          expect(bytewise(parts, bytesOf(each))).toBe(sent);
          expect(whole.grid).toEqual(parts.grid);
          expect(whole.modeTracker.isModeSet(25)).toBe(parts.modeTracker.isModeSet(25));
        }
      }),
      runs(800, 20261121),
    );
  });

  it.each([
    ['with LNM', '\x1b[20hab\n', [1, 0]],
    ['between side margins', '\x1b[?69h\x1b[3;9s\x1b[1;5H\r', [0, 2]],
    ['with an origin', '\x1b[3;6r\x1b[?6h\x1b[2;1H', [3, 0]],
    ['inside a string', '\x1b]0;ab\r\n', [0, 0]],
  ])('means something else %s', (_mode, output, [row, column]) => {
    const filter = filterOf();
    filter.push(bytesOf(output));
    expect(filter.grid).toMatchObject({ row, column });
  });
});

const colour = fc.oneof(
  fc.constantFrom(0, 7, 255, 256).map((number) => `5;${number}`),
  fc
    .array(fc.constantFrom(0, 9, 255, 256), { minLength: 3, maxLength: 3 })
    .map((rgb) => `2;${rgb.join(';')}`),
  fc.constantFrom('', '2', '2;1;2', '9', ':5:7', ':2::9:8:7'),
);
const parameter = fc.oneof(
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 108 }).map(String) },
  {
    weight: 12,
    arbitrary: fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 9, 22, 23, 24, 25, 27, 28, 29).map(String),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('38', '48', '58'), colour)
      .map(([code, rest]) => (rest.startsWith(':') ? code + rest : `${code};${rest}`)),
  },
  { weight: 1, arbitrary: fc.constantFrom('', '0', '4:3', '4:0', '39', '49') },
);
const rendition = fc
  .array(parameter, { minLength: 1, maxLength: 4 })
  .map((each) => `\x1b[${each.join(';')}m`);

const drawn = async (text: string): Promise<unknown> => {
  const { terminal, write } = makeEmulator(10, 2, 0);
  await write(`${text}x`);
  const state = describeTerminal(terminal);
  terminal.dispose();
  return state;
};

describe('a graphic rendition', () => {
  it('is restored exactly, whatever sequences produced it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(rendition, { minLength: 1, maxLength: 8 }), async (sequences) => {
        const made = sequences.join('');
        const filter = filterOf();
        filter.push(bytesOf(made));
        expect(await drawn(`\x1b[1;4;31;42m${renditionSequence(filter.grid.rendition)}`)).toEqual(
          await drawn(made),
        );
      }),
      runs(600, 20261121),
    );
  });

  it('is the same whether it comes in one chunk with those before it or alone', async () => {
    const usualColour = fc.constantFrom('39', '31', '38;5;9', '38;2;1;2;3', '38;2;1;2;3;1', '0', '0;4', '');
    const sequence = fc.oneof(
      { weight: 4, arbitrary: usualColour.map((text) => `\x1b[${text}m`) },
      rendition,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(sequence, { minLength: 1, maxLength: 90 }), async (sequences) => {
        const [whole, parts] = [filterOf(), filterOf()];
        whole.push(bytesOf(sequences.join('')));
        for (const each of sequences) parts.push(bytesOf(each));
        expect(await drawn(renditionSequence(whole.grid.rendition))).toEqual(
          await drawn(renditionSequence(parts.grid.rendition)),
        );
      }),
      runs(300, 20261121),
    );
  });
});
