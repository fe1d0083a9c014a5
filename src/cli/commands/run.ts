import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { isatty } from 'node:tty';
import { runtimes } from '../../runtimes/index.js';
import type { Runtime } from '../../runtimes/runtime.js';
import { findCommand } from '../../storage/find-command.js';
import { reasonOf } from '../../storage/unwritable.js';
import { passthrough } from '../../wrap/passthrough.js';
import * as messages from '../messages.js';
import { agentWords } from '../program.js';
import type { RunRequest } from '../program.js';
import { logFor, runWrapped } from '../session.js';
import type { Outcome } from '../session.js';
import { transparentReason } from '../transparency.js';

/** `ctxwrap claude …` and `ctxwrap -- command …`. */
export const run = async ({ word, args, anyCommand, options }: RunRequest): Promise<Outcome> => {
  const known = runtimeOf(word);
  if (known === undefined && !anyCommand) throw messages.unknownAgent(word, [...agentWords, 'demo']);
  const runtime = options.runtime === undefined ? (known ?? runtimes.generic) : runtimes[options.runtime];
  const log = logFor(options);
  const file = find(word, known);
  // asked of the descriptors, because process.stdin would open a stream on what the child is to read
  const plain = transparentReason({
    stdinIsTty: isatty(0),
    stdoutIsTty: isatty(1),
    env: process.env,
    interactive: runtime.isInteractive(args),
  });
  if (plain === undefined) return runWrapped({ file, args, env: process.env, runtime }, options, log);

  log.info(`not wrapped: ${plain}${options.record === undefined ? '' : '; not recorded'}`);
  try {
    return { status: await passthrough({ file, word, args }), notices: [] };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw messages.noInterpreter(file);
    throw messages.notAProgram(file, reasonOf(error));
  }
};

const runtimeOf = (word: string): Runtime | undefined =>
  Object.values<Runtime>(runtimes).find((each) => each.command === basename(word));

const find = (word: string, known: Runtime | undefined): string => {
  const self = realpathSync(process.argv[1] ?? '');
  const found = findCommand(word, { path: process.env['PATH'], self });
  if (found.kind === 'found') return found.file;
  if (found.kind === 'missing') throw messages.notInstalled(word, known?.npmPackage, found.shims);
  throw messages.notAProgram(found.file, found.reason === 'folder' ? 'it is a folder' : 'permission denied');
};
