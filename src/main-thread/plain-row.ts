import type { Tier } from '../core/ladder.js';
import type { Look } from '../core/look.js';
import { colourWith, type Printable, toPrintable } from '../core/printable.js';

// The footer without what draws it: until the worker has loaded Ink, and when the worker has failed.

export interface PlainLine {
  /** each character one column wide */
  readonly text: string;
  readonly tier?: Tier;
}

/** The terminal's own colours (SGR). */
const colours: Readonly<Record<Tier, number>> = { safe: 32, warn: 33, auto: 33, hard: 31 };

/** The line cut to the terminal's width, in the colour of its tier where there are colours. */
export const plainRow = (
  { text, tier }: PlainLine,
  { columns, colorLevel }: Pick<Look, 'columns' | 'colorLevel'>,
): Printable => {
  const row = Array.from(text).slice(0, columns).join('');
  if (colorLevel === 0 || tier === undefined) return toPrintable(row);
  return toPrintable(colourWith((each) => `\x1b[${colours[tier]}m${each}\x1b[39m`)(row));
};
