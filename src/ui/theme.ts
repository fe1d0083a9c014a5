import { Chalk, type ChalkInstance } from 'chalk';
import type { Tier } from '../core/ladder.js';
import type { Background, ColorLevel, Look } from './look.js';

/** Styles for one row; at colour level 0 each returns its text unchanged. */
export interface Theme {
  /** the filled part of the bar */
  readonly bar: PaintText;
  /** the most important number */
  readonly percent: PaintText;
  /** the tier word */
  readonly tier: PaintText;
  /** everything secondary */
  readonly quiet: PaintText;
}

export type PaintText = (text: string) => string;

interface TierColor {
  readonly rgb: string;
  readonly ansi256: number;
}

type TierColors = Readonly<Record<Exclude<Tier, 'safe'>, TierColor>>;

/** A contrast of at least 4.5 : 1 against common terminal backgrounds. */
export const tierColors: Readonly<Record<Background | 'unknown', TierColors>> = {
  light: {
    warn: { rgb: '#875f00', ansi256: 94 },
    auto: { rgb: '#a84300', ansi256: 130 },
    hard: { rgb: '#af0000', ansi256: 124 },
  },
  dark: {
    warn: { rgb: '#d7af00', ansi256: 178 },
    auto: { rgb: '#ff8700', ansi256: 208 },
    hard: { rgb: '#ff5f5f', ansi256: 203 },
  },
  /** mid-tones: at least 3.5 : 1 against white, black and #1e1e1e */
  unknown: {
    warn: { rgb: '#a87900', ansi256: 136 },
    auto: { rgb: '#c8601a', ansi256: 166 },
    hard: { rgb: '#d43c45', ansi256: 167 },
  },
};

/**
 * The level is an argument because chalk's own detection (used by Ink's `color` prop) depends on this process's streams and CI variables,
 * not on the terminal the row is for.
 */
export const makeTheme = (
  tier: Tier | undefined,
  { colorLevel: level, background }: Pick<Look, 'colorLevel' | 'background'>,
): Theme => {
  const chalk = new Chalk({ level });
  const quiet: PaintText = (text) => chalk.dim(text);
  if (tier === undefined || tier === 'safe')
    return { bar: quiet, percent: (text) => text, tier: quiet, quiet };
  if (level === 1) return { ...sixteenColors(tier, chalk), quiet };
  const color = tierColors[background ?? 'unknown'][tier];
  const accent = level === 2 ? chalk.ansi256(color.ansi256) : chalk.hex(color.rgb);
  return { bar: accent, percent: tier === 'warn' ? accent : accent.bold, tier: accent, quiet };
};

/** The whole row dimmed, for a number that is out of date. */
export const makeStaleTheme = (level: ColorLevel): Theme => {
  const quiet: PaintText = (text) => new Chalk({ level }).dim(text);
  return { bar: quiet, percent: quiet, tier: quiet, quiet };
};

/** The palette's yellow is unreadable as text on white, so only the bar uses it; words are bold instead. */
const sixteenColors = (tier: Exclude<Tier, 'safe'>, chalk: ChalkInstance): Omit<Theme, 'quiet'> =>
  tier === 'hard'
    ? { bar: chalk.red, percent: chalk.red.bold, tier: chalk.red }
    : { bar: chalk.yellow, percent: chalk.bold, tier: chalk.bold };

export interface Glyphs {
  readonly full: string;
  readonly empty: string;
  /** around the bar where the cells alone do not look like one */
  readonly edges: readonly [string, string];
  readonly compactions: string;
}

/** All are one column wide in every locale: East Asian Width neutral, which blocks (█), lines (─), `·` and `…` are not. */
const unicodeGlyphs: Glyphs = { full: '▰', empty: '▱', edges: ['', ''], compactions: '⟳' };
const asciiGlyphs: Glyphs = { full: '#', empty: '-', edges: ['[', ']'], compactions: 'c' };

export const glyphsOf = (ascii: boolean): Glyphs => (ascii ? asciiGlyphs : unicodeGlyphs);

// Colours of a report: one accent, dim for secondary text, and the tier's own.

/** `bar` is the filled part of the bar, `accent` is for titles and keys. */
export type ReportPaints = Readonly<
  Record<'plain' | 'strong' | 'quiet' | 'accent' | 'bar' | 'tier' | 'percent', PaintText>
>;

/** Mid-tones like those of the tiers: a contrast of at least 3.5 : 1 on white, black and #1e1e1e. */
export const reportColors = {
  accent: { rgb: '#3b82c4', ansi256: 67 },
  safe: { rgb: '#3f8f52', ansi256: 65 },
} as const;

export const makePaints = (
  tier: Tier | undefined,
  look: Pick<Look, 'colorLevel' | 'background'>,
  isStale: boolean,
): ReportPaints => {
  const { colorLevel: level } = look;
  const chalk = new Chalk({ level });
  const theme = isStale ? makeStaleTheme(level) : makeTheme(tier, look);
  const isSafe = tier === 'safe' && !isStale;
  const safe = colored(level, 'safe');
  return {
    plain: (text) => text,
    strong: (text) => chalk.bold(text),
    quiet: (text) => chalk.dim(text),
    accent: colored(level, 'accent'),
    // the palette's green is too pale for words on white
    bar: isSafe ? (level === 1 ? (text) => chalk.green(text) : safe) : theme.bar,
    tier: isSafe && level > 1 ? safe : tier === 'safe' ? (text) => text : theme.tier,
    percent: isSafe && level > 1 ? safe : theme.percent,
  };
};

/** With 16 colours none is readable everywhere, so bold replaces the accent. */
const colored = (level: ColorLevel, name: keyof typeof reportColors): PaintText => {
  const chalk = new Chalk({ level });
  const { rgb, ansi256 } = reportColors[name];
  if (level === 3) return (text) => chalk.hex(rgb)(text);
  if (level === 2) return (text) => chalk.ansi256(ansi256)(text);
  return (text) => chalk.bold(text);
};
