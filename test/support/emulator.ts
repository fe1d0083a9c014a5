import { Terminal } from '@xterm/headless';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import { makeCharacterJoiner } from '../../src/terminal/time-sliced-parser.js';

/** A terminal for tests: xterm.js without a window, and the answers it would send to the program. */
export interface Emulator {
  readonly terminal: Terminal;
  write: (bytes: Uint8Array | string) => Promise<void>;
  /** all its answers so far (CPR, DA, DECRQSS …) */
  answers: () => string;
}

export const makeEmulator = (columns: number, rows: number, scrollback = 2000): Emulator => {
  const terminal = new Terminal({
    cols: columns,
    rows,
    scrollback,
    allowProposedApi: true,
    logLevel: 'off',
    windowOptions: { getWinSizeChars: true },
  });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  let answers = '';
  terminal.onData((data) => (answers += data));
  const whole = makeCharacterJoiner();
  return {
    terminal,
    write: (bytes) =>
      new Promise((resolve) => terminal.write(typeof bytes === 'string' ? bytes : whole(bytes), resolve)),
    answers: () => answers,
  };
};

interface Cell {
  getChars: () => string;
  getWidth: () => number;
  getFgColor: () => number;
  getBgColor: () => number;
  getFgColorMode: () => number;
  getBgColorMode: () => number;
  isBold: () => number;
  isDim: () => number;
  isItalic: () => number;
  isUnderline: () => number;
  isBlink: () => number;
  isInverse: () => number;
  isInvisible: () => number;
  isStrikethrough: () => number;
  isOverline: () => number;
}

const describeCell = (cell: Cell): string => {
  const chars = cell.getChars();
  const attributes = [cell.isBold, cell.isDim, cell.isItalic, cell.isUnderline, cell.isBlink, cell.isInverse];
  const more = [cell.isInvisible, cell.isStrikethrough, cell.isOverline];
  const flags = [...attributes, ...more].map((flag) => (flag.call(cell) ? 1 : 0)).join('');
  const colours = `${cell.getFgColorMode()}:${cell.getFgColor()}/${cell.getBgColorMode()}:${cell.getBgColor()}`;
  return flags === '000000000' && colours === '0:-1/0:-1'
    ? chars || ' '
    : `[${chars || ' '} ${flags} ${colours}]`;
};

/** Each row of the active buffer, scrollback first, as text with colours and attributes; without the last `below` rows. */
export const describeRows = (terminal: Terminal, below = 0): string[] => {
  const buffer = terminal.buffer.active;
  const count = buffer.baseY + terminal.rows - below;
  return Array.from({ length: count }, (_, index) => {
    const line = buffer.getLine(index);
    const cells = Array.from({ length: terminal.cols }, (__, column) => line?.getCell(column));
    return cells
      .map((cell) => (cell ? describeCell(cell) : ''))
      .join('')
      .trimEnd();
  });
};

/** Everything a user can see and a program can query. `below` rows at the bottom are not the child's. */
export const describeTerminal = (terminal: Terminal, below = 0) => {
  const buffer = terminal.buffer.active;
  return {
    buffer: buffer.type,
    scrolled: buffer.baseY,
    cursor: { row: buffer.cursorY, column: Math.min(buffer.cursorX, terminal.cols - 1) },
    modes: { ...terminal.modes },
    rows: describeRows(terminal, below),
  };
};
