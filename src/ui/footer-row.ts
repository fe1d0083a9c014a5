import type { FooterView } from '../core/footer-view.js';
import type { FooterItem } from '../core/format.js';
import type { Look } from '../core/look.js';
import { present } from '../core/present.js';
import { type ItemName, items, orderOf } from './footer-items.js';
import { firstClause, firstWord, toDrawable, widthOf, wrapText } from './text.js';
import type { Theme } from './theme.js';

// Which items fit into the footer's row, and how much of a message. The message is never hidden by anything less important, the row is
// never empty and never wraps, and what is cut ends with an ellipsis.

/** One item in the row. */
export interface Cell {
  readonly name: ItemName;
  readonly text: string;
  /** the unfilled part of a bar */
  readonly rest?: string;
  readonly paint: keyof Theme;
}

/** What a row shows: cells in their order, with so many blank columns between them. */
export interface FooterRow {
  readonly cells: readonly Cell[];
  readonly gap: number;
}

/** Columns left blank at the left, so that the row does not touch the window's edge. */
export const MARGIN = 1;

/** Fewer cells say less than the percentage beside them; one cell of the longest bar is 5 %. */
const [LEAST_BAR, MOST_BAR] = [6, 20];
/** A part of the row that leaves room for the usual message, so that the bar keeps its length when one appears. */
const barCellsIn = (columns: number): number =>
  Math.max(LEAST_BAR, Math.min(MOST_BAR, Math.floor(columns / 8)));

/**
 * The row for a view. `configured` are the user's items in their order. Less and less of a message is shown before anything else is left
 * out. But a countdown says how to stop what is about to be typed, an outcome what can be done about it, and a question what the keys do: as
 * much of them is shown as fits: a countdown also without percentage and tier, the others beside them.
 */
export const footerRow = (given: FooterView, look: Look, configured?: readonly FooterItem[]): FooterRow => {
  const room = look.columns - MARGIN;
  const view = withTierNote(given, look, orderOf(configured));
  const names = withoutExtras(view, look, knownNames(view, look, orderOf(configured)));
  const fits = (each: FooterView, shown: readonly ItemName[]): boolean =>
    cellsWidth(cellsOf(each, look, shown, LEAST_BAR), 1) <= room;
  const whole = (isWhole(view) ? [view] : shorterAndShorter(view)).find((each) => fits(each, names));
  if (whole) return spread(whole, look, names);
  const above = names.filter((name) => name !== 'words' && items[name].keep > items.words.keep);
  const beside = cellsWidth(cellsOf(view, look, above, LEAST_BAR), 1) + 1; // 0 for no cells
  const { isCut, ...brief } = briefOf(view, { room, beside, ascii: look.ascii });
  // where a message is cut, nothing less important takes columns, so that it only grows with the row
  let left = isCut ? names.filter((name) => name === 'words' || above.includes(name)) : names;
  const keepOf = (name: ItemName): number =>
    name === 'words' && view.due === 'countdown' ? Infinity : items[name].keep;
  while (left.length > 0 && !fits(brief, left)) {
    const least = Math.min(...left.map(keepOf));
    left = left.filter((name) => keepOf(name) > least);
  }
  return spread(brief, look, left);
};

const cellsOf = (
  view: FooterView,
  { ascii, bar }: Look,
  names: readonly ItemName[],
  barCells: number,
): readonly Cell[] =>
  names.map((name) => {
    const { text, paint } = items[name];
    const texts = text(view, { look: { ascii, ...present({ bar }) }, names, barCells });
    const [shown, rest] = typeof texts === 'string' ? [texts] : texts;
    return {
      name,
      text: shown,
      ...present({ rest }),
      paint: typeof paint === 'string' ? paint : paint(view),
    };
  });

const cellText = ({ text, rest = '' }: { readonly text: string; readonly rest?: string }): string =>
  text + rest;

const cellsWidth = (cells: readonly Cell[], gap: number): number =>
  cells.reduce((sum, cell) => sum + widthOf(cellText(cell)) + gap, -gap);

/** The wanted items that this view has a text for; a row is never empty, so at least the most important one of all. */
const knownNames = (view: FooterView, look: Look, wanted: readonly ItemName[]): readonly ItemName[] => {
  const known = (names: readonly ItemName[]): readonly ItemName[] =>
    cellsOf(view, look, names, LEAST_BAR).flatMap((cell) => (cellText(cell) === '' ? [] : [cell.name]));
  const chosen = known(wanted);
  if (chosen.length > 0) return chosen;
  const all = known(Object.keys(items) as ItemName[]);
  return all.toSorted((one, other) => items[other].keep - items[one].keep).slice(0, 1);
};

/**
 * What follows from the tier is said beside it only where there is no message, and where everything else but the hint has all the room that it
 * can use.
 */
const withTierNote = (view: FooterView, look: Look, wanted: readonly ItemName[]): FooterView => {
  const { tierNote: _, ...bare } = view;
  const names = knownNames(view, look, wanted).filter((name) => name !== 'hint');
  const isAlone = names.includes('tier') && !names.includes('words');
  return isAlone && hasRoom(view, look, names) ? view : bare;
};

/** With the longest bar that the row may have, and wide gaps. */
const hasRoom = (view: FooterView, look: Look, names: readonly ItemName[]): boolean =>
  cellsWidth(cellsOf(view, look, names, barCellsIn(look.columns)), 2) <= look.columns - MARGIN;

/**
 * The hint is dropped unless everything else has all the room that it can use, and the distance where a message or the bar would have to
 * give way to it.
 */
const withoutExtras = (view: FooterView, look: Look, known: readonly ItemName[]): readonly ItemName[] => {
  const lasting = hasRoom(view, look, known) ? known : known.filter((name) => name !== 'hint');
  const isAtCost = lasting.includes('words') && !hasRoom(view, look, lasting);
  return isAtCost ? lasting.filter((name) => name !== 'distance') : lasting;
};

const isWhole = ({ due, tone, enter, shortWords }: FooterView): boolean =>
  due === 'countdown' || tone !== undefined || shortWords !== undefined || enter?.isAsked === true;

/**
 * With the message whole, and with less and less of it: in fewer words, without what stands behind a dot. A command that mends what the
 * message says stays until there is no room for anything else.
 */
const shorterAndShorter = (view: FooterView): readonly FooterView[] => {
  const clauses = view.words?.split(' · ') ?? [];
  return [
    view,
    ...(view.shortWords === undefined ? [] : [{ ...view, words: view.shortWords }]),
    ...withFix(view, clauses),
    ...clauses.slice(1).map((_, index) => ({ ...view, words: clauses.slice(0, -1 - index).join(' · ') })),
  ];
};

/** The commands that correct a configuration: ctxwrap's own, and those of the shell. */
const FIX = /^(?:(?:see )?ctxwrap |unset \w|export \w|\$\{EDITOR)/;

/** What is wrong, or why, in few words before the command; then also beside a shorter note. */
const withFix = (view: FooterView, clauses: readonly string[]): readonly FooterView[] => {
  const [problem = '', fix = '', ...others] = clauses;
  if (others.length > 0 || !FIX.test(fix)) return [];
  const [what = '', why] = problem.split(': ', 2);
  const words = [
    `${problem} · ${fix}`,
    `${what} · ${fix}`,
    ...(why === undefined ? [] : [`${why} · ${fix}`, `fix it: ${fix.replace('see ', '')}`]),
  ];
  const note = view.note === undefined ? undefined : firstWord(view.note);
  const briefly = { ...view, ...present({ note }) };
  return [
    ...words.slice(0, 2).map((each) => ({ ...view, words: each })),
    ...words.map((each) => ({ ...briefly, words: each })),
  ];
};

interface MessageRoom {
  /** columns of the row */
  readonly room: number;
  /** columns of what is more important than a message, with a blank behind it */
  readonly beside: number;
  readonly ascii: boolean;
}

/**
 * In a narrow row the beginning of a note is enough. The reason in a message comes before everything but the percentage and the tier,
 * because it says what to do. A message never needs more than so many columns.
 */
const briefOf = (
  view: FooterView,
  { room, beside, ascii }: MessageRoom,
): FooterView & { readonly isCut: boolean } => {
  const brief = { ...view, ...(view.note === undefined ? {} : { note: firstWord(view.note) }), isCut: false };
  const { words, due } = view;
  if (words === undefined) return brief;
  const [clause = ''] = words.split(' · ', 1);
  const columns = room - beside;
  const fitting = isWhole(view)
    ? shorterAndShorter(view).find(
        (each) => widthOf(each.words ?? '') <= (due === 'countdown' ? room : columns),
      )
    : undefined;
  if (fitting) return { ...brief, ...present({ words: fitting.words }) };
  if (due === 'countdown') return { ...brief, words: firstLine(clause, room) };
  const reason = clause.replace(/^waiting: /, '');
  return widthOf(reason) <= columns
    ? { ...brief, words: reason }
    : { ...brief, words: cutReason(reason, columns, toDrawable('…', ascii)), isCut: true };
};

const LEAST_GAIN = 8; // columns by which the beginning of a reason must be longer than the clause before it

/** Its main clause, or as many of its words as fit. */
const cutReason = (reason: string, columns: number, mark: string): string => {
  const clause = firstClause(reason);
  const begun = firstLine(reason, columns - mark.length).replace(/(?: (?:after|in|the|than))*[:,]?$/, '');
  const isClauseEnough = widthOf(clause) <= columns && begun.length < clause.length + LEAST_GAIN;
  return isClauseEnough ? clause : begun + (widthOf(begun) + mark.length <= columns ? mark : '');
};

const NO_BREAK = '\u00a0';

/** As many words as fit, the first one in any case; a number keeps its unit. */
const firstLine = (text: string, columns: number): string => {
  const kept = text.replaceAll(/(?<=\d) (?=(?:s|min)\b)/g, NO_BREAK);
  return (wrapText(kept, Math.max(1, columns), 'whole')[0] ?? text).replaceAll(NO_BREAK, ' ');
};

/** Gives the remaining columns first to the gaps, of which the one before a message is the most useful, then to the bar. */
const spread = (view: FooterView, look: Look, names: readonly ItemName[]): FooterRow => {
  const room = look.columns - MARGIN;
  const least = cellsOf(view, look, names, LEAST_BAR);
  const gap = cellsWidth(least, 2) <= room ? 2 : 1;
  const isApart = gap === 1 && names.indexOf('words') > 0 && cellsWidth(least, gap) < room;
  const set: FooterView = isApart ? { ...view, words: ` ${view.words}` } : view;
  const free = room - cellsWidth(cellsOf(set, look, names, LEAST_BAR), gap);
  return { cells: cellsOf(set, look, names, Math.min(barCellsIn(look.columns), LEAST_BAR + free)), gap };
};

/** The row as one line of text, without its colours. */
export const rowText = ({ cells, gap }: FooterRow): string =>
  cells.length === 0 ? '' : ' '.repeat(MARGIN) + cells.map(cellText).join(' '.repeat(gap));
