// The percentages Codex shows when it is told to: in the status line below the composer, in the terminal title, and in the footer of
// older versions (facts/codex.md §2.2, §2.4; sessions.md §F). The numbers of `/status` are conversation: they get old and can be forged.
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
const WINDOW = /^(\d+(?:\.\d+)?)([KM]?) window$/;
const HINTS =
  /\? for shortcuts|← for agents|^ {2}(?:esc again|tab to queue|reverse-i-search:)|⚠ \d+ warning|Shell mode|Vim: /;
// 0.50 has it before the hint, 0.98 at the right end of the row.
const OLD_FOOTER =
  /^ {2}(?:(\d{1,3})% context left · \? for shortcuts|\? for shortcuts {2,}(\d{1,3})% context left)$/;
const UNIT = { '': 1, K: 1_000, M: 1_000_000 };

/** What the footer and the title say; undefined where they say nothing, or not the same. */
export const shownPercent = (
  screen: ScreenView,
  pane: Pane | undefined,
  title: string | undefined,
): Shown | undefined => {
  const inTitle = shownIn((title ?? '').split(' | '));
  const below = pane && (inStatusLine(screen, pane) ?? inOldFooter(screen, pane));
  if (!below || !inTitle) return below ?? inTitle;
  return below.usedPercent === inTitle.usedPercent ? below : undefined;
};

// A narrow screen wraps the line between any two words, also inside an item.
const inStatusLine = (screen: ScreenView, { footer }: Pane): Shown | undefined => {
  const [first] = footer;
  const last = footer.at(-1);
  if (first === undefined || last === undefined || !isDrawn(screen, first)) return undefined;
  const rows = HINTS.test(screen.text(last)) ? footer.slice(0, -1) : footer;
  return shownIn(
    rows
      .map((row) => screen.text(row).trim())
      .join(' ')
      .split(' · '),
  );
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
    const [, number, unit] = WINDOW.exec(item) ?? [];
    if (number !== undefined) return Math.round(Number(number) * UNIT[unit as keyof typeof UNIT]);
  }
  return undefined;
};
