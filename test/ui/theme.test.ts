import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import type { Tier } from '../../src/core/ladder.js';
import { toPrintable } from '../../src/core/printable.js';
import { glyphsOf, makeTheme, palettes } from '../../src/ui/theme.js';

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

/** Also those of Solarized, One Dark and GitHub. The steps of the 256 colours are coarse. */
const grounds = {
  light: { backgrounds: ['#ffffff', '#fdf6e3', '#f6f8fa'], least: 4.5, in256: 4.3 },
  dark: { backgrounds: ['#000000', '#1e1e1e', '#002b36', '#282c34'], least: 4.5, in256: 4.5 },
  unknown: { backgrounds: ['#ffffff', '#000000', '#1e1e1e'], least: 3.5, in256: 3.3 },
  contrast: { backgrounds: ['#000000', '#1e1e1e'], least: 7, in256: 7 },
} as const;

describe.each(['light', 'dark', 'unknown', 'contrast'] as const)('in the palette %s', (name) => {
  const { backgrounds, least, in256 } = grounds[name];
  const leastContrast = (color: string): number =>
    Math.min(...backgrounds.map((background) => contrast(color, background)));

  it.each(Object.entries(palettes[name]))('the colour of %s is readable', (_name, { rgb }) => {
    expect(leastContrast(rgb)).toBeGreaterThanOrEqual(least);
  });

  it.each(Object.entries(palettes[name]))(
    'the nearest of the 256 for %s is readable, too',
    (_name, color) => {
      expect(leastContrast(paletteColor(color.ansi256 ?? 0))).toBeGreaterThanOrEqual(in256);
    },
  );
});

it.each([true, false])(
  'every glyph is one column wide, also where ambiguous characters are two (ascii: %s)',
  (ascii) => {
    const { edges, ...cells } = glyphsOf({ ascii });
    const glyphs = [...Object.values(cells), ...edges.filter((edge) => edge !== '')];
    expect(glyphs.filter((glyph) => stringWidth(glyph, { ambiguousIsNarrow: false }) !== 1)).toEqual([]);
  },
);

it('the marks and the dots of the chart are one column wide in the same way', () => {
  const cells = ['╵', '╌', '⟳', '✓', '✗', '\u2800', '\u28ff'];
  expect(cells.filter((cell) => stringWidth(cell, { ambiguousIsNarrow: false }) !== 1)).toEqual([]);
});

describe('without colours', () => {
  const theme = (tier: Tier, hasStyles = true) => makeTheme(tier, { colorLevel: 0, hasStyles });

  it('the tiers differ by bold and reverse video, and what is secondary is dim', () => {
    expect(toPrintable(theme('safe').percent('62%'))).toBe('62%');
    expect(toPrintable(theme('warn').percent('82%'))).toBe('\x1b[1m82%\x1b[22m');
    expect(toPrintable(theme('hard').percent('97%'))).toBe('\x1b[7m97%\x1b[27m');
    expect(toPrintable(theme('safe').quiet('claude'))).toBe('\x1b[2mclaude\x1b[22m');
    expect(toPrintable(theme('auto').countdown('compacting in 8 s'))).toBe(
      '\x1b[1mcompacting in 8 s\x1b[22m',
    );
  });

  it('nothing is styled where the output is no terminal', () => {
    for (const tier of ['safe', 'warn', 'auto', 'hard'] as const)
      for (const paint of Object.values(theme(tier, false))) expect(toPrintable(paint('text'))).toBe('text');
  });
});

it('a colour of your own is used in place of the palette’s, the nearest of 256 where there are no more', () => {
  const ownColors = { warn: { rgb: '#ff00ff' } };
  expect(toPrintable(makeTheme('warn', { colorLevel: 3, ownColors }).tier('warn'))).toBe(
    '\x1b[38;2;255;0;255mwarn\x1b[39m',
  );
  expect(toPrintable(makeTheme('warn', { colorLevel: 2, ownColors }).tier('warn'))).toBe(
    '\x1b[38;5;201mwarn\x1b[39m',
  );
  expect(glyphsOf({ ascii: false, bar: ['█', '░'] })).toMatchObject({ full: '█', empty: '░', fresh: '▮' });
});
