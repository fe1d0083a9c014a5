import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { runtimes } from '../../runtimes/index.js';
import { reasonOf } from '../../storage/unwritable.js';
import * as messages from '../messages.js';
import type { DemoRequest } from '../request.js';
import { logFor, runWrapped } from '../session.js';
import type { Outcome } from '../session.js';

/** `ctxwrap demo`: the simulator is a program like any agent, and runs the same way. */
export const demo = async ({ interactive, options }: DemoRequest): Promise<Outcome> => {
  if (!isatty(0) || !isatty(1) || process.env['TERM'] === 'dumb') throw messages.demoNeedsTerminal();
  const log = logFor(options);
  const folder = makeFolder();
  try {
    const command = {
      file: process.execPath,
      args: [agentProgram(), interactive ? '--interactive' : '--auto'],
      env: { ...process.env, CTXWRAP_DEMO_LOG: join(folder, 'session.jsonl') },
      runtime: runtimes.demo,
    };
    return await runWrapped(command, options, log);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const makeFolder = (): string => {
  try {
    return mkdtempSync(join(tmpdir(), 'ctxwrap-demo-')); // 0700
  } catch (error) {
    throw messages.demoNeedsFolder(tmpdir(), reasonOf(error));
  }
};

/** The bundle puts the agent beside us. */
const agentProgram = (): string => fileURLToPath(new URL('./demo-agent.js', import.meta.url));
