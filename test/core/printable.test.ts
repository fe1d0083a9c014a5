import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  jsonText,
  keepColours,
  own,
  type Printable,
  type Styled,
  toPrintable,
  toPrintableLines,
  toPrintableText,
} from '../../src/core/printable.js';
import { makeTheme } from '../../src/ui/theme.js';
import { controlsIn, PLANT } from '../support/planted.js';
import { runs } from '../support/runs.js';

const theme = makeTheme(undefined, { colorLevel: 1 });
const anyText = fc.string({ unit: 'binary', maxLength: 40 });

describe('text from outside', () => {
  it('keeps none of its control characters, as a row, as lines and as text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(controlsIn(toPrintable(text))).toEqual([]);
        expect(controlsIn(toPrintableLines([text, [text]]))).toEqual([]);
        expect(controlsIn(toPrintableText(text))).toEqual([]);
        expect(toPrintable(text)).not.toMatch(/[\n\t]/);
      }),
      runs(200),
    );
  });

  it('gets its colours after it was cleaned', () => {
    expect(toPrintable(['a ', theme.strong(`b${PLANT}`)])).toMatch(/^a \u001b\[1mb[^\u001b]*\u001b\[22m$/);
  });

  it('keeps the colours of what is printable already', () => {
    const row = toPrintable(theme.strong('b'));
    expect(toPrintable(['a ', { printable: row }])).toBe('a \u001b[1mb\u001b[22m');
    expect(keepColours(`${row}\u001b[2J`)).toBe(`${row}\ufffd[2J`);
  });

  it('does not compile where printable text is demanded, nor the other way round', () => {
    const raw: string = 'text';
    // @ts-expect-error a raw string is not printable
    const printable: Printable = raw;
    // @ts-expect-error a row that is printable already would lose its colours
    const styled: Styled = own`row`;
    // @ts-expect-error only a theme makes a colour
    const painted: Styled = { text: raw, colour: (text: string) => `${raw}${text}` };
    expect([printable, styled, painted]).toHaveLength(3);
  });

  it('is escaped in JSON, which has the same value', () => {
    const json = jsonText({ text: PLANT });
    expect(controlsIn(json)).toEqual([]);
    expect(JSON.parse(json)).toEqual({ text: PLANT });
  });
});
