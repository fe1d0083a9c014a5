import { describe, expect, it } from 'vitest';
import { makeEmulator } from '../support/emulator.js';
import { pieceRows } from './cells.js';
import { svgOf } from './svg.js';

const drawn = async (output: string, columns = 20): Promise<string> => {
  const { terminal, write } = makeEmulator(columns, 2);
  await write(output);
  return svgOf({ title: 'a picture', columns, rows: pieceRows(terminal) });
};

const texts = (svg: string): readonly string[] =>
  svg.split('\n').filter((line) => line.startsWith('<text') || line.startsWith('<rect x'));

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
      what: 'other signs each at its column, also behind one of two columns',
      output: '世▰▱',
      lines: ['<text x="12 28.8 37.2" y="25.5">世▰▱</text>'],
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

  it('has colours of the palette for a light and for a dark background, of those that are in it', async () => {
    const rules = (await drawn('\x1b[32mgreen')).match(/\.c\d+\{fill:#[0-9a-f]{6}\}/g);
    expect(rules).toEqual(['.c2{fill:#116329}', '.c2{fill:#3fb950}']);
  });
});
