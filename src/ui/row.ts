import stringWidth from 'string-width';
import type { FooterView } from '../core/view.js';
import { filledCells, isDrawable, percentText, tokensText } from '../core/figures.js';
import type { Look } from './look.js';
import { glyphsOf } from './theme.js';

/** First kept, last lost: how full, how serious, the numbers behind it, then what a glance enjoys. */
const keepingOrder = ['percent', 'note', 'tier', 'words', 'used', 'bar', 'runtime', 'compactions'] as const;
const drawingOrder = ['runtime', 'bar', 'percent', 'used', 'note', 'tier', 'compactions', 'words'] as const;

type PartName = (typeof keepingOrder)[number];

/** One piece of the row. `rest` is the part of the bar that is not filled. */
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

/** Columns left blank at the left end, so that the row does not stick to the window's edge. */
export const margin = 1;

/** Fewer cells say less than the percent beside them. */
const leastBarCells = 6;
/** One cell is 5 %: a longer bar shows no more, it only stretches the row on wide terminals. */
const mostBarCells = 20;

/** Chooses what fits into the width; a wider row never loses a part that a narrower one shows. */
export const rowOf = (view: FooterView, look: Look): Row => {
  const room = look.columns - margin;
  const known = knownParts(view);
  const full = partsOf(view, look, known, leastBarCells);
  if (widthOf(full, 1) <= room) return spread(view, look, known);
  const brief = briefOf(view);
  for (let count = known.length; count > 0; count -= 1) {
    const names = known.slice(0, count);
    if (widthOf(partsOf(brief, look, names, leastBarCells), 1) <= room) return spread(brief, look, names);
  }
  return { parts: [], gap: 1 };
};

const briefOf = (view: FooterView): FooterView => ({
  ...view,
  ...(view.note === undefined ? {} : { note: firstWord(view.note) }),
  ...(view.words === undefined ? {} : { words: firstClause(view.words) }),
});

/** Gives the columns that are left first to the gaps, then to the bar. */
const spread = (view: FooterView, look: Look, names: readonly PartName[]): Row => {
  const room = look.columns - margin;
  const parts = partsOf(view, look, names, leastBarCells);
  const gap = widthOf(parts, 2) <= room ? 2 : 1;
  const cells = Math.min(mostBarCells, leastBarCells + room - widthOf(parts, gap));
  return { parts: partsOf(view, look, names, cells), gap };
};

const widthOf = (parts: readonly Part[], gap: number): number =>
  parts.reduce((sum, part) => sum + stringWidth(part.text + (part.rest ?? '')) + gap, -gap);

/** The parts this view has something to say for, most important first. */
const knownParts = (view: FooterView): readonly PartName[] => {
  const hasPercent = isDrawable(view.usedPercent);
  const hasUsed = isDrawable(view.usedTokens);
  const known: Record<PartName, boolean> = {
    percent: hasPercent,
    note: !hasPercent && !hasUsed,
    tier: view.tier !== undefined,
    used: hasUsed,
    bar: hasPercent,
    runtime: view.runtime !== '',
    compactions: isDrawable(view.compactions) && view.compactions >= 1,
    words: view.words !== undefined,
  };
  return keepingOrder.filter((name) => known[name]);
};

const partsOf = (view: FooterView, look: Look, names: readonly PartName[], cells: number): readonly Part[] =>
  drawingOrder
    .filter((name) => names.includes(name))
    .map((name) => partOf(view, look, name, { names, cells }));

interface Choice {
  readonly names: readonly PartName[];
  readonly cells: number;
}

const partOf = (view: FooterView, look: Look, name: PartName, { names, cells }: Choice): Part => {
  switch (name) {
    case 'runtime':
      return { name, text: drawable(view.runtime, look.ascii) };
    case 'bar':
      return barOf(view.usedPercent ?? 0, cells, look.ascii);
    case 'percent':
      // the window's mark moves to the percent where the window itself is not shown
      return { name, text: percentOf(view, !names.includes('used') || !isDrawable(view.windowTokens)) };
    case 'used':
      return { name, text: usedOf(view) };
    case 'note':
      return { name, text: drawable(view.note ?? 'no reading', look.ascii) };
    case 'tier':
      return { name, text: view.tier ?? '' };
    case 'words':
      return { name, text: drawable(view.words ?? '', look.ascii) };
    case 'compactions':
      return { name, text: `${glyphsOf(look.ascii).compactions}${Math.floor(view.compactions)}` };
  }
};

const barOf = (percent: number, cells: number, ascii: boolean): Part => {
  const { full, empty, edges } = glyphsOf(ascii);
  const inner = cells - edges[0].length - edges[1].length;
  const filled = filledCells(percent, inner);
  return { name: 'bar', text: edges[0] + full.repeat(filled), rest: empty.repeat(inner - filled) + edges[1] };
};

/** Padded to `62%`, so that the row does not move when the tenth percent is reached. */
const percentOf = (view: FooterView, markWindow: boolean): string =>
  `${markOf(view)}${percentText(view.usedPercent ?? 0)}${markWindow && view.windowInferred ? '?' : ''}`.padStart(
    3,
  );

const usedOf = (view: FooterView): string => {
  const used = `${markOf(view)}${tokensText(view.usedTokens ?? 0)}`;
  if (!isDrawable(view.windowTokens)) return used;
  return `${used}/${tokensText(view.windowTokens)}${view.windowInferred ? '?' : ''}`;
};

const markOf = (view: FooterView): string => (view.estimated ? '~' : '');

/** A note leads with its fact (`waiting for the first turn`, `holding: you have a draft`): in a narrow row that word stays. */
const firstWord = (note: string): string =>
  stringWidth(note) <= 12 ? note : note.split(/[\s:]+/, 1)[0] || note;

/** What is done comes first (`compacting in 8 s, any key postpones`): in a narrow row the rest goes. */
const firstClause = (words: string): string => words.split(/[:,]/, 1)[0] || words;

/** Signs of our own that are no letters, and what stands for them in ASCII. */
const signs: Readonly<Record<string, string>> = { '→': '->', '×': 'x', '…': '...' };

/** Names and words come from outside; only letters, digits and marks of one column may reach the terminal. */
const drawable = (text: string, ascii: boolean): string =>
  Array.from(text, (char) => {
    if (/[\x20-\x7e]/.test(char)) return char;
    const sign = signs[char];
    if (sign !== undefined) return ascii ? sign : char;
    return !ascii && /\p{L}/u.test(char) && stringWidth(char) === 1 ? char : '_';
  }).join('');
