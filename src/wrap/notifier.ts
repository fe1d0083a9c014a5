import { spawn } from 'node:child_process';
import { errorText } from '../core/json.js';
import type { NotificationRecord } from '../core/records.js';
import { endGroup } from '../storage/processes.js';
import { notificationSequence } from '../terminal/notification.js';
import { type Stage, survive } from './terminal-session.js';

// The user's own command for notifications. Whatever it does, the session does not notice.

export interface NotifyCommandOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** called once, for the first failure */
  readonly onFailure: (reason: string) => void;
  /** how long one may run; 10 s when absent */
  readonly longestMs?: number;
}

export interface NotifyCommand {
  /** runs it with the notification as one line of JSON on its standard input */
  readonly run: (record: NotificationRecord) => void;
  /** ends those that still run */
  readonly stop: () => void;
}

const LONGEST_MS = 10_000;
const MOST_RUNNING = 4;
const WORDS = /^[\w@%+:,./-]+(?: +[\w@%+=:,./-]+)*$/; // nothing that a shell would read as more than a word

/** Program and arguments: the words themselves, or a shell where there is more to it than words. */
export const argumentsOf = (command: string): readonly [string, ...(readonly string[])] => {
  const [program, ...args] = command.trim().split(/ +/);
  return WORDS.test(command.trim()) && program ? [program, ...args] : ['/bin/sh', '-c', command];
};

export const makeNotifyCommand = (options: NotifyCommandOptions): NotifyCommand => {
  const { command, cwd, env, onFailure, longestMs = LONGEST_MS } = options;
  const running = new Set<() => void>();
  let hasFailed = false;
  const fail = (reason: string): void => {
    if (!hasFailed) onFailure(reason);
    hasFailed = true;
  };
  const run = (record: NotificationRecord): void => {
    if (running.size >= MOST_RUNNING) return fail('it takes too long: it was not started again');
    const [program, ...args] = argumentsOf(command);
    // a session of its own: it cannot reach the terminal, and all that it starts can be ended with it
    const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    const end = (): void => endGroup(child.pid);
    const timer = setTimeout(() => {
      fail(`it did not end within ${longestMs / 1000} s`);
      end();
    }, longestMs).unref();
    running.add(end);
    const over = (reason: string | undefined): void => {
      clearTimeout(timer);
      running.delete(end);
      if (reason !== undefined) fail(reason);
    };
    child.on('error', (error) => over(error.message));
    child.on('exit', (code, signal) =>
      over(
        code === 0
          ? undefined
          : signal === null
            ? `it ended with status ${code}`
            : `it was ended by ${signal}`,
      ),
    );
    child.stdin.on('error', () => undefined); // it need not read
    child.stdin.end(`${JSON.stringify(record)}\n`);
    child.unref();
  };
  return {
    run: (record) => {
      try {
        run(record);
      } catch (error) {
        fail(errorText(error));
      }
    },
    stop: () => {
      hasFailed = true; // by us
      for (const end of running) end();
    },
  };
};

/** Sequences of ours that draw nothing, for the terminal, in the gaps of the child's output. */
export interface Outlet {
  /** `make` is asked when the moment has come */
  send: (make: () => string) => void;
  stop: () => void;
}

const RETRY_MS = 25;
const PATIENCE_MS = 10_000; // a string of the child's that is never closed
const MOST_WAITING = 8;

interface Waiting {
  readonly make: () => string;
  readonly until: number;
}

export const makeOutlet = (stage: Stage): Outlet => {
  let waiting: readonly Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    timer = undefined;
    const now = performance.now();
    waiting = stage.verbatim ? [] : waiting.filter(({ until }) => now < until);
    if (waiting.length === 0) return;
    if (!stage.filter.isGround()) {
      timer = setTimeout(flush, RETRY_MS).unref();
      return;
    }
    const ready = waiting;
    waiting = [];
    survive(stage, 'a notification', () => {
      stage.tty.write(ready.map(({ make }) => make()).join(''));
      stage.filter.grid.repeatLost = true; // the last character is not the last thing that the terminal has read
    });
  };
  return {
    send: (make) => {
      if (waiting.length >= MOST_WAITING) return;
      waiting = [...waiting, { make, until: performance.now() + PATIENCE_MS }];
      timer ??= setTimeout(flush, 0).unref();
    },
    stop: () => {
      waiting = [];
      clearTimeout(timer);
    },
  };
};

/** Calls the user, by the terminal and by a command of theirs. */
export interface Notifier {
  readonly notify: (record: NotificationRecord) => void;
  readonly stop: () => void;
}

export const makeNotifier = (stage: Stage): Notifier => {
  const { env, cwd, log, notify } = stage.session;
  const outlet = makeOutlet(stage);
  const command =
    notify?.command === undefined
      ? undefined
      : makeNotifyCommand({
          command: notify.command,
          cwd,
          env,
          onFailure: (reason) => log.warn(`the command for notifications failed: ${reason}`),
        });
  return {
    notify: (record) => {
      const { kind, runtime, text, asks } = record;
      log.info(`notification ${kind}${asks === undefined ? `: ${text}` : ''}`); // a question may hold what was said
      const call = { title: `ctxwrap ${runtime}`, text };
      outlet.send(() => notificationSequence(env, call, stage.filter.grid.vt52));
      command?.run(record);
    },
    stop: () => {
      outlet.stop();
      command?.stop();
    },
  };
};
