import type { InputElement } from '../core/terminal-input.js';

// Reports of the terminal on their way to the child: they count all rows, but the child must see a terminal without the footer row.

export interface ScreenGeometry {
  /** rows of the real terminal and of the child's screen */
  readonly terminalRows: number;
  readonly childRows: number;
  readonly columns: number;
  /** rows of the child's terminal as the child knows them; differs from `childRows` while the size changes */
  readonly knownRows: number;
}

/** What the child has asked of the mouse, and what the terminal's answers and reports have shown. */
export interface MouseReports {
  /** the child has asked for reports, so bytes in the oldest form (`CSI M`) are one, and no key */
  readonly isAsked: boolean;
  /** mode 1005: columns and rows of the oldest form are UTF-8 characters */
  readonly hasUtf8: boolean;
  /** mode 1016, where the terminal knows it: places are in pixels */
  readonly hasPixels: boolean;
  readonly pixels: PixelPlaces;
  readonly dropped: DroppedPresses;
}

/** Buttons that were pressed below the child's last row and not released yet: the child knows nothing of them. Changed in place. */
export interface DroppedPresses {
  /** in the order of their presses */
  readonly buttons: Set<number>;
  /** the terminal has been asked to report releases, too; otherwise it does not tell when a button is up again */
  areReleasesAsked: boolean;
}

/** Forgets the presses of an earlier time when the terminal begins to report releases. */
export const noteReleasesAsked = (dropped: DroppedPresses, areAsked: boolean): void => {
  if (areAsked && !dropped.areReleasesAsked) dropped.buttons.clear();
  dropped.areReleasesAsked = areAsked;
};

/** How the terminal counts in pixels; changed in place. */
export interface PixelPlaces {
  /** height of a cell; undefined until the terminal reports it */
  cellHeight: number | undefined;
  /** a report was outside the screen if its numbers were cells, so they are pixels: not every terminal knows mode 1016 */
  areSeen: boolean;
}

const pixelsOf = (height: number, { terminalRows, childRows }: ScreenGeometry): number =>
  Math.round((height / terminalRows) * childRows);

const windowReport = (sequence: string, geometry: ScreenGeometry): string | undefined => {
  const [, operation = '', rest = ''] = /^\x1b\[(4|8|48);([\d;]+)t$/.exec(sequence) ?? [];
  const values = rest.split(';').map(Number);
  const [first = 0, ...others] = values;
  // the answer may come before the wrapper knows the new size: only the difference is certain
  const less = (rows: number): number => Math.max(1, rows - geometry.terminalRows + geometry.childRows);
  const isSwapped = first === geometry.columns && others[0] === geometry.terminalRows && first !== others[0]; // tmux 3.3 has columns first
  if (operation === '8' && isSwapped) return `\x1b[8;${first};${less(geometry.terminalRows)}t`;
  const rows = less(first);
  if (operation === '8') return `\x1b[8;${[rows, ...others].join(';')}t`;
  if (operation === '4') return `\x1b[4;${[pixelsOf(first, geometry), ...others].join(';')}t`;
  if (operation !== '48') return undefined;
  const [columns = 0, height = 0, width = 0] = others; // in-band resize, mode 2048
  return `\x1b[48;${rows};${columns};${pixelsOf(height, geometry)};${width}t`;
};

/** DECRQDE's answer: the displayed extent in rows and columns. */
const extentReport = (sequence: string, geometry: ScreenGeometry): string | undefined => {
  const match = /^\x1b\[(\d+);(\d+;[\d;]*)"w$/.exec(sequence);
  return match && Number(match[1]) === geometry.terminalRows
    ? `\x1b[${geometry.childRows};${match[2] ?? ''}"w`
    : undefined;
};

/** DECRQSS's answers that name a number of lines: DECSNLS and DECSLPP. */
const statusReport = (sequence: string, geometry: ScreenGeometry): string | undefined => {
  const [, lines, what = ''] = /^\x1bP1\$r(\d+)(\*\||t)\x1b\\$/.exec(sequence) ?? [];
  if (lines === undefined) return undefined;
  return `\x1bP1$r${Number(lines) - geometry.terminalRows + geometry.childRows}${what}\x1b\\`;
};

/** A mouse report, read: its place, and how it looks with another row. */
interface MousePlace {
  readonly kind: 'press' | 'release' | 'motion' | 'wheel';
  /** without modifiers; undefined if none is pressed, or if the form does not name the one that was released */
  readonly button: number | undefined;
  /** from 1, in cells or pixels */
  readonly column: number;
  readonly row: number;
  readonly withRow: (row: number) => string;
}

// Bits of a report's number (xterm ctlseqs, "Mouse Tracking"); the others are modifiers.
const BUTTON = 128 | 3; // buttons 8 to 11 have 128
const NO_BUTTON = 3;
const MOTION = 32;
const WHEEL = 64;

/** `isSgrRelease`: SGR's form says so; the others have a release for no button. */
const actionOf = (code: number, isSgrRelease: boolean): Pick<MousePlace, 'kind' | 'button'> => {
  const pressed = code & BUTTON;
  const button = pressed === NO_BUTTON ? undefined : pressed;
  if ((code & WHEEL) !== 0) return { kind: 'wheel', button };
  if ((code & MOTION) !== 0) return { kind: 'motion', button };
  return { kind: isSgrRelease || button === undefined ? 'release' : 'press', button };
};

/** SGR's form (mode 1006, with pixels 1016), or urxvt's (1015) without the `<`. */
const numberedPlace = (sequence: string): MousePlace | undefined => {
  const found = /^\x1b\[(<?)(\d+);(\d+);(\d+)([Mm])$/.exec(sequence);
  if (!found) return undefined;
  const [, sgr = '', button = '', column = '', row = '', final = ''] = found;
  return {
    ...actionOf(Number(button) - (sgr ? 0 : 32), sgr !== '' && final === 'm'),
    column: Number(column),
    row: Number(row),
    withRow: (other) => `\x1b[${sgr}${button};${column};${other}${final}`,
  };
};

/** The oldest form; its characters are bytes, or with mode 1005 UTF-8. */
const oldPlace = (sequence: string, hasUtf8: boolean): MousePlace | undefined => {
  const encoding = hasUtf8 ? 'utf8' : 'latin1';
  const places = [...Buffer.from(sequence.slice(3), 'latin1').toString(encoding)];
  const [code = 0, column = 0, row = 0] = places.map((each) => (each.codePointAt(0) ?? 0) - 32);
  const withRow = (other: number): string => {
    const last = Buffer.from(String.fromCodePoint(other + 32), encoding).toString('latin1');
    const before = Buffer.from(places.slice(0, 2).join(''), encoding).toString('latin1');
    return `\x1b[M${before}${last}`;
  };
  return { ...actionOf(code, false), column, row, withRow };
};

/** The last row of the child's screen in the unit of the report; undefined if nothing is known about it. */
const lastRowOf = (
  { column, row }: MousePlace,
  { terminalRows, columns, knownRows }: ScreenGeometry,
  { hasPixels, pixels }: MouseReports,
): number | undefined => {
  if (!hasPixels) return knownRows;
  pixels.areSeen ||= column > columns || row > terminalRows;
  if (!pixels.areSeen) return knownRows;
  return pixels.cellHeight === undefined ? undefined : Math.floor(knownRows * pixels.cellHeight) - 1; // some count from 0
};

/** Whether the child must not see it: it is part of a click or drag that began below its last row, or nothing is held there. */
const isDropped = ({ kind, button }: MousePlace, isBelow: boolean, { buttons }: DroppedPresses): boolean => {
  if (kind === 'wheel') return isBelow;
  if (kind === 'motion') return button === undefined ? isBelow : buttons.has(button);
  const meant = button ?? [...buttons].at(-1);
  if (meant === undefined) return false;
  const wasDropped = buttons.delete(meant);
  if (kind === 'release') return wasDropped;
  if (isBelow) buttons.add(meant);
  return isBelow;
};

/** Drops clicks and drags that begin below the child's last row; a drag that ends there is reported in the last row. */
const mouseReport = (
  sequence: string,
  geometry: ScreenGeometry | undefined,
  mouse: MouseReports,
): string | undefined => {
  const place = numberedPlace(sequence) ?? (mouse.isAsked ? oldPlace(sequence, mouse.hasUtf8) : undefined);
  if (!place) return undefined;
  const last = geometry && lastRowOf(place, geometry, mouse);
  const isBelow = last !== undefined && place.row > last;
  if (isDropped(place, isBelow, mouse.dropped)) return '';
  return isBelow ? place.withRow(last) : undefined;
};

/**
 * The height of a cell, which the terminal reports in answers about its size in pixels (xterm ctlseqs, `CSI 14 t` and `CSI 16 t`; mode
 * 2048).
 */
export const noteCellHeight = (
  sequence: string,
  { terminalRows }: Pick<ScreenGeometry, 'terminalRows'>,
  pixels: PixelPlaces,
): void => {
  const [, operation, first, second] = /^\x1b\[(4|6|48);(\d+);\d+(?:;(\d+);\d+)?t$/.exec(sequence) ?? [];
  if (operation === undefined) return;
  const height = operation === '48' ? Number(second) / Number(first) : Number(first);
  const cell = operation === '4' ? height / terminalRows : height;
  if (cell >= 1) pixels.cellHeight = cell;
};

/**
 * Translates rows in a report to those of the child's screen. `geometry`: undefined while the child has all rows. `mouse`: undefined while
 * the rows below the child's belong to the overview.
 */
export const translateForChild = (
  element: InputElement,
  geometry: ScreenGeometry | undefined,
  mouse: MouseReports | undefined,
): InputElement => {
  const { kind, text, passedOn = '' } = element;
  if (kind === 'answer' && geometry && mouse) noteCellHeight(text, geometry, mouse.pixels);
  const report =
    kind === 'mouse' && mouse
      ? mouseReport(passedOn + text, geometry, mouse)?.slice(passedOn.length)
      : kind === 'answer' && geometry
        ? (windowReport(text, geometry) ?? extentReport(text, geometry) ?? statusReport(text, geometry))
        : undefined;
  return report === undefined ? element : { ...element, text: report };
};
