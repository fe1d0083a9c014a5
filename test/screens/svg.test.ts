import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { palettes } from '../../src/ui/theme.js';
import { makeEmulator } from '../support/emulator.js';
import { pieceRows } from './cells.js';
import { shapesOf } from './shapes.js';
import { animatedSvgOf, svgOf } from './svg.js';

const drawn = async (output: string, columns = 20): Promise<string> => {
  const { terminal, write } = makeEmulator(columns, 2);
  await write(output);
  return svgOf({ title: 'a picture', columns, rows: pieceRows(terminal) });
};

const rgbOf = (color: string): readonly number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

const texts = (svg: string): readonly string[] =>
  svg.split('\n').filter((line) => /^<(?:text|path|rect x)/.test(line));

describe('a picture of a terminal', () => {
  it.each([
    {
      what: 'words in ASCII at the column of their first letter, in the width of all of them',
      output: 'ab  cd',
      lines: [
        '<text x="12" textLength="16.8" y="25.5">ab</text>',
        '<text x="45.6" textLength="16.8" y="25.5">cd</text>',
      ],
    },
    {
      what: 'other letters each at its column, also behind one of two columns',
      output: '世→·',
      lines: [
        '<text x="12" y="25.5">世</text>',
        '<text x="28.8" y="25.5">→</text>',
        '<text x="37.2" y="25.5">·</text>',
      ],
    },
    {
      what: 'lines, blocks, dots and bars as shapes in their cells, which no font can move',
      output: '───█⣀▰',
      lines: [
        '<path d="M12 20.5h25.2v1h-25.2z"/>',
        '<path d="M37.2 12h8.4v18h-8.4z"/>',
        '<path d="M46.7 26.8h2v2h-2zM50.9 26.8h2v2h-2z"/>',
        '<path d="M54.5 24h5l2.5 -6h-5z"/>',
      ],
    },
    {
      what: 'colours of all three kinds',
      output: '\x1b[31ma\x1b[38;5;208mb\x1b[38;2;1;2;3mc',
      lines: [
        '<text x="12" y="25.5" class="c1">a</text>',
        '<text x="20.4" y="25.5" fill="#ff8700">b</text>',
        '<text x="28.8" y="25.5" fill="#010203">c</text>',
      ],
    },
    {
      what: 'weights, and what an inverse cell stands on',
      output: '\x1b[1ma\x1b[22;2mb\x1b[22;7mc',
      lines: [
        '<text x="12" y="25.5" font-weight="bold">a</text>',
        '<text x="20.4" y="25.5" opacity="0.6">b</text>',
        '<rect x="28.8" y="12" width="8.4" height="18" class="t"/>',
        '<text x="28.8" y="25.5" class="b">c</text>',
      ],
    },
    {
      what: 'what means something in XML as itself',
      output: '<&>',
      lines: ['<text x="12" textLength="25.2" y="25.5">&lt;&amp;&gt;</text>'],
    },
  ])('has $what', async ({ output, lines }) => {
    expect(texts(await drawn(output))).toEqual(lines);
  });

  it('leaves the weight of its text to each piece: a style sheet would win over it', async () => {
    expect(await drawn('\x1b[1ma')).not.toMatch(/[{;]font(?:-weight)?:/);
  });

  it('has colours of the palette for a light and for a dark background, of those that are in it', async () => {
    const rules = (await drawn('\x1b[32mgreen')).match(/\.c\d+\{fill:#[0-9a-f]{6}\}/g);
    expect(rules).toEqual(['.c2{fill:#116329}', '.c2{fill:#3fb950}']);
  });

  it("has ctxwrap's own colours as it draws them on a light and on a dark background", async () => {
    const svg = await drawn(`\x1b[38;2;${rgbOf(palettes.unknown.hard.rgb).join(';')}mhard`);
    expect(svg).toContain(' class="hard">hard</text>');
    expect(svg.match(/\.hard\{fill:#[0-9a-f]{6}\}/g)).toEqual([
      `.hard{fill:${palettes.light.hard.rgb}}`,
      `.hard{fill:${palettes.dark.hard.rgb}}`,
    ]);
  });
});

describe('the shapes', () => {
  it.each([...'⣿⠿█▌▛▜─│┌┼╭╮╰╯╌▰▱'])('%s stays within its cell', (character) => {
    const path = shapesOf(character, 100, 200, 1) ?? '';
    expect(path).toMatch(/^M/);
    let [x, y] = [0, 0];
    for (const [, letter = '', rest = ''] of path.matchAll(/([MhvlaHVz])([^MhvlaHVz]*)/g)) {
      const values = (rest.match(/-?[\d.]+/g) ?? []).map(Number);
      const [first = 0, second = 0] = values.slice(-2);
      if (letter === 'M') [x, y] = [first, second];
      if (letter === 'h') x += first;
      if (letter === 'v') y += first;
      if (letter === 'l' || letter === 'a') [x, y] = [x + first, y + second];
      expect(x).toBeGreaterThan(99.7);
      expect(x).toBeLessThan(108.7);
      expect(y).toBeGreaterThan(199.7);
      expect(y).toBeLessThan(218.3);
    }
  });
});

describe('the pictures of the documents', () => {
  const folder = new URL('../../docs/screens/', import.meta.url);

  it.each(readdirSync(folder))('%s has every word and every other sign in a place of its own', (name) => {
    const svg = readFileSync(new URL(name, folder), 'utf8');
    const found = [...svg.matchAll(/<text x="([^"]*)"([^>]*)>([^<]*)<\/text>/g)];
    expect(found.length).toBe(svg.match(/<text/g)?.length);
    const wrong = found.filter(([, x = '', more = '', escaped = '']) => {
      const text = escaped.replace(/&\w+;/g, '&');
      const isFixed = [...text].length === 1 || (/^[\x21-\x7e]+$/.test(text) && more.includes('textLength='));
      return !isFixed || x.includes(' ');
    });
    expect(wrong.map(([whole]) => whole)).toEqual([]);
  });
});

describe('a picture in motion', () => {
  const screen = async (output: string) => {
    const { terminal, write } = makeEmulator(10, 2);
    await write(output);
    return pieceRows(terminal);
  };

  it('moves only the rows that change, draws what comes back once, and stands still for who wants no motion', async () => {
    const frames = [
      { atMs: 0, rows: await screen('same\r\none') },
      { atMs: 1_000, rows: await screen('same\r\ntwo') },
      { atMs: 1_500, rows: await screen('same\r\none') },
    ];
    const svg = animatedSvgOf({ title: 'moving', columns: 10, frames, lengthMs: 4_000, stillMs: 1_200 });
    expect(svg.match(/<g id="r\d+">/g)).toHaveLength(3);
    expect(svg).toContain(
      '@keyframes k1{0%{transform:translateY(0)}25%{transform:translateY(-18px)}37.5%{transform:translateY(0)}}',
    );
    expect(svg).not.toContain('@keyframes k0');
    expect(svg).toContain('.k1{animation-name:k1;transform:translateY(-18px)}');
    expect(svg).toContain('@media(prefers-reduced-motion:reduce){.a{animation:none!important}}');
    expect(svg).not.toContain('<script');
  });
});
