// Rows of the overlay before they are painted: spans of measured text.
import { shortened, widthOf, wrapped } from '../plain-text.js';
import type { Tone } from './tones.js';

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
