import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { SettingsPort } from '../agents/agent.js';
import type { PrintMode } from '../agents/print-mode.js';
import { SummaryError } from '../core/errors.js';
import { makeAnswerCounter } from '../core/conversation/summary-text.js';
import { findCommand } from '../storage/find-command.js';
import { killGroup } from '../storage/processes.js';
import { ensureFolder, stateFolder } from '../storage/state-folder.js';
import { listNames, readSettings } from '../storage/status-line.js';
import { endsWithin } from '../storage/timing.js';
import type { AskForSummary, SummariserOptions } from './ask-for-summary.js';

// Has the agent itself write a summary: its print mode, in an empty folder that only the user can read, away from the project.

const END_MS = 1_000; // for the rest of its output after its end, which a process that it has left behind may hold open

export const askAgent: AskForSummary = async ({ instructions, text }, options, signal) => {
  const { agent, env, home } = options;
  const { printMode } = agent;
  if (!printMode)
    throw new SummaryError(
      `${agent.name} has no print mode that ctxwrap knows; name a model server with: ctxwrap config set summariser.url URL`,
    );
  const file = programOf(options);
  // below the user's own folder: nobody else can put instructions for the agent into a folder above it
  const parent = await ensureFolder(stateFolder(env, home), 'summaries');
  const folder = await realpath(await mkdtemp(join(parent, 'run-')));
  const where = { env, home, cwd: folder };
  try {
    await writeFiles(folder, printMode.files);
    const args = [...printMode.args, ...((await printMode.ownArgs?.(settingsPort, where)) ?? [])];
    const prompt = hideMentions(`${instructions}\n\n${text}\n`);
    const started = { name: agent.name, file, args, cwd: folder, env: { ...outside(env), ...printMode.env } };
    return showMentions(await run(started, prompt, signal));
  } finally {
    await remove([folder, ...((await printMode.leftovers?.(settingsPort, where)) ?? [])]);
  }
};

const settingsPort: SettingsPort = { text: readSettings, names: listNames };

const programOf = ({ program, agent: { command = '' }, env }: SummariserOptions): string => {
  if (program !== undefined) return program;
  const found = findCommand(command, { path: env['PATH'], self: '' });
  if (found.kind === 'found') return found.file;
  throw new SummaryError(`the command "${command}" cannot be run`);
};

const writeFiles = async (folder: string, files: PrintMode['files'] = {}): Promise<void> => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
};

/** A program that was killed may still write; what cannot be removed must not cost the summary. */
const remove = async (paths: readonly string[]): Promise<void> => {
  const removing = paths.map((path) => rm(path, { recursive: true, force: true, maxRetries: 3 }));
  await Promise.allSettled(removing);
};

/** The user's environment, outside of the wrapped session: the agent's hooks that call ctxwrap do nothing then. */
const outside = (env: SummariserOptions['env']) => ({ ...env, CTXWRAP_SESSION: undefined });

// Agents replace `@path` in a prompt by the contents of that file, tools or not (seen with Claude Code 2.1.331). The sign is sent as its wide
// form, which models copy, and put back in the answer.

const [MENTION, WIDE_MENTION] = ['@', '\uff20'];

const hideMentions = (text: string): string => text.replaceAll(MENTION, WIDE_MENTION);

const showMentions = (text: string): string => text.replaceAll(WIDE_MENTION, MENTION);

interface Started {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: SummariserOptions['env'];
}

/** What the program prints. It is killed with all that it has started when the signal aborts, and when it prints too much. */
const run = async (
  { name, file, args, cwd, env }: Started,
  prompt: string,
  signal: AbortSignal,
): Promise<string> => {
  signal.throwIfAborted();
  const child = spawn(file, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  const exit = once(child, 'exit');
  const closed = new Promise((resolve) => child.once('close', resolve));
  const kill = (): void => killGroup(child.pid);
  const output = collect(child.stdout, kill);
  child.stdin.on('error', () => undefined); // it need not read it all
  child.stdin.end(prompt);
  signal.addEventListener('abort', kill);
  try {
    const [code] = await Promise.race([exit, unlessItDies(exit, signal)]);
    if (!(await endsWithin(END_MS, closed))) kill();
    signal.throwIfAborted();
    const text = output();
    if (code === 0) return text;
    const how = code === null ? 'was killed' : `ended with status ${code}`;
    throw new SummaryError(
      `${name} ${how} instead of writing a summary: see whether it answers in a terminal`,
    );
  } finally {
    signal.removeEventListener('abort', kill); // its number may belong to another process later
    child.stdout.destroy();
    child.unref();
  }
};

/** Rejects for a program that does not even end when it is killed, as on a dead network disk. */
const unlessItDies = (exit: Promise<unknown>, signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const late = async (): Promise<void> => {
      if (!(await endsWithin(END_MS, exit))) reject(signal.reason);
    };
    signal.addEventListener('abort', () => void late(), { once: true });
  });

/** Collects a text; returns what gives it at the end, or throws that it was too long. */
const collect = (stdout: Readable, onTooLong: () => void): (() => string) => {
  const [decoder, counter] = [new TextDecoder(), makeAnswerCounter()];
  let text = '';
  let fault: unknown;
  stdout.on('data', (bytes: Uint8Array) => {
    if (fault !== undefined) return;
    const piece = decoder.decode(bytes, { stream: true });
    try {
      counter.add(piece);
      text += piece;
    } catch (error) {
      fault = error;
      onTooLong();
    }
  });
  return () => {
    if (fault !== undefined) throw fault;
    return text + decoder.decode();
  };
};
