import { type Printable, type Styled, toPrintable, toPrintableLines } from '../../core/printable.js';
import { watchSessionsFolder } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { shorten } from '../../ui/text.js';
import { print, printLines, toAsciiIfNeeded } from '../print.js';
import type { PsRequest } from '../define/ps.js';
import type { Outcome } from '../session.js';
import { catchStopSignals } from '../verify.js';
import { changedRows, CLEAR, ENTER, LEAVE, type Looks, makeLooks } from '../watching.js';
import { findSessions, type FoundSessions, sessionsLines } from './ps.js';

// `ctxwrap ps --watch`: the sessions again whenever one changes.

/** Resolves when the user or a signal ends it, or nobody reads any more. */
export const watchSessions = async (request: PsRequest): Promise<Outcome> => {
  const { env, stdout } = process;
  const stopping = catchStopSignals();
  const looks = makeLooks(request.intervalMs);
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

interface Display {
  /** resolves to false when nobody reads it any more */
  readonly show: (found: FoundSessions) => Promise<boolean>;
  readonly close: () => Promise<unknown>;
}

/** For files and other programs: everything again after each change, with an empty line between. Time that passes is no change. */
const linesDisplay = (request: PsRequest): Display => {
  let last: string | undefined;
  return {
    show: async (found) => {
      const shown = toPrintableLines(sessionsLines(found, request, 0)); // every age is 0 s
      if (shown === last) return true;
      const lines = sessionsLines(found, request, Date.now());
      const isFirst = last === undefined;
      last = shown;
      return printLines([...(isFirst ? [] : ['']), ...lines]);
    },
    close: async () => undefined,
  };
};

const HINT = 'q quits';
const [INTERRUPT, SUSPEND] = ['\x03', '\x1a'];

/** For a terminal: its alternate screen and its keys. */
const openScreen = (request: PsRequest, looks: Looks): Display => {
  const { stdin, stdout } = process;
  let drawn: readonly Printable[] = [];
  const take = (): void => {
    if (stdin.isTTY) stdin.setRawMode(true);
    void print(ENTER).catch(() => false); // the terminal may be gone
    drawn = [];
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
  const onResize = (): void => {
    void print(CLEAR).catch(() => false);
    drawn = [];
    looks.force();
  };
  stdout.on('resize', onResize);
  if (stdin.isTTY) stdin.on('data', onKeys).on('end', looks.end).on('error', looks.end);
  take();
  return {
    show: async (found) => {
      const rows = rowsOf(sessionsLines(found, request, Date.now()));
      const changes = changedRows(rows, drawn);
      drawn = rows;
      return changes === '' || print(changes);
    },
    close: () => {
      process.off('SIGCONT', take);
      stdout.off('resize', onResize);
      stdin.off('data', onKeys).pause();
      return give();
    },
  };
};

const rowsOf = (lines: readonly Styled[]): readonly Printable[] => {
  const { columns = 80, rows = 24 } = process.stdout;
  const more = lines.length - rows;
  const fitting = more > 0 ? [...lines.slice(0, rows - 1), `and ${more + 1} more`] : lines;
  const all = fitting.length + 2 <= rows ? [...fitting, '', HINT] : fitting;
  return all.map((line) =>
    toAsciiIfNeeded(toPrintable(typeof line === 'string' ? shorten(line, columns) : line), process.env),
  );
};
