// `ctxwrap undo` as users run it, over a home folder with the session files of all agents and no agent running.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ids, writeStores } from '../support/stored-sessions.js';
import { publishSession } from '../support/published.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
  writeStores(bench.folder);
});
afterEach(() => bench.remove());

const undo = (...args: readonly string[]) => ctxwrap(['undo', ...args], bench);

interface Report {
  readonly from: string;
  readonly messages: number;
  readonly session: { readonly id: string; readonly path: string };
  readonly resume: { readonly command: string; readonly args: readonly string[] };
}

const claudeFile = (): string => join(bench.folder, `.claude/projects/-proj-app-claude/${ids.claude}.jsonl`);

describe('ctxwrap undo', () => {
  it('writes the conversation to a new session and says how to go on with it', async () => {
    const before = readFileSync(claudeFile());
    const { stdout, stderr, code } = await undo(ids.claude.slice(0, 8));
    const [, id = ''] = /: ([0-9a-f-]{36})\n/.exec(stdout) ?? [];
    expect(stdout.replaceAll(id, 'ID')).toMatchInlineSnapshot(`
      "✓ compaction 1 of 1 (131k → ~101k) undone in a new session with your 3 messages: ID
      To continue it:
        cd /proj/app-claude && ctxwrap claude --resume ID
      "
    `);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(readFileSync(claudeFile())).toEqual(before);
    const written = join(dirname(claudeFile()), `${id}.jsonl`);
    expect(statSync(written).mode & 0o777).toBe(0o600);
    expect(readFileSync(written, 'utf8')).not.toContain(ids.claude);
  });

  it.each([
    { name: 'claude', target: ids.claude, messages: 3, resume: (id: string) => ['--resume', id] },
    { name: 'codex', target: `${ids.codex}#2`, messages: 1, resume: (id: string) => ['resume', id] },
    { name: 'gemini', target: ids.gemini, messages: 2, resume: (id: string) => ['--resume', id] },
    { name: 'qwen', target: ids.qwen, messages: 3, resume: (id: string) => ['--resume', id] },
  ])(
    'knows how $name is resumed, and makes another session each time',
    async ({ target, messages, resume, name }) => {
      const reports: Report[] = [];
      for (const _ of [1, 2]) {
        const { stdout, stderr, code } = await undo(target, '--json');
        expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
        reports.push(JSON.parse(stdout) as Report);
      }
      const [one, two] = reports;
      expect(one?.session.path).not.toBe(two?.session.path);
      for (const { from, session, resume: resumed, messages: count } of reports) {
        expect(dirname(session.path)).toBe(dirname(from));
        expect({ count, ...resumed }).toMatchObject({
          count: messages,
          command: name,
          args: resume(session.id),
        });
      }
    },
  );

  it('starts the agent with it in the folder of the session with --run', async () => {
    writeFileSync(
      claudeFile(),
      readFileSync(claudeFile(), 'utf8').replaceAll('/proj/app-claude', bench.folder),
    );
    bench.program('claude', '#!/bin/sh\nprintf "%s " "in $PWD:" "$@"\nexit 7\n');
    const { stdout, code } = await undo(ids.claude, '--run');
    const [, id = ''] = /: ([0-9a-f-]{36})\n/.exec(stdout) ?? [];
    expect(stdout).toContain(`in ${bench.folder}: --resume ${id}`);
    expect(code).toBe(7);
  });

  it.each([
    [['nothing-like-it'], 2, 'there is no session or session file "nothing-like-it"'],
    [[`${ids.claude}#3`], 2, `there is no compaction "${ids.claude}#3"\nctxwrap: this session has one: #1\n`],
    [[`${ids.codex}#1`], 1, 'no longer holds what was said before the compaction'],
    [[ids.claude, '--run'], 1, 'cannot go to "/proj/app-claude"'],
  ])('with %j says what is wrong and what to do', async (args, status, reason) => {
    const { stderr, code } = await undo(...args);
    expect(stderr).toContain(reason);
    expect(stderr.trim().split('\n')).toHaveLength(2);
    expect(code).toBe(status);
  });

  it('takes the last recorded session with a compaction where none is named and none runs, and says which it is', async () => {
    const { stdout, stderr, code } = await undo('--runtime', 'claude');
    expect(stdout).toContain('✓ compaction 1 of 1 (131k → ~101k) undone in a new session');
    expect(stderr).toBe(
      'ctxwrap: no session is running; this is the last one with a compaction: 11111111 in /proj/app-claude\n',
    );
    expect(code).toBe(0);
    bench.env['CTXWRAP_SESSION'] = 'ended'; // called within a session, it means no other
    const inside = await undo('--runtime', 'claude');
    expect(inside).toMatchObject({ code: 2, stderr: expect.stringContaining('no session is running') });
  });

  it('leaves no file where it says that nothing can be undone', async () => {
    const folder = dirname(claudeFile());
    const before = readdirSync(folder);
    await undo(`${ids.claude}#3`);
    expect(readdirSync(folder)).toEqual(before);
  });

  it('tells of a file that the agent does not keep that it will not find the new session', async () => {
    const file = join(bench.folder, 'elsewhere.jsonl');
    writeFileSync(file, readFileSync(claudeFile()));
    const { stdout, code } = await undo(file, '--runtime', 'claude');
    expect(stdout).toMatch(
      /It is in \S+\/[0-9a-f-]{36}\.jsonl, where claude does not look for sessions\.\n$/,
    );
    expect(code).toBe(0);
    const before = readdirSync(bench.folder);
    const started = await undo(file, '--runtime', 'claude', '--run');
    expect(started.stderr).toContain('claude does not look for sessions in');
    expect(started.code).toBe(1);
    expect(readdirSync(bench.folder)).toEqual(before);
  });

  it('counts damaged lines, and takes the rest', async () => {
    const lines = readFileSync(claudeFile(), 'utf8').split('\n');
    writeFileSync(claudeFile(), lines.toSpliced(3, 0, '{"half', '\u0000\u0001').join('\n'));
    const { stdout, stderr, code } = await undo(ids.claude);
    expect(stderr).toContain('2 damaged lines were skipped');
    expect(code).toBe(0);
    const [, id = ''] = /: ([0-9a-f-]{36})\n/.exec(stdout) ?? [];
    const written = readFileSync(join(dirname(claudeFile()), `${id}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n');
    for (const line of written) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  it('names what it cannot read', async () => {
    const { stderr, code } = await undo('/dev/null');
    expect(stderr).toContain('cannot read the session file "/dev/null": it is not a regular file');
    expect(code).toBe(2);
  });

  it('names the setting for an agent that takes its compactions back itself', async () => {
    await publishSession(join(bench.folder, '.local/state/ctxwrap'), {
      runtime: 'opencode',
      cwd: bench.folder,
      agentSessionId: 'ses_one',
    });
    for (const { stdout, stderr, code } of [await undo(), await undo('opencode')])
      expect({ code, stdout, stderr }).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /undoes a compaction of opencode only while it runs[^]*ctxwrap config set via channel/,
        ) as string,
      });
  });
});
