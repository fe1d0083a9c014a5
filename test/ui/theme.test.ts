import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { partLooks } from '../../src/ui/overlay/bar-lines.js';
import { overlayColors } from '../../src/ui/overlay/tones.js';
import { glyphsOf, tierColors } from '../../src/ui/theme.js';

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

it.each(Object.entries({ ...tierColors, ...overlayColors }))(
  'the colour of %s is readable on light and dark backgrounds',
  (_tier, { rgb }) => {
    const backgrounds = ['#ffffff', '#000000', '#1e1e1e'];
    const contrasts = backgrounds.map((background) => contrast(rgb, background));
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
