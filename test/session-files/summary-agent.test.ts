// Summaries by the agent's own print mode, with programs that stand in for the agent.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { defaultValues, type Values } from '../../src/core/config/keys.js';
import { SummaryError } from '../../src/core/errors.js';
import { isRunning } from '../../src/storage/processes.js';
import { openSummariser } from '../../src/session-files/summariser.js';

const WAIT = { timeout: 20_000, interval: 10 };
const REQUEST = {
  instructions: 'Summarise.',
  text: 'User: my secret plan is in @src/plan.ts, ask me@example.org',
};

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'summary-agent-'));
  mkdirSync(join(home, 'bin'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const toy: Agent = {
  ...agents.generic,
  name: 'toy',
  command: 'toy',
  printMode: {
    args: ['-p', ''],
    ownArgs: async (_, { cwd }) => ['--folder', cwd],
    env: { TOY_SAFE: '1' },
    files: { '.toy/settings.json': '{}' },
    leftovers: async (_, where) => [join(where.home, 'kept-by-toy')],
  },
};

/** The program `toy`: lines for a shell. `$HOME` is a folder of this test. */
const program = (script: string): void => {
  const file = join(home, 'bin/toy');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
};

interface Asked {
  readonly agent?: Agent;
  readonly values?: Partial<Values>;
  readonly signal?: AbortSignal;
  readonly text?: string;
  readonly program?: string;
}

const summaryOf = async ({
  agent = toy,
  values,
  signal,
  text,
  program: file,
}: Asked = {}): Promise<string> => {
  const path = `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`;
  const summarise = openSummariser({
    values: { ...defaultValues, 'summariser.url': 'agent', ...values },
    agent,
    env: { PATH: path, HOME: home, CTXWRAP_SESSION: '4711-a', OWN: 'kept' },
    home,
    program: file,
  });
  const request = { ...REQUEST, ...(text === undefined ? {} : { text }) };
  return summarise?.(request, signal ?? new AbortController().signal) ?? 'no summariser';
};

const faultOf = (asked?: Asked): Promise<string> =>
  summaryOf(asked).then(
    (summary) => `no fault: ${summary}`,
    (error: unknown) => (error instanceof SummaryError ? error.message : `another error: ${String(error)}`),
  );

const read = (name: string): string =>
  existsSync(join(home, name)) ? readFileSync(join(home, name), 'utf8') : '';
const runs = (): readonly string[] => readdirSync(join(home, '.local/state/ctxwrap/summaries'));
const pids = (): readonly number[] => read('pids').split('\n').filter(Boolean).map(Number);
const isOver = (): Promise<void> =>
  vi.waitFor(() => expect(pids().some((pid) => isRunning(pid))).toBe(false), WAIT);

/** Starts a process of its own, and tells both numbers. */
const WITH_CHILD = 'sleep 1000 & echo $! > "$HOME/all"; echo $$ >> "$HOME/all"; mv "$HOME/all" "$HOME/pids"';

describe('the print mode of an agent', () => {
  it('gets the conversation on its standard input, in an empty folder that only the user can read', async () => {
    program(`
      mkdir "$HOME/kept-by-toy"
      cat > "$HOME/got"
      printf '%s\\n' "$@" > "$HOME/args"
      ls -A > "$HOME/files"
      ls -ld . > "$HOME/mode"
      pwd > "$HOME/folder"
      echo "$OWN,$TOY_SAFE,$CTXWRAP_SESSION" > "$HOME/env"
      echo '## Goal'
    `);
    expect(await summaryOf()).toBe('## Goal');
    const folder = read('folder').trim();
    expect(read('got')).toContain('Summarise.\n\nUser: my secret plan');
    expect(read('args')).toBe(`-p\n\n--folder\n${folder}\n`);
    expect(read('files')).toBe('.toy\n');
    expect(read('mode')).toMatch(/^drwx------/);
    expect(folder).toContain(`${home}/.local/state/ctxwrap/summaries/run-`);
    expect(read('env')).toBe('kept,1,\n');
    expect(runs()).toEqual([]);
    expect(existsSync(join(home, 'kept-by-toy'))).toBe(false);
  });

  it('finds no path in the conversation that it would read, and the summary has them again', async () => {
    program('cat > "$HOME/got"; tail -n 1 "$HOME/got"');
    expect(await summaryOf()).toBe(REQUEST.text);
    expect(read('got')).not.toContain('@');
  });

  it('may leave its standard input unread', async () => {
    program('exec <&-; echo done');
    expect(await summaryOf({ text: 'x'.repeat(1_000_000) })).toBe('done');
  });

  it('is the program that is known, else the first on PATH', async () => {
    program('echo other');
    const file = join(home, 'own');
    writeFileSync(file, '#!/bin/sh\necho own\n', { mode: 0o755 });
    expect([await summaryOf({ program: file }), await summaryOf()]).toEqual(['own', 'other']);
  });

  it('does not have to close its output: what it leaves behind is ended', async () => {
    program(`${WITH_CHILD}; echo done`);
    expect(await summaryOf()).toBe('done');
    await isOver();
  });
});

describe('an agent that writes no summary is an error, and nothing is left:', () => {
  it.each([
    ['prints nothing', 'cat > /dev/null', 'the summary is empty'],
    ['fails', 'cat; cat >&2; exit 3', /^toy ended with status 3 instead of writing a summary/],
    ['is killed', 'cat; kill -KILL $$', /^toy was killed instead of writing a summary/],
    ['prints without end', `${WITH_CHILD}; yes "my secret plan"`, 'the summary is longer than 20000 tokens'],
    ['only thinks', 'echo "<think>Hm."', 'the summary is empty'],
  ])('%s', async (_, script, fault) => {
    program(script);
    const found = await faultOf();
    expect(found).toMatch(fault);
    expect(found).not.toMatch(/secret|plan/);
    expect(runs()).toEqual([]);
    await isOver();
  });

  it('takes too long', async () => {
    program(`${WITH_CHILD}; wait`);
    const values = { 'summariser.timeout': 0.5 };
    expect(await faultOf({ values })).toBe('no summary within 0.5 s (summariser.timeout)');
    expect(runs()).toEqual([]);
    await isOver();
  });

  it('is stopped by the user', async () => {
    program(`trap '' TERM INT HUP; ${WITH_CHILD}; wait`);
    const withdrawal = new AbortController();
    const fault = faultOf({ signal: withdrawal.signal });
    await vi.waitFor(() => expect(pids()).toHaveLength(2), WAIT);
    withdrawal.abort();
    expect(await fault).toBe('the summary was withdrawn');
    expect(runs()).toEqual([]);
    await isOver();
  });

  it('is not installed', async () => {
    expect(await faultOf()).toBe('the command "toy" cannot be run');
    expect(await faultOf({ program: join(home, 'gone') })).toBe('no summary: no such file or directory');
    expect(runs()).toEqual([]);
  });

  it('has no print mode', async () => {
    expect(await faultOf({ agent: agents.generic })).toBe(
      'generic has no print mode that ctxwrap knows; name a model server with: ctxwrap config set summariser.url URL',
    );
  });

  it('has no folder to run in', async () => {
    program('echo done');
    writeFileSync(join(home, '.local'), 'a file');
    expect(await faultOf()).toBe('no summary: not a directory');
  });
});
