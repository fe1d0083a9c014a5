import stringWidth from 'string-width';
import { own, type Printable, type Styled, toPrintable } from '../core/printable.js';
import type { FooterView } from '../core/footer-view.js';
import { type FooterItem, filledCells, isDrawable, formatFill, formatTokens } from '../core/format.js';
import type { Look } from '../core/look.js';
import { cutToWidth, toDrawable, firstClause, firstWord, wrapText } from './text.js';
import { glyphsOf, makeTheme, type Theme } from './theme.js';

/**
 * Priority when the row is narrow, most important first: how full, how serious, what is being done, the numbers behind it, then the rest,
 * and a hint only where there is room for everything else.
 */
const keepingOrder = [
  'percent',
  'note',
  'tier',
  'words',
  'used',
  'bar',
  'runtime',
  'distance',
  'model',
  'cache',
  'limits',
  'compactions',
  'hint',
] as const;

type PartName = (typeof keepingOrder)[number];

/** Nothing is typed without a visible countdown, so a countdown is dropped last of all. */
const keepingOrderOf = ({ due }: FooterView): readonly PartName[] =>
  due === 'countdown' ? [...new Set<PartName>(['words', ...keepingOrder])] : keepingOrder;

/** The default order: a message appears in place of the number. */
const usualOrder: readonly PartName[] = [
  'runtime',
  'bar',
  'percent',
  'used',
  'note',
  'tier',
  'distance',
  'compactions',
  'words',
  'hint',
];

// A pending compaction is never hidden: a message that was not configured comes last.
const drawingOrderOf = (items: readonly FooterItem[] | undefined): readonly PartName[] =>
  items === undefined
    ? usualOrder
    : [...new Set<FooterItem>([...items, 'message'])].flatMap((item): readonly PartName[] =>
        item === 'message' ? ['note', 'words'] : [item],
      );

/** One piece of the row. `rest` is the unfilled part of the bar. */
export interface Part {
  readonly name: PartName;
  readonly text: string;
  readonly rest?: string;
}

/** What one row shows: the parts in drawing order and the blank columns between them. */
export interface Row {
  readonly parts: readonly Part[];
  readonly gap: number;
}

/** Columns left blank at the left, so that the row does not touch the window's edge. */
const margin = 1;

/** Fewer cells say less than the percentage beside them. */
const leastBarCells = 6;
/** One cell is 5 %: a longer bar would only stretch the row. */
const mostBarCells = 20;
/** A part of the row that leaves room for the usual message, so that the bar keeps its length when one appears. */
const barCellsIn = (columns: number): number =>
  Math.max(leastBarCells, Math.min(mostBarCells, Math.floor(columns / 8)));

/** The most characters of a model's name to draw. */
const mostModelCharacters = 24;

/** Chooses the parts that fit; a wider row never loses a part that a narrower one shows. */
const rowOf = (view: FooterView, look: Look, items?: readonly FooterItem[]): Row => {
  const room = look.columns - margin;
  const order = drawingOrderOf(items);
  const known = withoutExtras(view, look, knownParts(view, order));
  const inOrder = (count: number): readonly PartName[] => {
    const kept = known.slice(0, count);
    return [...new Set([...order, ...kept])].filter((name) => kept.includes(name));
  };
  const fits = (words: FooterView, names: readonly PartName[]): boolean =>
    widthOf(partsOf(words, look, names, leastBarCells), 1) <= room;
  const all = inOrder(known.length);
  const whole = [view, ...shorterWords(view)].find((each) => fits(each, all));
  if (whole) return spread(whole, look, all);
  const before = known.slice(0, Math.max(0, known.indexOf('words')));
  const beside = before.length === 0 ? 0 : widthOf(partsOf(view, look, before, leastBarCells), 1) + 1;
  const { isCut, ...brief } = briefOf(view, room - beside, look.ascii);
  // where a message is cut, nothing less important takes columns, so that it only grows with the row
  for (let count = isCut ? before.length + 1 : known.length; count > 0; count -= 1) {
    const names = inOrder(count);
    if (fits(brief, names)) return spread(brief, look, names);
  }
  return { parts: [], gap: 1 };
};

/**
 * The hint is dropped unless everything else has all the room that it can use, and the distance where a message or the bar would have to
 * give way to it.
 */
const withoutExtras = (view: FooterView, look: Look, known: readonly PartName[]): readonly PartName[] => {
  const hasRoom = (names: readonly PartName[]): boolean =>
    widthOf(partsOf(view, look, names, barCellsIn(look.columns)), 2) <= look.columns - margin;
  const lasting = hasRoom(known) ? known : known.filter((name) => name !== 'hint');
  const isAtCost = lasting.includes('words') && !hasRoom(lasting);
  return isAtCost ? lasting.filter((name) => name !== 'distance') : lasting;
};

/** The same with less and less of the message: without what stands behind a dot. */
const shorterWords = (view: FooterView): readonly FooterView[] => {
  const clauses = view.words?.split(' · ') ?? [];
  return clauses
    .slice(1)
    .map((_, index) => ({ ...view, words: clauses.slice(0, clauses.length - 1 - index).join(' · ') }));
};

/**
 * In a narrow row the beginning of a note is enough. The reason in a message comes before everything but the percentage and the tier, because
 * it says what to do. A message never needs more than so many columns; a countdown has no reason.
 */
const briefOf = (
  view: FooterView,
  columns: number,
  ascii: boolean,
): FooterView & { readonly isCut: boolean } => {
  const brief = { ...view, ...(view.note === undefined ? {} : { note: firstWord(view.note) }), isCut: false };
  if (view.words === undefined) return brief;
  const [clause = ''] = view.words.split(' · ', 1);
  if (view.due === 'countdown') return { ...brief, words: firstLine(clause, columns) };
  const reason = clause.replace(/^waiting: /, '');
  return stringWidth(reason) <= columns
    ? { ...brief, words: reason }
    : { ...brief, words: cutReason(reason, columns, toDrawable('…', ascii)), isCut: true };
};

const LEAST_GAIN = 8; // columns by which the beginning of a reason must be longer than the clause before it

/** Its main clause, or as many of its words as fit. */
const cutReason = (reason: string, columns: number, mark: string): string => {
  const clause = firstClause(reason);
  const begun = firstLine(reason, columns - mark.length).replace(/(?: (?:after|in|the|than))*[:,]?$/, '');
  const isClauseEnough = stringWidth(clause) <= columns && begun.length < clause.length + LEAST_GAIN;
  return isClauseEnough ? clause : begun + (stringWidth(begun) + mark.length <= columns ? mark : '');
};

const NO_BREAK = '\u00a0';

/** As many words as fit, the first one in any case; a number keeps its unit. */
const firstLine = (text: string, columns: number): string => {
  const kept = text.replaceAll(/(?<=\d) (?=(?:s|min)\b)/g, NO_BREAK);
  return (wrapText(kept, Math.max(1, columns), 'whole')[0] ?? text).replaceAll(NO_BREAK, ' ');
};

/** Gives the remaining columns first to the gaps, of which the one before a message is the most useful, then to the bar. */
const spread = (view: FooterView, look: Look, names: readonly PartName[]): Row => {
  const room = look.columns - margin;
  const least = partsOf(view, look, names, leastBarCells);
  const gap = widthOf(least, 2) <= room ? 2 : 1;
  const isApart = gap === 1 && names.indexOf('words') > 0 && widthOf(least, gap) < room;
  const set: FooterView = isApart ? { ...view, words: ` ${view.words}` } : view;
  const free = room - widthOf(partsOf(set, look, names, leastBarCells), gap);
  const cells = Math.min(barCellsIn(look.columns), leastBarCells + free);
  return { parts: partsOf(set, look, names, cells), gap };
};

const widthOf = (parts: readonly Part[], gap: number): number =>
  parts.reduce((sum, part) => sum + stringWidth(part.text + (part.rest ?? '')) + gap, -gap);

/** The wanted parts that this view has content for, most important first. */
const knownParts = (view: FooterView, wanted: readonly PartName[]): readonly PartName[] => {
  const hasPercent = isDrawable(view.usedPercent);
  const hasUsed = isDrawable(view.usedTokens);
  const known: Record<PartName, boolean> = {
    percent: hasPercent,
    note: !hasPercent && !hasUsed,
    tier: view.tier !== undefined,
    used: hasUsed,
    bar: isDrawable(barPercent(view)),
    runtime: view.runtime !== '',
    distance: view.distance !== undefined,
    model: view.model !== undefined && view.model !== '',
    cache: view.cache !== undefined,
    limits: view.limits !== undefined,
    compactions: isDrawable(view.compactions) && view.compactions >= 1,
    words: view.words !== undefined && view.words !== '',
    hint: view.hint !== undefined && view.hint !== '',
  };
  const all = keepingOrderOf(view).filter((name) => known[name]);
  const chosen = all.filter((name) => wanted.includes(name));
  return chosen.length > 0 ? chosen : all.slice(0, 1); // a row is never empty
};

const partsOf = (view: FooterView, look: Look, names: readonly PartName[], cells: number): readonly Part[] =>
  names.map((name) => partOf(view, look, name, { names, cells }));

interface Choice {
  readonly names: readonly PartName[];
  readonly cells: number;
}

const partOf = (view: FooterView, look: Look, name: PartName, { names, cells }: Choice): Part => {
  switch (name) {
    case 'runtime':
      return { name, text: toDrawable(view.runtime, look.ascii) };
    case 'model':
      return { name, text: toDrawable(cutToWidth(view.model ?? '', mostModelCharacters), look.ascii) };
    case 'bar':
      return barOf(barPercent(view) ?? 0, cells, look);
    case 'percent': {
      // the window's mark moves to the percentage where the window itself is not shown
      const marksWindow = !names.includes('used') || !isDrawable(view.windowTokens);
      return { name, text: percentOf(view, marksWindow).padStart(3) }; // as `62%`, so that the row does not shift at 10 %
    }
    case 'used':
      return { name, text: usedOf(view) };
    case 'note':
      return { name, text: toDrawable(view.note ?? 'no reading', look.ascii) };
    case 'tier':
      return { name, text: view.tier ?? '' };
    case 'words':
      return { name, text: toDrawable(view.words ?? '', look.ascii) };
    case 'distance':
      return { name, text: toDrawable(distanceOf(view), look.ascii) };
    case 'hint':
      return { name, text: toDrawable(view.hint ?? '', look.ascii) };
    case 'cache':
      return { name, text: `cache ${view.cache ?? ''}` };
    case 'limits':
      return { name, text: toDrawable(view.limits ?? '', look.ascii) };
    case 'compactions':
      return { name, text: `${glyphsOf(look).compactions}${Math.floor(view.compactions)}` };
  }
};

/** How much of the bar is filled: its full length is the next compaction, or the window where nothing is known of that. */
export const barPercent = ({ wayPercent, usedPercent }: FooterView): number | undefined =>
  wayPercent ?? usedPercent;

/** A bar so many percent full, in so many cells. */
export const barOf = (percent: number, cells: number, look: Pick<Look, 'ascii' | 'bar'>): Part => {
  const { full, empty, edges } = glyphsOf(look);
  const inner = cells - edges[0].length - edges[1].length;
  const filled = filledCells(percent, inner);
  return { name: 'bar', text: edges[0] + full.repeat(filled), rest: empty.repeat(inner - filled) + edges[1] };
};

/** `62%`, with the marks of an estimate and, if wanted, of an assumed window. */
export const percentOf = (view: FooterView, marksWindow: boolean): string =>
  `${formatFill(view.usedPercent ?? 0, view.isOver, markOf(view))}${marksWindow && view.windowInferred ? '?' : ''}`;

/** `124k/200k`, or the used tokens alone, with the same marks. */
export const usedOf = (view: FooterView): string => {
  const used = `${markOf(view)}${formatTokens(view.usedTokens ?? 0)}`;
  if (!isDrawable(view.windowTokens)) return used;
  return `${used}/${formatTokens(view.windowTokens)}${view.windowInferred ? '?' : ''}`;
};

/** `58k to claude's own`, `~41k to your limit`; empty where no distance is shown. */
export const distanceOf = (view: FooterView): string => {
  const { distance, runtime } = view;
  if (!distance) return '';
  const to = distance.to === 'limit' ? 'your limit' : `${runtime}'s own`;
  return `${markOf(view)}${formatTokens(distance.tokens)} to ${to}`;
};

const markOf = (view: FooterView): '~' | '' => (view.estimated ? '~' : '');

const painted = (part: Part, theme: Theme, { due, tone }: FooterView): Styled => {
  switch (part.name) {
    case 'words':
      return theme[due === 'countdown' ? 'countdown' : (tone ?? 'plain')](part.text);
    case 'note':
      return theme.plain(part.text);
    case 'bar':
      return [theme.bar(part.text), theme.quiet(part.rest ?? '')];
    case 'percent':
      return theme.percent(part.text);
    case 'tier':
      return theme.tier(part.text);
    default:
      return theme.quiet(part.text);
  }
};

/**
 * The footer below the agent as one row: no newline, SGR as the only sequences, at most `look.columns` wide. `items` are the configured
 * ones, in order; the default ones when absent.
 */
export const renderFooter = (view: FooterView, look: Look, items?: readonly FooterItem[]): Printable => {
  const { parts, gap } = rowOf(view, look, items);
  if (parts.length === 0) return own``;
  const theme = makeTheme(view.tier, look, view.stale);
  return toPrintable(
    parts.map((part, index) => [' '.repeat(index === 0 ? margin : gap), painted(part, theme, view)]),
  );
};
