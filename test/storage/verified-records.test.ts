import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseVerifiedRecord } from '../../src/core/read-record.js';
import { isFullyVerified, formatScore, verifiedFileName } from '../../src/core/report/records.js';
import { readVerified, writeVerified } from '../../src/storage/sessions.js';
import { verifiedRecord } from '../support/verified.js';

let state: string;
beforeEach(() => {
  state = join(mkdtempSync(join(tmpdir(), 'verified-')), 'ctxwrap');
});
afterEach(() => rmSync(join(state, '..'), { recursive: true }));

const record = verifiedRecord('claude', '2.1.330', 1);

describe('a record of `ctxwrap verify`', () => {
  it('is kept for each version of an agent, readable by the user only', async () => {
    const path = await writeVerified(state, record);
    expect(path).toBe(join(state, 'verified/claude-2.1.330.json'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await readVerified(state, 'claude', '2.1.330')).toEqual(record);
    expect(await readVerified(state, 'claude', '2.1.331')).toBeUndefined();
    expect(await readVerified(state, 'codex', '2.1.330')).toBeUndefined();
  });

  it('counts as verified only if all checks passed', () => {
    expect(isFullyVerified(record)).toBe(false);
    expect(formatScore(record)).toBe('1 of 2');
    expect(isFullyVerified(verifiedRecord('claude', '1.0.0'))).toBe(true);
  });

  it('is not read from a link, a folder, a file that is too large or one of another version', async () => {
    const path = await writeVerified(state, record);
    rmSync(path);
    writeFileSync(join(state, 'elsewhere'), JSON.stringify(record));
    symlinkSync(join(state, 'elsewhere'), path);
    expect(await readVerified(state, 'claude', '2.1.330')).toBeUndefined();
    rmSync(path);
    mkdirSync(path);
    expect(await readVerified(state, 'claude', '2.1.330')).toBeUndefined();
    rmSync(path, { recursive: true });
    writeFileSync(path, JSON.stringify({ ...record, more: 'x'.repeat(100_000) }));
    expect(await readVerified(state, 'claude', '2.1.330')).toBeUndefined();
    writeFileSync(path, JSON.stringify({ ...record, agentVersion: '2.1.331' }));
    expect(await readVerified(state, 'claude', '2.1.330')).toBeUndefined();
    chmodSync(path, 0o600);
  });

  it('is undefined if the text is anything else', () => {
    const key = fc.constantFrom(...Object.keys(record));
    fc.assert(fc.property(fc.json(), (text) => parseVerifiedRecord(text) === undefined));
    fc.assert(
      fc.property(key, fc.jsonValue(), (name, value) => {
        const read = parseVerifiedRecord(JSON.stringify({ ...record, [name]: value }));
        // an unknown result of a check never counts as passed
        return (
          read === undefined || (read.checks.length > 0 && (name === 'checks' || !isFullyVerified(read)))
        );
      }),
    );
    const strange = [...record.checks, { name: 'one more', isGood: 'no' }];
    expect(parseVerifiedRecord(JSON.stringify({ ...record, checks: strange }))).toBeUndefined();
  });

  it('contains no line breaks or control characters from the file', () => {
    const evil = { name: 'a\u001b[2Jb', isGood: true, evidence: 'c\nd\u009be'.repeat(1_000) };
    const [check] = parseVerifiedRecord(JSON.stringify({ ...record, checks: [evil] }))?.checks ?? [];
    expect(`${check?.name}${check?.evidence}`).not.toMatch(/\p{Cc}/u);
    expect(check?.evidence.length).toBeLessThan(1_000);
  });

  it('has no file outside its folder, whatever the agent’s version text is', async () => {
    fc.assert(
      fc.property(fc.string(), (version) => {
        const name = verifiedFileName('claude', version);
        expect(name === undefined || /^claude-[\w.+-]+$/.test(name)).toBe(true);
      }),
    );
    const evil = '../../evil';
    await expect(writeVerified(state, { ...record, agentVersion: evil })).rejects.toThrow('is no version');
    expect(await readVerified(state, 'claude', evil)).toBeUndefined();
    expect(existsSync(state)).toBe(false);
  });
});
