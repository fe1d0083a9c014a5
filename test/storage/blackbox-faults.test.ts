// What was kept stays whole: on a full disk, when the writer is killed at any moment, when two write at once, and against those who would
// have ctxwrap write or read elsewhere.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findKept, keptKey, listKept, readCopy } from '../../src/storage/blackbox/blackbox.js';
import { keepCopy } from '../../src/storage/blackbox/keep.js';
import { pruneBlackBox } from '../../src/storage/blackbox/prune.js';
import { asOnPlatform } from '../like-macos/environment.js';
import { buildKeeper, filesIn, linesFrom, makeBox, SESSION, type Box } from '../support/kept.js';
import { fillDisk, mayMount, mountDisk, unmountDisk } from '../support/small-disk.js';

const isRoot = process.getuid?.() === 0;
const STRANGER = 65_534;

let box: Box;
beforeEach(() => {
  box = makeBox();
});
afterEach(() => box.remove());

const first = linesFrom(0, 100);
const sessionFolder = (): string => join(box.stateFolder, 'checkpoints', `claude-${SESSION}`);

describe.skipIf(!mayMount)('on a disk of one megabyte (skipped where nothing can be mounted)', () => {
  beforeEach(() => {
    mkdirSync(box.stateFolder);
    if (!mountDisk(box.stateFolder, '1m')) throw new Error('the small disk could not be mounted');
  });
  afterEach(() => unmountDisk(box.stateFolder));

  it('that is full, a copy fails with ENOSPC, and the one before can be read as before', async () => {
    writeFileSync(box.path, first);
    const { checkpoint } = await box.keep('compaction');
    appendFileSync(box.path, randomBytes(4_000_000));
    await expect(box.keep()).rejects.toMatchObject({ code: 'ENOSPC' });
    const { copies } = await box.session();
    expect(copies).toMatchObject([{ id: checkpoint.id }]);
    expect(copies[0] && (await box.text(copies[0]))).toBe(first);
    // what was written of it is gone, so that there is room again
    expect(filesIn(sessionFolder()).filter((name) => /tmp|lock/.test(name))).toEqual([]);
    expect((await box.session()).usedBytes).toBeLessThan(100_000);
    writeFileSync(box.path, `${first}more\n`);
    expect(await box.keep()).toMatchObject({ isNew: true });
  });

  it('with no byte left, the copy fails, and what is there stays', async () => {
    writeFileSync(box.path, first);
    await box.keep('compaction');
    const filler = join(box.stateFolder, 'filler');
    fillDisk(filler);
    appendFileSync(box.path, linesFrom(100, 3_000));
    await expect(box.keep()).rejects.toMatchObject({ code: 'ENOSPC' });
    const { copies } = await box.session();
    expect(copies[0] && (await box.text(copies[0]))).toBe(first);
    rmSync(filler);
    expect(await box.keep()).toMatchObject({ isNew: true });
  });

  it('with no byte left, copies can be removed to make room', async () => {
    writeFileSync(box.path, first);
    await box.keep('compaction');
    fillDisk(join(box.stateFolder, 'filler'));
    await expect(box.keep('compaction')).rejects.toMatchObject({ code: 'ENOSPC' });
    const { removed } = await pruneBlackBox({ stateFolder: box.stateFolder, now: 0, before: Infinity });
    expect(removed).toHaveLength(1);
    expect(existsSync(sessionFolder())).toBe(false);
  });

  it('that is another one than the agent’s, there is no link but a reason, and copies work', async () => {
    writeFileSync(box.path, first);
    expect(await box.link()).toMatchObject({ kind: 'refused', reason: /cross-device/ });
    await box.keep('first');
    expect((await box.session()).copies).toMatchObject([{ kind: 'checkpoint', why: 'first' }]);
    expect(filesIn(sessionFolder()).filter((name) => name.endsWith('.file'))).toEqual([]);
  });
});

describe('when the writer is killed', () => {
  let folder: string;
  let keeper: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ctxwrap-keeper-'));
    keeper = await buildKeeper(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = (session = SESSION, copies = 1_000_000): ChildProcess =>
    spawn(process.execPath, [keeper, box.stateFolder, box.path, session, `${copies}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: asOnPlatform(process.env), // both write where they run, without which neither knows the other's lock
    });

  /** Everything that is kept can be read, and is what the file had then. */
  const checkWhole = async (): Promise<number> => {
    const { copies, damaged } = await box.session();
    expect(damaged).toBe(0);
    const whole = readFileSync(box.path);
    for (const copy of copies) {
      let offset = 0;
      for await (const piece of readCopy(box.stateFolder, await box.session(), copy)) {
        expect(piece.equals(whole.subarray(offset, offset + piece.length))).toBe(true);
        offset += piece.length;
      }
      expect(offset).toBe(copy.bytes);
    }
    return copies.filter(({ kind }) => kind === 'checkpoint').length;
  };

  it(
    'at any moment, all that was there before is there, and nothing half-written is read',
    { timeout: 300_000 },
    async () => {
      writeFileSync(box.path, first);
      let kept: readonly string[] = [];
      for (let turn = 0; turn < 12; turn += 1) {
        const child = start();
        let isKeeping = false;
        child.stdout?.on('data', () => (isKeeping = true));
        await once(child.stdout ?? child, 'data');
        await pause(Math.random() * 250);
        child.kill('SIGKILL');
        await once(child, 'exit');
        expect(isKeeping).toBe(true);
        await checkWhole();
        const { copies } = await box.session();
        const lasting = copies
          .filter((copy) => copy.kind === 'file' || copy.why === 'compaction')
          .map(({ id }) => id);
        expect(lasting).toEqual(expect.arrayContaining([...kept]));
        kept = lasting;
      }
      expect(kept.length).toBeGreaterThan(2);
      // the next writer is not kept out by the lock of a dead one, and leaves nothing of the others but what is needed
      await box.keep('compaction');
      expect(filesIn(sessionFolder()).filter((name) => name === 'lock')).toEqual([]);
      await checkWhole();
    },
  );

  it('two at once keep the same session without harm', { timeout: 120_000 }, async () => {
    writeFileSync(box.path, first);
    const children = [start(SESSION, 6), start(SESSION, 6)];
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as unknown));
    expect(codes).toEqual([0, 0]);
    expect(await checkWhole()).toBeGreaterThanOrEqual(4);
    const { copies } = await box.session();
    expect(copies.filter(({ kind }) => kind === 'file')).toHaveLength(1);
  });
});

describe('names that lead elsewhere', () => {
  it.each([
    '../../../etc/passwd',
    '..',
    '.',
    '',
    'a/b',
    'a\0b',
    'a\nb',
    '-rf',
    '%2e%2e',
    'ü'.repeat(40),
    'x'.repeat(5_000),
    '$(id)',
  ])('of a session stay in the folder: %j', async (session) => {
    writeFileSync(box.path, first);
    const before = readdirSync(box.root).toSorted();
    await keepCopy({ ...box.place, session, why: 'before', source: box.path, now: 1, mostBytes: 1e9 });
    expect(readdirSync(box.root).toSorted()).toEqual([...before, 'state'].toSorted());
    expect(readdirSync(box.stateFolder)).toEqual(['checkpoints']);
    const [key = ''] = readdirSync(join(box.stateFolder, 'checkpoints'));
    expect(key).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const found = await findKept(box.stateFolder, { runtime: 'claude', session });
    expect(found).toMatchObject({ session, copies: [{ bytes: first.length }] });
  });

  it('differ where the sessions differ', () => {
    const names = ['../a', '..a', 'a/../a', 'a b', 'a  b'].map((session) =>
      keptKey({ runtime: 'x', session }),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  it('in a record are not followed', async () => {
    writeFileSync(box.path, first);
    const { checkpoint } = await box.keep();
    const record = join(sessionFolder(), `${checkpoint.id}.json`);
    const text = readFileSync(record, 'utf8');
    const [chunk] = checkpoint.chunks;
    for (const forged of [
      text.replaceAll(chunk?.sha256 ?? '', '../../../../etc/passwd'),
      text.replaceAll(checkpoint.id, 'ffffffffffff'),
      text.replaceAll(SESSION, 'another'),
      text.replace('"bytes":', '"bytes":1'),
      text.replace('"codec":"', '"codec":"../'),
    ]) {
      writeFileSync(record, forged);
      expect((await listKept(box.stateFolder)).flatMap(({ copies }) => copies)).toEqual([]);
    }
  });
});

describe('symbolic links', () => {
  const elsewhere = (): string => {
    const path = join(box.root, 'elsewhere');
    mkdirSync(path, { recursive: true });
    return path;
  };

  it.each([
    ['the state folder', () => box.stateFolder],
    ['checkpoints', () => join(box.stateFolder, 'checkpoints')],
    ['the folder of the session', sessionFolder],
    ['the folder of the pieces', () => join(sessionFolder(), 'chunks')],
  ])('in the place of %s are refused, and nothing is written behind them', async (_, path) => {
    writeFileSync(box.path, first);
    mkdirSync(join(path(), '..'), { recursive: true });
    symlinkSync(elsewhere(), path());
    await expect(box.keep()).rejects.toThrow(/symbolic link|ELOOP|ENOTDIR/);
    expect(filesIn(elsewhere())).toEqual([]);
  });

  it.each(['index.json', 'index.json.bak', 'lock'])(
    'in the place of %s are not written through',
    async (name) => {
      writeFileSync(box.path, first);
      await box.link();
      await box.keep('compaction');
      const target = join(elsewhere(), 'target');
      writeFileSync(target, 'mine');
      rmSync(join(sessionFolder(), name), { force: true });
      symlinkSync(target, join(sessionFolder(), name));
      appendFileSync(box.path, 'more\n');
      if (name === 'lock') chmodSync(target, 0o600);
      else await box.keep('compaction').catch(() => undefined);
      await box.link().catch(() => undefined);
      expect(readFileSync(target, 'utf8')).toBe('mine');
    },
    30_000,
  );

  it('in the place of a piece or a link give nothing', async () => {
    writeFileSync(box.path, first);
    await box.link();
    await box.keep('compaction');
    const secret = join(elsewhere(), 'secret');
    writeFileSync(secret, 'secret');
    for (const name of filesIn(sessionFolder()).filter((each) => /chunks|\.file$/.test(each))) {
      rmSync(join(sessionFolder(), name));
      symlinkSync(secret, join(sessionFolder(), name));
    }
    const { copies } = await box.session();
    expect(copies.map(({ kind }) => kind)).toEqual(['checkpoint']);
    await expect(copies[0] && box.text(copies[0])).rejects.toThrow(/./);
    // the next link replaces the symbolic one
    await box.link();
    const file = (await box.session()).copies.find(({ kind }) => kind === 'file');
    expect(file && (await box.text(file))).toBe(first);
    expect(readFileSync(secret, 'utf8')).toBe('secret');
  });

  it('in the place of the agent’s file are neither linked nor copied', async () => {
    const secret = join(elsewhere(), 'secret');
    writeFileSync(secret, 'secret');
    symlinkSync(secret, box.path);
    expect(await box.link()).toMatchObject({ kind: 'refused' });
    await expect(box.keep()).rejects.toThrow('ELOOP');
    expect(await listKept(box.stateFolder)).toEqual([]);
  });

  it('in the place of a session are not listed', async () => {
    writeFileSync(box.path, first);
    await box.keep();
    renameSync(sessionFolder(), join(elsewhere(), 'moved'));
    symlinkSync(join(elsewhere(), 'moved'), sessionFolder());
    expect(await listKept(box.stateFolder)).toEqual([]);
  });
});

describe('a session whose folder cannot be read', () => {
  it('hides no other, and is counted', async () => {
    writeFileSync(box.path, first);
    await box.keep();
    const broken = join(box.stateFolder, 'checkpoints/claude-broken');
    mkdirSync(broken);
    await keepCopy({
      ...box.place,
      session: 'broken',
      why: 'before',
      source: box.path,
      now: 1,
      mostBytes: 1e9,
    });
    rmSync(join(broken, 'chunks'), { recursive: true });
    symlinkSync('chunks', join(broken, 'chunks'));
    const found = await listKept(box.stateFolder);
    expect(found.map(({ session }) => session).toSorted()).toEqual([SESSION, 'claude-broken'].toSorted());
    expect(found.map(({ damaged }) => damaged).toSorted()).toEqual([0, 1]);
    expect(await box.keep('compaction')).toMatchObject({ isNew: true });
    await pruneBlackBox({ stateFolder: box.stateFolder, now: 0, before: Infinity });
    expect(existsSync(broken)).toBe(false);
  });
});

describe('what is no regular file', () => {
  it('is not read: a FIFO does not hold the session up', async () => {
    spawnSync('mkfifo', [box.path]);
    expect(await box.link()).toMatchObject({ kind: 'refused', reason: 'it is not a regular file' });
    await expect(box.keep()).rejects.toThrow('not a regular file');
  });
});

describe.skipIf(!isRoot)('other users (skipped where no other user can be made)', () => {
  it('a state folder in a folder that all may write is private all the same', async () => {
    chmodSync(box.root, 0o777);
    mkdirSync(box.stateFolder, { mode: 0o777 });
    chmodSync(box.stateFolder, 0o777);
    writeFileSync(box.path, first);
    await box.link();
    await box.keep();
    for (const path of [box.stateFolder, join(box.stateFolder, 'checkpoints'), sessionFolder()])
      expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['the state folder', () => box.stateFolder],
    ['checkpoints', () => join(box.stateFolder, 'checkpoints')],
    ['the folder of the session', sessionFolder],
  ])('%s that belongs to another user is neither written nor read', async (_, path) => {
    writeFileSync(box.path, first);
    mkdirSync(path(), { recursive: true });
    chownSync(path(), STRANGER, STRANGER);
    await expect(box.keep()).rejects.toThrow('belongs to another user');
    expect(filesIn(box.stateFolder)).toEqual([]);
    expect(await listKept(box.stateFolder)).toEqual([]);
  });

  it('records and pieces of another user are not read', async () => {
    writeFileSync(box.path, first);
    const { checkpoint } = await box.keep('compaction');
    const [piece = ''] = filesIn(join(sessionFolder(), 'chunks'));
    chownSync(join(sessionFolder(), 'chunks', piece), STRANGER, STRANGER);
    const { copies } = await box.session();
    await expect(copies[0] && box.text(copies[0])).rejects.toThrow('a piece of it belongs to another user');
    chownSync(join(sessionFolder(), `${checkpoint.id}.json`), STRANGER, STRANGER);
    expect(await box.session()).toMatchObject({ copies: [], damaged: 1 });
  });
});

describe('a session file of two hundred megabytes', () => {
  it('is copied and read in bounded memory', { timeout: 300_000 }, async () => {
    const script = `
      import { createHash } from 'node:crypto';
      import { createReadStream, writeFileSync, appendFileSync } from 'node:fs';
      import { keepCopy, readCopy, listKept } from './bundle.mjs';
      const [, , stateFolder, path] = process.argv;
      const block = Array.from({ length: 5000 }, (_, i) => JSON.stringify({ i, text: (i * 2654435761 + '').repeat(18) }) + '\\n').join('');
      writeFileSync(path, '');
      for (let size = 0; size < 200e6; size += block.length) appendFileSync(path, block);
      global.gc();
      const before = process.memoryUsage().rss;
      let most = 0;
      const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
      const place = { stateFolder, runtime: 'claude', session: 's', cwd: '/', path };
      const made = await keepCopy({ ...place, why: 'before', source: path, now: 1, mostBytes: 1e9 });
      const [session] = await listKept(stateFolder);
      const hash = createHash('sha256');
      for await (const piece of readCopy(stateFolder, session, session.copies[0])) hash.update(piece);
      clearInterval(timer);
      const own = createHash('sha256');
      for await (const piece of createReadStream(path)) own.update(piece);
      const isRight = own.digest('hex') === made.checkpoint.sha256 && hash.digest('hex') === made.checkpoint.sha256;
      console.log(JSON.stringify({ isRight, moreMegabytes: (most - before) / 1e6, bytes: made.checkpoint.bytes }));
    `;
    const { build } = await import('esbuild');
    await build({
      stdin: {
        contents: `export { keepCopy } from './keep.js'; export { readCopy, listKept } from './blackbox.js';`,
        resolveDir: join(import.meta.dirname, '../../src/storage/blackbox'),
        loader: 'ts',
      },
      outfile: join(box.root, 'bundle.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      logLevel: 'warning',
    });
    writeFileSync(join(box.root, 'large.mjs'), script);
    const run = ['--expose-gc', join(box.root, 'large.mjs'), box.stateFolder, box.path];
    const { stdout, stderr } = spawnSync(process.execPath, run, { encoding: 'utf8' });
    expect(stderr).toBe('');
    const { isRight, moreMegabytes, bytes } = JSON.parse(stdout) as Record<string, number | boolean>;
    expect(isRight).toBe(true);
    expect(bytes).toBeGreaterThan(200e6);
    expect(moreMegabytes).toBeLessThan(100);
  });
});

describe('nothing', () => {
  it('is kept where nothing was: listing makes no folder', async () => {
    expect(await listKept(box.stateFolder)).toEqual([]);
    expect(existsSync(box.stateFolder)).toBe(false);
    expect(lstatSync(box.root).isDirectory()).toBe(true);
  });
});
