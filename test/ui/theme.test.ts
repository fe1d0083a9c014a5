import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { partLooks } from '../../src/ui/Report.js';
import { glyphsOf, reportColors, tierColors } from '../../src/ui/theme.js';

/** Relative luminance and contrast as WCAG 2 defines them. */
const luminance = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one: string, other: string): number => {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

/** One of the 6 × 6 × 6 colours that every terminal with 256 of them has at 16…231. */
const paletteColor = (number: number): string => {
  const level = (step: number): string => (step === 0 ? 0 : 55 + 40 * step).toString(16).padStart(2, '0');
  const at = number - 16;
  return `#${level(Math.floor(at / 36))}${level(Math.floor(at / 6) % 6)}${level(at % 6)}`;
};

/** Also those of Solarized, One Dark and GitHub. The steps of the palette are coarse. */
const grounds = {
  light: { backgrounds: ['#ffffff', '#fdf6e3', '#f6f8fa'], least: 4.5, inPalette: 4.3 },
  dark: { backgrounds: ['#000000', '#1e1e1e', '#002b36', '#282c34'], least: 4.5, inPalette: 4.5 },
  unknown: { backgrounds: ['#ffffff', '#000000', '#1e1e1e'], least: 3.5, inPalette: 3.3 },
} as const;

describe.each(['light', 'dark', 'unknown'] as const)('on a background that is %s', (background) => {
  const { backgrounds, least, inPalette } = grounds[background];
  it.each(Object.entries(tierColors[background]))('the colour of %s is readable', (_tier, { rgb }) => {
    expect(Math.min(...backgrounds.map((each) => contrast(rgb, each)))).toBeGreaterThanOrEqual(least);
  });

  it.each(Object.entries(tierColors[background]))(
    'the nearest colour of the palette for %s is readable, too',
    (_tier, { ansi256 }) => {
      expect(
        Math.min(...backgrounds.map((each) => contrast(paletteColor(ansi256), each))),
      ).toBeGreaterThanOrEqual(inPalette);
    },
  );
});

it.each(Object.entries(reportColors))(
  'the colour of %s in the overlay is readable on light and dark backgrounds',
  (_name, { rgb }) => {
    const contrasts = grounds.unknown.backgrounds.map((background) => contrast(rgb, background));
    expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(3.5);
  },
);

it.each([true, false])(
  'every glyph is one column wide, also where ambiguous characters are two (ascii: %s)',
  (ascii) => {
    const { full, empty, edges, compactions } = glyphsOf(ascii);
    const glyphs = [full, empty, compactions, ...edges.filter((edge) => edge !== '')];
    expect(glyphs.filter((glyph) => stringWidth(glyph, { ambiguousIsNarrow: false }) !== 1)).toEqual([]);
  },
);

it('the cells of the bar and the dots of the usage are one column wide in the same way', () => {
  const cells = [...Object.values(partLooks).map(({ cell }) => cell), '╵', '⟳', '\u2800', '\u28ff'];
  expect(cells.filter((cell) => stringWidth(cell, { ambiguousIsNarrow: false }) !== 1)).toEqual([]);
});
