import type { FooterView } from '../core/footer-view.js';
import { type FooterItem, filledCells, formatFill, formatTokens, isDrawable } from '../core/format.js';
import type { Look } from '../core/look.js';
import { cutToWidth, toDrawable } from './text.js';
import { glyphsOf, type Theme } from './theme.js';

// The items of the footer: one entry of the table is all of one.

/** An item of the table. A configured `message` is two: the note in place of a number, and the words about a compaction. */
export type ItemName = Exclude<FooterItem, 'message'> | 'note' | 'words' | 'hint';

/** What an item's text depends on beside the view. */
export interface ItemPlace {
  readonly look: Pick<Look, 'ascii' | 'bar'>;
  /** all items of the row */
  readonly names: readonly ItemName[];
  /** length of the bar in columns */
  readonly barCells: number;
}

/** The filled and the unfilled part of a bar. */
export type BarText = readonly [filled: string, rest: string];

interface Item {
  /** in a narrow row the items with the lowest numbers are left out first */
  readonly keep: number;
  readonly paint: keyof Theme | ((view: FooterView) => keyof Theme);
  /** what it says; '' where the view has nothing for it */
  readonly text: (view: FooterView, place: ItemPlace) => string | BarText;
}

const MODEL_CHARACTERS = 24; // the most of a model's name

/** How full, how serious, what is being done, the numbers behind it, then the rest; a hint only where there is room for all else. */
export const items: Readonly<Record<ItemName, Item>> = {
  runtime: { keep: 7, paint: 'quiet', text: ({ runtime }, { look }) => toDrawable(runtime, look.ascii) },
  model: {
    keep: 5,
    paint: 'quiet',
    text: ({ model = '' }, { look }) => toDrawable(cutToWidth(model, MODEL_CHARACTERS), look.ascii),
  },
  bar: {
    keep: 8,
    paint: 'bar',
    text: (view, { look, barCells }) => {
      const percent = barPercent(view);
      return isDrawable(percent) ? barOf(percent, barCells, look) : '';
    },
  },
  percent: {
    keep: 13,
    paint: 'percent',
    // the window's mark moves here where the window itself is not shown; as wide as `62%`, so that the row does not shift at 10 %
    text: (view, { names }) =>
      isDrawable(view.usedPercent)
        ? percentOf(view, !names.includes('used') || !isDrawable(view.windowTokens)).padStart(3)
        : '',
  },
  used: {
    keep: 9,
    paint: 'quiet',
    text: (view) => {
      if (!isDrawable(view.usedTokens)) return '';
      return isDrawable(view.windowTokens) ? usedOf(view) : `${usedOf(view)} tokens`; // a number alone could be anything
    },
  },
  note: {
    keep: 12,
    paint: 'plain',
    text: (view, { look }) =>
      isDrawable(view.usedPercent) || isDrawable(view.usedTokens) ? '' : toDrawable(noteOf(view), look.ascii),
  },
  tier: {
    keep: 11,
    paint: 'tier',
    text: ({ tier = '', tierNote }, { look }) =>
      tier !== '' && tierNote !== undefined ? `${tier}: ${toDrawable(tierNote, look.ascii)}` : tier,
  },
  distance: { keep: 6, paint: 'quiet', text: (view, { look }) => toDrawable(distanceOf(view), look.ascii) },
  compactions: {
    keep: 2,
    paint: 'quiet',
    text: ({ compactions }, { look }) =>
      isDrawable(compactions) && compactions >= 1
        ? `${glyphsOf(look).compactions}${Math.floor(compactions)}`
        : '',
  },
  cache: { keep: 4, paint: 'quiet', text: ({ cache }) => (cache === undefined ? '' : `cache ${cache}`) },
  limits: { keep: 3, paint: 'quiet', text: ({ limits = '' }, { look }) => toDrawable(limits, look.ascii) },
  words: {
    keep: 10,
    paint: ({ due, tone }) => (due === 'countdown' ? 'countdown' : (tone ?? 'plain')),
    text: ({ words = '' }, { look }) => toDrawable(words, look.ascii),
  },
  hint: { keep: 1, paint: 'quiet', text: ({ hint = '' }, { look }) => toDrawable(hint, look.ascii) },
};

/** The order in the row where the user has chosen none. */
const usualOrder: readonly ItemName[] = [
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

/** The order of the configured items. A pending compaction is never hidden: a message that was not configured comes last. */
export const orderOf = (configured: readonly FooterItem[] | undefined): readonly ItemName[] =>
  configured === undefined
    ? usualOrder
    : [...new Set<FooterItem>([...configured, 'message'])].flatMap((item): readonly ItemName[] =>
        item === 'message' ? ['note', 'words'] : [item],
      );

/** Beside words about another wait the note does not speak of a wait, too. */
const noteOf = ({ note = 'no reading', words = '' }: FooterView): string =>
  WAITING.test(note) && WAITING.test(words) ? 'no number yet' : note;

const WAITING = /\bwaiting\b/;

// What the items say; `ctxwrap ps` and `top` say it with the same words.

/** How much of the bar is filled: its full length is the next compaction, or the window where nothing is known of that. */
export const barPercent = ({ wayPercent, usedPercent }: FooterView): number | undefined =>
  wayPercent ?? usedPercent;

/** A bar so many percent full, in so many cells. */
export const barOf = (percent: number, cells: number, look: Pick<Look, 'ascii' | 'bar'>): BarText => {
  const { full, empty, edges } = glyphsOf(look);
  const inner = cells - edges[0].length - edges[1].length;
  const filled = filledCells(percent, inner);
  return [edges[0] + full.repeat(filled), empty.repeat(inner - filled) + edges[1]];
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
