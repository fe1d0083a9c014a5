import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../../src/core/errors.js';
import { maxPendingLength } from '../../src/storage/recording.js';
import { openRecording } from '../../src/storage/recording.js';
import type { RecordingOptions } from '../../src/storage/recording.js';
import { runs } from '../support/runs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'record-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const optionsWith = (changed: Partial<RecordingOptions> = {}): RecordingOptions => ({
  columns: 80,
  rows: 23,
  env: { TERM: 'xterm-256color', SHELL: '/bin/bash', SECRET: 'x' },
  now: () => 1_763_720_000_000,
  withInput: false,
  onFailure: (reason) => expect.unreachable(reason),
  ...changed,
});

const linesOf = (path: string): readonly unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('a recording', () => {
  it('is an asciicast v2 file: header, output, resizes, with the seconds since the start', async () => {
    const path = join(folder, 'a.cast');
    let clock = 1_763_720_000_250;
    const recording = openRecording(path, optionsWith({ now: () => clock }));
    clock += 1500;
    recording.output(bytes('\u001b[1mhi\r\n'));
    clock += 0.25;
    recording.resize(100, 29);
    recording.input(bytes('not asked for'));
    await recording.close();
    expect(readFileSync(path, 'utf8')).toBe(
      [
        '{"version":2,"width":80,"height":23,"timestamp":1763720000,"env":{"TERM":"xterm-256color","SHELL":"/bin/bash"}}',
        '[1.500000, "o", "\\u001b[1mhi\\r\\n"]',
        '[1.500250, "r", "100x29"]',
        '',
      ].join('\n'),
    );
  });

  it('holds the user’s input only if it was opened with input', async () => {
    const path = join(folder, 'a.cast');
    const recording = openRecording(path, optionsWith({ withInput: true }));
    recording.input(bytes('ls\r'));
    await recording.close();
    expect(linesOf(path).at(-1)).toEqual([0, 'i', 'ls\r']);
  });

  it('is readable by its owner only, because it holds a conversation', async () => {
    const path = join(folder, 'a.cast');
    await openRecording(path, optionsWith()).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('holds the same text wherever the chunks end, with U+FFFD for bytes that are no UTF-8', async () => {
    const path = join(folder, 'a.cast');
    const chunk = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc.constantFrom(...['äß', '漢字', '👩‍🚀', '\ufeff', '\u001b]0;t\u0007'].map((text) => bytes(text))),
    );
    const stream = fc.array(chunk, { maxLength: 8 }).map((parts) => Buffer.concat(parts));
    await fc.assert(
      fc.asyncProperty(stream, fc.integer({ min: 1, max: 5 }), async (all, size) => {
        const recording = openRecording(path, optionsWith());
        for (let at = 0; at < all.length; at += size) recording.output(all.subarray(at, at + size));
        await recording.close();
        const events = linesOf(path).slice(1) as readonly (readonly [number, string, string])[];
        const text = events.map(([, , data]) => data).join('');
        expect(text).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(all));
      }),
      runs(60),
    );
  });

  it('keeps the order of many events', async () => {
    const path = join(folder, 'a.cast');
    const recording = openRecording(path, optionsWith());
    for (let i = 0; i < 5000; i++) recording.output(bytes(`${i},`));
    await recording.close();
    const events = linesOf(path).slice(1) as readonly (readonly [number, string, string])[];
    expect(events.map(([, , data]) => data)).toEqual(Array.from({ length: 5000 }, (_, i) => `${i},`));
  });
});

describe('a recording over an older file', () => {
  it('removes the access of other users before anything is written', async () => {
    const path = join(folder, 'old.cast');
    writeFileSync(path, 'an older recording');
    chmodSync(path, 0o644);
    const recording = openRecording(path, optionsWith());
    expect(statSync(path).mode & 0o777).toBe(0o600); // what is written waits for another turn
    await recording.close();
    expect(readFileSync(path, 'utf8')).not.toContain('an older recording');
  });
});

describe('a recording that cannot be written', () => {
  it('is refused before the child starts, naming the file and the reason', () => {
    const path = join(folder, 'no', 'a.cast');
    expect(() => openRecording(path, optionsWith())).toThrow(
      expect.objectContaining({
        name: 'UserError',
        message: `cannot write the recording "${path}": no such file or directory`,
        exitCode: 2,
      }),
    );
    expect(() => openRecording(folder, optionsWith())).toThrow('illegal operation on a directory');
  });

  it('does not block on a named pipe without a reader', () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    expect(() => openRecording(path, optionsWith())).toThrow(UserError);
  });

  it.runIf(existsSync('/dev/full'))('stops when the disk is full, and reports that once', async () => {
    const reasons: string[] = [];
    const recording = openRecording(
      '/dev/full',
      optionsWith({ onFailure: (reason) => void reasons.push(reason) }),
    );
    for (let i = 0; i < 3; i++) recording.output(bytes('x'));
    await recording.close();
    recording.output(bytes('after the end'));
    expect(reasons).toEqual(['no space left on device']);
  });

  it('stops when too much of it would wait in memory', async () => {
    const reasons: string[] = [];
    const recording = openRecording(
      join(folder, 'a.cast'),
      optionsWith({ onFailure: (reason) => void reasons.push(reason) }),
    );
    const block = bytes('x'.repeat(1_000_000));
    // all in one turn of the event loop, so that nothing can be written in between
    for (let size = 0; size <= maxPendingLength; size += block.length) recording.output(block);
    await recording.close();
    expect(reasons).toEqual(['the disk is too slow for the recording']);
  });

  // not as root, who may write anywhere
  it.skipIf(process.getuid?.() === 0)('names a missing permission (not as root)', () => {
    const path = join(folder, 'locked.cast');
    writeFileSync(path, '');
    chmodSync(path, 0o400);
    expect(() => openRecording(path, optionsWith())).toThrow('permission denied');
  });
});
