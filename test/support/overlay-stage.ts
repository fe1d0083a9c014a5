// A wrap without processes: a terminal that is drawn in memory, a child that writes what it is told, and an overlay over both.
import type { OverlayKey } from '../../src/core/overlay-keys.js';
import type { Runtime } from '../../src/agents/agent.js';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { quirksOf } from '../../src/terminal/filter/quirks.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { holdRegionSequence } from '../../src/terminal/painter.js';
import { makeStandIn } from '../../src/terminal/agent-states.js';
import { makeScreen } from '../../src/terminal/screen.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeParts, type Parts } from '../../src/wrap/wrap.js';
import type { OverlayContents } from '../../src/wrap/overlay.js';
import type { Stage } from '../../src/wrap/terminal-session.js';
import { describeTerminal, makeEmulator, type Emulator } from './emulator.js';

/** What the overlay says in tests. */
export const TITLE = 'the overlay of a test';

export interface OverlayStage {
  readonly stage: Stage;
  readonly parts: Parts;
  readonly overlay: NonNullable<Parts['overlay']>;
  /** the user's terminal */
  readonly emulator: Emulator;
  readonly write: (bytes: Uint8Array | string) => void;
  readonly type: (keys: string) => void;
  /** what the child has read, and the keys that the overlay got */
  readonly received: () => string;
  /** the same, write by write */
  readonly writes: readonly string[];
  readonly keys: readonly OverlayKey[];
  /** what the terminal has been sent, and what the watchdog would send it */
  readonly sent: () => string;
  readonly armed: () => string;
  readonly resize: (columns: number, rows: number) => void;
  /** what has been written is drawn */
  readonly drawn: () => Promise<void>;
  readonly stop: () => void;
}

const env = { TERM: 'xterm-256color', TERM_PROGRAM: 'vscode' }; // whose terminal is xterm.js

/** `rows` are the child's; the terminal has one more. */
export const makeOverlayStage = (
  columns: number,
  rows: number,
  contents: Partial<OverlayContents> = {},
  { titleSigns, isSilent = false }: { titleSigns?: Runtime['titleSigns']; isSilent?: boolean } = {},
): OverlayStage => {
  const emulator = makeEmulator(columns, rows + 1);
  const grid = makeGrid(columns, rows, rows + 1, quirksOf(env));
  const keys: OverlayKey[] = [];
  const writes: string[] = [];
  let [received, sent, armed] = ['', '', ''];
  let size = { columns, rows: rows + 1 };
  const filter = makeStreamFilter(grid);
  const standIn = titleSigns && makeStandIn(filter, titleSigns(env));
  const stage = {
    session: { env, log: nullLog, hotkey: 0x1d, runtime: { titleSigns }, mode: 'auto' },
    tty: {
      size: () => size,
      write: (bytes: Uint8Array | string) => {
        sent += Buffer.from(bytes).toString('latin1');
        void emulator.write(bytes);
      },
      pending: () => 0,
    },
    filter: standIn?.filter ?? filter,
    standIn,
    screen: makeScreen({ columns, rows }, () => ''),
    watchdog: { arm: (sequence: string) => (armed = sequence), dismiss: () => undefined },
    child: {
      write: (bytes: Uint8Array) => {
        const text = Buffer.from(bytes).toString('latin1');
        received += text;
        writes.push(text);
      },
      pending: () => 0,
      resize: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
    },
    footerWanted: true,
    verbatim: false,
    hasSecondScreen: true,
    cursorKnown: true,
  } as unknown as Stage;
  const parts = makeParts(stage, ({ close }) => ({
    draw: (all) =>
      Array.from({ length: all.rows }, (_, row) => `\x1b[7m${TITLE} ${row}\x1b[27m ${all.columns}`),
    onKey: (key) => {
      keys.push(key);
      if (key === 'q' || key === 'escape') close();
    },
    ...contents,
  }));
  const { overlay } = parts;
  if (!overlay) throw new Error('there is no overlay');
  if (!isSilent) emulator.terminal.onData((data) => parts.keys.fromUser(Buffer.from(data, 'latin1')));
  stage.tty.write(holdRegionSequence(grid));
  return {
    stage,
    parts,
    overlay,
    emulator,
    write: (bytes) => parts.output.fromChild(Buffer.from(bytes)),
    type: (text) => parts.keys.fromUser(Buffer.from(text, 'latin1')),
    received: () => received,
    writes,
    keys,
    sent: () => sent,
    armed: () => armed,
    resize: (newColumns, newRows) => {
      emulator.terminal.resize(newColumns, newRows);
      size = { columns: newColumns, rows: newRows };
      parts.resize.check();
    },
    drawn: () => emulator.write(''),
    stop: () => {
      for (const part of [parts.footer, parts.suspend, parts.keys, parts.titles, overlay]) part.stop();
    },
  };
};

/** The child's screen, when all that has been written is drawn and answered. */
export const shown = async ({ parts, stage, drawn, emulator }: OverlayStage) => {
  while (parts.output.isHeld()) await stage.screen.settled();
  await drawn();
  await drawn();
  return describeTerminal(emulator.terminal, 1);
};

/** The row in which a footer stands. */
export const lastDrawnRow = ({ emulator: { terminal } }: OverlayStage): string =>
  terminal.buffer.active.getLine(terminal.buffer.active.baseY + terminal.rows - 1)?.translateToString(true) ??
  '';

/** The same output in a terminal of its own. */
export const shownPlainly = async (output: string, columns: number, rows: number) => {
  const plain = makeEmulator(columns, rows);
  await plain.write(output);
  return describeTerminal(plain.terminal);
};
