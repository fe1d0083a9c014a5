// `ctxwrap compact --strategy` with session files, as users run it.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { conversationOf, type Turn } from '../support/generated-conversation.js';

const program = join(import.meta.dirname, '../../bin/ctxwrap.js');
const OLD = '0a0a0a0a-0000-4000-8000-000000000001';
let home: string;
let file: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ctxwrap-shorten-'));
  const project = join(home, '.claude/projects/-proj');
  mkdirSync(project, { recursive: true });
  file = join(project, `${OLD}.jsonl`);
  let count = 0;
  const turns: readonly Turn[] = Array.from({ length: 40 }, (_, index) => ({
    prompt: `question ${index}`,
    actions: [{ does: 'answers', text: 'so it is. '.repeat(100) }],
  }));
  const lines = agents.claude.newSessions?.write(conversationOf(turns), {
    id: OLD,
    cwd: home,
    now: 1_790_000_000_000,
    newUuid: () => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`,
  });
  writeFileSync(file, `${lines?.join('\n')}\n`);
});
afterEach(() => rmSync(home, { recursive: true }));

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'compact', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', CI: process.env['CI'] },
  });
  return { status, stdout, stderr };
};

const filesThere = (): readonly string[] => readdirSync(join(home, '.claude/projects/-proj'));

describe('compact --strategy', () => {
  it('--dry-run says what would be kept and removed, and writes nothing', () => {
    const before = readFileSync(file);
    const options = ['--strategy', 'truncate', '--keep-recent', '5', '--budget', '2000'];
    const { status, stdout } = run(file, ...options, '--dry-run');
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^claude: truncate would shorten the conversation, 10k → 1\.\dk \(estimated tokens\)$/m,
    );
    expect(stdout).toMatch(/^ {2}kept +5 messages of yours, 0 tool calls, word for word$/m);
    expect(stdout).toMatch(/^ {2}removed +35 messages of yours, 0 tool calls$/m);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(filesThere()).toEqual([`${OLD}.jsonl`]);
  });

  it('writes a new session beside the old one, which stays as it was, and prints what resumes it', () => {
    const before = readFileSync(file);
    const { status, stdout } = run(file, '--strategy', 'clustering', '--budget', '4000', '--output', 'new');
    expect(status).toBe(0);
    const [, short = ''] = /in a new session: (\S+)/.exec(stdout) ?? [];
    const [, id = ''] = /ctxwrap claude --resume (\S+)/.exec(stdout) ?? [];
    expect(short).toBe(id.slice(0, 8)); // as everywhere
    expect(filesThere().toSorted()).toEqual([`${OLD}.jsonl`, `${id}.jsonl`].toSorted());
    expect(readFileSync(file).equals(before)).toBe(true);
    const report = JSON.parse(
      run(file, '--strategy', 'truncate', '--budget', '4000', '--json').stdout,
    ) as unknown;
    expect(report).toMatchObject({
      schema: 'ctxwrap.shorten/1',
      runtime: 'claude',
      change: { budgetTokens: 4_000 },
    });
  });

  it('says so where the audit log cannot have it, and names the file with the whole conversation', () => {
    mkdirSync(join(home, '.local/state/ctxwrap/audit.jsonl'), { recursive: true, mode: 0o700 });
    const { status, stdout } = run(file, '--strategy', 'truncate', '--budget', '2000');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^✓ shortened by truncate/);
    expect(stdout).toMatch(/^! not recorded in audit\.jsonl: /m);
    expect(stdout).toContain(`ctxwrap undo cannot find the whole conversation, which stays in ${file}`);
    const { stdout: json } = run(file, '--strategy', 'truncate', '--budget', '2000', '--json');
    expect(JSON.parse(json)).toMatchObject({ from: file, unrecorded: expect.any(String) as string });
  });

  it('counts what a strategy of yours keeps', () => {
    const module = join(home, 'mine.mjs');
    const code =
      'export const compact = (s) => ({ ...s, entries: s.entries.filter((e) => e.kind === "prompt").slice(-25) });';
    writeFileSync(module, code);
    mkdirSync(join(home, '.config/ctxwrap'), { recursive: true });
    writeFileSync(
      join(home, '.config/ctxwrap/config.jsonc'),
      JSON.stringify({ strategies: { mine: module } }),
    );
    const { stdout } = run(file, '--strategy', 'mine', '--dry-run', '--budget', '2000');
    expect(stdout).toMatch(/^ {2}kept +25 messages of yours/m);
    expect(stdout).toMatch(/^ {2}removed +15 messages of yours/m);
  });

  it('has the summary written by the server that you have set', async () => {
    const asked: string[] = [];
    const server = createServer(async (request, response) => {
      asked.push(await text(request));
      response.setHeader('content-type', 'application/json');
      const message = { role: 'assistant', content: 'The summary of the server.' };
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    mkdirSync(join(home, '.config/ctxwrap'), { recursive: true });
    const config = { 'summariser.url': url, 'summariser.model': 'tiny' };
    writeFileSync(join(home, '.config/ctxwrap/config.jsonc'), JSON.stringify(config));
    const args = [file, '--strategy', 'summarize', '--budget', '4000', '--json'];
    const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', CI: process.env['CI'] };
    const child = spawn(process.execPath, [program, 'compact', ...args], { env });
    const { session } = JSON.parse(await text(child.stdout)) as { session: { path: string } };
    server.close();
    server.closeAllConnections();
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('question 0');
    expect(asked[0]).not.toContain('question 39');
    const written = readFileSync(session.path, 'utf8');
    expect(written).toContain('The summary of the server.');
    expect(written).toContain('question 39');
    expect(written).not.toContain('question 0\n');
  });

  it.each([
    [['--dry-run'], '--dry-run needs a strategy'],
    [['--budget', '60k'], '--budget needs a strategy'],
    [['--strategy', 'truncate', '--no-wait'], "--no-wait is for the agent's own command"],
    [['--strategy', 'truncate', '--all'], "--all is for the agent's own command"],
    [['--strategy', 'truncate', '--output', 'old'], 'old'],
    [['--strategy', 'truncate', '--keep-recent', '0'], '0'],
    [
      ['--strategy', 'magic', 'FILE'],
      '--strategy must be one of truncate, summarize, clustering, got "magic"\nctxwrap: try --strategy truncate\n',
    ],
    [['--strategy', 'sumarize', 'no-such-session'], 'try --strategy summarize\n'],
    [
      ['--strategy', 'summarize', '--budget', '900k', 'FILE'], // that there is nothing to remove is found later
      'ctxwrap: the strategy "summarize" cannot be used: no summariser is set\nctxwrap: ctxwrap config set summariser.url agent\n',
    ],
    [
      ['--strategy', 'auto', OLD],
      `--strategy auto is the agent's own command, and session "${OLD}" is not running\nctxwrap: to shorten it without the agent: ctxwrap compact --strategy truncate ${OLD}\n`,
    ],
    [
      ['--strategy', 'truncate', '--budget', '900k', 'FILE'],
      'about 10k tokens are within its budget of 900k',
    ],
    [['--strategy', 'truncate', '/nowhere/at/all.jsonl'], '/nowhere/at/all.jsonl'],
  ])('%j says what is wrong', (args, reason) => {
    const { status, stdout, stderr } = run(...args.map((arg) => (arg === 'FILE' ? file : arg)));
    expect(status).toBeGreaterThan(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(reason);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('names for a session that cannot be written a command that the same agent takes', () => {
    const demo = join(home, 'demo.jsonl');
    writeFileSync(demo, '{"type":"turn","at":1790000000000,"usedTokens":1000,"windowTokens":200000}\n');
    expect(run('--strategy', 'truncate', demo).stderr).toBe(
      'ctxwrap: ctxwrap cannot write sessions of demo, only read them\nctxwrap: to print what is on record: ctxwrap handoff SESSION\n',
    );
  });
});
