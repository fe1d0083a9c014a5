import type headless from '@xterm/headless';
import { widthOf } from '../filter/bytes.js';
import { isControlFree } from '../mode-tracker.js';

// Saves the child's screen and restores it, for an overview that is drawn over it.

interface SavedCell {
  /** '' for a cell that was never written or was erased */
  readonly text: string;
  readonly width: number;
  /** SGR parameters; '' for the default rendition */
  readonly style: string;
  /** hyperlink (OSC 8), its parameters and address */
  readonly link: string;
}

/** The cells of the screen, to draw it again. */
export interface SavedScreen {
  readonly rows: readonly (readonly SavedCell[])[];
  /** from 0 */
  readonly cursorRow: number;
  /** false if output was skipped since the screen was last cleared, or a width is ambiguous */
  readonly isComplete: boolean;
}

/** Members of the emulator's cells that its published types lack. */
interface FullCell extends headless.IBufferCell {
  getUnderlineStyle: () => number;
  getUnderlineColor: () => number;
  isUnderlineColorDefault: () => boolean;
  isUnderlineColorRGB: () => boolean;
  readonly extended: { readonly urlId: number };
}

interface Links {
  readonly _core?: {
    readonly _oscLinkService?: {
      getLinkData: (id: number) => { readonly id?: string; readonly uri: string } | undefined;
    };
  };
}

const SIXTEEN = 0x1000000; // xterm.js's colour mode for SGR 30–37 and 90–97, which some terminals draw brighter than `38;5;n`

const colour = (kind: 38 | 48 | 58, isRgb: boolean, value: number): string =>
  isRgb ? `${kind};2;${(value >> 16) & 255};${(value >> 8) & 255};${value & 255}` : `${kind};5;${value}`;

const foreground = (cell: FullCell): string => {
  const value = cell.getFgColor();
  if (cell.getFgColorMode() !== SIXTEEN) return colour(38, cell.isFgRGB(), value);
  return `${value < 8 ? 30 + value : 82 + value}`;
};

const background = (cell: FullCell): string => {
  const value = cell.getBgColor();
  if (cell.getBgColorMode() !== SIXTEEN) return colour(48, cell.isBgRGB(), value);
  return `${value < 8 ? 40 + value : 92 + value}`;
};

const underline = (cell: FullCell): readonly string[] => {
  const style = cell.getUnderlineStyle();
  const isOwn = style > 0 && !cell.isUnderlineColorDefault();
  return [
    style > 1 ? `4:${style}` : '4',
    ...(isOwn ? [colour(58, cell.isUnderlineColorRGB(), cell.getUnderlineColor())] : []),
  ];
};

const styleOf = (cell: FullCell): string => {
  if (cell.isAttributeDefault()) return '';
  return [
    cell.isBold() ? '1' : '',
    cell.isDim() ? '2' : '',
    cell.isItalic() ? '3' : '',
    ...(cell.isUnderline() ? underline(cell) : []),
    cell.isBlink() ? '5' : '',
    cell.isInverse() ? '7' : '',
    cell.isInvisible() ? '8' : '',
    cell.isStrikethrough() ? '9' : '',
    cell.isOverline() ? '53' : '',
    cell.isFgDefault() ? '' : foreground(cell),
    cell.isBgDefault() ? '' : background(cell),
  ]
    .filter((parameter) => parameter !== '')
    .join(';');
};

const linkOf = (terminal: headless.Terminal, cell: FullCell): string => {
  const { urlId } = cell.extended;
  const data = urlId > 0 ? (terminal as Links)._core?._oscLinkService?.getLinkData(urlId) : undefined;
  const link = data ? `${data.id === undefined ? '' : `id=${data.id}`};${data.uri}` : '';
  return isControlFree(link) ? link : '';
};

// Presentation selectors, joiners, flags and skin tones: terminals disagree on the width of characters with these.
const JOINED = /\u200d|\ufe0e|\ufe0f|\p{Regional_Indicator}|\p{Emoji_Modifier}/u;

/** True if terminals disagree on the width, so that the rest of the row may be displaced. */
const isWidthAmbiguous = ({ text, width }: SavedCell): boolean => {
  const first = text.codePointAt(0) ?? 0;
  return first >= 0x100 && (widthOf(first) !== width || JOINED.test(text));
};

/** Call it before the next bytes are parsed. */
export const saveScreen = (terminal: headless.Terminal, isComplete: boolean): SavedScreen => {
  const { active } = terminal.buffer;
  const cellsOf = (row: number): readonly SavedCell[] => {
    const line = active.getLine(active.baseY + row);
    const cells = Array.from({ length: terminal.cols }, (_, column) => line?.getCell(column));
    return (cells as readonly (FullCell | undefined)[]).flatMap((cell) =>
      cell && cell.getWidth() > 0
        ? [
            {
              text: cell.getChars(),
              width: cell.getWidth(),
              style: styleOf(cell),
              link: linkOf(terminal, cell),
            },
          ]
        : [],
    );
  };
  const rows = Array.from({ length: terminal.rows }, (_, row) => cellsOf(row));
  return {
    rows,
    cursorRow: active.cursorY,
    isComplete: isComplete && !rows.some((cells) => cells.some(isWidthAmbiguous)),
  };
};

/** True for cells with the same style and link that are both written or both empty: they share one sequence. */
const isSameRun = (one: SavedCell, other: SavedCell): boolean =>
  one.style === other.style && one.link === other.link && (one.text === '') === (other.text === '');

const runSequence = (run: readonly SavedCell[]): string => {
  const [first] = run;
  if (!first) return '';
  const { style, link } = first;
  const columns = run.reduce((sum, { width }) => sum + width, 0);
  if (first.text === '')
    return style === '' ? `\x1b[${columns}C` : `\x1b[0;${style}m\x1b[${columns}X\x1b[${columns}C`;
  const [open, close] = link === '' ? ['', ''] : [`\x1b]8;${link}\x1b\\`, '\x1b]8;;\x1b\\'];
  const text = run.map((cell) => cell.text).join('');
  return `\x1b[0${style === '' ? '' : ';'}${style}m${open}${text}${close}`;
};

/** One row from the first column on, cut at `columns`. */
const rowSequence = (cells: readonly SavedCell[], columns: number): string => {
  let output = '';
  let run: SavedCell[] = [];
  let column = 0;
  for (const cell of cells) {
    column += cell.width;
    if (column > columns) break;
    if (run[0] && isSameRun(run[0], cell)) run.push(cell);
    else {
      output += runSequence(run);
      run = [cell];
    }
  }
  return `${output}${runSequence(run)}\x1b[0m`;
};

/**
 * Draws the saved rows from the first row on and erases everything else. If the height has shrunk since, rows below the cursor are
 * dropped first, then rows at the top, as terminals do.
 */
export const restoreScreenSequence = (
  { rows, cursorRow }: SavedScreen,
  columns: number,
  terminalRows: number,
): string => {
  const first = Math.max(0, cursorRow - terminalRows + 1);
  const drawn = Array.from({ length: terminalRows }, (_, row) => rows[first + row] ?? []);
  return drawn.map((cells, row) => `\x1b[${row + 1};1H\x1b[2K${rowSequence(cells, columns)}`).join('');
};
