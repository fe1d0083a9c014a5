import { Writable } from 'node:stream';
import { own, type Printable } from '../../core/printable.js';
import type { SessionRecord } from '../../core/report/records.js';
import { errorText } from '../../core/errors.js';
import { type ListedSession, makeSessionsReader } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { readLook } from '../../core/look.js';
import { drawTopRows, readKeys, type TopInputKey } from '../../ui/Top.js';
import { askSession } from '../ask-session.js';
import { compactReport, resultText, unaskable } from './compact.js';
import * as messages from '../messages.js';
import { print } from '../print.js';
import type { Options } from '../request.js';
import { shortIdOf } from '../session-argument.js';
import type { Outcome } from '../session.js';
import { activityText, folderText } from '../ps-columns.js';
import { frameRows, topFrame, type TopFrame } from './top-frame.js';
import { chosenSessions, type KeyName, startTop, stepTop, type TopKey, type TopState } from './top-state.js';
import { catchStopSignals } from '../verify.js';
import { changedRows, CLEAR, ENTER, LEAVE, makeLooks } from '../watching.js';

// `ctxwrap top`: all sessions, live, in the terminal's other screen.

const LEAST_MS = 1_000; // between two looks
const MOST_MS = 5_000;
const SHARE = 45; // one part in so many of the processor's time is spent, all threads counted
const UNSTOPPED_MS = 200;
const NEWS_MS = 8_000; // how long an outcome is shown

/** Resolves when the user or a signal ends it. */
export const top = async (options: Options): Promise<Outcome> => {
  const { env, stdin, stdout } = process;
  if (!stdout.isTTY || !stdin.isTTY || env['TERM'] === 'dumb') throw messages.topWithoutTerminal();
  const stopping = catchStopSignals();
  const looks = makeLooks();
  stopping.signal.addEventListener('abort', looks.end);
  const folder = stateFolder(env, homeFolder(env));
  const read = makeSessionsReader(folder);
  const model = makeModel(options, folder, stopping.signal);
  model.see(await read(Date.now()));
  const terminal = openTerminal(model, looks.end);
  let spent = process.cpuUsage();
  try {
    while (!looks.isOver()) {
      model.see(await read(Date.now()));
      terminal.draw();
      const { user, system } = process.cpuUsage(spent); // since the last look, with all that came between
      spent = process.cpuUsage();
      await looks.next(Math.min(MOST_MS, Math.max(LEAST_MS, ((user + system) / 1_000) * SHARE)));
    }
  } finally {
    await terminal.close();
    stopping.release();
  }
  const signal = stopping.name();
  return {
    status: signal === undefined ? { kind: 'code', code: 0 } : { kind: 'signal', signal },
    notices: [],
  };
};

interface Model {
  readonly see: (sessions: readonly ListedSession[]) => void;
  readonly frame: () => TopFrame;
  /** handles a key; true if it quits */
  readonly press: (key: TopKey, onNews: () => void) => boolean;
}

/** The state, the sessions, and what has happened. */
const makeModel = (options: Options, folder: string, signal: AbortSignal): Model => {
  const { env, stdout } = process;
  const home = homeFolder(env);
  let state: TopState = startTop;
  let sessions: readonly ListedSession[] = [];
  let shortIds = new Map<string, string>();
  let scroll = 0;
  let room = 1; // rows of the table
  let news: { readonly text: string; readonly until: number } | undefined;

  const chosen = (): readonly ListedSession[] => {
    const now = Date.now();
    return chosenSessions(sessions, state, (session) => searchText(session, home, now));
  };
  const tell = (text: string): void => {
    news = { text, until: Date.now() + NEWS_MS };
  };
  const compact = async (id: string, onNews: () => void): Promise<void> => {
    const session = sessions.find(({ record }) => record.id === id);
    if (!session) return;
    tell(`Asked ${nameOf(session.record, home)} to compact.`);
    onNews();
    tell(await askedText(session, sessions, { folder, signal, home }));
    onNews();
  };
  return {
    see: (found) => {
      const isSame = found.length === shortIds.size && found.every(({ record }) => shortIds.has(record.id));
      if (!isSame) shortIds = new Map(found.map((each) => [each.record.id, shortIdOf(found, each)]));
      sessions = found;
    },
    frame: () => {
      const now = Date.now();
      const { columns = 80, rows = 24 } = stdout;
      const drawn = topFrame(state, {
        now,
        home,
        rows,
        scroll,
        look: readLook({ env, isTTY: true, columns, theme: options.values.theme }),
        known: sessions,
        shortId: ({ record }) => shortIds.get(record.id) ?? record.id,
        chosen: chosen(),
        all: sessions,
        news: news && news.until > now ? news.text : '',
      });
      ({ scroll, room } = drawn);
      return drawn.frame;
    },
    press: (key, onNews) => {
      const ids = chosen().map(({ record }) => record.id);
      const step = stepTop(state, key, { ids, rows: room });
      ({ state } = step);
      if (step.action?.kind === 'compact') void compact(step.action.id, onNews);
      return step.action?.kind === 'quit';
    },
  };
};

/** What the filter looks at. */
const searchText = (session: ListedSession, home: string, now: number): string => {
  const { runtime: agent, cwd, tier = '', reading, id } = session.record;
  return [agent, folderText(cwd, home), tier, activityText(session, now), reading?.model ?? '', id].join(
    '\n',
  );
};

const nameOf = ({ runtime: agent, cwd }: SessionRecord, home: string): string =>
  `${agent} in ${folderText(cwd, home)}`;

/** Asks the session to compact; resolves to the result. */
const askedText = async (
  session: ListedSession,
  sessions: readonly ListedSession[],
  { folder, signal, home }: { readonly folder: string; readonly signal: AbortSignal; readonly home: string },
): Promise<string> => {
  try {
    const obstacle = unaskable(session, shortIdOf(sessions, session), Date.now());
    if (obstacle) throw obstacle;
    const asked = { schema: 'ctxwrap.request/1', force: false } as const;
    const answered = await askSession(session.record.id, asked, { stateFolder: folder, waits: true, signal });
    return `${resultText(compactReport(session.record, answered))} · ${nameOf(session.record, home)}`;
  } catch (error) {
    return `not asked: ${errorText(error)}`;
  }
};

interface Terminal {
  readonly draw: () => void;
  /** resolves when the terminal is as it was */
  readonly close: () => Promise<unknown>;
}

interface Screen {
  readonly show: (frame: TopFrame) => void;
  /** gives raw mode back */
  readonly close: () => void;
}

/** The terminal's other screen, of which only the changed rows are drawn again. */
const openScreen = (onInput: Parameters<typeof readKeys>[2]): Screen => {
  const nowhere = new Writable({ write: (_text, _encoding, done) => done() });
  void print(own`${ENTER}${CLEAR}`).catch(() => false); // the terminal may be gone
  let shown: readonly Printable[] = [];
  return {
    show: (frame) => {
      const rows = frameRows(frame);
      const changes = changedRows(rows, shown, (changed) => drawTopRows(changed, frame.columns));
      shown = rows;
      if (changes !== '') void print(changes).catch(() => false);
    },
    close: readKeys(process.stdin, nowhere, onInput),
  };
};

/** The terminal, whose other screen is opened anew after a resize and after a stop. */
const openTerminal = (model: Model, onQuit: () => void): Terminal => {
  const { stdin, stdout } = process;
  let screen: Screen | undefined;

  const leave = (): void => {
    screen?.close();
    screen = undefined;
  };
  const draw = (): void => screen?.show(model.frame());
  const enter = (): void => {
    leave();
    screen = openScreen(onInput);
    draw();
  };
  const suspend = async (): Promise<void> => {
    leave();
    await print(LEAVE);
    process.kill(process.pid, 'SIGTSTP'); // goes on with SIGCONT
    setTimeout(() => screen ?? enter(), UNSTOPPED_MS); // without a shell that could continue it, nothing stops it
  };
  const onInput = (input: string, key: TopInputKey): void => {
    for (const pressed of keysOf(input, key)) {
      if (pressed.name === 'interrupt') return void process.kill(process.pid, 'SIGINT');
      if (pressed.name === 'suspend') return void suspend();
      if (model.press(pressed, draw)) return onQuit();
    }
    draw();
  };
  process.on('SIGCONT', enter);
  stdout.on('resize', enter);
  stdin.on('end', onQuit).on('error', onQuit);
  stdout.on('error', onQuit); // the terminal is gone
  enter();
  return {
    draw,
    close: () => {
      process.off('SIGCONT', enter);
      stdout.off('resize', enter);
      leave();
      stdin.off('end', onQuit).off('error', onQuit).pause();
      return print(LEAVE).catch(() => false); // the terminal may be gone
    },
  };
};

const names: readonly (readonly [keyof TopInputKey, KeyName])[] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['pageUp', 'page-up'],
  ['pageDown', 'page-down'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['backspace', 'backspace'],
  ['delete', 'backspace'],
];

const controls: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\x03': 'interrupt',
  '\b': 'backspace',
  '\x1a': 'suspend',
  '\x7f': 'backspace',
};

/** The keys of one input: what is typed fast, or pasted, comes as one text. */
const keysOf = (input: string, key: TopInputKey): readonly TopKey[] => {
  const name = names.find(([flag]) => key[flag])?.[1];
  if (name) return [{ name, text: '' }];
  if (key.meta) return [];
  if (key.ctrl)
    return input === 'c'
      ? [{ name: 'interrupt', text: '' }]
      : input === 'z'
        ? [{ name: 'suspend', text: '' }]
        : [];
  return [...input].map((text) => ({ name: controls[text], text }));
};
