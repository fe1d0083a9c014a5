import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { openRecordingFile } from '../../src/storage/recording-reader.js';

const folder = mkdtempSync(join(tmpdir(), 'recording-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
const fileOf = (content: string | Uint8Array): string => {
  const path = join(folder, `${(count += 1)}.cast`);
  writeFileSync(path, content);
  return path;
};

const header = '{"version": 2, "width": 100, "height": 30, "timestamp": 1700000000, "command": "claude -c"}';
const lines = [
  header,
  '[0.5, "o", "one"]',
  '[0.25, "m", "a mark"]',
  '[0.75, "i", "\\r"]',
  '[0.5, "o", "\\u001b[1m"]',
  '[2, "r", "120x40"]',
];

const read = async (path: string) => {
  const { header: first, events, warnings } = await openRecordingFile(path);
  const all = [];
  for await (const event of events()) all.push(event);
  return { header: first, events: all, notes: warnings() };
};

const expected = {
  header: { columns: 100, rows: 30, startedAt: 1_700_000_000_000, command: 'claude -c' },
  events: [
    { at: 500, type: 'output', text: 'one' },
    { at: 750, type: 'input', text: '\r' },
    { at: 750, type: 'output', text: '\u001b[1m' }, // time does not go back
    { at: 2000, type: 'resize', columns: 120, rows: 40 },
  ],
  notes: [],
};

describe.runIf(existsSync('/proc/self/fd'))('a recording of which only the first line is read', () => {
  const isOpen = (path: string): boolean =>
    readdirSync('/proc/self/fd').some((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === realpathSync(path);
      } catch {
        return false; // it was the one that reads this folder
      }
    });
  const long = (first: string): string => fileOf(`${first}\n`.padEnd(1_000_000, '[1, "o", "x"]\n'));

  it('leaves nothing open', async () => {
    const path = long(header);
    const recording = await openRecordingFile(path);
    expect(isOpen(path)).toBe(true);
    await recording.close();
    await expect.poll(() => isOpen(path), { timeout: 60_000 }).toBe(false);
  });

  it('leaves nothing open where that line is no header', async () => {
    const path = long('{}');
    const warnings: string[] = []; // Node closes a file that was forgotten, and says so
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', note);
    await expect(openRecordingFile(path)).rejects.toThrow(/not the header/);
    await expect.poll(() => isOpen(path), { timeout: 60_000 }).toBe(false);
    await new Promise(setImmediate);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});

describe('a recording', () => {
  it.each([
    { name: 'as it is written', content: `${lines.join('\n')}\n` },
    { name: 'without a last newline', content: lines.join('\n') },
    { name: 'with Windows lines', content: lines.join('\r\n') },
    { name: 'with empty lines and a byte order mark', content: `\uFEFF${lines.join('\n\n')}\n\n` },
    { name: 'gzipped', content: gzipSync(lines.join('\n')) },
  ])('is read $name', async ({ content }) => {
    expect(await read(fileOf(content))).toEqual(expected);
  });

  it('that was cut off gives the complete events, and a warning', async () => {
    const { events, notes } = await read(fileOf(`${lines.join('\n')}\n[3, "o", "half`));
    expect(events).toEqual(expected.events);
    expect(notes).toEqual(['the recording was cut off: line 7, its last one, is not complete']);
  });

  it('that holds far more than it takes on the disk is not read to its end', async () => {
    const path = fileOf(lines.join('\n'));
    truncateSync(path, 4_000_000_000_000); // a hole
    await expect(read(path)).rejects.toThrow(/it holds more than .*, and takes .* on the disk/);
  });

  it('that was cut off inside its gzip stream gives the complete events', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `[${index}, "o", "${Math.sin(index)}"]`);
    const whole = gzipSync([header, ...many].join('\n'));
    const { events } = await read(fileOf(whole.subarray(0, whole.length / 2)));
    expect(events.length).toBeGreaterThan(5_000);
    expect(events.length).toBeLessThan(15_000);
  });

  it.each([
    { name: 'an empty file', content: '', error: /it is empty/ },
    { name: 'another file', content: 'hello\n', error: /its first line is not the header of an asciicast/ },
    { name: 'a session file', content: '{"type":"user"}\n', error: /its first line is not the header/ },
    { name: 'another version', content: '{"version":3,"term":{}}', error: /asciicast version 3, and only 2/ },
    { name: 'no size', content: '{"version":2,"width":0,"height":30}', error: /line 1 gives no size/ },
    { name: 'a size nobody has', content: '{"version":2,"width":80,"height":1e9}', error: /gives no size/ },
    {
      name: 'a bad line in the middle',
      content: [...lines.slice(0, 2), '[oops', ...lines].join('\n'),
      error: /line 3 is not an event/,
    },
    {
      name: 'a size that is none in the middle',
      content: [...lines.slice(0, 2), '[1, "r", "0x0"]', ...lines].join('\n'),
      error: /line 3 is not an event/,
    },
  ])('is not $name: the error says what and where', async ({ content, error }) => {
    await expect(read(fileOf(content))).rejects.toThrow(error);
    await expect(read(fileOf(content))).rejects.toMatchObject({ name: 'UserError', exitCode: 2 });
  });

  it.each([
    { name: 'that is not there', path: join(folder, 'none'), error: /no such file/ },
    { name: 'that is a folder', path: folder, error: /it is not a regular file/ },
    { name: 'that is a device', path: '/dev/null', error: /it is not a regular file/ },
  ])('$name is refused in words', async ({ path, error }) => {
    await expect(read(path)).rejects.toThrow(error);
  });
});
