// How long it takes until the footer shows a number where `--continue` opens a large session file, and how much memory.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { sleep } from './numbers.js';
import { peakMegabytes, residentMegabytes } from './processes.js';
import { shapes, writeSessionFile } from './session-files.js';
import { withTerminal } from './terminal.js';
import { measureInTurn } from './turns.js';

const BYTES = 28e6;
const REST_MS = 4_000;
const USED = '91k'; // tokens that the last answer of such a file says
const child = join(import.meta.dirname, 'children/continued.js');

/** A home with one session of Claude Code, and a command `claude` that continues it. */
const writeHome = (folder) => {
  const [home, cwd, bin] = ['home', 'project', 'bin'].map((name) => join(folder, name));
  const sessions = join(home, '.claude/projects', cwd.replaceAll(/[^a-zA-Z0-9]/g, '-'));
  for (const each of [cwd, bin, sessions]) mkdirSync(each, { recursive: true });
  writeSessionFile(join(sessions, shapes.claude.name), shapes.claude, BYTES);
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\nexec '${process.execPath}' '${child}' "$@"\n`);
  chmodSync(join(bin, 'claude'), 0o755);
  return { cwd, env: { HOME: home, PATH: `${bin}${delimiter}${process.env.PATH}` } };
};

/** `seconds` until the footer shows the number, the `peak` of the resident megabytes, and what is `resident` four seconds later, by candidate. */
export const measureContinue = (candidates, folder, rounds) => {
  const { cwd, env } = writeHome(join(folder, 'continued'));
  return measureInTurn(candidates, rounds, (candidate) =>
    withTerminal(candidate.run(['claude', '--continue']), { cwd, env }, async (terminal) => {
      const seconds = (performance.timeOrigin + (await terminal.until(USED)) - terminal.startedAt) / 1000;
      await sleep(REST_MS);
      const [peak, resident] = [peakMegabytes(terminal.pid), residentMegabytes([terminal.pid])];
      await terminal.leave('q');
      return { seconds, peak, resident };
    }),
  );
};
