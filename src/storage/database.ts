import { fork, type ChildProcess } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { env, execPath, versions } from 'node:process';
import { errorText, LimitError } from '../core/errors.js';
import type { Millis } from '../core/reading.js';
import { diskBytesOf, readingLimitMs } from './session-store.js';

// Reads SQLite databases that another program is writing, in a process of their own (database-reader.ts), which is killed when a statement
// takes too long: SQLite cannot be interrupted from the thread in which it runs.

/** A statement with its parameters. */
export interface RowQuery {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

export type Row = Readonly<Record<string, unknown>>;

/** What the process is asked. Rows that come one after the other have a number, until they are ended. */
export type DatabaseQuestion =
  | { readonly kind: 'all'; readonly path: string; readonly queries: readonly RowQuery[] }
  | { readonly kind: 'begin'; readonly id: number; readonly path: string; readonly query: RowQuery }
  | { readonly kind: 'next' | 'end'; readonly id: number };

/** What it answers, with its computing time so far. */
export type DatabaseAnswer = { readonly cpuMs: number } & (
  | { readonly kind: 'all'; readonly results: readonly (readonly Row[])[] }
  | { readonly kind: 'rows'; readonly rows: readonly Row[]; readonly isLast: boolean }
  | { readonly kind: 'failed'; readonly message: string; readonly isLimit: boolean }
);

/** Whether this Node can read databases: 22.13 and newer can. */
export const canReadDatabases = (): boolean => isBuiltin('node:sqlite');

/** The rows of each query, all at the same moment. Rejects with the database's error, and with a LimitError for what could take for ever. */
export const readRows = async (
  path: string,
  queries: readonly RowQuery[],
  timer = makeTimer(path),
): Promise<readonly (readonly Row[])[]> => {
  const answer = await ask(path, { kind: 'all', path, queries }, timer);
  return answer.kind === 'all' ? answer.results : [];
};

let lastId = 0;

/** The rows of one query, some at a time, all of the moment of the first. Rejects as `readRows` does. */
export async function* rowBatches(
  path: string,
  query: RowQuery,
  timer = makeTimer(path),
): AsyncGenerator<readonly Row[], void> {
  const id = (lastId += 1);
  let isOver = false;
  try {
    for (
      let asked: DatabaseQuestion = { kind: 'begin', id, path, query };
      !isOver;
      asked = { kind: 'next', id }
    ) {
      const answer = await ask(path, asked, timer);
      isOver = answer.kind !== 'rows' || answer.isLast;
      if (answer.kind === 'rows' && answer.rows.length > 0) yield answer.rows;
    }
  } finally {
    if (!isOver) await ask(path, { kind: 'end', id }, timer).catch(() => undefined);
  }
}

/** How long a read, or several that share it, may still wait for the process. */
export interface ReadTimer {
  readonly seconds: number;
  /** seconds waited so far; of a shorter wait only what was computed */
  ticks: number;
}

/** Longer for a larger file. */
export const makeTimer = (path: string): ReadTimer => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return { seconds: Math.round(readingLimitMs(stats ? diskBytesOf(stats) : 0) / 1000), ticks: 0 };
};

const tooLong = ({ seconds }: ReadTimer): string => `reading it takes more than ${seconds} s`;

const TICK_MS = 1_000; // counted, so that time in which this process was stopped counts as one
const REFUSED_MS = 300_000; // a database that took too long is not tried again at every look

const refused = new Map<string, { readonly error: LimitError; readonly until: Millis }>();

/** One question after the other. */
let asking: Promise<unknown> = Promise.resolve();

const ask = (path: string, question: DatabaseQuestion, timer: ReadTimer): Promise<DatabaseAnswer> => {
  const answered = asking.then(() => askNow(path, question, timer));
  asking = answered.catch(() => undefined);
  return answered;
};

const askNow = async (
  path: string,
  question: DatabaseQuestion,
  timer: ReadTimer,
): Promise<DatabaseAnswer> => {
  if (!canReadDatabases()) throw new Error(`Node ${versions.node} has no SQLite; Node 22.13 and newer have`);
  const before = refused.get(path);
  if (before && performance.now() < before.until) throw before.error;
  if (timer.ticks >= timer.seconds && question.kind !== 'end') throw new LimitError(tooLong(timer));
  const answer = await (reader ??= startReader()).ask(question, timer);
  if (typeof answer === 'string') {
    const error = new LimitError(answer);
    refused.set(path, { error, until: performance.now() + REFUSED_MS });
    throw error;
  }
  if (answer.kind !== 'failed') return answer;
  throw answer.isLimit ? new LimitError(answer.message) : new Error(answer.message);
};

/** An answer, or why there is none: the process was killed, or has ended. */
type AnswerOrLoss = DatabaseAnswer | string;

interface Reader {
  readonly ask: (question: DatabaseQuestion, timer: ReadTimer) => Promise<AnswerOrLoss>;
}

let reader: Reader | undefined;

/** Set by build.js: the program of the process (database-reader.ts), which an update of ctxwrap could delete. */
declare const DATABASE_READER: string | undefined;
const BUILT_READER = '../../dist-fast/dist/database-reader.cjs'; // for the tests, which run the source

const readerProgram = (): string =>
  typeof DATABASE_READER === 'undefined'
    ? readFileSync(new URL(BUILT_READER, import.meta.url), 'utf8')
    : DATABASE_READER;

const CPU_SECONDS = 60; // the system ends a process that was left behind in the middle of a statement
const OLD_MS = 20_000; // of computing: another process takes its place before that
const IDLE_MS = 5_000; // between two questions; then the process ends
const FROM_STDIN = '-';
const RUN = 'ulimit -t "$0" 2>/dev/null; exec "$@"';

const startProcess = (): ChildProcess => {
  const { NODE_OPTIONS: _, ...plain } = env; // they are meant for the agent and for this process
  const child = fork(FROM_STDIN, [], {
    execPath: '/bin/sh',
    execArgv: ['-c', RUN, String(CPU_SECONDS), execPath],
    env: plain,
    serialization: 'advanced',
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
  });
  child.stdin?.on('error', () => undefined); // it has ended, which is noticed
  child.stdin?.end(readerProgram());
  return child;
};

/** Counts a wait, and says when it is too long; the function that ends it takes the computing time in it, so that short ones add up. */
const startTicking = (timer: ReadTimer, onTooLong: () => void): ((computingMs: Millis) => void) => {
  let since = performance.now();
  const ticking = setInterval(() => {
    since = performance.now();
    timer.ticks += 1;
    if (timer.ticks >= timer.seconds) onTooLong();
  }, TICK_MS);
  return (computingMs) => {
    clearInterval(ticking);
    timer.ticks += Math.min(performance.now() - since, computingMs, TICK_MS) / 1000;
  };
};

/** A process that answers one question after the other until it is idle or old. Only while it is asked does it keep this one alive. */
const startReader = (): Reader => {
  const child = startProcess();
  const open = new Set<number>(); // rows that were begun and not ended
  let idle: NodeJS.Timeout | undefined;
  let settle: (answer: AnswerOrLoss) => void = () => undefined;
  let lost: string | undefined;
  let cpuMs = 0; // at its last answer

  const leave = (): void => {
    if (reader === own) reader = undefined;
    if (child.connected) child.disconnect(); // it ends
  };
  const lose = (why: string): void => {
    lost ??= why;
    leave();
    settle(lost);
  };
  child.on('message', (answer: DatabaseAnswer) => settle(answer));
  child.on('error', (error) => lose(`the process that reads it fails: ${error.message}`));
  child.on('exit', (code, signal) => lose(`the process that reads it ended with ${code ?? signal}`));

  const keepAlive = (isKept: boolean): void => {
    for (const handle of [child, child.channel])
      if (isKept) handle?.ref();
      else handle?.unref();
  };
  const note = (question: DatabaseQuestion, answer: AnswerOrLoss): void => {
    if (typeof answer === 'string') return;
    if (question.kind !== 'all' && answer.kind === 'rows' && !answer.isLast) open.add(question.id);
    else if (question.kind !== 'all') open.delete(question.id);
    if (open.size > 0) return;
    if (answer.cpuMs > OLD_MS) leave();
    else idle = setTimeout(leave, IDLE_MS).unref();
  };
  const own: Reader = {
    ask: async (question, timer) => {
      clearTimeout(idle);
      keepAlive(true);
      const stopTicking = startTicking(timer, () => {
        lose(tooLong(timer));
        child.kill('SIGKILL');
      });
      const answer = await new Promise<AnswerOrLoss>((resolve) => {
        settle = resolve;
        if (lost === undefined) child.send(question, (error) => error && lose(errorText(error)));
        else resolve(lost);
      });
      const computingMs = typeof answer === 'string' ? 0 : answer.cpuMs - cpuMs;
      cpuMs += computingMs;
      stopTicking(computingMs);
      keepAlive(false);
      note(question, answer);
      return answer;
    },
  };
  keepAlive(false);
  return own;
};
