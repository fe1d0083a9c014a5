import { Chalk, type ChalkInstance } from 'chalk';
import { colourWith, type Styled } from '../core/printable.js';
import type { ColorName } from '../core/config/theme.js';
import type { Tier } from '../core/ladder.js';
import type { Background, Color, Look } from '../core/look.js';

// The colours of everything ctxwrap draws: the footer, the overview and `ctxwrap context` share one palette and one bar.

/** Gives a text a colour or a weight; in a plain look it returns the text. */
export type Paint = (text: Styled) => Styled;

/** SGR sequences around a text, which is clean by then. */
type Sequences = (text: string) => string;

/** The parts that are painted. With no colours they differ by bold, dim and reverse video alone; in a plain look each returns its text. */
export type Theme = Readonly<
  Record<
    /** `quiet`: everything secondary; `accent`: titles and keys */
    | 'plain'
    | 'strong'
    | 'quiet'
    | 'accent'
    /** the filled part of the bar, the most important number, and the word of the tier, in the tier's colour */
    | 'bar'
    /** a second filled part beside it */
    | 'soft'
    | 'percent'
    | 'tier'
    /** the announcement of a compaction, and how one has ended */
    | 'countdown'
    | 'success'
    | 'failure',
    Paint
  >
>;

export type Palette = Readonly<Record<ColorName, Color>>;

/**
 * A contrast of at least 4.5 : 1 (WCAG 2) against the usual backgrounds of their kind. Where the background is not known no colour has that
 * on white and on black: there it is 3.5 : 1.
 */
export const palettes: Readonly<Record<Background | 'unknown' | 'contrast', Palette>> = {
  light: {
    accent: { rgb: '#1f5fa8', ansi256: 25 },
    safe: { rgb: '#1f7035', ansi256: 22 },
    warn: { rgb: '#7a5600', ansi256: 94 },
    auto: { rgb: '#a84300', ansi256: 130 },
    hard: { rgb: '#af0000', ansi256: 124 },
  },
  dark: {
    accent: { rgb: '#74b3f0', ansi256: 75 },
    safe: { rgb: '#6fc07f', ansi256: 114 },
    warn: { rgb: '#d7af00', ansi256: 178 },
    auto: { rgb: '#ff8700', ansi256: 208 },
    hard: { rgb: '#ff7070', ansi256: 210 },
  },
  unknown: {
    accent: { rgb: '#3b82c4', ansi256: 67 },
    safe: { rgb: '#3f8f52', ansi256: 65 },
    warn: { rgb: '#a87900', ansi256: 136 },
    auto: { rgb: '#c8601a', ansi256: 166 },
    hard: { rgb: '#d43c45', ansi256: 167 },
  },
  /** for black backgrounds, at least 7 : 1 */
  contrast: {
    accent: { rgb: '#9fd0ff', ansi256: 153 },
    safe: { rgb: '#8fe39a', ansi256: 157 },
    warn: { rgb: '#ffe14d', ansi256: 227 },
    auto: { rgb: '#ffb000', ansi256: 214 },
    hard: { rgb: '#ff9a9a', ansi256: 217 },
  },
};

type Colored = Pick<Look, 'colorLevel' | 'hasStyles' | 'background' | 'palette' | 'ownColors'>;

/**
 * The theme for a number in this tier. The level is the look's, because chalk's own detection (used by Ink's `color` prop) depends on this
 * process's streams and CI variables, not on the terminal that is drawn on. `isStale`: the number is out of date, so all of it is dim.
 */
export const makeTheme = (tier: Tier | undefined, look: Colored, isStale = false): Theme => {
  const sequences = Object.entries(sequencesFor(tier, look, isStale));
  return Object.fromEntries(sequences.map(([name, colour]) => [name, colourWith(colour)])) as Theme;
};

type ThemeSequences = Readonly<Record<keyof Theme, Sequences>>;

const sequencesFor = (tier: Tier | undefined, look: Colored, isStale: boolean): ThemeSequences => {
  const { colorLevel: level, hasStyles = level > 0 } = look;
  const style = new Chalk({ level: hasStyles ? Math.max(1, level) : 0 } as { level: 0 | 1 | 2 | 3 });
  const color = (name: ColorName): ChalkInstance => paintOf(style, look, name);
  const quiet = quietOf(style);
  const plain: Sequences = (text) => text;
  const words = {
    plain,
    strong: (text: string) => style.bold(text),
    quiet,
    accent: level > 1 ? color('accent') : style.bold,
    success: level > 0 ? color('safe') : plain,
    failure: level > 0 ? color('hard') : style.bold,
  };
  const unrated = { ...words, bar: quiet, soft: quiet, tier: quiet, countdown: style.bold };
  if (isStale) return { ...unrated, percent: quiet };
  if (tier === undefined) return { ...unrated, percent: plain };
  if (level === 0) return { ...words, ...withoutColors(tier, style) };
  const own = color(tier);
  // the 16 colours are the terminal's own, and only red can be read as text on every background
  const ink = level > 1 || tier === 'hard' ? own : tier === 'safe' ? undefined : style.bold;
  const number = ink ?? plain;
  return {
    ...words,
    bar: own,
    soft: own.dim,
    percent: tier === 'auto' || tier === 'hard' ? (ink ?? style).bold : number,
    tier: number,
    countdown: (ink ?? style).bold,
  };
};

const quietOf =
  (style: ChalkInstance): Sequences =>
  (text) =>
    style.dim(text);

/** The tier by weight alone: bold from warn on, reverse video at hard. */
const withoutColors = (
  tier: Tier,
  style: ChalkInstance,
): Pick<ThemeSequences, 'bar' | 'soft' | 'percent' | 'tier' | 'countdown'> => {
  const plain: Sequences = (text) => text;
  const weight = tier === 'safe' ? plain : tier === 'hard' ? style.inverse : style.bold;
  return {
    bar: tier === 'safe' ? plain : style.bold,
    soft: tier === 'safe' ? quietOf(style) : plain,
    percent: weight,
    tier: weight,
    countdown: style.bold,
  };
};

const sixteen = { accent: 'bold', safe: 'green', warn: 'yellow', auto: 'yellow', hard: 'red' } as const;

const paintOf = (style: ChalkInstance, look: Colored, name: ColorName): ChalkInstance => {
  const { colorLevel: level, background = 'unknown', palette = background, ownColors } = look;
  if (level < 2) return style[sixteen[name]];
  const { rgb, ansi256 } = ownColors?.[name] ?? palettes[palette][name];
  return level === 2 && ansi256 !== undefined ? style.ansi256(ansi256) : style.hex(rgb); // chalk finds the nearest of 256
};

export interface Glyphs {
  readonly full: string;
  readonly empty: string;
  /** in a bar of several parts: a second kind of filled cell where no style tells them apart, and one that cannot be filled */
  readonly fresh: string;
  readonly reserved: string;
  /** around the bar where the cells alone do not look like one */
  readonly edges: readonly [string, string];
  readonly compactions: string;
}

/** All are one column wide in every locale: East Asian Width neutral, which blocks (█), lines (─) and `…` are not. */
const unicodeGlyphs: Glyphs = {
  full: '▰',
  empty: '▱',
  fresh: '▮',
  reserved: '╌',
  edges: ['', ''],
  compactions: '⟳',
};
const asciiGlyphs: Glyphs = {
  full: '#',
  empty: '-',
  fresh: '=',
  reserved: ':',
  edges: ['[', ']'],
  compactions: 'c',
};

export const glyphsOf = ({ ascii, bar }: Pick<Look, 'ascii' | 'bar'>): Glyphs => {
  if (ascii) return asciiGlyphs;
  const [full = unicodeGlyphs.full, empty = unicodeGlyphs.empty] = bar ?? [];
  return { ...unicodeGlyphs, full, empty };
};
