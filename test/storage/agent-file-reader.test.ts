import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFilePort } from '../../src/storage/agent-file-reader.js';
import { eventually } from '../support/eventually.js';

const hasProc = existsSync('/proc/self/fd');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe('the port through which agents read files', () => {
  it('lists the regular files with a matching name, with their modification time', async () => {
    const path = write('a.jsonl', 'x');
    utimesSync(path, 1_000, 1_234.5);
    write('b.txt', 'x');
    mkdirSync(join(folder, 'c.jsonl'));
    symlinkSync(path, join(folder, 'd.jsonl'));
    const found = await makeFilePort().list(folder, (name) => name.endsWith('.jsonl'));
    expect(found).toEqual([{ path, name: 'a.jsonl', modifiedAt: 1_234_500 }]);
  });

  it('lists only the last names of a folder with many files', async () => {
    for (let i = 0; i < 520; i++) write(`session-${String(i).padStart(4, '0')}.jsonl`, '');
    const found = await makeFilePort().list(folder, () => true);
    expect(found).toHaveLength(500);
    expect(found.at(-1)?.name).toBe('session-0519.jsonl');
  });

  it('names the folders in a folder, but no links to folders', async () => {
    write('file', 'x');
    mkdirSync(join(folder, 'b', 'inner'), { recursive: true });
    mkdirSync(join(folder, 'a'));
    symlinkSync(join(folder, 'a'), join(folder, 'link'));
    expect(await makeFilePort().folders(folder)).toEqual(['a', 'b']);
    expect(await makeFilePort().folders(join(folder, 'missing'))).toEqual([]);
  });

  it('reads the end of a file however long it is', async () => {
    const path = write('long', `${'x'.repeat(100_000)}end`);
    const text = await makeFilePort().lastPart(path);
    expect(text).toHaveLength(65_536);
    expect(text?.endsWith('xend')).toBe(true);
    expect(await makeFilePort().lastPart(write('short', 'all'))).toBe('all');
  });

  it('returns undefined for what does not exist or is not a file', async () => {
    const files = makeFilePort();
    const missing = join(folder, 'missing');
    symlinkSync(write('target', '{}\n'), join(folder, 'link'));
    expect(await files.list(missing, () => true)).toEqual([]);
    for (const path of [missing, folder, join(folder, 'link')]) {
      expect(await files.entry(path)).toBeUndefined();
      expect(await files.smallText(path)).toBeUndefined();
      expect(await files.firstLine(path)).toBeUndefined();
    }
    expect(await files.exists(missing)).toBe(false);
    expect(await files.exists(folder)).toBe(true);
  });

  it('gives the first line as soon as it is complete, also a long one', async () => {
    const files = makeFilePort();
    const path = write('a', `{"text":"${'é'.repeat(60_000)}`);
    expect(await files.firstLine(path)).toBeUndefined();
    appendFileSync(path, '"}\nnext');
    expect((await files.firstLine(path))?.length).toBe(60_011);
  });

  it('does not read a large file as a small text', async () => {
    expect(await makeFilePort().smallText(write('large', 'x'.repeat(1024 * 1024 + 1)))).toBeUndefined();
  });
});

describe.runIf(hasProc)('processes', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  it('finds the open files of a grandchild of a process', async () => {
    const path = write('rollout-1.jsonl', '');
    // The inner shell keeps the file open and runs as long as its input is open.
    const child = spawn('sh', ['-c', `sh -c 'exec 3>>"$1"; echo ready; read x' sh "$1"; true`, 'sh', path]);
    children.push(child);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const files = makeFilePort();
    const family = await files.family(child.pid ?? 0);
    expect(family[0]).toBe(child.pid);
    const open = await Promise.all(family.map((pid) => files.openFiles(pid)));
    expect(open.flat()).toContain(path);
    child.stdin.end('\n');
  });

  it('does not count a server among a process and its descendants that has begun a session of its own', async () => {
    const child = spawn('sh', ['-c', 'exec 3<&0; setsid sh -c "echo ready; read x" <&3 & read y']);
    children.push(child);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const listed = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    expect(listed).toMatch(/\d/);
    expect(await makeFilePort().family(child.pid ?? 0)).toEqual([child.pid]);
    child.stdin.end('\n');
  });

  it('finds no open files of a process that has ended', async () => {
    const child = spawn('true');
    await new Promise((resolve) => child.once('exit', resolve));
    const files = makeFilePort();
    await eventually(async () => expect(await files.openFiles(child.pid ?? 0)).toEqual([]));
    expect(await files.family(child.pid ?? 0)).toEqual([child.pid]);
  });
});
