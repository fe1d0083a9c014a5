// A wrap without processes: a terminal drawn in memory, a child whose output the test writes, and an overview.
import { own, toPrintable } from '../../src/core/printable.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { OverviewKey } from '../../src/core/overview-keys.js';
import type { Agent } from '../../src/agents/agent.js';
import type { Event } from '../../src/core/event.js';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { quirksFromEnv } from '../../src/terminal/filter/quirks.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { reserveFooterSequence } from '../../src/terminal/footer-room.js';
import { startQuestions } from '../../src/terminal/questions.js';
import { makeAgentStateProxy } from '../../src/terminal/agent-state-proxy.js';
import { makeScreenModel, type ScreenModel } from '../../src/terminal/screen-model.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeEvents } from '../../src/main-thread/route.js';
import { makeParts, type Parts } from '../../src/main-thread/session-parts.js';
import type { OverviewContents } from '../../src/main-thread/overview.js';
import { makeCounters } from '../../src/session/thread-messages.js';
import type { TerminalSession } from '../../src/main-thread/terminal-session.js';
import { describeTerminal, makeEmulator, type Emulator } from './emulator.js';
import { screenOf } from '../../src/terminal/child-screen.js';

/** The overview's text in tests. */
export const TITLE = 'the overview of a test';

export interface OverviewHarness {
  readonly stage: TerminalSession;
  /** of the child's screen */
  readonly model: ScreenModel;
  readonly parts: Parts;
  readonly overview: Parts['overview'];
  /** the user's terminal */
  readonly emulator: Emulator;
  readonly write: (bytes: Uint8Array | string) => void;
  readonly type: (keys: string) => void;
  /** what the child has read, and the keys that the overview received */
  readonly received: () => string;
  /** the same, write by write */
  readonly writes: readonly string[];
  readonly keys: readonly OverviewKey[];
  /** what the footer was asked to say */
  readonly notices: readonly string[];
  /** what was sent to the terminal, and what the stty process would send */
  readonly sent: () => string;
  readonly armed: () => string;
  readonly resize: (columns: number, rows: number) => void;
  /** asks what is asked before a session shows its child, and waits for the answers */
  readonly askAtStart: (waitMs?: number) => ReturnType<Parts['cursorQuery']['awaitStart']>;
  /** resolves when all output is drawn */
  readonly drawn: () => Promise<void>;
  readonly stop: () => void;
}

// a user whose terminal is xterm.js, and who has no state folder
const env = { TERM: 'xterm-256color', TERM_PROGRAM: 'vscode', XDG_STATE_HOME: '/dev/null' };

/** `rows` are the child's; the terminal has one more. */
export const makeOverviewHarness = (
  columns: number,
  rows: number,
  contents: Partial<OverviewContents> = {},
  { isSilent = false, ...agent }: Partial<Agent> & { readonly isSilent?: boolean } = {},
): OverviewHarness => {
  const { titleSigns } = agent;
  const emulator = makeEmulator(columns, rows + 1);
  const grid = makeGrid(columns, rows, rows + 1, quirksFromEnv(env));
  const keys: OverviewKey[] = [];
  const writes: string[] = [];
  const notices: string[] = [];
  let [received, sent, armed] = ['', '', ''];
  let size = { columns, rows: rows + 1 };
  let childRows = rows;
  const filter = makeStreamFilter(grid);
  const stateProxy = titleSigns && makeAgentStateProxy(filter, titleSigns(env));
  const model = makeScreenModel({ columns, rows }, () => '');
  const terminalSession = {
    session: { env, log: nullLog, values: defaultValues, agent },
    tty: {
      size: () => size,
      write: (bytes: Uint8Array | string) => {
        sent += Buffer.from(bytes).toString('latin1');
        void emulator.write(Buffer.from(bytes)); // as a terminal, it keeps no bytes of the caller
      },
      pending: () => 0,
    },
    filter: stateProxy?.filter ?? filter,
    stateProxy,
    screen: screenOf(model),
    counters: makeCounters(),
    worker: {
      handle: (event: Event) => void (event.type === 'notice' && notices.push(event.text)),
      post: () => undefined,
      isRunning: () => true,
      isReady: () => true,
    },
    sttyProcess: {
      arm: (sequence: string) => (armed = sequence),
      armSoon: (sequence: () => string) => (armed = sequence()),
      disarm: () => undefined,
    },
    child: {
      write: (bytes: Uint8Array) => {
        const text = Buffer.from(bytes).toString('latin1');
        received += text;
        writes.push(text);
      },
      pending: () => 0,
      resize: (given: { rows: number }) => (childRows = given.rows),
      rows: () => childRows,
      pause: () => undefined,
      resume: () => undefined,
    },
    isFooterWanted: true,
    isPassthrough: false,
    hasSecondScreen: true,
    isCursorKnown: true,
    pixels: { cellHeight: undefined, areSeen: false },
    dropped: { buttons: new Set(), areReleasesAsked: false },
  } as unknown as TerminalSession;
  const { emit, connect } = makeEvents();
  const parts = makeParts(terminalSession, emit, (_, close) => ({
    onDrawn: () => undefined,
    contents: {
      draw: (all) =>
        Array.from(
          { length: all.rows },
          (_, row) => own`\x1b[7m${toPrintable(TITLE)} ${row}\x1b[27m ${all.columns}`,
        ),
      onKey: (key) => {
        keys.push(key);
        if (key === 'q' || key === 'escape') close();
      },
      ...contents,
    },
  }));
  connect(parts);
  const { overview } = parts;
  if (!isSilent) emulator.terminal.onData((data) => parts.keyboard.fromUser(Buffer.from(data, 'latin1')));
  terminalSession.tty.write(reserveFooterSequence(grid));
  return {
    stage: terminalSession,
    model,
    parts,
    overview,
    notices,
    emulator,
    write: (bytes) => emit({ type: 'child-output', bytes: Buffer.from(bytes) }),
    type: (text) => parts.keyboard.fromUser(Buffer.from(text, 'latin1')),
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
    askAtStart: (waitMs = 60) => {
      const questions = startQuestions(env, defaultValues.theme);
      terminalSession.tty.write(questions.text);
      return parts.cursorQuery.awaitStart({ ...questions, at: performance.now() }, waitMs);
    },
    drawn: () => emulator.write(''),
    stop: () => {
      for (const part of [parts.footer, parts.suspend, parts.keyboard, parts.titleAnimation, overview])
        part.stop();
    },
  };
};

/** The child's screen, when all output is drawn and answered. */
export const shown = async ({ parts, model, drawn, emulator }: OverviewHarness) => {
  while (parts.output.hasHeldBytes()) await model.settled();
  await drawn();
  await drawn();
  return describeTerminal(emulator.terminal, 1);
};

/** The row of a footer. */
export const lastDrawnRow = ({ emulator: { terminal } }: OverviewHarness): string =>
  terminal.buffer.active.getLine(terminal.buffer.active.baseY + terminal.rows - 1)?.translateToString(true) ??
  '';

/** The same output in a terminal without the wrapper. */
export const shownPlainly = async (output: string, columns: number, rows: number) => {
  const plain = makeEmulator(columns, rows);
  await plain.write(output);
  return describeTerminal(plain.terminal);
};
