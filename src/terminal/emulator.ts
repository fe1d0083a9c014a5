import headless from '@xterm/headless';
import type { Signals, CellStyle, ScreenView, Characters } from '../core/reading.js';
import { makeSequenceLimits } from './limits.js';
import { pictureOf, type Picture } from './overlay/picture.js';
import { limitJoinedCharacters, makeWholeCharacters } from './parse-in-turns.js';
import type { Size } from './tty.js';
import { watchWrittenText, type WrittenText } from './written-text.js';

/** What a terminal does beside drawing, when it is one that somebody sits at and not a model of it. */
export interface Answers {
  /** to the program: what it asked for */
  readonly send: (bytes: string) => void;
  /** the terminal understands OSC 7501, and says so when it is asked; most do not */
  readonly hearsState: boolean;
  /** a program has told its state, `state=idle:app=codex` (facts/codex.md §5) */
  readonly onState: (state: string) => void;
}

// OSC 10 to 12: text, background, cursor. XParseColor's form, in which xterm answers, with four digits a channel.
const COLOURS: ReadonlyMap<number, string> = new Map([
  [10, 'd0d0/d0d0/d0d0'],
  [11, '1010/1010/1010'],
  [12, 'd0d0/d0d0/d0d0'],
]);
const STATE = 7501;

/** xterm.js answers most questions by itself, but leaves the colours to who draws it, and the size of the text area to who allows it. */
const answerQuestions = (terminal: headless.Terminal, { send, hearsState, onState }: Answers): void => {
  const { parser, options } = terminal;
  options.windowOptions = { getWinSizeChars: true };
  terminal.onData((bytes) => {
    if (bytes !== '') send(bytes);
  });
  for (const [code, colour] of COLOURS)
    parser.registerOscHandler(code, (text) => {
      if (text === '?') send(`\x1b]${code};rgb:${colour}\x1b\\`);
      return true;
    });
  parser.registerOscHandler(STATE, (text) => {
    if (text !== '?') onState(text);
    else if (hearsState) send(`\x1b]${STATE};?\x1b\\`); // the bytes of the question
    return false;
  });
};

const MAX_TEXT = 256; // characters of a title or notification that anybody looks at
const MOST_TITLES = 8;
const MAX_STATE = 4_096; // of an agent's state, whose message of up to 2048 bytes is in base64

/** Its own state: no question about states, and not that of one of its helpers, which have an `id` (Claude Code 2.1.330). */
const isOwnState = (text: string): boolean => text.startsWith('state=') && !text.includes(':id=');

/** Listens to what a program tells the terminal in OSC strings; the returned function gives what was said last. */
const hookSignals = (terminal: headless.Terminal): (() => Signals) => {
  let signals: Signals = {};
  const note = (more: Signals): boolean => {
    signals = { ...signals, ...more };
    return false; // the emulator's own handler comes next
  };
  const { parser } = terminal;
  for (const code of [0, 2])
    parser.registerOscHandler(code, (text) => note(titled(signals, text.slice(0, MAX_TEXT))));
  parser.registerOscHandler(7501, (text) =>
    isOwnState(text) ? note({ agentState: text.slice(0, MAX_STATE) }) : false,
  );
  parser.registerOscHandler(9, (text) => {
    const progress = /^4;(\d)/.exec(text)?.[1];
    return note(
      progress === undefined ? { notification: text.slice(0, MAX_TEXT) } : { progress: Number(progress) },
    );
  });
  for (const code of [99, 777])
    parser.registerOscHandler(code, (text) => note({ notification: text.slice(0, MAX_TEXT) }));
  return () => signals;
};

const titled = ({ title: before, titlesBefore = [] }: Signals, title: string): Signals =>
  before === undefined || before === title
    ? { title }
    : { title, titlesBefore: [...titlesBefore, before].slice(-MOST_TITLES) };

const TRUE_COLOUR = 0x1000000; // as in CellStyle.foreground

const styleOf = (cell: headless.IBufferCell): CellStyle => ({
  bold: cell.isBold() !== 0,
  dim: cell.isDim() !== 0,
  inverse: cell.isInverse() !== 0,
  ...(cell.isFgDefault()
    ? {}
    : { foreground: cell.isFgRGB() ? TRUE_COLOUR + cell.getFgColor() : cell.getFgColor() }),
});

/** The emulator's shown screen. It reads the emulator's own cells: use it before the next bytes are parsed. */
const snapshotOf = (terminal: headless.Terminal): ScreenView => {
  const { active } = terminal.buffer;
  const lineAt = (row: number): headless.IBufferLine | undefined =>
    row >= 0 && row < terminal.rows ? active.getLine(active.baseY + row) : undefined;
  const texts = new Map<number, string>();
  return {
    columns: terminal.cols,
    rows: terminal.rows,
    cursorRow: active.cursorY,
    cursorColumn: active.cursorX,
    alternate: active.type === 'alternate',
    text: (row) => {
      const known = texts.get(row);
      if (known !== undefined) return known;
      const text = lineAt(row)?.translateToString(true).trimEnd() ?? '';
      texts.set(row, text);
      return text;
    },
    styleAt: (row, column) => {
      const cell = lineAt(row)?.getCell(column);
      return cell && styleOf(cell);
    },
  };
};

/** xterm.js at one size after the other. Everything happens at once, and throws what xterm.js throws. */
export interface Emulator {
  readonly parse: (bytes: Uint8Array) => void;
  /** output was left out: what is on the screen is not all that was drawn */
  readonly noteSkipped: () => void;
  readonly resize: (size: Size) => void;
  readonly rowsBelowCursor: () => number;
  readonly rowsWrappedAt: (columns: number) => number;
  readonly lastRow: () => number;
  readonly eraseBelow: (rows: number) => void;
  readonly alignCursor: (row: number) => void;
  readonly isMidFrame: () => boolean;
  readonly seen: () => { readonly screen: ScreenView; readonly signals: Signals };
  readonly picture: () => Picture;
  readonly countWritten: () => void;
  readonly written: () => Characters | undefined;
  readonly close: () => void;
}

// Rows. Where lines wrap anew and there is no scrollback, xterm.js counts a row that it does not have, and throws at a later line feed.
const REFLOW_ROOM = 1000;
const COUNTING_ROOM = 1; // rows: the one that has just left the screen can be looked at there
// Each link keeps a place on the screen that every scrolled row moves, and those of a screen that was reset are kept for ever.
const MOST_LINKS = 1_000;
const MOST_FORGOTTEN_LINKS = 10_000;

const hasContent = (terminal: headless.Terminal, row: number, main: boolean): boolean => {
  const buffer = main ? terminal.buffer.normal : terminal.buffer.active;
  return (
    (buffer
      .getLine(buffer.baseY + row)
      ?.translateToString(true)
      .trim() ?? '') !== ''
  );
};

const lastContentRow = (terminal: headless.Terminal, main: boolean): number => {
  for (let row = terminal.rows - 1; row >= 0; row -= 1) if (hasContent(terminal, row, main)) return row;
  return -1;
};

const makeTerminal = ({ columns, rows }: Size): headless.Terminal => {
  const terminal = new headless.Terminal({
    cols: Math.max(2, columns),
    rows: Math.max(1, rows),
    scrollback: 0,
    allowProposedApi: true,
    logLevel: 'off',
  });
  limitJoinedCharacters(terminal);
  return terminal;
};

/** Leaves links (OSC 8) out that are more than anybody draws; `onLeftOut` is told each time. */
const limitLinks = (terminal: headless.Terminal, onLeftOut: () => void): void => {
  let forgotten = 0;
  terminal.parser.registerEscHandler({ final: 'c' }, () => {
    forgotten += terminal.markers.length;
    return false; // the emulator's own handler comes next
  });
  terminal.parser.registerOscHandler(8, (link) => {
    const isEnd = link.endsWith(';');
    const isFull = terminal.markers.length >= MOST_LINKS || forgotten >= MOST_FORGOTTEN_LINKS;
    if (isEnd || !isFull) return false;
    onLeftOut();
    return true;
  });
};

const shiftSequence = (rows: number): string => {
  if (rows > 0) return `\x1b7\x1b[H\x1b[${rows}L\x1b8\x1b[${rows}B`;
  return rows < 0 ? `\x1b7\x1b[H\x1b[${-rows}M\x1b8\x1b[${-rows}A` : '';
};

/** What xterm.js would drop below the cursor when it gets lower, in rows; it can be scrolled away at the top instead. */
const droppedRows = (terminal: headless.Terminal, rows: number): number =>
  terminal.buffer.active.type === 'alternate'
    ? 0
    : Math.max(0, Math.min(lastContentRow(terminal, true) - rows + 1, terminal.buffer.active.cursorY));

/** Parses at once: xterm.js does so with what is written right after a key, and else in a turn of its own, where nobody can catch it. */
const writeNow = (terminal: headless.Terminal, bytes: Uint8Array | string): void => {
  terminal.input('', true);
  terminal.write(bytes);
};

/** With `answers` it is a terminal to sit at; without, a model that nobody asks. */
export const openEmulator = (size: Size, answers?: Answers): Emulator => {
  const terminal = makeTerminal(size);
  if (answers) answerQuestions(terminal, answers);
  const signals = hookSignals(terminal);
  const whole = makeWholeCharacters();
  const limited = makeSequenceLimits(() => ({ columns: terminal.cols, rows: terminal.rows }));
  const write = (bytes: Uint8Array | string): void => writeNow(terminal, bytes);
  let text: WrittenText | undefined;
  let isWhole = true;
  const noteSkipped = (): void => {
    isWhole = false;
  };
  limitLinks(terminal, noteSkipped);
  terminal.parser.registerCsiHandler({ final: 'J' }, ([what]) => {
    isWhole ||= what === 2;
    return false; // the emulator's own handler comes next
  });
  return {
    parse: (bytes) => write(limited(whole(bytes))),
    noteSkipped,
    picture: () => pictureOf(terminal, isWhole),
    seen: () => ({ screen: snapshotOf(terminal), signals: signals() }),
    isMidFrame: () => terminal.modes.synchronizedOutputMode,
    countWritten: () => {
      text ??= watchWrittenText(terminal);
      terminal.options.scrollback = COUNTING_ROOM;
    },
    written: () => text?.characters(),
    resize: ({ columns, rows }) => {
      const lifted = droppedRows(terminal, rows);
      text?.takeTop(lifted);
      write(shiftSequence(-lifted));
      terminal.options.scrollback = 0; // a row kept for counting would come back to the screen
      terminal.options.scrollback = REFLOW_ROOM;
      terminal.resize(Math.max(2, columns), Math.max(1, rows));
      text?.noteResize();
      terminal.options.scrollback = 0;
      if (text) terminal.options.scrollback = COUNTING_ROOM;
    },
    rowsBelowCursor: () => Math.max(0, lastContentRow(terminal, false) - terminal.buffer.active.cursorY),
    rowsWrappedAt: (columns) => {
      const { active } = terminal.buffer;
      const length = active.getLine(active.baseY + active.cursorY)?.translateToString(true).length ?? 0;
      const last = Math.floor(Math.max(0, length - 1) / columns);
      return Math.max(0, last - Math.floor(active.cursorX / columns));
    },
    lastRow: () => lastContentRow(terminal, true),
    eraseBelow: (rows) => {
      const isInside = terminal.buffer.active.cursorY + rows + 1 < terminal.rows;
      if (isInside) write(`\x1b7\x1b[${rows + 1}B\r\x1b[0m\x1b[J\x1b8`);
    },
    alignCursor: (row) => write(shiftSequence(row - terminal.buffer.active.cursorY)),
    close: () => terminal.dispose(),
  };
};
