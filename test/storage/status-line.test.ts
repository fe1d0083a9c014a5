import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listNames, readSettings, statusLineFiles, watchReport } from '../../src/storage/status-line.js';

let home = '';
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'ctxwrap-status-'))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

const id = `${process.pid}-abc1`;
const folder = () => join(home, 'ctxwrap', 'status-line');

/** The pid of a process that has just ended. */
const deadPid = (): string => execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();

describe('the files of one launch', () => {
  it('are readable by the user only, in the state folder', async () => {
    const files = await statusLineFiles(join(home, 'ctxwrap'), id);
    await files.writeSettings('{"a":1}');
    expect(files.settings).toBe(join(folder(), `${id}.settings.json`));
    expect(readFileSync(files.settings, 'utf8')).toBe('{"a":1}');
    expect([lstatSync(files.settings).mode & 0o777, lstatSync(folder()).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
  });

  it('are refused in a folder that is a link, and for an id that could name another path', async () => {
    mkdirSync(join(home, 'elsewhere'));
    symlinkSync(join(home, 'elsewhere'), join(home, 'ctxwrap'));
    await expect(statusLineFiles(join(home, 'ctxwrap'), id)).rejects.toThrow('is a symbolic link');
    expect(readdirSync(join(home, 'elsewhere'))).toEqual([]);
    await expect(statusLineFiles(home, '../1-a')).rejects.toThrow('is no id');
    await expect(statusLineFiles(home, '')).rejects.toThrow('is no id');
  });

  it('are removed with the temporary files of a killed command, without files of other sessions', async () => {
    const files = await statusLineFiles(join(home, 'ctxwrap'), id);
    await files.writeSettings('{}');
    const context = [`${id}.context.json`, `${id}.context.json.77.taken`];
    for (const name of [`${id}.report.json`, `${id}.report.json.77.tmp`, `${id}2.report.json`, ...context])
      writeFileSync(join(folder(), name), '');
    await files.remove();
    expect(readdirSync(folder())).toEqual([`${id}2.report.json`]);
  });

  it('are removed later if their wrapper has ended, and only then', async () => {
    const files = await statusLineFiles(join(home, 'ctxwrap'), id);
    const dead = deadPid();
    const kept = [`${id}.report.json`, `${process.ppid}-x.settings.json`, 'notes.txt', `${dead}-x.other`];
    const context = `${dead}-x.context.json`;
    const report = `${dead}-x.report.json`;
    const left = [`${dead}-x.settings.json`, report, `${report}.123.tmp`, context, `${context}.77.taken`];
    for (const name of [...kept, ...left, `${dead}-x.settings.json.0a1b2c.tmp`])
      writeFileSync(join(folder(), name), '');
    await files.sweep();
    expect(readdirSync(folder()).toSorted()).toEqual(kept.toSorted());
  });
});

describe('a report', () => {
  const next = () => {
    let resolve: (text: string) => void = () => undefined;
    const text = new Promise<string>((done) => (resolve = done));
    return { text, resolve };
  };
  const replace = (text: string): void => {
    writeFileSync(join(home, 'draft'), text);
    renameSync(join(home, 'draft'), join(home, 'report'));
  };

  it('is reported when it appears and whenever it is replaced', async () => {
    let waiting = next();
    const watching = watchReport(join(home, 'report'), 5, (text) => waiting.resolve(text));
    replace('one');
    expect(await waiting.text).toBe('one');
    waiting = next();
    replace('two');
    expect(await waiting.text).toBe('two');
    watching.stop();
  });

  it('is reported again when the same text is written again', async () => {
    const seen: string[] = [];
    let waiting = next();
    const watching = watchReport(join(home, 'report'), 5, (text) => {
      seen.push(text);
      waiting.resolve(text);
    });
    replace('same');
    await waiting.text;
    waiting = next();
    replace('same');
    await waiting.text;
    watching.stop();
    expect(seen).toEqual(['same', 'same']);
  });

  it('is skipped if it is a link or larger than any report', async () => {
    writeFileSync(join(home, 'target'), 'through the link');
    symlinkSync(join(home, 'target'), join(home, 'report'));
    const waiting = next();
    const seen: string[] = [];
    const watching = watchReport(join(home, 'report'), 5, (text) => {
      seen.push(text);
      if (text === 'real') waiting.resolve(text);
    });
    await new Promise(setImmediate);
    replace('x'.repeat(300_000));
    await new Promise(setImmediate);
    replace('real');
    await waiting.text;
    watching.stop();
    expect(seen).toEqual(['real']);
  });
});

describe("the user's own settings", () => {
  it('are read through links', async () => {
    writeFileSync(join(home, 'dotfile'), '{}');
    symlinkSync(join(home, 'dotfile'), join(home, 'settings.json'));
    expect(await readSettings(join(home, 'settings.json'))).toBe('{}');
    expect(await listNames(home)).toContain('settings.json');
  });

  it('are undefined if they cannot be read, and a pipe does not block', async () => {
    execFileSync('mkfifo', [join(home, 'pipe')]);
    writeFileSync(join(home, 'large'), ' '.repeat(4 * 1024 * 1024 + 1));
    for (const name of ['pipe', 'large', 'none', '.', 'bad\0name'])
      expect(await readSettings(join(home, name))).toBeUndefined();
    expect(await listNames(join(home, 'none'))).toEqual([]);
    expect(existsSync(join(home, 'pipe'))).toBe(true);
  });
});
