import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maxLogBytes, nullLog, openLog } from '../../src/storage/log.js';

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
  it('appends one line an event: time, level, message', () => {
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

  it('keeps control characters out, so that it can be read in a terminal', () => {
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

  it('stops with one line before it grows over its limit, also over several sessions', () => {
    writeFileSync(path, '');
    truncateSync(path, maxLogBytes - 1000);
    const log = openLog(path, now);
    for (let i = 0; i < 100; i++) log.info(`event ${i} ${'ü'.repeat(20)}`);
    log.close();
    const again = openLog(path, now);
    again.info('one more session');
    again.close();
    expect(statSync(path).size).toBeLessThanOrEqual(maxLogBytes);
    expect(text().match(/the log is full/g)).toHaveLength(1);
    expect(text().trimEnd()).toMatch(/info the log is full, nothing more is written$/);
    expect(text()).toContain('event 5 ');
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

  it('writes nothing when nobody asked for it', () => {
    nullLog.error('nowhere');
    nullLog.close();
    expect(existsSync(path)).toBe(false);
  });
});
