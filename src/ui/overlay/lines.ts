import { Chalk } from 'chalk';
import type { Tier } from '../../core/ladder.js';
import type { ColorLevel, Look } from '../look.js';
import { shortened, widthOf, wrapped } from '../text.js';
import { staleTheme, themeOf } from '../theme.js';

// Rows of the overlay before they are painted: spans of measured text.

export interface Span {
  readonly text: string;
  /** `plain` when absent */
  readonly tone?: Tone;
}

/** One row. */
export type Line = readonly Span[];

export const span = (text: string, tone: Tone = 'plain'): Span => ({ text, tone });

export const blankLine: Line = [];

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + widthOf(text), 0);

/** The row in at most so many columns; the span that does not fit is cut, and what follows it is lost. */
export const cutLine = (line: Line, columns: number): Line => {
  let room = columns;
  return line.flatMap(({ text, ...rest }) => {
    if (room <= 0) return [];
    const cut = shortened(text, room);
    room -= cut === text ? widthOf(text) : room;
    return [{ ...rest, text: cut }];
  });
};

/** Spans at both ends of a row; the right one is left out where it does not fit. */
export const spread = (left: Line, right: Line, columns: number): Line => {
  const blanks = columns - lineWidth(left) - lineWidth(right);
  return blanks < 2 ? cutLine(left, columns) : [...left, span(' '.repeat(blanks)), ...right];
};

export const padEnd = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - widthOf(text)));

export const padStart = (text: string, columns: number): string =>
  ' '.repeat(Math.max(0, columns - widthOf(text))) + text;

/** A text in as many rows as it needs, the later ones under the first one's beginning. */
export const paragraph = (text: string, columns: number, tone: Tone = 'plain', indent = 0): readonly Line[] =>
  wrapped(text, Math.max(1, columns - indent)).map((row) => [span(' '.repeat(indent)), span(row, tone)]);

const LABEL_COLUMNS = 8;

/** A short name, and a text beside it in as many rows as it needs. */
export const labelled = (
  label: string,
  text: string,
  columns: number,
  tone: Tone = 'plain',
): readonly Line[] =>
  wrapped(text, Math.max(1, columns - LABEL_COLUMNS)).map((row, index) => [
    span((index === 0 ? label : '').padEnd(LABEL_COLUMNS), 'quiet'),
    span(row, tone),
  ]);

/** What stands under a title of its own. */
export interface Section {
  readonly title?: string;
  readonly lines: readonly Line[];
}

/** Sections one below the other, with an empty row between them. */
export const stacked = (sections: readonly Section[]): readonly Line[] =>
  sections
    .filter(({ lines }) => lines.length > 0)
    .flatMap(({ title, lines }, index) => [
      ...(index === 0 ? [] : [blankLine]),
      ...(title === undefined ? [] : [[span(title, 'accent')]]),
      ...lines,
    ]);

// Colours of the overlay: one accent, dim for what is second, and the tier's own.

export type Tone =
  | 'plain'
  | 'strong'
  /** stays in the background */
  | 'quiet'
  /** titles and keys */
  | 'accent'
  /** the filled part of the bar */
  | 'bar'
  /** the tier in words, and what belongs to it */
  | 'tier'
  | 'percent';

type Paint = (text: string) => string;
export type Paints = Readonly<Record<Tone, Paint>>;

/** Mid-tones as those of the tiers: a contrast of at least 3.5 : 1 on white, black and #1e1e1e. */
export const overlayColors = {
  accent: { rgb: '#3b82c4', ansi256: 67 },
  safe: { rgb: '#3f8f52', ansi256: 65 },
} as const;

export const paintsOf = (
  tier: Tier | undefined,
  look: Pick<Look, 'colorLevel' | 'background'>,
  isStale: boolean,
): Paints => {
  const { colorLevel: level } = look;
  const chalk = new Chalk({ level });
  const theme = isStale ? staleTheme(level) : themeOf(tier, look);
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

/** With 16 colours none can be relied on as text, so that weight stands in for the accent. */
const colored = (level: ColorLevel, name: keyof typeof overlayColors): Paint => {
  const chalk = new Chalk({ level });
  const { rgb, ansi256 } = overlayColors[name];
  if (level === 3) return (text) => chalk.hex(rgb)(text);
  if (level === 2) return (text) => chalk.ansi256(ansi256)(text);
  return (text) => chalk.bold(text);
};
