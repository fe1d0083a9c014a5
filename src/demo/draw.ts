import stringWidth from 'string-width';

// Converts rows to escape sequences. The agent draws on the main screen: finished lines scroll into the terminal's scrollback, and the live
// rows at the end are redrawn with relative cursor moves.

/** One logical line with one style; `sides` is that of its first and last character, where they are the sides of a box. */
export interface Line {
  readonly text: string;
  readonly style?: Style;
  readonly sides?: Style;
}

type Style = 'dim' | 'bold' | 'accent' | 'good';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The rows that are redrawn, and the cursor's place in them; without one the cursor is hidden. */
export interface LiveRows {
  readonly lines: readonly Line[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** What was drawn last: enough to find the first live row again. */
export interface PaintState {
  readonly rows: number;
  readonly cursorRow: number;
  readonly frame: string;
  /** clear the window first */
  readonly mustClear?: boolean;
}

export const startPaintState: PaintState = { rows: 0, cursorRow: 0, frame: '' };

export interface DrawOptions {
  readonly size: Size;
  readonly hasColors: boolean;
}

/** Prints finished lines above the live rows and redraws those; returns an empty text when nothing has changed. */
export const paint = (
  paintState: PaintState,
  printed: readonly Line[],
  live: LiveRows,
  drawOptions: DrawOptions,
): { readonly text: string; readonly paintState: PaintState } => {
  const { lines, cursor } = fitRows(live, drawOptions.size.rows);
  const width = drawableColumns(drawOptions.size);
  const frame = lines
    .map((line) => styled({ ...line, text: clip(line.text, width) }, drawOptions))
    .join('\x1b[K\r\n');
  const above = wrapAll(printed, drawOptions);
  const left = Math.max(0, paintState.rows - above.length - lines.length);
  const drawn = frame + placeCursor(lines.length, cursor);
  if (printed.length === 0 && paintState.frame === drawn) return { text: '', paintState };
  const body = `${toTop(paintState)}${printRows(above, drawOptions)}${frame}\x1b[K${clearBelow(left)}`;
  return {
    text: `\x1b[?2026h\x1b[?25l${body}${placeCursor(lines.length + left, cursor)}\x1b[?2026l`,
    paintState: { rows: lines.length, cursorRow: cursor?.row ?? lines.length + left - 1, frame: drawn },
  };
};

/** Finished lines, wrapped at words; each ends with a line break. */
export const printLines = (lines: readonly Line[], drawOptions: DrawOptions): string =>
  printRows(wrapAll(lines, drawOptions), drawOptions);

const wrapAll = (lines: readonly Line[], drawOptions: DrawOptions): readonly Line[] =>
  lines.flatMap((line) => wrapLine(line, drawableColumns(drawOptions.size)));

const printRows = (rows: readonly Line[], drawOptions: DrawOptions): string =>
  rows.map((row) => `${styled(row, drawOptions)}\x1b[K\r\n`).join('');

/** Clears row by row, as Ink does: erasing the rest of the screen would also erase rows of other programs. */
const clearBelow = (rows: number): string => '\r\n\x1b[K'.repeat(rows);

/** Removes the live rows; the next output starts in their place. */
export const eraseLive = (paintState: PaintState): string => `${toTop(paintState)}\x1b[J`;

/** The last column stays free: a full row would leave the cursor in pending wrap. */
export const drawableColumns = (size: Size): number => Math.max(8, size.columns - 1);

const toTop = (paintState: PaintState): string => `\r${up(paintState.cursorRow)}`;
const up = (rows: number): string => (rows > 0 ? `\x1b[${rows}A` : '');

/** Live rows that have scrolled out of the window cannot be redrawn, so a low window shows only the last ones. */
const fitRows = (live: LiveRows, rows: number): LiveRows => {
  const hidden = Math.max(0, live.lines.length - Math.max(1, rows - 1));
  const lines = live.lines.slice(hidden);
  if (!live.cursor) return { lines };
  return { lines, cursor: { ...live.cursor, row: Math.max(0, live.cursor.row - hidden) } };
};

const placeCursor = (rows: number, cursor: LiveRows['cursor']): string =>
  cursor ? `\r${up(rows - 1 - cursor.row)}\x1b[${cursor.column}C\x1b[?25h` : '';

const codes: Record<Style, readonly [string, string]> = {
  dim: ['2', '22'],
  bold: ['1', '22'],
  accent: ['36', '39'],
  good: ['32', '39'],
};

const styled = ({ text, style, sides }: Line, { hasColors }: DrawOptions): string => {
  if (!hasColors || text === '') return text;
  if (sides === undefined) return inStyle(text, style);
  return (
    inStyle(text.slice(0, 1), sides) + inStyle(text.slice(1, -1), style) + inStyle(text.slice(-1), sides)
  );
};

const inStyle = (text: string, style: Style | undefined): string => {
  if (style === undefined) return text;
  const [on, off] = codes[style];
  return `\x1b[${on}m${text}\x1b[${off}m`;
};

/** The beginning of a text that fits. */
export const clip = (text: string, columns: number): string => {
  let chars = Array.from(text).slice(0, columns);
  while (stringWidth(chars.join('')) > columns) chars = chars.slice(0, -1);
  return chars.join('');
};

/** Wraps at words; following rows are indented like the text of an answer. A word that is too long is cut. */
export const wrapLine = (line: Line, columns: number): readonly Line[] => {
  const rows: string[] = [];
  let row = '';
  for (const word of line.text.split(/(?<=\S)(?= )/)) {
    if (row !== '' && stringWidth(row + word) > columns) {
      rows.push(row);
      row = `  ${word.trimStart()}`;
    } else {
      row += word;
    }
    while (stringWidth(row) > columns) {
      const fitting = clip(row, columns);
      rows.push(fitting);
      row = `  ${row.slice(fitting.length)}`;
    }
  }
  return [...rows, row].map((text) => ({ ...line, text }));
};

/** The modes that the agent sets, and the sequence that resets them. */
export const enableModes = '\x1b[?2004h';
export const disableModes = '\x1b[?2026l\x1b[?2004l\x1b[0m\x1b[?25h';

export const title = (text: string): string => `\x1b]0;${text}\x07`;
