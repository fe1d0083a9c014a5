import { spawn } from 'node:child_process';
import { jsonText, toPrintable } from '../core/printable.js';
import { errorText } from '../core/errors.js';
import type { NotificationRecord } from '../core/report/records.js';
import { killGroup } from '../storage/processes.js';
import type { NotificationText } from '../terminal/notification.js';
import type { WrapSession } from '../session/options.js';

// The user's own command for notifications. Its failures do not affect the session.

export interface NotifyCommandOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** called once, for the first failure */
  readonly onFailure: (reason: string) => void;
  /** how long one run may take; 10 s when absent */
  readonly longestMs?: number;
}

export interface NotifyCommand {
  /** runs it with the notification as one line of JSON on its standard input */
  readonly run: (record: NotificationRecord) => void;
  /** ends the runs that have not ended yet */
  readonly stop: () => void;
}

const LONGEST_MS = 10_000;
const MOST_RUNNING = 4;
const WORDS = /^[\w@%+:,./-]+(?: +[\w@%+=:,./-]+)*$/; // only characters that have no special meaning to a shell

/** Program and arguments: the command split at blanks, or run by a shell where it contains shell syntax. */
export const commandArguments = (command: string): readonly [string, ...(readonly string[])] => {
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
    const [program, ...args] = commandArguments(command);
    // a session of its own: it cannot access the terminal, and all processes it starts are ended with it
    const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    const end = (): void => killGroup(child.pid);
    const timer = setTimeout(() => {
      fail(`it did not end within ${longestMs / 1000} s`);
      end();
    }, longestMs).unref();
    running.add(end);
    const finish = (reason: string | undefined): void => {
      clearTimeout(timer);
      running.delete(end);
      if (reason !== undefined) fail(reason);
    };
    child.on('error', (error) => finish(error.message));
    child.on('exit', (code, signal) =>
      finish(
        code === 0
          ? undefined
          : signal === null
            ? `it ended with status ${code}`
            : `it was ended by ${signal}`,
      ),
    );
    child.stdin.on('error', () => undefined); // the command need not read its input
    child.stdin.end(jsonText(record));
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
      hasFailed = true; // ended by the wrapper
      for (const end of running) end();
    },
  };
};

/** Notifies the user, through the terminal and through the user's command. */
export interface Notifier {
  readonly notify: (record: NotificationRecord) => void;
  readonly stop: () => void;
}

/** `show` shows a notification through the terminal. */
export const makeNotifier = (
  { env, cwd, log, values }: Pick<WrapSession, 'env' | 'cwd' | 'log' | 'values'>,
  show: (text: NotificationText) => void,
): Notifier => {
  const { 'notify.on': kinds, 'notify.command': program } = values;
  const command =
    kinds === undefined || program === undefined
      ? undefined
      : makeNotifyCommand({
          command: program,
          cwd,
          env,
          onFailure: (reason) => log.warn(`the command for notifications failed: ${reason}`),
        });
  return {
    notify: (record) => {
      const { kind, runtime: agent, text, asks } = record;
      log.info(`notification ${kind}${asks === undefined ? `: ${text}` : ''}`); // a question may contain text of the conversation
      show({ title: toPrintable(`ctxwrap ${agent}`), text: toPrintable(text) });
      command?.run(record);
    },
    stop: () => command?.stop(),
  };
};
