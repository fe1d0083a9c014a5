// What `history` and `recall` say of a session that `ctxwrap compact --strategy` has written, for each agent whose sessions it writes.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { keepCopy } from '../../src/storage/blackbox/keep.js';
import { conversationOf, type Turn } from '../support/generated-conversation.js';

const program = join(import.meta.dirname, '../../bin/ctxwrap.js');
const OLD = '0a0a0a0a-0000-4000-8000-000000000001';

const prompts = ['never push to main without asking', 'why is `ABC_SERVER_PORT` not read?'];
const turns: readonly Turn[] = Array.from({ length: 40 }, (_, index) => ({
  prompt: prompts[index] ?? `question ${index}`,
  actions: [{ does: 'answers', text: 'so it is. '.repeat(100) }],
}));

const places = {
  claude: `.claude/projects/-proj/${OLD}.jsonl`,
  codex: `.codex/sessions/2026/09/21/rollout-2026-09-21T14-13-20-${OLD}.jsonl`,
  gemini: `.gemini/tmp/proj/chats/session-2026-09-21T14-13-${OLD}.jsonl`,
  qwen: `.qwen/projects/-proj/chats/${OLD}.jsonl`,
  copilot: `.copilot/session-state/${OLD}/events.jsonl`,
  kimi: `.kimi-code/sessions/proj/session_${OLD}/agents/main/wire.jsonl`,
} as const;

/** The agents in whose files a shortening leaves no record. */
const unrecorded = { gemini: true, copilot: true, kimi: true };

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ctxwrap-shortened-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', CI: process.env['CI'] },
  });
  return { status, stdout, stderr };
};

const writeEnded = (name: keyof typeof places): string => {
  let count = 0;
  const file = join(home, places[name]);
  mkdirSync(dirname(file), { recursive: true });
  const conversation = conversationOf(turns);
  const lines = agents[name].newSessions?.write(
    { ...conversation, head: { ...conversation.head, provider: 'mock' } },
    {
      id: OLD,
      cwd: '/proj',
      now: 1_790_000_000_000,
      newUuid: () => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`,
    },
  );
  writeFileSync(file, `${lines?.join('\n')}\n`);
  return file;
};

const shorten = (file: string): string => {
  const asked = ['--strategy', 'truncate', '--budget', '4000', '--keep-recent', '3', '--json'];
  const { stdout } = run('compact', file, ...asked);
  const made = JSON.parse(stdout) as { readonly session: { readonly id: string } };
  return made.session.id;
};

describe.each(Object.keys(places) as (keyof typeof places)[])(
  'an ended session of %s that was shortened',
  (name) => {
    it('is ctxwrap’s in the history, with the size from before it and the one after it, both estimated', () => {
      const id = shorten(writeEnded(name));
      const [row] = run('history')
        .stdout.split('\n')
        .filter((line) => line.includes('#'));
      expect(row).toMatch(/ {2}~10k +~8\d\d +(?:manual +)?ctxwrap /);
      const [session] = (JSON.parse(run('history', '--json', id).stdout) as History).sessions;
      expect(session?.compaction.boundaries).toMatchObject([
        { initiator: 'ctxwrap', pre_tokens_estimated: true, post_tokens_estimated: true },
      ]);
    });

    it('is undone by the longer one, which is as it was', () => {
      const file = writeEnded(name);
      const id = shorten(file);
      const undone = JSON.parse(run('undo', id, '--json').stdout) as object;
      expect(undone).toMatchObject({ session: { id: OLD, path: file } });
      expect(run('undo', id).stdout).toMatch(
        /^✓ shortening undone: your 4[01] messages are in the session that it is from: 0a0a0a0a-0000-4000-8000-000000000001$/m,
      );
    });

    it('is recalled from the longer one', () => {
      const file = writeEnded(name);
      const id = shorten(file);
      const { status, stdout } = run('recall', id);
      expect(stdout).toMatch(/^ {2}kept +never push to main without asking$/m);
      expect(stdout).toMatch(/^ {2}forgotten +ABC_SERVER_PORT$/m);
      expect(run('history', 'show', `${id}#${name in unrecorded ? 0 : 1}`, '--before').stdout).toContain(
        'question 20',
      );
      expect(status).toBe(0);
      expect(JSON.parse(run('recall', '--json', id).stdout)).toMatchObject({
        path: file,
        items: [
          { kind: 'constraint', kept: true },
          { kind: 'identifier', text: 'ABC_SERVER_PORT', kept: false },
        ],
      });
    });
  },
);

describe('a shortening of which the agent’s file has no record', () => {
  const answer = {
    id: 'a1',
    timestamp: '2030-01-01T00:00:00.000Z',
    type: 'gemini',
    content: 'done',
    tokens: { input: 14_000, output: 9, cached: 0, total: 14_009 },
    model: 'gemini-2.5-pro',
  };

  it('is verified by the next answer, whose number takes the place of the estimate', () => {
    const id = shorten(writeEnded('gemini'));
    const row = (): unknown =>
      (JSON.parse(run('history', '--json', id).stdout) as History).sessions[0]?.compaction.boundaries[0];
    expect(row()).toMatchObject({ number: 0, line: 0, verified: false, post_tokens_estimated: true });
    const [{ path } = { path: '' }] = (JSON.parse(run('history', '--json', id).stdout) as History).sessions;
    writeFileSync(path, `${readFileSync(path, 'utf8')}${JSON.stringify(answer)}\n`);
    expect(row()).toMatchObject({ number: 0, verified: true, post_tokens: null, next_tokens: 14_000 });
    expect(run('context', id).stdout).toMatch(/^ *Compactions: 1$/m);
  });

  it('has the number 0 in what is said of it', () => {
    const id = shorten(writeEnded('gemini'));
    for (const args of [
      ['undo', `${id}#1`],
      ['history', 'show', `${id}#1`],
    ])
      expect(run(...args).stderr).toContain('this session has one: #0');
    expect(run('history', 'show', id).stdout).not.toMatch(/line 0|Summary/);
  });

  it('is not one that the agent has recorded', () => {
    const { status, stderr } = run('undo', `${shorten(writeEnded('qwen'))}#0`);
    expect([status, stderr]).toEqual([2, expect.stringContaining('this session has one: #1') as string]);
  });
});

it('a session that is shortened outside the agent’s store is named by its file, which the agent does not find', () => {
  const file = writeEnded('claude');
  const copy = join(home, `${OLD}.jsonl`);
  writeFileSync(copy, readFileSync(file));
  const { stdout } = run('compact', copy, '--strategy', 'truncate', '--budget', '4000', '--keep-recent', '3');
  expect(stdout).toMatch(/^It is in .*\.jsonl, where claude does not look for sessions\.$/m);
  expect(stdout).not.toContain('--resume');
});

describe('the size that ctxwrap has estimated for a shortened session', () => {
  it.each([
    ['claude', '"role":"assistant",', '"role":"assistant","usage":{"input_tokens":90000,"output_tokens":9},'],
    ['gemini', '"type":"gemini",', '"type":"gemini","tokens":{"input":90000,"output":9},'],
    ['qwen', '"type":"assistant",', '"type":"assistant","usageMetadata":{"promptTokenCount":90000},'],
  ] as const)('is an estimate for who reads its file before the next answer: %s', (name, found, counted) => {
    const file = writeEnded(name);
    writeFileSync(
      file,
      readFileSync(file, 'utf8')
        .replace(/"tokens":null,/g, '')
        .replaceAll(found, counted),
    );
    const read = (id: string): object => JSON.parse(run('context', id, '--json').stdout) as object;
    expect(read(OLD)).toMatchObject({ reading: { usedTokens: 90_000, source: 'log' } });
    expect(read(shorten(file))).toMatchObject({ reading: { source: 'estimate' } });
  });
});

describe('a shortened session whose longer one cannot be read', () => {
  it.each([
    ['is gone', (file: string) => rmSync(file), 'no such file or directory'],
    ['is empty', (file: string) => writeFileSync(file, ''), 'nothing was said in it'],
  ] as const)('because its file %s: every command names that file', (_, spoil, reason) => {
    const file = writeEnded('claude');
    const id = shorten(file);
    spoil(file);
    const text = `cannot read the longer session that ctxwrap has shortened, "${file}": ${reason}`;
    for (const args of [
      ['undo', id],
      ['recall', id],
      ['history', 'show', id, '--before'],
    ]) {
      const { status, stderr } = run(...args);
      expect([args[0], status, stderr]).toEqual([args[0], 1, expect.stringContaining(text) as string]);
    }
    expect(run('history', id).status).toBe(0);
  });

  it('is read from the copy in the black box, and undone by a new session of it', async () => {
    const file = writeEnded('claude');
    const id = shorten(file);
    await keepCopy({
      stateFolder: join(home, '.local/state/ctxwrap'),
      runtime: 'claude',
      session: OLD,
      cwd: '/proj',
      path: file,
      why: 'asked',
      source: file,
      now: 2,
      mostBytes: 1e9,
    });
    rmSync(file);
    expect(run('history', 'show', id, '--before').stdout).toContain('question 20');
    const undone = JSON.parse(run('undo', id, '--json').stdout) as Undone;
    expect(undone).toMatchObject({ from: file, copiedAt: expect.any(String) as string });
    expect(undone.session.id).not.toBe(OLD);
    expect(run('handoff', undone.session.path).stdout).toContain('never push to main without asking');
  });
});

interface Undone {
  readonly session: { readonly id: string; readonly path: string };
}

interface History {
  readonly sessions: readonly {
    readonly path: string;
    readonly compaction: { readonly boundaries: readonly object[] };
  }[];
}
