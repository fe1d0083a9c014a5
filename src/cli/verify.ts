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
import type { VerifiedCheck } from '../core/records.js';
import { systemReason } from '../storage/errors.js';
import { killGroup } from '../storage/processes.js';
import type { Isolation } from '../verify/sandbox.js';
import { parseVerifyMessage, type VerifyRequest, type VerifyMessage } from '../verify/runner.js';
import * as messages from './messages.js';

// Processes that a session may have left: an agent can have helpers that outlive it.

const PATIENCE_MS = 3_000; // for what is about to end by itself
const LOOK_MS = 50;

/** Waits for the end of all that has a home in this folder, and ends the rest. Where the system tells of no process nothing can be done. */
const endLeftovers = async (folder: string): Promise<void> => {
  const end = performance.now() + PATIENCE_MS;
  while (livingIn(folder).length > 0 && performance.now() < end) await pause(LOOK_MS);
  for (const pid of livingIn(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended meanwhile
    }
  }
};

/** Those of which the environment names a home there (proc(5)). */
const livingIn = (folder: string): readonly number[] => {
  const own = (name: string): boolean => {
    try {
      const variables = readFileSync(`/proc/${name}/environ`, 'latin1').split('\0');
      return variables.some((each) => each === `HOME=${folder}` || each.startsWith(`HOME=${folder}/`));
    } catch {
      return false; // another user's, or gone
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

// The other process of `ctxwrap verify`: it plays in a place of its own, and when it goes, all that it has started goes with it.

const LONGEST_MS = 240_000;
const SECOND_MS = 1_000;
const FILE_MODE = 0o600;

/** Plays an order; resolves when nothing of it runs any more, to `whole` or to what has ended it before. */
const playApart = async (
  order: VerifyRequest,
  place: Isolation,
  {
    signal,
    onTold,
  }: { readonly signal: AbortSignal; readonly onTold: (told: VerifyMessage) => Promise<void> },
): Promise<string> => {
  const [node, program] = order.ctxwrap;
  const [file, ...args] = place.commandLine([node, program, 'verify', '--order', JSON.stringify(order)]);
  // with a session of its own no key of the user's terminal ends it before we know
  const child = spawn(file, args, {
    cwd: order.folder,
    env: { PATH: order.programs.join(':'), HOME: order.folder, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.stderr.pipe(createWriteStream(join(order.folder, 'verify.log'), { mode: FILE_MODE }));
  let ending = 'whole';
  const stop = (): void => {
    ending = `not over after ${LONGEST_MS / SECOND_MS} s`;
    killGroup(child.pid);
  };
  const timer = setTimeout(stop, LONGEST_MS);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const closed = once(child, 'close');
    for await (const line of createInterface(child.stdout)) {
      const told = parseVerifyMessage(line);
      if (told) await onTold(told);
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

// Tries one agent, in a temporary folder that is gone afterwards.

export type ReportedCheck = Extract<VerifyMessage, { readonly kind: 'check' }>;

/** What came of it. */
export interface TrialResult {
  readonly agent: string;
  readonly file: string;
  /** as the agent tells it; absent where it told none */
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
  /** the folder stays, whatever comes of it */
  readonly keep: boolean;
  readonly signal: AbortSignal;
  readonly onCheck: (check: ReportedCheck) => Promise<unknown>;
}

const RECORDING = 'session.cast';

/** Undefined when the signal has ended it. */
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
    // the last of what ran there may still be about to write
    if (!keeps) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
};

const makeFolder = (): string => {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), 'ctxwrap-verify-'))); // 0700
  } catch (error) {
    throw messages.verifyNeedsFolder(tmpdir(), systemReason(error));
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
      onTold: async (told) => {
        if (told.kind === 'version') version = told.version;
        if (told.kind === 'check') await see(told);
        if (told.kind === 'trouble') await see(startCheck(told.text));
      },
    },
  );
  if (end !== 'whole' && !signal.aborted) await see(startCheck(end));
  return { version, checks };
};

/** What keeps the agent from being played at all. */
const startCheck = (evidence: string): ReportedCheck => ({
  kind: 'check',
  name: 'session',
  isGood: false,
  evidence,
  screen: [],
});

/** Signals that end what is waited for, so that it can be taken back before this process goes. */
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
