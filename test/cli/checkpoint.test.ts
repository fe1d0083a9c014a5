// `ctxwrap checkpoint`.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonRecord } from '../../src/core/json.js';
import { linkFile, keepCopy, noteFate } from '../../src/storage/blackbox/keep.js';
import { ctxwrapHere } from '../support/command-here.js';
import { publishSession } from '../support/published.js';
import { linesFrom, SESSION } from '../support/kept.js';
import { ctxwrap, makeBench } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
let stateFolder: string;
let path: string;
let fileId: string;
let copyId: string;
beforeEach(async () => {
  bench = makeBench();
  stateFolder = join(bench.folder, '.local/state/ctxwrap');
  path = join(bench.folder, 'session.jsonl');
  writeFileSync(path, text);
  const linked = await linkFile(place(), AT);
  const { checkpoint } = await keepCopy({
    ...place(),
    why: 'compaction',
    source: path,
    now: AT,
    end,
    mostBytes: 1e9,
    ...about,
  });
  fileId = linked.kind === 'linked' ? linked.file.id : '';
  copyId = checkpoint.id;
});
afterEach(() => bench.remove());

const AT = 1_790_000_000_000;
const text = linesFrom(0, 50);
const end = linesFrom(0, 40).length;
const about = {
  boundary: { at: AT, initiator: 'user', preTokens: 166_000, postTokens: 12_000 },
  git: { head: 'a'.repeat(40), dirty: ['src/x.ts', 'we\x1b[31mird'] },
} as const;
const place = () => ({ stateFolder, runtime: 'claude', session: SESSION, cwd: '/proj/app', path });
const run = (...args: readonly string[]) => ctxwrapHere(['checkpoint', ...args], bench);
const json = async (...args: readonly string[]): Promise<JsonRecord & { checkpoints: JsonRecord[] }> =>
  JSON.parse((await run(...args, '--json')).stdout);

describe('ctxwrap checkpoint', () => {
  it('lists what is kept', async () => {
    const { stdout, code } = await ctxwrap(['checkpoint'], bench);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ID +WHEN +AGENT +SESSION +WHAT +SIZE/m);
    expect(stdout).toMatch(new RegExp(`^${copyId} .* claude +0f3a2b1c +compaction by you +`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${fileId} .* file +`, 'm'));
    expect(stdout).toMatch(/^The black box is on; \d+ kB of 2 GB used\.$/m);
    expect((await run('list', 'codex')).stdout).toContain('Nothing of codex is kept.');
  });

  it('has one form of JSON for everything', async () => {
    expect(await json()).toMatchObject({
      schema: 'ctxwrap.checkpoint/1',
      action: 'list',
      blackbox: 'on',
      limitBytes: 2_000_000_000,
      damaged: 0,
      checkpoints: expect.arrayContaining([
        expect.objectContaining({
          id: copyId,
          kind: 'checkpoint',
          why: 'compaction',
          session: SESSION,
          bytes: end,
        }),
        expect.objectContaining({ id: fileId, kind: 'file', isAlone: false, bytes: text.length }),
      ]) as unknown,
    });
    const { checkpoints } = await json('show', copyId);
    expect(checkpoints).toMatchObject([{ ...about, runtime: 'claude', cwd: '/proj/app', path }]);
    expect(JSON.stringify(checkpoints)).not.toContain('chunks');
  });

  it('shows a copy by the beginning of its id, without control characters', async () => {
    await noteFate(place(), { at: AT, fate: 'rewritten', kept: copyId });
    expect((await run()).stdout).toMatch(
      new RegExp(`claude 0f3a2b1c {2}file rewritten in place · kept: ${copyId}$`, 'm'),
    );
    const { stdout } = await run('show', copyId.slice(0, 5));
    expect(stdout).toContain('the session file as it was before a compaction by you');
    expect(stdout).toMatch(/compaction +.*, 166k → 12k/);
    expect(stdout).toMatch(/git +a{40}, 2 changed files/);
    expect(stdout).toMatch(/event +.*: file rewritten in place/);
    expect(stdout).not.toContain('\x1b');
  });

  it('restores a copy to a new file, and never to one that exists', async () => {
    const target = join(bench.folder, 'restored.jsonl');
    expect(await run('restore', copyId, target)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(target) as string,
    });
    expect(readFileSync(target, 'utf8')).toBe(text.slice(0, end));
    expect(statSync(target).mode & 0o777).toBe(0o600);
    const again = await run('restore', copyId, target);
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ctxwrap overwrites no file') as string,
    });
    expect((await run('restore', copyId, bench.folder)).code).toBe(2);
    const missing = await run('restore', copyId, join(bench.folder, 'no/such/folder'));
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /: no such file or directory\n.*: name a file in a folder that exists/,
      ) as string,
    });
  });

  it('restores the newest of a session by its id: the whole file, also when the agent has lost it', async () => {
    unlinkSync(path);
    const target = join(bench.folder, 'restored.jsonl');
    expect((await run('restore', SESSION.slice(0, 8), target)).code).toBe(0);
    expect(readFileSync(target, 'utf8')).toBe(text);
    expect(existsSync(path)).toBe(false);
  });

  it('does not restore a damaged copy', async () => {
    const chunks = join(stateFolder, 'checkpoints', `claude-${SESSION}`, 'chunks');
    rmSync(chunks, { recursive: true });
    mkdirSync(chunks);
    const target = join(bench.folder, 'restored.jsonl');
    const { code, stderr } = await run('restore', copyId, target);
    expect([code, stderr.includes('a piece of it is missing'), existsSync(target)]).toEqual([1, true, false]);
  });

  it.each([
    [['lsit'], 'the black box has no copy of "lsit"'],
    [['show', 'ffffffffffff'], 'no copy in the black box has the id "ffffffffffff"'],
    [['show', '../../etc/passwd'], 'no copy in the black box has the id'],
    [['show', ''], 'no copy in the black box has the id'],
    [['create', 'nobody'], 'there is no session'],
    [['create'], 'no session is running'],
    [['prune', '--older-than', 'soon'], '--older-than must be a time such as 30d'],
    [['prune', '--limit', 'much'], '--limit must be a size such as 500MB'],
    [['restore', 'x'], 'ctxwrap checkpoint restore needs <file>'],
  ] as const)('says what is wrong with %j', async (args, message) => {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message) as string]);
  });

  it('prunes by age, by size, and everything', async () => {
    expect(await json('prune')).toMatchObject({ action: 'prune', checkpoints: [] });
    expect(await json('prune', '--older-than', '52w')).toMatchObject({ checkpoints: [] });
    expect((await json('prune', '--limit', '0')).checkpoints).toMatchObject([{ id: copyId }]);
    expect((await json('prune', '--all')).checkpoints).toMatchObject([{ id: fileId }]);
    expect((await run()).stdout).toContain('The black box is empty.');
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('creates a copy of a running session, and none while the black box is off', async () => {
    await publishSession(stateFolder, { cwd: bench.folder, agentSessionId: SESSION, logPath: path });
    const { checkpoints, isNew } = await json('create');
    expect([isNew, checkpoints]).toMatchObject([true, [{ why: 'asked', bytes: text.length }]]);
    expect(await json('create', 'claude')).toMatchObject({ isNew: false });
    mkdirSync(join(bench.folder, '.config/ctxwrap'), { recursive: true });
    writeFileSync(join(bench.folder, '.config/ctxwrap/config.jsonc'), '{ "blackbox": "off" }');
    expect(await run('create')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the black box is off') as string,
    });
    expect((await run()).stdout).toContain('The black box is off: nothing new is copied');
  });
});
