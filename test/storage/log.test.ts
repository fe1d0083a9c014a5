import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maxLogBytes, nullLog, openLog } from '../../src/storage/log-file.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-test-'));
  path = join(folder, 'ctxwrap.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

const now = (): number => Date.UTC(2026, 10, 21, 10, 22, 33, 44);
const text = (): string => readFileSync(path, 'utf8');

describe('the log', () => {
  it.each([
    ['info', ['info a', 'warn b', 'error c']],
    ['warn', ['warn b', 'error c']],
    ['error', ['error c']],
  ] as const)('has what is at least %s', (level, lines) => {
    const log = openLog(path, now, { level });
    log.info('a');
    log.warn('b');
    log.error('c');
    log.close();
    const written = readFileSync(path, 'utf8').trim().split('\n');
    expect(written.map((line) => line.slice(line.indexOf(' ') + 1))).toEqual(lines);
  });

  it('appends one line per event: time, level, message', () => {
    writeFileSync(path, 'before\n');
    const log = openLog(path, now);
    log.info('started');
    log.warn('no reading');
    log.error('footer failed');
    log.close();
    expect(text()).toBe(
      'before\n' +
        '2026-11-21T10:22:33.044Z info started\n' +
        '2026-11-21T10:22:33.044Z warn no reading\n' +
        '2026-11-21T10:22:33.044Z error footer failed\n',
    );
  });

  it('is created for its owner only', () => {
    openLog(path, now).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('contains no control characters, so that it can be read in a terminal', () => {
    const log = openLog(path, now);
    log.info('title \u001b]0;evil\u0007\r\nnext\u009b2J\u2028line\u007f');
    log.close();
    expect(text()).toBe('2026-11-21T10:22:33.044Z info title  ]0;evil next 2J line\n');
  });

  it('cuts a message of absurd length', () => {
    const log = openLog(path, now);
    log.info('x'.repeat(1_000_000));
    log.close();
    expect(text().length).toBeLessThan(2100);
  });

  it('is rotated when it is full', () => {
    writeFileSync(`${path}.1`, 'older still\n');
    writeFileSync(path, 'first\n');
    truncateSync(path, maxLogBytes - 1000);
    const log = openLog(path, now);
    for (let i = 0; i < 100; i++) log.info(`event ${i} ${'ü'.repeat(20)}`);
    log.close();
    const old = readFileSync(`${path}.1`, 'utf8');
    expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(maxLogBytes);
    expect(old).toMatch(/^first\n/);
    const events = (old + text()).match(/event \d+ /g);
    expect(events).toEqual(Array.from({ length: 100 }, (_, i) => `event ${i} `)); // none is lost between the two
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('that several sessions write is rotated by the first of them only', () => {
    writeFileSync(path, '');
    truncateSync(path, maxLogBytes - 100);
    const logs = [openLog(path, now), openLog(path, now), openLog(path, now)];
    for (const [at, log] of logs.entries()) log.info(`one ${at}`);
    for (const [at, log] of logs.entries()) log.info(`two ${at}`);
    for (const log of logs) log.close();
    expect(statSync(`${path}.1`).size).toBeGreaterThanOrEqual(maxLogBytes - 100);
    expect(text().match(/(one|two) \d/g)).toEqual(['one 0', 'one 1', 'one 2', 'two 0', 'two 1', 'two 2']);
  });

  it('behind a link is written and rotated at the link’s target', () => {
    const link = join(folder, 'link');
    writeFileSync(path, '');
    truncateSync(path, maxLogBytes);
    symlinkSync(path, link);
    const log = openLog(link, now);
    log.info('next');
    log.close();
    expect(text()).toContain('next');
    expect(readdirSync(folder).sort()).toEqual(['ctxwrap.log', 'ctxwrap.log.1', 'link']);
  });

  it('stops with one last line if it cannot be rotated, also with several sessions', () => {
    mkdirSync(join(`${path}.1`, 'in the way'), { recursive: true });
    writeFileSync(path, '');
    truncateSync(path, maxLogBytes - 1000);
    for (let session = 0; session < 3; session++) {
      const log = openLog(path, now);
      for (let i = 0; i < 100; i++) log.info(`event ${i} ${'ü'.repeat(20)}`);
      log.close();
    }
    expect(statSync(path).size).toBeLessThanOrEqual(maxLogBytes);
    expect(text().match(/the log is full/g)).toHaveLength(1);
    expect(text().trimEnd()).toMatch(/info the log is full, nothing more is written$/);
    expect(text()).toContain('event 5 ');
  });

  it('records the conversation only if the user has allowed it', () => {
    const [without, allowed] = [openLog(path, now), openLog(path, now, { withText: true })];
    without.text?.('never');
    allowed.text?.('row 3 > hello');
    for (const log of [without, allowed]) log.close();
    expect(text()).toBe('2026-11-21T10:22:33.044Z text row 3 > hello\n');
    expect(nullLog.text).toBeUndefined();
  });

  it('removes the access of other users to an existing file', () => {
    writeFileSync(path, 'older\n', { mode: 0o644 });
    openLog(path, now).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('does not block on a named pipe without a reader', () => {
    execFileSync('mkfifo', [path]);
    expect(() => openLog(path, now)).toThrow('it is not a regular file');
  });

  it('is refused when it cannot be written, naming the file and the reason', () => {
    const nowhere = join(folder, 'no', 'x.log');
    expect(() => openLog(nowhere, now)).toThrow(
      expect.objectContaining({
        name: 'UserError',
        message: `cannot write the log "${nowhere}": no such file or directory`,
        exitCode: 2,
      }),
    );
  });

  it.runIf(existsSync('/dev/full'))('does not disturb the session when the disk is full', () => {
    const log = openLog('/dev/full', now);
    expect(() => log.info('lost')).not.toThrow();
    log.close();
    expect(() => log.info('after the end')).not.toThrow();
  });

  it('writes nothing without --log', () => {
    nullLog.error('nowhere');
    nullLog.close();
    expect(existsSync(path)).toBe(false);
  });
});
