// Tries one agent, in a temporary folder that is gone afterwards.
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import type { VerifiedCheck } from '../../core/verified-record.js';
import { reasonOf } from '../../storage/unwritable.js';
import type { Place } from '../../verify/namespace.js';
import type { Told } from '../../verify/player.js';
import { playApart } from './apart.js';
import * as messages from './messages.js';

export type ToldCheck = Extract<Told, { readonly kind: 'check' }>;

/** What came of it. */
export interface Tried {
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
  readonly place: Place;
  /** the folder stays, whatever comes of it */
  readonly keep: boolean;
  readonly signal: AbortSignal;
  readonly onCheck: (check: ToldCheck) => Promise<unknown>;
}

const SECOND_MS = 1_000;
const RECORDING = 'session.cast';

/** Undefined when the signal has ended it. */
export const tryAgent = async (trial: Trial): Promise<Tried | undefined> => {
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
    throw messages.verifyNeedsFolder(tmpdir(), reasonOf(error));
  }
};

interface Played {
  readonly version: string | undefined;
  readonly checks: readonly VerifiedCheck[];
}

const played = async ({ agent, file, place, signal, onCheck }: Trial, folder: string): Promise<Played> => {
  let version: string | undefined;
  const checks: VerifiedCheck[] = [];
  const see = async (check: ToldCheck): Promise<void> => {
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
      isOpen: place.openFor !== undefined,
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
const startCheck = (evidence: string): ToldCheck => ({
  kind: 'check',
  name: 'session',
  isGood: false,
  evidence,
  screen: [],
});
