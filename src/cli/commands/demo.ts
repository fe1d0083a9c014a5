import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { agents } from '../../agents/index.js';
import type { Values } from '../../core/config/keys.js';
import { errorCode } from '../../core/errors.js';
import { hotkeyName } from '../../core/format.js';
import { systemReason } from '../../storage/errors.js';
import { present } from '../../core/present.js';
import { scaledWait } from '../../core/time-scale.js';
import type { Tour } from '../../session/options.js';
import { withConfiguration } from '../config/apply.js';
import * as messages from '../messages.js';
import { afterDemo, stepsAfterDemo } from './next-steps.js';
import { printLines } from '../print.js';
import type { DemoRequest } from '../define/demo.js';
import type { Options } from '../request.js';
import { logFor, runWrapped, type Outcome } from '../session.js';

// `ctxwrap demo`: the simulated agent is a program and runs like any other agent. It plays a tour, or is typed to.

const tour: Tour = {
  countdownMs: scaledWait(5_000),
  overviewAfterMs: scaledWait(3_400), // the footer tells for more than a second what was forgotten
  overviewMs: scaledWait(4_000),
  signal: 'SIGUSR2',
};

export const demo = async ({ interactive, options }: DemoRequest): Promise<Outcome> => {
  if (!isatty(0) || !isatty(1) || process.env['TERM'] === 'dumb') throw messages.demoNeedsTerminal();
  checkProgram(agentProgram());
  const folder = makeFolder();
  const record = join(folder, `${randomUUID()}.jsonl`);
  writeFileSync(record, '', { mode: 0o600 }); // found at once, and not only when the agent has written to it
  try {
    if (interactive) return await runAgent(record, ['--interactive'], options);
    // three lines say what to do next; the sum of the session would only hide them
    const values = { ...options.values, summary: false };
    const outcome = await runAgent(record, ['--mode', values.mode], { ...options, values }, tour);
    if (!values.quiet && outcome.status.kind === 'code') await printNext(options);
    return outcome;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const runAgent = async (
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
  const values = { ...options.values, ...(await givenStrategy(options)), blackbox: 'off' } as const;
  return runWrapped(command, { options: { ...options, values }, log: logFor(options) });
};

/** The user's configuration does not apply to a demonstration, but a strategy that it names is said to be unused, as in every session. */
const givenStrategy = async (options: Options): Promise<Partial<Pick<Values, 'strategy' | 'strategies'>>> => {
  const { strategy, strategies } = (await withConfiguration(options)).values;
  return present({ strategy: options.values.strategy ?? strategy, strategies });
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

/** A folder that is not there yet can probably be made. */
const isWritable = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    return errorCode(error) === 'ENOENT';
  }
};

/** Throws for half a program, of which Node itself would print the stack. An empty file is no error for Node. */
const checkProgram = (path: string): void => {
  const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (size > 0 && spawnSync(process.execPath, ['--check', path], { stdio: 'ignore', env: {} }).status === 0)
    return;
  const home = dirname(dirname(path));
  throw messages.brokenDemo(path, existsSync(join(home, 'src')) ? home : undefined);
};

const printNext = async ({ values }: Options): Promise<void> => {
  const { env } = process;
  const self = realpathSync(process.argv[1] ?? '');
  const steps = stepsAfterDemo({ env, self, cwd: process.cwd(), hotkey: hotkeyName(values), isWritable });
  const text = afterDemo(steps, process.stdout.columns);
  await printLines(['', ...text.split('\n')]);
};
