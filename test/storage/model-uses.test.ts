import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ModelUse } from '../../src/core/report/model-uses.js';
import { readModelUses, writeModelUses } from '../../src/storage/model-uses.js';

const use = (model: string): ModelUse => ({ agent: 'claude', model, usedAt: 1 });

let [outer, state, file] = ['', '', ''];
beforeEach(() => {
  outer = mkdtempSync(join(tmpdir(), 'model-uses-'));
  state = join(outer, 'ctxwrap');
  file = join(state, 'models.json');
});
afterEach(() => rmSync(outer, { recursive: true }));

describe('the models that were used on this machine', () => {
  it('are none before the first session, and looking for them creates nothing', async () => {
    expect(await readModelUses(state)).toEqual([]);
    expect(readdirSync(outer)).toEqual([]);
  });

  it('are in a file that only the user can read, the last one first', async () => {
    await writeModelUses(state, [use('a'), use('b')]);
    await writeModelUses(state, [use('a')]);
    expect(await readModelUses(state)).toEqual([use('a'), use('b')]);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    expect(lstatSync(state).mode & 0o777).toBe(0o700);
    expect(readdirSync(state)).toEqual(['models.json']);
  });

  it.each([
    ['half a file', '{"schema":"ctxwrap.mod'],
    ['bytes that are no text', '\u0000\ufffd'],
    ['far too much', `{"schema":"ctxwrap.models/1","models":[${'{},'.repeat(100_000)}{}]}`],
    ['another file', '{"schema":"ctxwrap.session/1","models":[{"agent":"claude","usedAt":1}]}'],
  ])('are none in %s, which the next session replaces', async (_, text) => {
    mkdirSync(state);
    writeFileSync(file, text);
    expect(await readModelUses(state)).toEqual([]);
    await writeModelUses(state, [use('a')]);
    expect(await readModelUses(state)).toEqual([use('a')]);
  });

  it('are neither read nor written through a link, and a folder in their place is left alone', async () => {
    mkdirSync(state);
    const elsewhere = join(outer, 'elsewhere');
    writeFileSync(elsewhere, '{"schema":"ctxwrap.models/1","models":[{"agent":"claude","usedAt":1}]}');
    symlinkSync(elsewhere, file);
    expect(await readModelUses(state)).toEqual([]);
    const before = readFileSync(elsewhere, 'utf8');
    await expect(writeModelUses(state, [use('a')])).rejects.toThrow('not a regular file');
    expect(readFileSync(elsewhere, 'utf8')).toBe(before);
    rmSync(file);
    mkdirSync(file);
    expect(await readModelUses(state)).toEqual([]);
    await expect(writeModelUses(state, [use('a')])).rejects.toThrow('not a regular file');
    chmodSync(file, 0o700);
  });
});
