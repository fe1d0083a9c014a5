// `ctxwrap top` through the built program, in a terminal: what it shows, with CI set and without, and what it leaves behind.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SessionRecord } from '../../src/core/report/records.js';
import { bin } from '../support/programs.js';
import { publishSession } from '../support/published.js';
import { ctxwrap, inTerminal, makeBench, type Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const state = () => join(bench.folder, '.local', 'state', 'ctxwrap');
const write = async (id: string, more: Partial<SessionRecord> = {}): Promise<void> =>
  publishSession(state(), {
    id,
    cwd: join(bench.folder, id),
    compaction: { mode: 'auto' },
    ...more,
  });

const LEAVE = '\x1b[?25h\x1b[?1049l';

it.each([{}, { CI: 'true' }])(
  'top shows a change of a session, and gives the terminal back: %j',
  async (more) => {
    await write('one');
    Object.assign(bench.env, more);
    const terminal = inTerminal(process.execPath, [bin, 'top'], bench);
    await terminal.seen(/1 running/);
    await terminal.seen(/~\/one/);
    await write('two', { activity: 'dialog', asks: 'approve Bash: ls' });
    await terminal.seen(/waiting: approve Bash: ls/);
    terminal.type('q');
    expect(await terminal.ended).toMatchObject({ exitCode: 0 });
    expect(terminal.output().startsWith('\x1b[?1049h\x1b[?25l')).toBe(true);
    expect(terminal.output().endsWith(LEAVE)).toBe(true);
  },
);

it('top draws only the rows that have changed', async () => {
  await write('one');
  const terminal = inTerminal(process.execPath, [bin, 'top'], bench);
  await terminal.seen(/~\/one/);
  const before = terminal.output().length;
  terminal.type('/x');
  await terminal.seen(/\/x_/);
  const drawn =
    terminal
      .output()
      .slice(before)
      .match(/\x1b\[\d+;1H/g) ?? [];
  expect(drawn.length).toBeGreaterThan(0);
  expect(drawn.length).toBeLessThan(10);
  terminal.type('\x03');
  await terminal.ended;
});

it.each(['\x03', 'SIGTERM', 'SIGHUP'])(
  'top gives the terminal back after %j, and ends by the signal',
  async (how) => {
    await write('one');
    // the shell tells what the terminal is like afterwards
    const place = join(bench.folder, 'pid');
    const inner = bench.program(
      'inner',
      `#!/bin/sh\necho $$ > ${place}\nexec ${process.execPath} ${bin} top\n`,
    );
    const terminal = inTerminal('/bin/sh', ['-c', `${inner}; code=$?; stty -a; echo "status $code"`], bench);
    terminal.type('s'); // is read once it has raw mode
    await terminal.seen(/by fill/);
    if (how === '\x03') terminal.type(how);
    else process.kill(Number(readFileSync(place, 'utf8')), how as NodeJS.Signals);
    await terminal.seen(/status \d+/);
    const [, rest = ''] = terminal.output().split(LEAVE);
    expect(rest).toMatch(/ icanon/);
    expect(rest).toMatch(/ echo /);
    expect(rest).toMatch(/status (?:130|143|129)/);
  },
);

it('top asks a session to compact after a yes', async () => {
  await write('one');
  const terminal = inTerminal(process.execPath, [bin, 'top'], bench);
  await terminal.seen(/~\/one/);
  terminal.type('c');
  await terminal.seen(/Ask claude in ~\/one to compact now\?/);
  terminal.type('y');
  await vi.waitFor(() => expect(readdirSync(join(state(), 'requests')).join()).toMatch(/^one\..*request/), {
    timeout: 60_000,
  });
  terminal.type('q');
  await terminal.ended;
});

it('top without a terminal says what to use instead', async () => {
  expect(await ctxwrap(['top'], bench)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('ctxwrap ps --watch'),
  });
});
