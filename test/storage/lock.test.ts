import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withLock } from '../../src/storage/lock.js';

let folder: string;
let lock: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-lock-'));
  lock = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const options = { ensure: async () => undefined };

describe('the lock of a folder', () => {
  it('lets one work at a time, and is gone afterwards', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, () => withLock(folder, options, work)));
    expect([most, existsSync(lock)]).toEqual([1, false]);
  });

  it('gives the result of the work, and passes its error on', async () => {
    expect(await withLock(folder, options, async () => 7)).toBe(7);
    await expect(withLock(folder, options, async () => Promise.reject(new Error('no')))).rejects.toThrow(
      'no',
    );
    expect(existsSync(lock)).toBe(false);
  });

  it('of a process that is gone does not keep anyone out', async () => {
    const { pid } = spawnSync('true');
    const { readlinkSync } = await import('node:fs');
    const place =
      process.platform === 'linux' ? `${hostname()} ${readlinkSync('/proc/self/ns/pid')}` : hostname();
    writeFileSync(lock, JSON.stringify({ pid, start: '1', place, token: 'x' }), { mode: 0o600 });
    expect(await withLock(folder, options, async () => 'in')).toBe('in');
  });

  it('of a process that runs keeps others out until they give up', async () => {
    let release: () => void = () => undefined;
    const held = withLock(folder, options, () => new Promise<void>((resolve) => (release = resolve)));
    await expect.poll(() => existsSync(lock), { timeout: 60_000 }).toBe(true);
    await expect(withLock(folder, { ...options, waitMs: 60 }, async () => 'in')).rejects.toThrow(
      'another ctxwrap is writing there',
    );
    release();
    await held;
    expect(await withLock(folder, options, async () => 'in')).toBe('in');
  });

  it.each([
    ['without contents', ''],
    ['with anything in it', 'garbage'],
    ['of another machine', JSON.stringify({ pid: process.pid, place: 'elsewhere', token: 'x' })],
  ])('%s counts until it is old', async (_, text) => {
    writeFileSync(lock, text, { mode: 0o600 });
    await expect(withLock(folder, { ...options, waitMs: 60 }, async () => 'in')).rejects.toThrow(
      'another ctxwrap',
    );
    const old = (Date.now() - 600_000) / 1000;
    utimesSync(lock, old, old);
    expect(await withLock(folder, options, async () => 'in')).toBe('in');
  });

  it('without contents counts for less time than others wait for it', async () => {
    writeFileSync(lock, '', { mode: 0o600 });
    const recent = (Date.now() - 8_000) / 1000; // others wait for 10 s
    utimesSync(lock, recent, recent);
    expect(await withLock(folder, { ...options, waitMs: 500 }, async () => 'in')).toBe('in');
  });

  it('makes the folder anew when that was removed', async () => {
    rmSync(folder, { recursive: true });
    expect(await withLock(folder, { ensure: async () => mkdirSync(folder) }, async () => 'in')).toBe('in');
  });
});
