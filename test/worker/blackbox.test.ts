// The black box of a running session: what it keeps when, and what it says when the agent's file is not what it was.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { defaultValues, type Values } from '../../src/core/config/keys.js';
import { present } from '../../src/core/present.js';
import { startSession, stepSession } from '../../src/core/session.js';
import { startCompaction } from '../../src/core/compaction/state.js';
import { listKept, readCopy, type KeptCopy } from '../../src/storage/blackbox/blackbox.js';
import type { Log } from '../../src/storage/log-file.js';
import { openBlackBox, type BlackBox } from '../../src/worker/blackbox.js';
import { compactSettings } from '../../src/worker/session-loop.js';
import { linesFrom, SESSION } from '../support/kept.js';
import { hasGit } from '../support/programs.js';
import { tokens } from '../support/sessions.js';

const WAIT = { timeout: 30_000, interval: 20 };
const LOOK_MS = 5_000;

let home: string;
let path: string;
let stateFolder: string;
let boxes: BlackBox[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  home = mkdtempSync(join(tmpdir(), 'ctxwrap-wrap-box-'));
  stateFolder = join(home, '.local/state/ctxwrap');
  path = join(home, 'session.jsonl');
  boxes = [];
});
afterEach(async () => {
  for (const box of boxes) {
    await box.copy(); // nothing is under way any more
    box.stop();
  }
  vi.useRealTimers();
  rmSync(home, { recursive: true, force: true });
});

const first = linesFrom(0, 200);
const settings = { mode: 'auto', startMs: 1, finishMs: 1, isProactive: false } as const;

const open = (values: Partial<Values> = {}, agent = agents.claude) => {
  const told: string[] = [];
  const notices: string[] = [];
  const say = (message: string): void => void told.push(message);
  const log: Log = { info: say, warn: say, error: say, close: () => undefined };
  const session = {
    agent,
    file: '/bin/true',
    args: [],
    env: { HOME: home, PATH: process.env['PATH'] ?? '' },
    cwd: home,
    wrapper: { id: 'w1', pid: process.pid, version: '1' },
    values: { ...defaultValues, ...values },
    isModeGiven: false,
    recording: undefined,
    log,
  } as const;
  const box = openBlackBox(session, { onNotice: (text) => notices.push(text), onFailure: say });
  boxes.push(box);
  const full = (used: number): void => {
    const state = stepSession(startSession({ agent: 'claude' }, 0), tokens('log', used), 0);
    box.onState(state);
  };
  const onFile = (path: string | undefined, sessionId: string): void =>
    box.onEvent({ type: 'session-changed', sessionId, ...present({ path }) }, startCompaction(settings));
  return { ...box, told, notices, full, onFile };
};

const copies = async (): Promise<readonly KeptCopy[]> =>
  (await listKept(stateFolder)).flatMap((session) => session.copies);
const whys = async (): Promise<readonly string[]> =>
  (await copies()).map((copy) => (copy.kind === 'file' ? 'file' : copy.why));
const events = async () => (await listKept(stateFolder)).flatMap((session) => session.events);
const textOf = async (copy: KeptCopy): Promise<string> => {
  const [session] = await listKept(stateFolder);
  const pieces: Buffer[] = [];
  if (session) for await (const piece of readCopy(stateFolder, session, copy)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};
const look = (): void => void vi.advanceTimersByTime(LOOK_MS);

describe('a session file', () => {
  it('is linked as soon as it is known', async () => {
    writeFileSync(path, first);
    open().onFile(path, SESSION);
    await vi.waitFor(async () => expect(await whys()).toEqual(['file']), WAIT);
  });

  it('is linked when it comes to be after its name is known', async () => {
    const { onFile, copy } = open();
    onFile(path, SESSION);
    expect(await copy()).toEqual({ kind: 'nothing' });
    writeFileSync(path, first);
    look();
    await vi.waitFor(async () => expect(await whys()).toEqual(['file']), WAIT);
  });

  it.each([{ blackbox: 'off' }, { checkpoint: false }] as const)('is left alone with %j', async (values) => {
    writeFileSync(path, first);
    const { onFile, onEvent, copy, full } = open(values);
    onFile(path, SESSION);
    full(150_000);
    onEvent({ type: 'boundary', boundary: { at: 1, offset: 50 } }, startCompaction(settings));
    look();
    expect(await copy()).toEqual({ kind: 'nothing' });
    expect(await copies()).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'of another user is not kept even by root, which is said once, and nothing is typed at auto (skipped where no other user can be made)',
    async () => {
      writeFileSync(path, first);
      chownSync(path, 12_345, 12_345);
      const { onFile, copy, notices, told } = open();
      onFile(path, SESSION);
      const reason = 'the session file belongs to another user';
      for (const _ of [1, 2, 3]) expect(await copy()).toEqual({ kind: 'failed', reason });
      expect(notices).toEqual([`black box: nothing kept (${reason})`]);
      expect(told).toContain(reason);
      expect(await copies()).toEqual([]);
      chownSync(path, 0, 0);
      expect(await copy()).toEqual({ kind: 'kept' });
    },
  );

  it('is left alone from the moment at which the black box is switched off', async () => {
    writeFileSync(path, first);
    const { onFile, onEvent, copy } = open();
    onFile(path, SESSION);
    await vi.waitFor(async () => expect(await whys()).toEqual(['file']), WAIT);
    const off = { values: { ...defaultValues, blackbox: 'off' }, isModeGiven: false } as const;
    const compact = compactSettings(off, undefined);
    onEvent({ type: 'settings', settings: { ladder: {}, compact } }, startCompaction(settings));
    onEvent({ type: 'boundary', boundary: { at: 1, offset: 50 } }, startCompaction(settings));
    expect(await copy()).toEqual({ kind: 'nothing' });
    expect(await whys()).toEqual(['file']);
  });

  it('of another conversation is kept beside it', async () => {
    writeFileSync(path, first);
    const other = join(home, 'other.jsonl');
    writeFileSync(other, 'other\n');
    const { onFile, copy } = open();
    onFile(path, SESSION);
    onFile(other, 'another-session');
    await copy();
    expect((await listKept(stateFolder)).map(({ session }) => session).toSorted()).toEqual(
      ['another-session'].toSorted(), // the first was left before anything could be done
    );
    onFile(path, SESSION);
    await copy();
    expect((await listKept(stateFolder)).length).toBe(2);
  });
});

describe('a copy', () => {
  it('before a compaction has the whole file, the last number, and the state of the repository', async () => {
    writeFileSync(path, first);
    spawnSync('git', ['init', '-q', home]);
    mkdirSync(join(home, 'src'));
    writeFileSync(join(home, 'src/new file.ts'), '');
    const { onFile, copy, full } = open();
    onFile(path, SESSION);
    full(150_000);
    expect(await copy()).toEqual({ kind: 'kept' });
    const found = (await copies()).find(({ kind }) => kind === 'checkpoint');
    const dirty = expect.arrayContaining(['src/']) as unknown;
    expect(found).toMatchObject({
      why: 'before',
      runtime: 'claude',
      session: SESSION,
      cwd: home,
      path,
      reading: { usedTokens: 150_000, source: 'log' },
      ...(hasGit && { git: { dirty } }),
    });
    expect(found && (await textOf(found))).toBe(first);
  });

  it('of the beginning is made at the record of a compaction, whoever asked for it', async () => {
    const boundary = '{"boundary":1}\n';
    writeFileSync(path, first + boundary + linesFrom(200, 3));
    const { onFile, onEvent, full, copy } = open();
    onFile(path, SESSION);
    full(160_000);
    const at = Date.now();
    onEvent(
      { type: 'boundary', boundary: { at, initiator: 'agent', preTokens: 160_000, offset: first.length } },
      startCompaction(settings),
    );
    full(10_000);
    await vi.waitFor(async () => expect(await whys()).toContain('compaction'), WAIT);
    const found = (await copies()).find((each) => each.kind === 'checkpoint' && each.why === 'compaction');
    expect(found).toMatchObject({
      boundary: { at, initiator: 'agent', preTokens: 160_000 },
      reading: { usedTokens: 160_000 },
    });
    expect(found && (await textOf(found))).toBe(first);
    await copy();
  });

  it('is made of a file that grows, once the window is at warn', async () => {
    writeFileSync(path, first);
    const { onFile, full } = open();
    onFile(path, SESSION);
    await vi.waitFor(async () => expect(await whys()).toEqual(['file']), WAIT);
    full(20_000);
    look();
    full(150_000);
    look();
    await vi.waitFor(async () => expect(await whys()).toContain('growing'), WAIT);
  });

  it('is made of any file that grows, now and then, since a link does not survive that it is rewritten', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    writeFileSync(path, first);
    const { onFile } = open();
    onFile(path, SESSION);
    await vi.waitFor(async () => expect(await whys()).toEqual(['file']), WAIT);
    await vi.advanceTimersByTimeAsync(10_000);
    await vi.waitFor(async () => expect(await whys()).toContain('growing'), WAIT);
  });

  it('that was made is a success, also where what is too much cannot be removed', async () => {
    writeFileSync(path, first);
    mkdirSync(stateFolder, { recursive: true });
    symlinkSync('sessions', join(stateFolder, 'sessions')); // which sessions run is not known
    const { onFile, copy, told } = open();
    onFile(path, SESSION);
    expect(await copy()).toEqual({ kind: 'kept' });
    expect(told).toContainEqual(
      expect.stringMatching(/^the black box: too much is kept, and cannot be removed: /),
    );
  });

  it('fails with a reason that fits into the footer', async () => {
    writeFileSync(path, first);
    const { onFile, copy, told } = open();
    onFile(path, SESSION);
    await vi.waitFor(async () => expect(await whys()).toEqual(['file']), WAIT);
    const folder = join(stateFolder, 'checkpoints', `claude-${SESSION}`);
    writeFileSync(join(folder, 'chunks'), 'no folder');
    expect(await copy()).toEqual({ kind: 'failed', reason: 'not a directory' });
    expect(told.at(-1)).toMatch(/^the black box: no copy before a compaction: /);
    rmSync(join(folder, 'chunks'));
    expect(await copy()).toEqual({ kind: 'kept' });
  });

  it('is in the audit log, without anything of what was said', async () => {
    writeFileSync(path, first);
    const { onFile, copy } = open();
    onFile(path, SESSION);
    await copy();
    await vi.waitFor(() => {
      const text = readFileSync(join(stateFolder, 'audit.jsonl'), 'utf8');
      expect(JSON.parse(text)).toMatchObject({ action: 'created', why: 'before', conversation: SESSION });
      expect(text).not.toContain('.....');
    }, WAIT);
  });
});

describe('when the file', () => {
  const followed = async () => {
    writeFileSync(path, first);
    const box = open();
    box.onFile(path, SESSION);
    await box.copy();
    return box;
  };
  const fates = async (): Promise<readonly string[]> => (await events()).map(({ fate }) => fate);

  it('is removed, that is told once, and a compaction still has its copy', async () => {
    const { notices, copy } = await followed();
    unlinkSync(path);
    look();
    await vi.waitFor(() => expect(notices).toHaveLength(1), WAIT);
    look();
    expect(await copy()).toEqual({ kind: 'kept' });
    expect(notices).toEqual([
      expect.stringMatching(/^session file removed · kept: ctxwrap checkpoint show /),
    ]);
    expect(await fates()).toEqual(['removed']);
    const texts = await Promise.all((await copies()).map(textOf));
    expect(texts).toContain(first);
  });

  it('is replaced, the older one is kept under its id, and the new one is followed', async () => {
    const { notices, copy } = await followed();
    writeFileSync(`${path}.new`, 'new\n');
    renameSync(`${path}.new`, path);
    await copy();
    expect(notices).toEqual([expect.stringMatching(/^session file replaced by another one · kept: /)]);
    const [event] = await events();
    expect(event).toMatchObject({ fate: 'replaced', path });
    const found = await copies();
    const older = found.find(({ id }) => id === event?.kept);
    expect(older && (await textOf(older))).toBe(first);
    expect(found.filter(({ kind }) => kind === 'file')).toHaveLength(2);
  });

  it('is written anew with all that was in it, nothing is told and nothing is kept twice', async () => {
    const { notices, copy } = await followed();
    writeFileSync(`${path}.new`, `${first}more\n`);
    renameSync(`${path}.new`, path);
    await copy();
    expect([notices, await fates()]).toEqual([[], []]);
    expect((await copies()).filter(({ kind }) => kind === 'file')).toHaveLength(1);
  });

  it.each([
    ['rewritten', () => writeFileSync(path, first.replace('"n":0', '"n":9'))],
    ['shortened', () => truncateSync(path, 100)],
  ])('is %s in place, that is told, and the copy from before stays', async (fate, change) => {
    const { notices, copy } = await followed();
    change();
    await copy();
    expect(notices).toEqual([expect.stringMatching(`^session file ${fate} in place · kept: `)]);
    const [event] = await events();
    const older = (await copies()).find(({ id }) => id === event?.kept);
    expect(older && (await textOf(older))).toBe(first);
  });

  it('is rewritten far behind its beginning, the next copy finds it, and that is told once', async () => {
    const long = linesFrom(0, 5_000);
    writeFileSync(path, long);
    const box = open();
    box.onFile(path, SESSION);
    await box.copy();
    writeFileSync(path, `${long.replace('"n":4000', '"n":9999')}${linesFrom(5_000, 1)}`);
    await box.copy();
    appendFileSync(path, linesFrom(5_001, 1));
    await box.copy();
    expect(box.notices).toEqual([expect.stringMatching(/^session file rewritten in place · kept: /)]);
    const [event] = await events();
    const older = (await copies()).find(({ id }) => id === event?.kept);
    expect(older && (await textOf(older))).toBe(long);
  });

  it('was kept by an earlier run, its copies are found when it is rewritten', async () => {
    const earlier = await followed();
    earlier.stop();
    const [made] = (await copies()).filter(({ kind }) => kind === 'checkpoint');
    const [file] = (await copies()).filter(({ kind }) => kind === 'file');
    rmSync(join(stateFolder, 'checkpoints', `claude-${SESSION}`, `${file?.id}.file`));
    const box = open();
    box.onFile(path, SESSION);
    await vi.waitFor(async () => expect(await whys()).toContain('file'), WAIT); // it was looked at
    writeFileSync(path, first.replace('"n":0', '"n":9'));
    await box.copy();
    expect(box.notices).toEqual([
      `session file rewritten in place · kept: ctxwrap checkpoint show ${made?.id ?? ''}`,
    ]);
  });

  it('grows, nothing is told', async () => {
    const { notices, copy } = await followed();
    appendFileSync(path, linesFrom(200, 2_000));
    await copy();
    appendFileSync(path, linesFrom(2_200, 10));
    await copy();
    expect([notices, await events()]).toEqual([[], []]);
  });

  it('is a document of an old version, being rewritten is how it grows', async () => {
    path = join(home, 'session.json');
    const box = await followed();
    for (let turn = 0; turn < 3; turn += 1) {
      writeFileSync(path, `${turn}${first}${'x'.repeat(turn)}`);
      await box.copy();
    }
    writeFileSync(`${path}.new`, `9${first}`);
    renameSync(`${path}.new`, path);
    await box.copy();
    expect([box.notices, await events()]).toEqual([[], []]);
    expect((await copies()).filter(({ kind }) => kind === 'file')).toHaveLength(1);
    truncateSync(path, 50);
    await box.copy();
    expect(await fates()).toEqual(['shortened']);
  });
});

describe('when nothing can be kept', () => {
  it('that is told once, and the file is linked as soon as it can be', async () => {
    writeFileSync(path, first);
    mkdirSync(stateFolder, { recursive: true });
    writeFileSync(join(stateFolder, 'checkpoints'), 'no folder');
    const { onFile, notices, told } = open();
    onFile(path, SESSION);
    await vi.waitFor(() => expect(notices).toHaveLength(1), WAIT);
    for (let turn = 0; turn < 3; turn += 1) await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(notices).toEqual(['black box: nothing kept (not a directory)']);
    expect(told).toEqual(['not a directory']);
    rmSync(join(stateFolder, 'checkpoints'));
    look();
    await vi.waitFor(async () => expect(await whys()).toContain('file'), WAIT);
  });
});
