import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAudit } from '../../src/storage/log-file.js';

let home = '';
let failures: string[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'audit-'));
  failures = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const folder = () => join(home, 'ctxwrap');
const path = (name = 'audit.jsonl') => join(folder(), name);
const open = (mostBytes?: number) =>
  openAudit({
    stateFolder: folder(),
    onFailure: (reason) => failures.push(reason),
    ...(mostBytes === undefined ? {} : { maxBytes: mostBytes }),
  });
const lineOf = (who: string, number: number): string =>
  `${JSON.stringify({ who, number, text: 'x'.repeat(100) })}\n`;
const numbersIn = (name: string): readonly number[] =>
  readFileSync(path(name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).number);

describe('the audit log', () => {
  it('is readable by the user only and gets one line after the other', async () => {
    const audit = open();
    for (let number = 0; number < 5; number++) audit.append(lineOf('a', number));
    await audit.flushed();
    expect(numbersIn('audit.jsonl')).toEqual([0, 1, 2, 3, 4]);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(failures).toEqual([]);
  });

  it('has a line as soon as it was appended, whatever becomes of the thread then', async () => {
    const audit = open();
    await audit.flushed();
    for (const number of [0, 1]) {
      audit.append(lineOf('a', number));
      expect(numbersIn('audit.jsonl').at(-1)).toBe(number);
    }
  });

  it('has the lines that were appended before its folder was there, in their order, and those after it was removed', async () => {
    const audit = open();
    for (const number of [0, 1]) audit.append(lineOf('a', number));
    await audit.flushed();
    expect(numbersIn('audit.jsonl')).toEqual([0, 1]);
    rmSync(folder(), { recursive: true });
    for (const number of [2, 3]) audit.append(lineOf('a', number));
    await audit.flushed();
    expect(numbersIn('audit.jsonl')).toEqual([2, 3]);
    expect(failures).toEqual([]);
  });

  it('is not written into a folder that a link has replaced', async () => {
    const audit = open();
    await audit.flushed();
    rmSync(folder(), { recursive: true });
    mkdirSync(join(home, 'elsewhere'), { mode: 0o755 });
    symlinkSync(join(home, 'elsewhere'), folder());
    audit.append(lineOf('a', 1));
    expect(existsSync(join(home, 'elsewhere', 'audit.jsonl'))).toBe(false);
    expect(failures).toHaveLength(1);
  });

  it('loses the access rights of other users', async () => {
    mkdirSync(folder());
    writeFileSync(path(), '', { mode: 0o644 });
    const audit = open();
    audit.append(lineOf('a', 1));
    await audit.flushed();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it('is rotated when it is full, and keeps one old file', async () => {
    const audit = open(1_000);
    for (let number = 0; number < 30; number++) audit.append(lineOf('a', number));
    await audit.flushed();
    const both = [...numbersIn('audit.1.jsonl'), ...numbersIn('audit.jsonl')];
    expect(both).toEqual(Array.from({ length: both.length }, (_, index) => 30 - both.length + index));
    expect(both.length).toBeGreaterThan(7);
    for (const name of ['audit.jsonl', 'audit.1.jsonl'])
      expect(statSync(path(name)).size).toBeLessThanOrEqual(1_000);
    expect(existsSync(path('audit.lock'))).toBe(false);
    expect(failures).toEqual([]);
  });

  it('stays intact with two wrappers, and loses nothing when both rotate it', async () => {
    const most = 40_000; // each of the two writes 200 lines of about 130 bytes: one rotation
    const audits = [open(most), open(most)];
    for (let number = 0; number < 200; number += 50) {
      for (const [index, audit] of audits.entries())
        for (let each = 0; each < 50; each++) audit.append(lineOf(`w${index}`, number + each));
      await Promise.all(audits.map((audit) => audit.flushed()));
    }
    expect(failures).toEqual([]);
    const lines = ['audit.1.jsonl', 'audit.jsonl'].flatMap((name) =>
      readFileSync(path(name), 'utf8').split('\n').slice(0, -1),
    );
    // of two concurrent writers, one may not see the other's newline yet and starts a new line
    const read = lines.filter((line) => line !== '').map((line) => JSON.parse(line));
    for (const who of ['w0', 'w1'])
      expect(read.filter((each) => each.who === who).map(({ number }) => number)).toEqual(
        Array.from({ length: 200 }, (_, index) => index),
      );
  });

  it('loses no old line when many wrappers rotate it at once', async () => {
    mkdirSync(folder());
    for (let round = 0; round < 40; round++) {
      writeFileSync(path(), lineOf('old', round).repeat(10), { mode: 0o600 });
      const audits = Array.from({ length: 8 }, () => open(1_400)); // whose lines do not fill a file again
      for (const [number, audit] of audits.entries()) {
        audit.append(lineOf('new', number));
        if (number % 2 === 0) await new Promise(setImmediate); // so that some come while another rotates
      }
      await Promise.all(audits.map((audit) => audit.flushed()));
      expect(numbersIn('audit.1.jsonl').slice(0, 10)).toEqual(Array.from({ length: 10 }, () => round));
    }
    expect(failures).toEqual([]);
  });

  it('goes on where it cannot be rotated, up to twice its size, and reports that once', async () => {
    mkdirSync(path('audit.1.jsonl'), { recursive: true });
    const audit = open(1_000);
    for (let number = 0; number < 30; number++) audit.append(lineOf('a', number));
    await audit.flushed();
    expect(numbersIn('audit.jsonl').length).toBeGreaterThan(12);
    expect(statSync(path()).size).toBeLessThanOrEqual(2_000);
    expect(failures).toEqual([expect.stringMatching(/^audit\.jsonl cannot be moved to audit\.1\.jsonl: /)]);
  });

  it('continues after another wrapper died during a rotation', async () => {
    mkdirSync(folder());
    writeFileSync(path('audit.lock'), '');
    const audit = open(100);
    audit.append(lineOf('a', 1));
    audit.append(lineOf('a', 2));
    await audit.flushed();
    expect(numbersIn('audit.jsonl')).toEqual([1, 2]);
    expect(failures).toEqual([]);
  });

  it('starts a new line after half a line', async () => {
    mkdirSync(folder());
    appendFileSync(path(), '{"who":"a","num');
    const audit = open();
    audit.append(lineOf('a', 7));
    await audit.flushed();
    expect(readFileSync(path(), 'utf8')).toBe(`{"who":"a","num\n${lineOf('a', 7)}`);
  });

  it('is not written through a link or into a pipe, and reports that once', async () => {
    mkdirSync(folder());
    writeFileSync(join(home, 'precious'), 'data');
    symlinkSync(join(home, 'precious'), path());
    const audit = open();
    audit.append(lineOf('a', 1));
    audit.append(lineOf('a', 2));
    await audit.flushed();
    expect(readFileSync(join(home, 'precious'), 'utf8')).toBe('data');
    expect(failures).toHaveLength(1);
    rmSync(path());
    await once(spawn('mkfifo', [path()]), 'exit');
    audit.append(lineOf('a', 3));
    await audit.flushed();
    expect(failures).toHaveLength(1);
  });

  it('drops lines beyond the hundredth that come before its folder is there', async () => {
    const audit = open();
    for (let number = 0; number < 500; number++) audit.append(lineOf('a', number));
    await audit.flushed();
    expect(numbersIn('audit.jsonl').length).toBe(100);
    expect(failures).toHaveLength(1);
  });
});
