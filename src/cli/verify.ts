import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  readdirSync,
  readFileSync,
  createWriteStream,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, delimiter, isAbsolute } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { VerifiedCheck } from '../core/report/records.js';
import { systemReason } from '../storage/errors.js';
import { FILE_MODE } from '../storage/file-modes.js';
import { killGroup } from '../storage/processes.js';
import type { Isolation } from '../verify/sandbox.js';
import { parseVerifyMessage, type VerifyRequest, type VerifyMessage } from '../verify/runner.js';
import { usageError } from './usage-error.js';

// Ends processes that a trial may have left behind: an agent's helpers can outlive it.

const PATIENCE_MS = 3_000; // for processes that are about to exit
const LOOK_MS = 50;

/** Waits for every process whose home is in this folder to end, then ends the rest. Does nothing where the system has no /proc. */
const endLeftovers = async (folder: string): Promise<void> => {
  const end = performance.now() + PATIENCE_MS;
  while (livingIn(folder).length > 0 && performance.now() < end) await pause(LOOK_MS);
  for (const pid of livingIn(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has already exited
    }
  }
};

/** Processes whose environment names a home in the folder (proc(5)). */
const livingIn = (folder: string): readonly number[] => {
  const own = (name: string): boolean => {
    try {
      const variables = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0');
      return variables.some((each) => each === `HOME=${folder}` || each.startsWith(`HOME=${folder}/`));
    } catch {
      return false; // another user's process, or gone
    }
  };
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && own(name))
      .map(Number);
  } catch {
    return [];
  }
};

// The sandboxed process of `ctxwrap verify`: everything it starts ends with it.

const LONGEST_MS = 240_000;
const SECOND_MS = 1_000;

/** Runs an order in the sandbox. Resolves when no process of it is left, to `whole` or to what ended it early. */
const playApart = async (
  order: VerifyRequest,
  place: Isolation,
  {
    signal,
    onTold,
  }: { readonly signal: AbortSignal; readonly onTold: (message: VerifyMessage) => Promise<void> },
): Promise<string> => {
  const [node, program] = order.ctxwrap;
  const [file, ...args] = place.commandLine([node, program, 'verify', '--order', JSON.stringify(order)]);
  // in a session of its own, so that Ctrl-C in the user's terminal cannot end it first
  const child = spawn(file, args, {
    cwd: order.folder,
    env: { PATH: order.programs.join(':'), HOME: order.folder, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.stderr.pipe(createWriteStream(join(order.folder, 'verify.log'), { mode: FILE_MODE }));
  let ending = 'whole';
  const stop = (): void => {
    ending = `still running after ${LONGEST_MS / SECOND_MS} s`;
    killGroup(child.pid);
  };
  const timer = setTimeout(stop, LONGEST_MS);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const closed = once(child, 'close');
    for await (const line of createInterface(child.stdout)) {
      const message = parseVerifyMessage(line);
      if (message) await onTold(message);
    }
    const [code, by] = await closed;
    if (ending === 'whole' && code !== 0) ending = `ended with ${by ?? `status ${code}`}, see verify.log`;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    killGroup(child.pid);
    await endLeftovers(order.folder);
  }
  return ending;
};

// Verifies one agent in a temporary folder, which is removed afterwards.

export type ReportedCheck = Extract<VerifyMessage, { readonly kind: 'check' }>;

/** The result of one trial. */
export interface TrialResult {
  readonly agent: string;
  readonly file: string;
  /** reported by the agent; absent when it reported none */
  readonly version?: string;
  readonly checks: readonly VerifiedCheck[];
  readonly seconds: number;
  /** the folder with the recording, if it was kept */
  readonly kept?: string;
}

export interface Trial {
  readonly agent: string;
  readonly file: string;
  readonly place: Isolation;
  /** keep the folder in any case */
  readonly keep: boolean;
  readonly signal: AbortSignal;
  readonly onCheck: (check: ReportedCheck) => Promise<unknown>;
}

const RECORDING = 'session.cast';

/** Undefined when a signal ended the trial. */
export const tryAgent = async (trial: Trial): Promise<TrialResult | undefined> => {
  const { agent, file, signal } = trial;
  const started = performance.now();
  const folder = makeFolder();
  let keeps = false;
  try {
    const { version, checks } = await played(trial, folder);
    if (signal.aborted) return undefined;
    const isGood = checks.length > 0 && checks.every((each) => each.isGood);
    keeps = trial.keep || (!isGood && existsSync(join(folder, RECORDING)));
    const seconds = Math.round((performance.now() - started) / SECOND_MS);
    const found = { ...(version === undefined ? {} : { version }), ...(keeps ? { kept: folder } : {}) };
    return { agent, file, checks, seconds, ...found };
  } finally {
    // the last process may still be writing
    if (!keeps) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
};

const makeFolder = (): string => {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), 'ctxwrap-verify-'))); // 0700
  } catch (error) {
    throw usageError(
      `verify cannot create a folder in "${tmpdir()}": ${systemReason(error)}`,
      'set TMPDIR to another folder',
    );
  }
};

interface Played {
  readonly version: string | undefined;
  readonly checks: readonly VerifiedCheck[];
}

const played = async ({ agent, file, place, signal, onCheck }: Trial, folder: string): Promise<Played> => {
  let version: string | undefined;
  const checks: VerifiedCheck[] = [];
  const see = async (check: ReportedCheck): Promise<void> => {
    const { name, isGood, evidence } = check;
    checks.push({ name, isGood, evidence });
    await onCheck(check);
  };
  const end = await playApart(
    {
      agent,
      file,
      folder,
      ctxwrap: [process.execPath, realpathSync(process.argv[1] ?? '')],
      programs: (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute),
      isOpen: place.networkReason !== undefined,
    },
    place,
    {
      signal,
      onTold: async (message) => {
        if (message.kind === 'version') version = message.version;
        if (message.kind === 'check') await see(message);
        if (message.kind === 'trouble') await see(startCheck(message.text));
      },
    },
  );
  if (end !== 'whole' && !signal.aborted) await see(startCheck(end));
  return { version, checks };
};

/** Why the agent could not be started at all. */
const startCheck = (evidence: string): ReportedCheck => ({
  kind: 'check',
  name: 'session',
  isGood: false,
  evidence,
  screen: [],
});

/** Catches stop signals, so that a waiting command can clean up before it exits. */
export const catchStopSignals = () => {
  const controller = new AbortController();
  let name: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    name ??= signal;
    controller.abort();
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const each of names) process.on(each, stop);
  return {
    signal: controller.signal,
    name: () => name,
    release: () => {
      for (const each of names) process.off(each, stop);
    },
  };
};
