import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import type { Agent } from '../../agents/agent.js';
import { agents } from '../../agents/index.js';
import { hotkeyName } from '../../core/format.js';
import { systemReason } from '../../storage/errors.js';
import { findCommand } from '../../storage/find-command.js';
import {
  ensureFolder,
  homeFolder,
  readOwnFile,
  stateFolder,
  writeAtomic,
} from '../../storage/state-folder.js';
import { scaledWait } from '../../core/time-scale.js';
import type { Tour } from '../../session/options.js';
import * as messages from '../messages.js';
import { printLines } from '../print.js';
import type { DemoRequest } from '../define/demo.js';
import { shells, type Options } from '../request.js';
import { logFor, runWrapped, type Outcome } from '../session.js';

// `ctxwrap demo`: the simulated agent is a program and runs like any other agent. The first run is a short tour.

const SEEN_FILE = 'demo-seen'; // in the state folder, once a tour has shown a compaction

const tour: Tour = {
  countdownMs: scaledWait(5_000),
  overviewAfterMs: scaledWait(3_400), // the footer tells for more than a second what was forgotten
  overviewMs: scaledWait(4_000),
  signal: 'SIGUSR2',
};

export const demo = async ({ interactive, options }: DemoRequest): Promise<Outcome> => {
  if (!isatty(0) || !isatty(1) || process.env['TERM'] === 'dumb') throw messages.demoNeedsTerminal();
  const seenPath = join(stateFolder(process.env, homeFolder(process.env)), SEEN_FILE);
  const isTour = !interactive && (await readOwnFile(seenPath)) === undefined;
  const folder = makeFolder();
  const record = join(folder, 'session.jsonl');
  writeFileSync(record, '', { mode: 0o600 }); // found at once, and not only when the agent has written to it
  try {
    if (!isTour) return await runAgent(record, interactive ? ['--interactive'] : [], options);
    // three lines say what to do next; the sum of the session would only hide them
    const values = { ...options.values, summary: false };
    const outcome = await runAgent(record, ['--tour'], { ...options, values }, tour);
    if (hasCompacted(record)) await markSeen(seenPath);
    if (!values.quiet && outcome.status.kind === 'code') await printNext(options);
    return outcome;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const runAgent = (
  record: string,
  args: readonly string[],
  options: Options,
  withTour?: Tour,
): Promise<Outcome> => {
  const command = {
    file: process.execPath,
    args: [agentProgram(), ...args],
    env: { ...process.env, CTXWRAP_DEMO_LOG: record },
    agent: agents.demo,
    tour: withTour,
  };
  // nobody needs the conversation of a demonstration
  const values = { ...options.values, blackbox: 'off' } as const;
  return runWrapped(command, { ...options, values }, logFor(options));
};

const makeFolder = (): string => {
  try {
    return mkdtempSync(join(tmpdir(), 'ctxwrap-demo-')); // 0700
  } catch (error) {
    throw messages.demoNeedsFolder(tmpdir(), systemReason(error));
  }
};

/** The bundled demo agent lies beside this file. */
const agentProgram = (): string => fileURLToPath(new URL('./demo-agent.js', import.meta.url));

/** The user has seen what the tour is for. */
const hasCompacted = (record: string): boolean => {
  try {
    return readFileSync(record, 'utf8').includes('"type":"compaction"');
  } catch {
    return false;
  }
};

/** Where the folder cannot be written, every run is a tour. */
const markSeen = async (path: string): Promise<void> => {
  try {
    await ensureFolder(join(path, '..'));
    await writeAtomic(path, '');
  } catch {
    // the next run shows the tour once more
  }
};

const printNext = async ({ values }: Options): Promise<void> => {
  const { env } = process;
  const shell = shells.find((each) => each === basename(env['SHELL'] ?? '')) ?? 'bash';
  const text = messages.afterDemo(nextAgent(), shell, hotkeyName(values));
  await printLines(['', ...text.split('\n')]);
};

/** The name of the first agent that this machine has, or of the first of all if it has none. */
const nextAgent = (): string => {
  const search = { path: process.env['PATH'], self: realpathSync(process.argv[1] ?? '') };
  const programs = Object.values<Agent>(agents).filter(({ command }) => command !== undefined);
  const isInstalled = ({ command = '' }: Agent): boolean => findCommand(command, search).kind === 'found';
  return (programs.find(isInstalled) ?? programs[0] ?? agents.generic).name;
};
