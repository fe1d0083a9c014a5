// `ctxwrap handoff` as users run it, over a home folder with the session files of all agents and no agent running.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ctxwrapHere } from '../support/command-here.js';
import { hasGit } from '../support/programs.js';
import { fixture, ids, writeStores } from '../support/stored-sessions.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
  writeStores(bench.folder);
});
afterEach(() => bench.remove());

const handoff = (...args: readonly string[]) => ctxwrapHere(['handoff', ...args], bench);
const started = (...args: readonly string[]) => ctxwrap(['handoff', ...args], bench);

/** A Claude session in a repository, with edits, a todo list, a long answer to a command, and texts that are not to be trusted. */
const writeSession = (
  name: string,
  more: readonly object[] = [],
): { readonly file: string; readonly cwd: string } => {
  const cwd = join(realpathSync(bench.folder), 'repo/app');
  mkdirSync(cwd, { recursive: true });
  const git = (...args: readonly string[]): void => {
    const env = { ...bench.env, GIT_CONFIG_GLOBAL: '/dev/null' };
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    expect(spawnSync('git', [...who, ...args], { cwd: join(cwd, '..'), env }).status).toBe(0);
  };
  writeFileSync(join(cwd, 'old.ts'), 'one\n');
  if (hasGit) {
    git('init', '-q');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
  }
  writeFileSync(join(cwd, 'old.ts'), 'two\n');
  const call = (id: string, tool: string, input: object): readonly object[] => [
    {
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input }] },
    },
    {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
    },
  ];
  const todos = [
    { content: 'change old.ts', status: 'completed' },
    { content: 'write the tests', status: 'in_progress' },
    { content: 'update the page', status: 'pending' },
  ];
  const records = [
    { type: 'user', message: { role: 'user', content: 'Change old.ts, and keep the tests green.' } },
    ...call('a', 'Edit', { file_path: join(cwd, 'old.ts') }),
    ...call('b', 'Bash', { command: 'npm test -- old' }),
    ...call('c', 'TodoWrite', { todos }),
    ...more,
    { type: 'user', message: { role: 'user', content: 'Now the tests.' } },
  ];
  const uuid = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const lines = records.map((record, index) =>
    JSON.stringify({
      ...record,
      uuid: uuid(index + 1),
      parentUuid: index === 0 ? null : uuid(index),
      isSidechain: false,
      sessionId: 'aaaaaaaa-2222-4333-8444-555555555555',
      cwd,
    }),
  );
  const file = join(bench.folder, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return { file, cwd };
};

describe('ctxwrap handoff', () => {
  it.runIf(hasGit)('prints Markdown from the session file and from git (skipped without git)', async () => {
    const { file, cwd } = writeSession('s.jsonl');
    const { stdout, stderr, code } = await started(file);
    const plain = stdout
      .replace(cwd, 'FOLDER')
      .replace(/written: \S+,/, 'written: TIME,')
      .replace(/commit [0-9a-f]{12}/, 'commit HASH');
    expect(plain).toMatchInlineSnapshot(`
      "# Handoff from claude

      - session: \`aaaaaaaa-2222-4333-8444-555555555555\`
      - folder: \`FOLDER\`
      - written: TIME, on request
      - git: commit HASH, 1 changed file

      ## Last requests of the user, verbatim

      > Change old.ts, and keep the tests green.

      not answered:

      > Now the tests.

      ## Remaining, from the agent's plan

      - [ ] write the tests (begun)
      - [ ] update the page

      ## Done, by the agent's plan

      - [x] change old.ts

      ## Files changed (whether they are finished is not on record)

      - \`old.ts\`: edited by the agent, changed in git status

      ## Last commands

      - \`npm test -- old\`
      "
    `);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  it.runIf(hasGit)('prints the same as JSON, with its size (skipped without git)', async () => {
    const { file } = writeSession('s.jsonl');
    const { stdout, code } = await handoff(file, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'ctxwrap.handoff/1',
      agentId: 'aaaaaaaa-2222-4333-8444-555555555555',
      runtime: 'claude',
      reason: 'requested',
      completed: [
        { status: 'done', notes: 'change old.ts' },
        { file: 'old.ts', status: 'partial', notes: 'edited by the agent, changed in git status' },
      ],
      remaining: [
        { description: 'write the tests', priority: 'high' },
        { description: 'update the page', priority: 'normal' },
      ],
      context: { decisions: [], patterns: [], issues: [], filesModified: ['old.ts'] },
      size: { recommended: 4_000, cut: [] },
    });
  });

  it.each(Object.entries(ids))('reads a session of %s by its id', async (runtime, id) => {
    const { stdout, code } = await handoff(id, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ runtime, agentId: id });
  });

  it('says on standard error what to leave out when it is too long, and that is enough', async () => {
    const long = { type: 'user', message: { role: 'user', content: 'why? '.repeat(900) } };
    const { file } = writeSession('s.jsonl', [long, long, long]);
    const { stdout, stderr, code } = await handoff(file);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(4_000);
    const [, options = ''] = /; (--.*) leaves [\d,]+\n$/.exec(stderr) ?? [];
    expect(stderr).toMatch(/^ctxwrap: the handoff has \S+ characters, more than the recommended 4,000; /);
    const shorter = await handoff(file, ...options.split(' '));
    expect(shorter.stderr).toBe('');
    expect(shorter.stdout.length).toBeLessThanOrEqual(4_000);
    expect(shorter.stdout).toContain('> Now the tests.');
  });

  it('prints no control sequence of a session file', async () => {
    const text = 'x \u001b]0;owned\u0007\u001b[2J\u009b31m\u202e y';
    const { file } = writeSession('s.jsonl', [{ type: 'user', message: { role: 'user', content: text } }]);
    for (const args of [[], ['--json']]) {
      const { stdout } = await handoff(file, ...args);
      expect(stdout).toContain('owned');
      expect(stdout).not.toMatch(/[^\P{C}\n]/u);
    }
  });

  it('writes to a new file for you only, and replaces none', async () => {
    const { file } = writeSession('s.jsonl');
    const path = join(bench.folder, 'next.md');
    expect(await handoff(file, '--output', path)).toMatchObject({ stdout: '', stderr: '', code: 0 });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toMatch(/^# Handoff from claude\n[^]*\n$/);
    const before = readFileSync(path, 'utf8');
    const again = await handoff(file, '--output', path);
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('already exists, and ctxwrap overwrites no file'),
    });
    expect(readFileSync(path, 'utf8')).toBe(before);
    symlinkSync(join(bench.folder, 'elsewhere'), join(bench.folder, 'link.md'));
    expect(await handoff(file, '--output', join(bench.folder, 'link.md'))).toMatchObject({ code: 2 });
  });

  it.each([
    { args: ['--to', 'codxe'], words: 'did you mean codex?' },
    { args: ['--import'], words: '--import and --draft belong to --to' },
    { args: ['--without', 'sumary'], words: 'did you mean summary?' },
    { args: ['--requests', '101'], words: '--requests must be a number from 0 to 100, got "101"' },
    { args: ['--json', '--to', 'codex'], words: '--json cannot be combined with --to' },
    { args: ['ffffffff-2222'], words: 'there is no session or session file' },
  ])('refuses $args', async ({ args, words }) => {
    const { stdout, stderr, code } = await handoff(...args);
    expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
    expect(stderr).toContain(words);
  });

  it('starts no agent without a terminal', async () => {
    const { stdout, stderr, code } = await started('--to', 'codex');
    expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
    expect(stderr).toContain('stdin is not a terminal');
  });

  it('says that no session runs, and that a file without a conversation has nothing to hand off', async () => {
    expect(await handoff('--runtime', 'kimi')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no session is running'),
    });
    const empty = join(bench.folder, 'empty.jsonl');
    writeFileSync(empty, `${readFileSync(fixture('qwen/tools.jsonl'), 'utf8').split('\n')[0]}\n`);
    writeFileSync(empty, '{"type":"system","isSidechain":false,"sessionId":"x","uuid":"1","content":"hi"}\n');
    expect(await handoff(empty, '--runtime', 'claude')).toMatchObject({ code: 1 });
  });

  it('takes the last recorded session where none is named and none runs, and says which it is', async () => {
    writeStores(bench.folder);
    const { stdout, stderr, code } = await handoff('--runtime', 'qwen');
    expect(stdout).toContain('# Handoff from qwen');
    expect(stderr).toBe('ctxwrap: no session is running; this is the last one: b3603808 in /proj/app-qwen\n');
    expect(code).toBe(0);
  });
});
