/**
 * Answers and mouse reports of the terminal speak of its own rows; the child must hear of a terminal without the footer row.
 */
export interface ReportFrame {
  /** rows of the real terminal and of the child */
  readonly terminalRows: number;
  readonly childRows: number;
  readonly columns: number;
}

const pixels = (height: number, { terminalRows, childRows }: ReportFrame): number =>
  Math.round((height / terminalRows) * childRows);

const windowReport = (sequence: string, frame: ReportFrame): string | undefined => {
  const [, operation = '', rest = ''] = /^\x1b\[(4|8|48);([\d;]+)t$/.exec(sequence) ?? [];
  const values = rest.split(';').map(Number);
  const [first = 0, ...others] = values;
  // the answer may come before we have seen the new size ourselves: only the difference is sure
  const less = (rows: number): number => Math.max(1, rows - frame.terminalRows + frame.childRows);
  const isSwapped = first === frame.columns && others[0] === frame.terminalRows && first !== others[0]; // tmux 3.3 has columns first
  if (operation === '8' && isSwapped) return `\x1b[8;${first};${less(frame.terminalRows)}t`;
  const rows = less(first);
  if (operation === '8') return `\x1b[8;${[rows, ...others].join(';')}t`;
  if (operation === '4') return `\x1b[4;${[pixels(first, frame), ...others].join(';')}t`;
  if (operation !== '48') return undefined;
  const [columns = 0, height = 0, width = 0] = others; // in-band resize, mode 2048
  return `\x1b[48;${rows};${columns};${pixels(height, frame)};${width}t`;
};

/** A press on the footer is not the child's; a release or a drag that ends there counts for its last row. */
const mouseReport = (sequence: string, { childRows }: ReportFrame): string | undefined => {
  const sgr = /^\x1b\[<(\d+);(\d+);(\d+)([Mm])$/.exec(sequence);
  const urxvt = sgr ? undefined : /^\x1b\[(\d+);(\d+);(\d+)M$/.exec(sequence);
  const [, button = '0', column = '', row = '0', final = 'M'] = sgr ?? urxvt ?? [];
  if ((!sgr && !urxvt) || Number(row) <= childRows) return undefined;
  const code = Number(button) - (urxvt ? 32 : 0);
  const isMotion = (code & 32) !== 0;
  const isRelease = final === 'm' || (urxvt !== undefined && (code & 3) === 3 && (code & 64) === 0);
  if (!isMotion && !isRelease) return '';
  return sgr ? `\x1b[<${button};${column};${childRows}${final}` : `\x1b[${button};${column};${childRows}M`;
};

/** A press in the old form on the footer row is swallowed, a release there counts for the child's last row. */
export const oldMouseForChild = (sequence: string, frame: ReportFrame): string | undefined => {
  const row = sequence.charCodeAt(5) - 32;
  const button = sequence.charCodeAt(3) - 32;
  if (row <= frame.childRows) return undefined;
  const passes = (button & 32) !== 0 || (button & 3) === 3;
  return passes ? sequence.slice(0, 5) + String.fromCharCode(frame.childRows + 32) : '';
};

/** `CSI M` and three bytes (X10, xterm ctlseqs). */
export const isOldMouse = (sequence: string): boolean =>
  sequence.startsWith('\x1b[M') && sequence.length === 6;

/** DECRQDE's answer: the displayed extent in rows and columns. */
const extentReport = (sequence: string, frame: ReportFrame): string | undefined => {
  const match = /^\x1b\[(\d+);(\d+;[\d;]*)"w$/.exec(sequence);
  return match && Number(match[1]) === frame.terminalRows
    ? `\x1b[${frame.childRows};${match[2] ?? ''}"w`
    : undefined;
};

/** How an answer to DECRQSS begins. */
export const STATUS = '\x1bP1$r';

/** DECRQSS's answers that name a number of lines: DECSNLS and DECSLPP. */
const statusReport = (sequence: string, frame: ReportFrame): string | undefined => {
  const [, lines, what = ''] = /^\x1bP1\$r(\d+)(\*\||t)\x1b\\$/.exec(sequence) ?? [];
  if (lines === undefined) return undefined;
  return `${STATUS}${Number(lines) - frame.terminalRows + frame.childRows}${what}\x1b\\`;
};

/** The sequence as the child may read it; '' where it is none of its business; undefined where it stays as it is. */
export const reportForChild = (
  sequence: string,
  frame: ReportFrame,
  pixelMouse: boolean,
): string | undefined => {
  if (sequence.startsWith(STATUS)) return statusReport(sequence, frame);
  const mouse = pixelMouse ? undefined : mouseReport(sequence, frame);
  return mouse ?? windowReport(sequence, frame) ?? extentReport(sequence, frame);
};
