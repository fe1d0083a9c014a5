import stringWidth from 'string-width';

// Rows -> escape sequences. The agent draws on the main screen: finished lines scroll away into the scrollback of the
// terminal, the live rows at the end are drawn over again and again with relative moves.

/** One logical line with one look. */
export interface Line {
  readonly text: string;
  readonly style?: Style;
}

type Style = 'dim' | 'bold' | 'accent' | 'good';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The rows that are redrawn, and where the cursor rests in them; without one it is hidden. */
export interface Live {
  readonly lines: readonly Line[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** What was drawn last: enough to find the first live row again. */
export interface Canvas {
  readonly rows: number;
  readonly cursorRow: number;
  readonly frame: string;
  /** the window is to be cleared first */
  readonly anew?: boolean;
}

export const emptyCanvas: Canvas = { rows: 0, cursorRow: 0, frame: '' };

export interface Brush {
  readonly size: Size;
  readonly colors: boolean;
}

/** Prints finished lines above the live rows and redraws those; nothing at all when nothing changed. */
export const paint = (
  canvas: Canvas,
  printed: readonly Line[],
  live: Live,
  brush: Brush,
): { readonly text: string; readonly canvas: Canvas } => {
  const { lines, cursor } = fitRows(live, brush.size.rows);
  const width = drawableColumns(brush.size);
  const frame = lines
    .map((line) => styled({ ...line, text: clip(line.text, width) }, brush))
    .join('\x1b[K\r\n');
  const above = wrapAll(printed, brush);
  const left = Math.max(0, canvas.rows - above.length - lines.length);
  const look = frame + placeCursor(lines.length, cursor);
  if (printed.length === 0 && canvas.frame === look) return { text: '', canvas };
  const body = `${toTop(canvas)}${printRows(above, brush)}${frame}\x1b[K${clearBelow(left)}`;
  return {
    text: `\x1b[?2026h\x1b[?25l${body}${placeCursor(lines.length + left, cursor)}\x1b[?2026l`,
    canvas: { rows: lines.length, cursorRow: cursor?.row ?? lines.length + left - 1, frame: look },
  };
};

/** Finished lines, wrapped by words; each ends its row. */
export const printLines = (lines: readonly Line[], brush: Brush): string =>
  printRows(wrapAll(lines, brush), brush);

const wrapAll = (lines: readonly Line[], brush: Brush): readonly Line[] =>
  lines.flatMap((line) => wrapLine(line, drawableColumns(brush.size)));

const printRows = (rows: readonly Line[], brush: Brush): string =>
  rows.map((row) => `${styled(row, brush)}\x1b[K\r\n`).join('');

/** Row by row, as Ink does it: erasing the whole rest of the screen would also erase what others keep there. */
const clearBelow = (rows: number): string => '\r\n\x1b[K'.repeat(rows);

/** Removes the live rows; what is printed next begins where they began. */
export const eraseLive = (canvas: Canvas): string => `${toTop(canvas)}\x1b[J`;

/** The last column stays free: a full row would leave the cursor in pending wrap. */
export const drawableColumns = (size: Size): number => Math.max(8, size.columns - 1);

const toTop = (canvas: Canvas): string => `\r${up(canvas.cursorRow)}`;
const up = (rows: number): string => (rows > 0 ? `\x1b[${rows}A` : '');

/** Live rows that scrolled out of the window could not be drawn over; a low window shows the last ones. */
const fitRows = (live: Live, rows: number): Live => {
  const hidden = Math.max(0, live.lines.length - Math.max(1, rows - 1));
  const lines = live.lines.slice(hidden);
  if (!live.cursor) return { lines };
  return { lines, cursor: { ...live.cursor, row: Math.max(0, live.cursor.row - hidden) } };
};

const placeCursor = (rows: number, cursor: Live['cursor']): string =>
  cursor ? `\r${up(rows - 1 - cursor.row)}\x1b[${cursor.column}C\x1b[?25h` : '';

const codes: Record<Style, readonly [string, string]> = {
  dim: ['2', '22'],
  bold: ['1', '22'],
  accent: ['36', '39'],
  good: ['32', '39'],
};

const styled = ({ text, style }: Line, { colors }: Brush): string => {
  if (style === undefined || !colors || text === '') return text;
  const [on, off] = codes[style];
  return `\x1b[${on}m${text}\x1b[${off}m`;
};

/** The beginning of a text that fits. */
export const clip = (text: string, columns: number): string => {
  let chars = Array.from(text).slice(0, columns);
  while (stringWidth(chars.join('')) > columns) chars = chars.slice(0, -1);
  return chars.join('');
};

/** The end of a text that fits, as a prompt box shows a long draft. */
export const clipStart = (text: string, columns: number): string => {
  let chars = Array.from(text).slice(-columns);
  while (stringWidth(chars.join('')) > columns) chars = chars.slice(1);
  return chars.join('');
};

/** Word wrap; following rows are indented like the text of an answer. A word that is too long is cut. */
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

/** The modes the agent works with, and their way back. */
export const holdModes = '\x1b[?2004h';
export const releaseModes = '\x1b[?2026l\x1b[?2004l\x1b[0m\x1b[?25h';

export const title = (text: string): string => `\x1b]0;${text}\x07`;
