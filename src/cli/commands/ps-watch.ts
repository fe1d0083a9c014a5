import { watchSessionsFolder } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { shorten } from '../../ui/text.js';
import { print } from '../print.js';
import type { PsRequest } from '../request.js';
import type { Outcome } from '../session.js';
import { catchStopSignals } from '../verify.js';
import { findSessions, type FoundSessions, sessionsLines } from './ps.js';

// `ctxwrap ps --watch`: the sessions again whenever one changes.

/** Resolves when the user or a signal ends it, or nobody reads any more. */
export const watchSessions = async (request: PsRequest): Promise<Outcome> => {
  const { env, stdout } = process;
  const stopping = catchStopSignals();
  const looks = makeLooks();
  stopping.signal.addEventListener('abort', looks.end);
  const folder = watchSessionsFolder(stateFolder(env, homeFolder(env)), looks.hasten);
  const isScreen = stdout.isTTY && env['TERM'] !== 'dumb';
  const display = isScreen ? openScreen(request, looks) : linesDisplay(request);
  try {
    while (!looks.isOver() && (await display.show(await findSessions(request)))) await looks.next();
  } finally {
    folder.close();
    await display.close();
    stopping.release();
  }
  const signal = stopping.name();
  return {
    status: signal === undefined ? { kind: 'code', code: 0 } : { kind: 'signal', signal },
    notices: [],
  };
};

const LEAST_MS = 1_000; // between two looks: an agent at work changes its record all the time
const MOST_MS = 5_000; // a session that was killed, or a disk that reports nothing

interface Looks {
  /** resolves when it is time for the next look */
  readonly next: () => Promise<void>;
  /** something has changed */
  readonly hasten: () => void;
  /** the next look is due at once */
  readonly force: () => void;
  readonly end: () => void;
  readonly isOver: () => boolean;
}

const makeLooks = (): Looks => {
  let isOver = false;
  let pauseMs = MOST_MS;
  let arm = (): void => undefined;
  const limit = (ms: number): void => {
    pauseMs = Math.min(pauseMs, ms);
    arm();
  };
  return {
    next: () =>
      new Promise((done) => {
        const since = performance.now();
        let timer: NodeJS.Timeout | undefined;
        arm = () => {
          clearTimeout(timer);
          timer = setTimeout(finish, Math.max(0, since + pauseMs - performance.now()));
        };
        const finish = (): void => {
          arm = () => undefined;
          pauseMs = MOST_MS;
          done();
        };
        arm();
      }),
    hasten: () => limit(LEAST_MS),
    force: () => limit(0),
    end: () => {
      isOver = true;
      limit(0);
    },
    isOver: () => isOver,
  };
};

interface Display {
  /** resolves to false when nobody reads it any more */
  readonly show: (found: FoundSessions) => Promise<boolean>;
  readonly close: () => Promise<unknown>;
}

/** For files and other programs: all anew after each change, with an empty line between. Time that passes is no change. */
const linesDisplay = (request: PsRequest): Display => {
  let last: string | undefined;
  return {
    show: async (found) => {
      const told = sessionsLines(found, request, 0).join('\n'); // every age is 0 s
      if (told === last) return true;
      const lines = sessionsLines(found, request, Date.now());
      const text = [...(last === undefined ? [] : ['']), ...lines].map((line) => `${line}\n`).join('');
      last = told;
      return print(text);
    },
    close: async () => undefined,
  };
};

const ENTER = '\x1b[?1049h\x1b[?25l'; // the alternate screen, without a cursor
const LEAVE = '\x1b[?25h\x1b[?1049l';
const HINT = 'q quits';
const [INTERRUPT, SUSPEND] = ['\x03', '\x1a'];

/** For a terminal: its alternate screen and its keys. */
const openScreen = (request: PsRequest, looks: Looks): Display => {
  const { stdin, stdout } = process;
  let last: string | undefined;
  const take = (): void => {
    if (stdin.isTTY) stdin.setRawMode(true);
    stdout.write(ENTER);
    last = undefined;
    looks.force();
  };
  const give = (): Promise<unknown> => {
    if (stdin.isTTY) stdin.setRawMode(false);
    return print(LEAVE).catch(() => false); // the terminal may be gone
  };
  const onKeys = async (keys: Buffer | string): Promise<void> => {
    const text = String(keys);
    if (/^[^\x1b]*q/i.test(text)) looks.end(); // in a sequence of the terminal it is no key
    if (text.includes(INTERRUPT)) process.kill(process.pid, 'SIGINT');
    if (!text.includes(SUSPEND)) return;
    await give();
    process.kill(process.pid, 'SIGTSTP'); // goes on with SIGCONT
  };
  process.on('SIGCONT', take);
  stdout.on('resize', looks.force);
  if (stdin.isTTY) stdin.on('data', onKeys).on('end', looks.end).on('error', looks.end);
  take();
  return {
    show: async (found) => {
      const frame = frameOf(sessionsLines(found, request, Date.now()));
      if (frame === last) return true;
      last = frame;
      return print(frame);
    },
    close: () => {
      process.off('SIGCONT', take);
      stdout.off('resize', looks.force);
      stdin.off('data', onKeys).pause();
      return give();
    },
  };
};

/** Each row is erased before it is written: behind a row that is exactly full, its last cell would be erased. */
const frameOf = (lines: readonly string[]): string => {
  const { columns = 80, rows = 24 } = process.stdout;
  const more = lines.length - rows;
  const fitting = more > 0 ? [...lines.slice(0, rows - 1), `and ${more + 1} more`] : lines;
  const all = fitting.length + 2 <= rows ? [...fitting, '', HINT] : fitting;
  const drawn = all.map((line, index) => `\x1b[${index + 1};1H\x1b[2K${shorten(line, columns)}`);
  const below = all.length < rows ? `\x1b[${all.length + 1};1H\x1b[J` : '';
  return `\x1b[?2026h${drawn.join('')}${below}\x1b[?2026l`;
};
