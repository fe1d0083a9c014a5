// Sessions whose files the agent has lost, in `ctxwrap history` and the commands that read past sessions: the black box has them.
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepCopy, linkFile } from '../../src/storage/blackbox/keep.js';
import { fixture, ids } from '../support/stored-sessions.js';
import { ctxwrapHere } from '../support/command-here.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

let bench: Bench;
let path: string;
let copyId: string;
let fileId: string;
const { claude: id } = ids;
const recorded = readFileSync(fixture('claude/session-with-compaction.jsonl'));

beforeEach(async () => {
  bench = makeBench();
  Object.assign(bench.env, { TZ: 'UTC', COLUMNS: '110' });
  path = join(bench.folder, `.claude/projects/-proj-app-claude/${id}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(fixture('claude/session-with-compaction.jsonl'), path);
  const stateFolder = join(bench.folder, '.local/state/ctxwrap');
  const place = { stateFolder, runtime: 'claude', session: id, cwd: '/proj/app-claude', path };
  const linked = await linkFile(place, 1);
  fileId = linked.kind === 'linked' ? linked.file.id : '';
  const made = await keepCopy({ ...place, why: 'asked', source: path, now: 2, mostBytes: 1e9 });
  copyId = made.checkpoint.id;
});
afterEach(() => bench.remove());

const json = async (...args: readonly string[]) => {
  const { stdout } = await ctxwrapHere(['history', ...args, '--json'], bench);
  return JSON.parse(stdout) as {
    readonly skipped: readonly { readonly path: string; readonly reason: string }[];
    readonly sessions: readonly {
      readonly session_id: string;
      readonly path: string;
      readonly kept_copy: boolean;
      readonly compaction: { readonly boundaries: readonly { readonly kept_copy: boolean }[] };
    }[];
  };
};

describe('a session whose file the agent has removed', () => {
  it('is listed from the copy that ctxwrap kept, and only then', async () => {
    expect((await json()).sessions).toMatchObject([{ session_id: id, kept_copy: false }]);
    rmSync(path);
    expect((await json()).sessions).toMatchObject([
      { session_id: id, path, kept_copy: true, compaction: { boundaries: [{ kept_copy: true }] } },
    ]);
    const { stdout } = await ctxwrap(['history'], bench);
    expect(stdout).toMatch(/^claude · \/proj\/app-claude · 11111111 · kept by ctxwrap$/m);
    expect(stdout).toMatch(/^1 compaction in 1 session$/m);
  });

  it('is found by its id, with the conversation before a compaction, its recap and its undoing', async () => {
    rmSync(path);
    const before = await ctxwrapHere(['history', 'show', `${id.slice(0, 8)}#1`, '--before'], bench);
    expect(before).toMatchObject({ stderr: '', code: 0 });
    expect(before.stdout).toContain('run the tool');
    const recap = await ctxwrapHere(['recall', `${id}#1`], bench);
    expect(recap.stdout).toContain('Commands: 0 of 1 kept');
    rmSync(dirname(path), { recursive: true }); // a clean-up takes empty folders with it
    const undo = await ctxwrapHere(['undo', `${id}#1`, '--json'], bench);
    const { session } = JSON.parse(undo.stdout) as { readonly session: { readonly path: string } };
    expect(readFileSync(session.path, 'utf8')).toContain('run the tool');
  });

  it('is passed over by --runtime and --project like any other', async () => {
    rmSync(path);
    expect((await json('--runtime', 'codex')).sessions).toEqual([]);
    expect((await json('--project', '/elsewhere')).sessions).toEqual([]);
    expect((await json('--project', '/proj')).sessions).toHaveLength(1);
  });

  it('with a damaged copy is named as skipped', async () => {
    rmSync(path);
    const folder = join(bench.folder, '.local/state/ctxwrap/checkpoints', `claude-${id}`);
    rmSync(join(folder, `${fileId}.file`));
    rmSync(join(folder, 'chunks'), { recursive: true });
    const { sessions, skipped } = await json();
    expect(sessions).toEqual([]);
    expect(skipped).toEqual([{ path, reason: 'a piece of it is missing' }]);
  });
});

describe('a session whose file the agent still has', () => {
  it('is not listed twice when the agent has moved it, or reaches it through a link', async () => {
    const archive = join(bench.folder, '.claude/projects/-elsewhere');
    mkdirSync(archive);
    renameSync(path, join(archive, `${id}.jsonl`));
    expect((await json()).sessions).toMatchObject([{ kept_copy: false }]);
    renameSync(join(bench.folder, '.claude'), join(bench.folder, 'dotfiles'));
    symlinkSync(join(bench.folder, 'dotfiles'), join(bench.folder, '.claude'));
    expect((await json()).sessions).toMatchObject([{ kept_copy: false }]);
  });

  it('but not what was in it, is read from the copy that the user names by its id', async () => {
    writeFileSync(path, `${recorded.toString().split('\n', 5).join('\n')}\n`);
    expect((await json()).sessions).toEqual([]);
    expect((await json(copyId)).sessions).toMatchObject([{ session_id: id, kept_copy: true }]);
    const { stdout } = await ctxwrapHere(['history', 'show', `${copyId.slice(0, 6)}#1`, '--before'], bench);
    expect(stdout).toContain('run the tool');
  });

  it('but only a summary of what was in it, is undone from the copy', async () => {
    const lines = recorded.toString().split('\n');
    writeFileSync(path, lines.slice(lines.findIndex((line) => line.includes('compact_boundary'))).join('\n'));
    const { stdout } = await ctxwrapHere(['undo', id], bench);
    const [, made = ''] = /: ([0-9a-f-]{36})\n/.exec(stdout) ?? [];
    expect(stdout).toContain(
      "Taken from ctxwrap's copy of 1970-01-01 00:00: the session file no longer holds it.",
    );
    expect(readFileSync(join(dirname(path), `${made}.jsonl`), 'utf8')).toContain('run the tool');
  });
});
