import type { Tier } from '../core/ladder.js';
import { own, type Styled, toPrintable, toPrintableLines, colourWith } from '../core/printable.js';
import { barOf } from '../ui/footer-items.js';
import { readLook } from '../core/look.js';
import { shorten, widthOf, toPlainText } from '../ui/text.js';
import { printError } from './print.js';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** drop order in a narrow terminal: highest first; 0 is never dropped */
  readonly rank: number;
  /** takes the remaining width, the lowest rank first, at least this many columns */
  readonly leastWidth?: number;
  /** what is cut first: the end unless given, the beginning of a path */
  readonly cut?: 'start' | 'end';
}

/** A text, with what colours it once it is measured and cut. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => Styled };

const GAP = 2;

/** Rows under titles in at most `width` columns. Columns that do not fit are dropped. */
export const table = (
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number,
): readonly Styled[] => {
  const all = [columns.map(({ title }): Cell => title), ...rows];
  const natural = columns.map((_, index) => Math.max(...all.map((row) => widthOf(cellText(row[index])))));
  const least = columns.map(({ leastWidth }, index) => Math.min(leastWidth ?? Infinity, natural[index] ?? 0));
  const shown = fitting(columns, least, width);
  const widths = [...least];
  let spare = width - sum(shown.map((index) => (least[index] ?? 0) + GAP)) + GAP;
  for (const index of shown.toSorted((a, b) => (columns[a]?.rank ?? 0) - (columns[b]?.rank ?? 0))) {
    const more = Math.max(0, Math.min((natural[index] ?? 0) - (least[index] ?? 0), spare));
    widths[index] = (least[index] ?? 0) + more;
    spare -= more;
  }
  const line = (cells: readonly Cell[]): Styled => {
    const drawn = shown.map((index, place) => ({
      gap: place > 0 ? ' '.repeat(GAP) : '',
      ...padded(cells[index], widths[index] ?? 0, columns[index]),
    }));
    const plain = drawn.map(({ gap, before, text, after }) => gap + before + text + after).join('');
    if (widthOf(plain.trimEnd()) > width) return shorten(plain.trimEnd(), width);
    const last = drawn.findLastIndex(({ text }) => text !== ''); // nothing but blanks behind it
    return drawn
      .slice(0, last + 1)
      .map(({ gap, before, styled, after }, place) => [gap, before, styled, place < last ? after : '']);
  };
  return all.map(line);
};

const cellText = (cell: Cell | undefined): string => (typeof cell === 'string' ? cell : (cell?.text ?? ''));

/** Indexes of the columns that fit side by side. */
const fitting = (columns: readonly Column[], least: readonly number[], width: number): readonly number[] => {
  let shown = columns.map((_, index) => index);
  const rankOf = (index: number): number => columns[index]?.rank ?? 0;
  while (sum(shown.map((index) => (least[index] ?? 0) + GAP)) - GAP > width) {
    const last = Math.max(...shown.map(rankOf));
    if (last === 0) break;
    shown = shown.filter((index) => rankOf(index) !== last);
  }
  return shown;
};

/** A cell cut to its column, with the blanks around it. */
interface PaddedCell {
  readonly before: string;
  readonly text: string;
  readonly styled: Styled;
  readonly after: string;
}

const padded = (cell: Cell | undefined, width: number, column: Column | undefined): PaddedCell => {
  const text = shorten(cellText(cell), width, column?.cut);
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  const styled = typeof cell === 'object' ? cell.paint(text) : text;
  const [before, after] = column?.align === 'right' ? [blanks, ''] : ['', blanks];
  return { before, text, styled, after };
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

type Env = Readonly<Record<string, string | undefined>>;

/** Adds colour to text that is already measured and cut. */
export interface Painter {
  readonly bold: (text: string) => Styled;
  readonly dim: (text: string) => Styled;
  readonly tier: (tier: Tier | undefined, text: string) => Styled;
}

const sgr = (on: string, off: string): ((text: string) => Styled) =>
  colourWith((text) => (text === '' ? '' : `\x1b[${on}m${text}\x1b[${off}m`));

const colours: Readonly<Record<Tier, string>> = { safe: '32', warn: '33', auto: '35', hard: '31' };

const same = (text: string): Styled => text;

const noPaint: Painter = { bold: same, dim: same, tier: (_, text) => text };

const paint: Painter = {
  bold: sgr('1', '22'),
  dim: sgr('2', '22'),
  tier: (tier, text) => (tier === undefined ? text : sgr(colours[tier], '39')(text)),
};

/** Colours only for a terminal that wants them: https://no-color.org. */
export const painterFor = (isTerminal: boolean, env: Env): Painter =>
  isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? paint : noPaint;

/** Progress of a waiting command: one line rewritten in place in a terminal, separate lines elsewhere. */
export interface ProgressLine {
  readonly say: (text: string) => void;
  /** erases it from the terminal */
  readonly clear: () => void;
}

/** Writes to standard error, so that standard output holds only the result. */
export const progressLine = (): ProgressLine => {
  const { stderr } = process;
  const { isTTY } = stderr;
  const columns = stderr.columns || 80; // a terminal that was never given a size says 0
  let isShown = false;
  return {
    say: (text) => {
      const plain = toPlainText(text);
      printError(
        isTTY
          ? own`\r\x1b[K${toPrintable(shorten(plain, columns - 1))}`
          : toPrintableLines([`ctxwrap: ${plain}`]),
      );
      isShown = true;
    },
    clear: () => {
      if (isTTY && isShown) printError(own`\r\x1b[K`);
      isShown = false;
    },
  };
};

export const noProgress: ProgressLine = { say: () => undefined, clear: () => undefined };

/** Columns to write into: the terminal's, COLUMNS where the output goes elsewhere, else 80. */
export const widthOfOutput = (): number => {
  const given = Number(process.env['COLUMNS']);
  const wanted = process.stdout.columns || (given > 0 ? given : 80);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : 80;
};

// How far a command that reads much has come.

const LATE_MS = 1_000; // nothing is shown of what is done by then
const STEP_MS = 100;
const PROGRESS_CELLS = 20;
const MEGABYTE = 1_000_000;

/** Shown on standard error, if that is a terminal. */
export interface ByteProgress {
  readonly add: (bytes: number) => void;
  readonly clear: () => void;
}

/** `totalBytes` is what is expected; more may come, as of packed files. */
export const byteProgress = (totalBytes: number): ByteProgress => {
  const line = progressLine();
  const startedAt = performance.now();
  let [shownAt, bytes] = [0, 0];
  return {
    add: (count) => {
      bytes += count;
      const now = performance.now();
      if (!process.stderr.isTTY || now - startedAt < LATE_MS || now - shownAt < STEP_MS) return;
      shownAt = now;
      line.say(progressText(bytes, totalBytes));
    },
    clear: line.clear,
  };
};

const progressText = (bytes: number, total: number): string => {
  const { ascii } = readLook({ env: process.env, isTTY: true, columns: 0 });
  const percent = total > 0 ? Math.min(100, (bytes * 100) / total) : 100;
  const bar = barOf(percent, PROGRESS_CELLS, { ascii }).join('');
  return `reading session files  ${bar}  ${Math.floor(percent)}% of ${Math.ceil(total / MEGABYTE)} MB`;
};
