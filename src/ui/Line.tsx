import { Box, renderToString, Text, Transform } from 'ink';
import { createElement, type ReactElement } from 'react';
import { keepColours, type Printable, type Styled, toPrintable } from '../core/printable.js';
import { toAscii, widthOf } from './text.js';
import type { Paint } from './theme.js';

// Text as Ink draws it. Ink's own `Text` would print whatever it is given, so it is used only here.

interface LineProps {
  readonly text: Styled;
  readonly wrap?: 'wrap' | 'truncate-end';
}

export const Line = ({ text, wrap = 'wrap' }: LineProps) => <Text wrap={wrap}>{toPrintable(text)}</Text>;

const NO_BREAK = '\u00a0';

interface WordsProps {
  readonly text: string;
  readonly paint: Paint;
}

/** A text over as many rows as it needs; a number keeps its unit. */
export const Words = ({ text, paint }: WordsProps) => (
  // a row that is exactly full passes its trailing space to the next one
  <Transform transform={(line) => toPrintable(paint(line.trim().replaceAll(NO_BREAK, ' ')))}>
    {toPrintable(text.replace(/(?<=\d) (?=(?:s|min|h|d)\b)/g, NO_BREAK))}
  </Transform>
);

const LEAST_WIDTH = 20; // columns; in a narrower terminal, fixed-width cells could be too wide

const SEQUENCES = /(\x1b\[[\d;]*m)/g;

/** Cuts what does not fit: Ink counts some rare letters as narrower than terminals do. */
const fitted = (row: string, columns: number): string => {
  let left = columns;
  const fit = (text: string): string => {
    const characters = [...text];
    while (widthOf(characters.join('')) > left) characters.pop();
    left -= widthOf(characters.join(''));
    return characters.join('');
  };
  return widthOf(row.replace(SEQUENCES, '')) <= columns
    ? row
    : row
        .split(SEQUENCES)
        .map((part) => (part.startsWith('\x1b') ? part : fit(part)))
        .join('');
};

/** One string per terminal row: no newline, SGR as the only sequences. */
export const drawRows = (element: ReactElement, columns: number, ascii: boolean): readonly Printable[] => {
  const overflow = columns < LEAST_WIDTH ? 'hidden' : 'visible';
  const text = renderToString(createElement(Box, { width: columns, overflow }, element), { columns });
  return (ascii ? toAscii(text) : text).split('\n').map((row) => keepColours(fitted(row, columns)));
};
