// The percentages Codex shows when it is told to: in the status line below the composer, in the terminal title, and in the footer of
// older versions (facts/codex.md §2.2, §2.4; sessions.md §F). The numbers of `/status` are conversation: they get old and can be forged.
import { shownAmount } from '../../core/amount.js';
import type { ScreenView } from '../../core/screen-view.js';
import { isDrawn } from './layout.js';
import type { Pane } from './layout.js';

export interface Shown {
  /** 0…100 used */
  readonly usedPercent: number;
  /** the window as shown, three digits of it, in tokens */
  readonly windowTokens?: number;
}

const PERCENT = /^Context (\d{1,3})% (left|used)$/;
const WINDOW = /^(\d+(?:\.\d+)?[KMB]?) window$/;
const HINTS =
  /\? for shortcuts|← for agents|^ {2}(?:esc again|tab to queue|reverse-i-search:)|⚠ \d+ warning|Shell mode|Vim: /;
// 0.50 has it before the hint, 0.98 at the right end of the row.
const OLD_FOOTER =
  /^ {2}(?:(\d{1,3})% context left · \? for shortcuts|\? for shortcuts {2,}(\d{1,3})% context left)$/;

/** A row of items: the status line, or the title. */
export interface Place {
  /** undefined where no item is a percentage, or where they contradict each other */
  readonly shown: Shown | undefined;
  /** the items that are a percentage, as they stand there; '' for none */
  readonly percents: string;
  readonly text: string;
}

/** Where Codex shows a percentage. */
export interface ShownPlaces {
  /** the status line below the composer; undefined where it is not seen, or cut off before a percentage */
  readonly line: Place | undefined;
  readonly title: Place | undefined;
  /** the footer of older versions, which has no items */
  readonly footer: Shown | undefined;
}

export const shownPlaces = (
  screen: ScreenView,
  pane: Pane | undefined,
  title: string | undefined,
): ShownPlaces => ({
  line: pane && statusLine(screen, pane),
  title: title ? placeOf(title, ' | ') : undefined,
  footer: pane && inOldFooter(screen, pane),
});

/** The percentage; undefined where there is none, or not the same in both places. */
export const agreedPercent = ({ line, title, footer }: ShownPlaces): Shown | undefined => {
  const below = line?.shown ?? footer;
  const above = title?.shown;
  if (!below || !above) return below ?? above;
  return below.usedPercent === above.usedPercent ? below : undefined;
};

// A narrow screen wraps the line between any two words, also inside an item.
const statusLine = (screen: ScreenView, { footer }: Pane): Place | undefined => {
  const [first] = footer;
  const last = footer.at(-1);
  if (first === undefined || last === undefined || !isDrawn(screen, first)) return undefined;
  const rows = HINTS.test(screen.text(last)) ? footer.slice(0, -1) : footer;
  const place = placeOf(rows.map((row) => screen.text(row).trim()).join(' '), ' · ');
  const isWhole = place.text !== '' && !place.text.endsWith('…');
  return place.percents !== '' || isWhole ? place : undefined;
};

const placeOf = (text: string, separator: string): Place => {
  const items = text.split(separator);
  const percents = items.filter((item) => PERCENT.test(item)).join(separator);
  return { shown: shownIn(items), percents, text };
};

const inOldFooter = (screen: ScreenView, { footer }: Pane): Shown | undefined => {
  const last = footer.at(-1);
  if (last === undefined || !isDrawn(screen, last)) return undefined;
  const [, before, behind] = OLD_FOOTER.exec(screen.text(last)) ?? [];
  const left = before ?? behind;
  return left === undefined ? undefined : usedOf([100 - Number(left)]);
};

const shownIn = (items: readonly string[]): Shown | undefined => {
  const used = items.flatMap((item) => {
    const [, number, side] = PERCENT.exec(item) ?? [];
    if (number === undefined) return [];
    return [side === 'used' ? Number(number) : 100 - Number(number)];
  });
  const shown = usedOf(used);
  const windowTokens = shown && windowIn(items);
  return shown && { ...shown, ...(windowTokens === undefined ? {} : { windowTokens }) };
};

// A thread's name may look like an item: what contradicts itself is no number.
const usedOf = (numbers: readonly number[]): Shown | undefined => {
  const [usedPercent] = numbers;
  if (usedPercent === undefined || usedPercent < 0 || usedPercent > 100) return undefined;
  return numbers.every((number) => number === usedPercent) ? { usedPercent } : undefined;
};

const windowIn = (items: readonly string[]): number | undefined => {
  for (const item of items) {
    const shown = shownAmount(WINDOW.exec(item)?.[1]);
    if (shown) return Math.round(shown.value);
  }
  return undefined;
};
