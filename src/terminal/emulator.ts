import headless from '@xterm/headless';
import type { Signals, CellStyle, ScreenView, CharacterCounts } from '../core/reading.js';
import { makeSequenceLimits } from './sequence-limits.js';
import { saveScreen, type SavedScreen } from './overview/saved-screen.js';
import { limitCombiningCharacters, makeCharacterJoiner } from './time-sliced-parser.js';
import type { Size } from './tty.js';
import { makeTextCounter, type TextCounter } from './text-counter.js';

// Wraps @xterm/headless: everything that the wrapper asks of a terminal emulator.

/** Lets the emulator act as a user's terminal: it answers queries. Without it the emulator only draws. */
export interface Responder {
  /** sends an answer to the program */
  readonly send: (bytes: string) => void;
  /** answers the OSC 7501 query; most terminals do not */
  readonly understandsState: boolean;
  /** says that its background is light; dark when absent */
  readonly isLight?: boolean | undefined;
  /** a program has reported its state, `state=idle:app=codex` (docs/facts/codex.md#state-reports) */
  readonly onState: (state: string) => void;
}

// OSC 10 to 12: text, background, cursor. XParseColor's form, in which xterm answers, with four digits a channel.
const [DARK, LIGHT] = ['1010/1010/1010', 'd0d0/d0d0/d0d0'];
const colours = (isLight: boolean): ReadonlyMap<number, string> => {
  const [text, background] = isLight ? [DARK, 'ffff/ffff/ffff'] : [LIGHT, DARK];
  return new Map([
    [10, text],
    [11, background],
    [12, text],
  ]);
};
const STATE = 7501;

/** xterm.js answers most queries itself, but not those for colours, and those for the size of the text area only when allowed. */
const answerQueries = (
  terminal: headless.Terminal,
  { send, understandsState, isLight = false, onState }: Responder,
): void => {
  const { parser, options } = terminal;
  options.windowOptions = { getWinSizeChars: true };
  terminal.onData((bytes) => {
    if (bytes !== '') send(bytes);
  });
  for (const [code, colour] of colours(isLight))
    parser.registerOscHandler(code, (textCounter) => {
      if (textCounter === '?') send(`\x1b]${code};rgb:${colour}\x1b\\`);
      return true;
    });
  parser.registerOscHandler(STATE, (textCounter) => {
    if (textCounter !== '?') onState(textCounter);
    else if (understandsState) send(`\x1b]${STATE};?\x1b\\`); // same bytes as the query
    return false;
  });
};

const MAX_TEXT = 256; // characters kept of a title or notification
const MAX_TITLES = 8;
const MAX_STATE = 4_096; // characters of an agent state; its message of up to 2048 bytes is in base64

/** True for the agent's own state: no query, and not the state of a subagent, which has an `id` (Claude Code 2.1.330). */
const isOwnState = (textCounter: string): boolean =>
  textCounter.startsWith('state=') && !textCounter.includes(':id=');

/** Collects what a program reports to the terminal in OSC strings; the returned function gives the latest values. */
const collectSignals = (terminal: headless.Terminal): (() => Signals) => {
  let signals: Signals = {};
  const update = (more: Signals): boolean => {
    signals = { ...signals, ...more };
    return false; // the emulator's own handler comes next
  };
  const { parser } = terminal;
  for (const code of [0, 2])
    parser.registerOscHandler(code, (textCounter) =>
      update(withTitle(signals, textCounter.slice(0, MAX_TEXT))),
    );
  parser.registerOscHandler(7501, (textCounter) =>
    isOwnState(textCounter) ? update({ agentState: textCounter.slice(0, MAX_STATE) }) : false,
  );
  parser.registerOscHandler(9, (textCounter) => {
    const progress = /^4;(\d)/.exec(textCounter)?.[1];
    return update(
      progress === undefined
        ? { notification: textCounter.slice(0, MAX_TEXT) }
        : { progress: Number(progress) },
    );
  });
  for (const code of [99, 777])
    parser.registerOscHandler(code, (textCounter) =>
      update({ notification: textCounter.slice(0, MAX_TEXT) }),
    );
  return () => signals;
};

const withTitle = ({ title: before, titlesBefore = [] }: Signals, title: string): Signals =>
  before === undefined || before === title
    ? { title }
    : { title, titlesBefore: [...titlesBefore, before].slice(-MAX_TITLES) };

const TRUE_COLOUR = 0x1000000; // as in CellStyle.foreground

const styleOf = (cell: headless.IBufferCell): CellStyle => ({
  bold: cell.isBold() !== 0,
  dim: cell.isDim() !== 0,
  inverse: cell.isInverse() !== 0,
  ...(cell.isFgDefault()
    ? {}
    : { foreground: cell.isFgRGB() ? TRUE_COLOUR + cell.getFgColor() : cell.getFgColor() }),
});

/** A view of the visible screen. It reads the emulator's cells, so use it before the next bytes are parsed. */
const makeScreenView = (terminal: headless.Terminal): ScreenView => {
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
      const textCounter = lineAt(row)?.translateToString(true).trimEnd() ?? '';
      texts.set(row, textCounter);
      return textCounter;
    },
    styleAt: (row, column) => {
      const cell = lineAt(row)?.getCell(column);
      return cell && styleOf(cell);
    },
  };
};

/** An xterm.js terminal. All calls are synchronous and throw what xterm.js throws. */
export interface Emulator {
  readonly parse: (bytes: Uint8Array) => void;
  /** records that output was skipped, so the screen is not complete */
  readonly markIncomplete: () => void;
  readonly resize: (size: Size) => void;
  readonly rowsBelowCursor: () => number;
  readonly isBlankFromCursor: () => boolean;
  readonly rowsWrappedAt: (columns: number) => number;
  readonly lastRow: () => number;
  readonly eraseBelow: (rows: number) => void;
  readonly alignCursor: (row: number) => void;
  readonly isMidFrame: () => boolean;
  readonly takesPastes: () => boolean;
  readonly snapshot: () => { readonly screen: ScreenView; readonly signals: Signals };
  readonly saveScreen: () => SavedScreen;
  readonly startCounting: () => void;
  readonly writtenText: () => CharacterCounts | undefined;
  readonly close: () => void;
}

// Rows of scrollback during a resize. Without scrollback, reflow makes xterm.js count a row too many, and a later line feed throws.
const REFLOW_ROOM = 1000;
const COUNTING_ROOM = 1; // rows of scrollback: the row that just left the screen can be read there
// Each link has a marker that every scrolled row moves; xterm.js never frees the markers of a screen that was reset.
const MAX_LINKS = 1_000;
const MAX_FORGOTTEN_LINKS = 10_000;

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

const isBlankFromCursor = ({ buffer: { active } }: headless.Terminal): boolean => {
  const line = active.getLine(active.baseY + active.cursorY);
  const cell = line?.getCell(active.cursorX); // none where the last column is written
  return cell?.isBgDefault() === true && line?.translateToString(true, active.cursorX) === '';
};

const makeTerminal = ({ columns, rows }: Size): headless.Terminal => {
  const terminal = new headless.Terminal({
    cols: Math.max(2, columns),
    rows: Math.max(1, rows),
    scrollback: 0,
    allowProposedApi: true,
    logLevel: 'off',
  });
  limitCombiningCharacters(terminal);
  return terminal;
};

/** Drops links (OSC 8) beyond the limit; `onDropped` is called for each. */
const limitLinks = (terminal: headless.Terminal, onDropped: () => void): void => {
  let forgotten = 0;
  terminal.parser.registerEscHandler({ final: 'c' }, () => {
    forgotten += terminal.markers.length;
    return false; // the emulator's own handler comes next
  });
  terminal.parser.registerOscHandler(8, (link) => {
    const isEnd = link.endsWith(';');
    const isFull = terminal.markers.length >= MAX_LINKS || forgotten >= MAX_FORGOTTEN_LINKS;
    if (isEnd || !isFull) return false;
    onDropped();
    return true;
  });
};

const shiftSequence = (rows: number): string => {
  if (rows > 0) return `\x1b7\x1b[H\x1b[${rows}L\x1b8\x1b[${rows}B`;
  return rows < 0 ? `\x1b7\x1b[H\x1b[${-rows}M\x1b8\x1b[${-rows}A` : '';
};

/** Rows below the cursor that xterm.js would drop when the height shrinks; scrolling them off at the top keeps them. */
const droppedRows = (terminal: headless.Terminal, rows: number): number =>
  terminal.buffer.active.type === 'alternate'
    ? 0
    : Math.max(0, Math.min(lastContentRow(terminal, true) - rows + 1, terminal.buffer.active.cursorY));

/** Blanks what a narrower terminal cuts off: in the alternate screen xterm.js would keep it, and read it as part of the row. */
const cutSequence = (terminal: headless.Terminal, columns: number): string => {
  const { type, cursorX, cursorY } = terminal.buffer.active;
  if (type !== 'alternate' || columns >= terminal.cols || terminal.modes.originMode) return '';
  const rows = Array.from({ length: terminal.rows }, (_, row) => `\x1b[${row + 1};${columns + 1}H\x1b[K`);
  return `${rows.join('')}\x1b[${cursorY + 1};${cursorX + 1}H`;
};

/** Parses synchronously: xterm.js does so for a write right after user input; otherwise it parses later, where an error cannot be caught. */
const writeSync = (terminal: headless.Terminal, bytes: Uint8Array | string): void => {
  terminal.input('', true);
  terminal.write(bytes);
};

/** With `responder` it answers queries like a user's terminal; without, it only models the screen. */
export const openEmulator = (size: Size, responder?: Responder): Emulator => {
  const terminal = makeTerminal(size);
  if (responder) answerQueries(terminal, responder);
  const signals = collectSignals(terminal);
  const completeCharacters = makeCharacterJoiner();
  const limitSequences = makeSequenceLimits(() => ({ columns: terminal.cols, rows: terminal.rows }));
  const write = (bytes: Uint8Array | string): void => writeSync(terminal, bytes);
  let textCounter: TextCounter | undefined;
  let isComplete = true;
  const markIncomplete = (): void => {
    isComplete = false;
  };
  limitLinks(terminal, markIncomplete);
  terminal.parser.registerCsiHandler({ final: 'J' }, ([what]) => {
    isComplete ||= what === 2;
    return false; // the emulator's own handler comes next
  });
  return {
    parse: (bytes) => write(limitSequences(completeCharacters(bytes))),
    markIncomplete,
    saveScreen: () => saveScreen(terminal, isComplete),
    snapshot: () => ({ screen: makeScreenView(terminal), signals: signals() }),
    isMidFrame: () => terminal.modes.synchronizedOutputMode,
    takesPastes: () => terminal.modes.bracketedPasteMode,
    startCounting: () => {
      textCounter ??= makeTextCounter(terminal);
      terminal.options.scrollback = COUNTING_ROOM;
    },
    writtenText: () => textCounter?.characters(),
    resize: ({ columns, rows }) => {
      const lifted = droppedRows(terminal, rows);
      textCounter?.countTopRows(lifted);
      write(shiftSequence(-lifted) + cutSequence(terminal, columns));
      terminal.options.scrollback = 0; // otherwise the row kept for counting would return to the screen
      terminal.options.scrollback = REFLOW_ROOM;
      terminal.resize(Math.max(2, columns), Math.max(1, rows));
      textCounter?.noteResize();
      terminal.options.scrollback = 0;
      if (textCounter) terminal.options.scrollback = COUNTING_ROOM;
    },
    rowsBelowCursor: () => Math.max(0, lastContentRow(terminal, false) - terminal.buffer.active.cursorY),
    isBlankFromCursor: () => isBlankFromCursor(terminal),
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
