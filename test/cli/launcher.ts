// Runs the built program as users do, with a folder of made-up agents in front of PATH.
import { spawn } from 'node:child_process';
import type { SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { asOnPlatform } from '../like-macos/environment.js';
import { bin } from '../support/programs.js';
import { type ChildEnd, startChild } from '../../src/terminal/pty.js';

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Bench {
  readonly folder: string;
  readonly env: Record<string, string>;
  /** writes an executable file and gives its path */
  readonly program: (name: string, text: string) => string;
  readonly remove: () => void;
}

/** A temporary folder that is the first of PATH. CTXWRAP variables of the outer world stay outside. */
export const makeBench = (): Bench => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cli-test-')));
  return {
    folder,
    env: asOnPlatform({
      PATH: `${folder}:/usr/local/bin:/usr/bin:/bin`,
      HOME: folder,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
    }),
    program: (name, source) => {
      const path = join(folder, name);
      writeFileSync(path, source);
      chmodSync(path, 0o755);
      return path;
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
};

/** A started program whose output is collected; its own session, so that no terminal is near. */
export const start = (file: string, args: readonly string[], options: SpawnOptions) => {
  const child = spawn(file, args, { ...options, stdio: 'pipe', detached: true });
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], stdout, stderr]): Ended => ({ code, signal, stdout, stderr }),
  );
  return { child, ended };
};

export const runToEnd = (file: string, args: readonly string[], bench: Bench, input = ''): Promise<Ended> => {
  const { child, ended } = start(file, args, { env: bench.env, cwd: bench.folder });
  child.stdin?.on('error', () => undefined); // the program may end before it has read all
  child.stdin?.end(input);
  return ended;
};

/** The same through us. */
export const ctxwrap = (args: readonly string[], bench: Bench, input = ''): Promise<Ended> =>
  runToEnd(process.execPath, [bin, ...args], bench, input);

export const screenSize = { columns: 100, rows: 30 };

/** A program in a terminal of its own. `seen` resolves when the output so far matches. */
export const inTerminal = (file: string, args: readonly string[], bench: Bench) => {
  let output = '';
  const waiting = new Set<() => void>();
  const decoder = new TextDecoder();
  let end: (how: ChildEnd) => void = () => undefined;
  const ended = new Promise<ChildEnd>((done) => (end = done));
  const child = startChild({
    file,
    args,
    cwd: bench.folder,
    env: bench.env,
    size: screenSize,
    termios: '',
  }).listen({
    onOutput: (bytes) => {
      output += decoder.decode(bytes, { stream: true });
      for (const check of waiting) check();
    },
    onDrain: () => undefined,
    onEnd: end,
  });
  const seen = (pattern: RegExp): Promise<void> =>
    new Promise((done, gone) => {
      const check = (): void => {
        if (!pattern.test(output)) return;
        waiting.delete(check);
        done();
      };
      waiting.add(check);
      void ended.then(() => gone(new Error(`ended without ${pattern}: ${JSON.stringify(output)}`)));
      check();
    });
  return {
    type: (keys: string) => child.write(Buffer.from(keys)),
    kill: () => child.signal('SIGTERM'),
    seen,
    ended,
    output: () => output,
  };
};
