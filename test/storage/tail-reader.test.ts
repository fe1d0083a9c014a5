// A growing file gives the same lines whatever happened between two reads.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTailReader } from '../../src/storage/tail.js';
import type { LookBack } from '../../src/storage/tail.js';
import { runs } from '../support/runs.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'growing-'));
  path = join(folder, 'log.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The lines read since the last restart. */
const reader = (wanted?: { readonly lookBack: LookBack; readonly tells: (line: string) => boolean }) => {
  let lines: string[] = [];
  let head: string | undefined;
  const file = makeTailReader({
    path,
    onLine: (line) => lines.push(line),
    onHead: (line) => {
      head = line;
    },
    onRestart: () => {
      lines = [];
    },
    ...(wanted && { lookBack: wanted.lookBack, isEnough: () => lines.some(wanted.tells) }),
  });
  return { ...file, lines: () => lines, head: () => head };
};

const bytesOf = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]));

// Any bytes but a newline, 0xFF and halves of characters among them.
const line = fc
  .uint8Array({ maxLength: 40 })
  .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0x0a ? 0xff : byte))));
const textOf = (bytes: Buffer): string => bytes.toString('utf8');
const linesIn = (content: Buffer): readonly string[] => {
  const pieces: string[] = [];
  for (let start = 0, end = 0; (end = content.indexOf(0x0a, start)) >= 0; start = end + 1)
    pieces.push(textOf(content.subarray(start, end)));
  return pieces.map((text, i) => (i === 0 ? text.replace(/^\ufeff/, '') : text));
};

type Deed = { readonly kind: 'append' | 'replace' | 'rewrite' | 'remove'; readonly bytes: Buffer };
const deed: fc.Arbitrary<Deed> = fc.record({
  kind: fc.constantFrom('append', 'append', 'append', 'append', 'replace', 'rewrite', 'remove'),
  bytes: fc.oneof(
    fc.array(line, { maxLength: 5 }).map(bytesOf),
    line,
    fc.constant(Buffer.from('{"a":1}\r\n')),
    fc.constant(Buffer.from('\ufeff{"bom":true}\n')),
  ),
});

let tick = 0;
const perform = ({ kind, bytes }: Deed): void => {
  if (kind === 'append') return appendFileSync(path, bytes);
  if (kind === 'remove') return rmSync(path, { force: true });
  const target = kind === 'replace' ? `${path}.new` : path;
  writeFileSync(target, bytes);
  // two writes within one tick of the file system's clock are tested separately
  utimesSync(target, 1_000_000 + (tick += 1), 1_000_000 + tick);
  if (kind === 'replace') renameSync(target, path);
};

describe('a growing file', () => {
  it('gives its complete lines after any appends, truncations, replacements and removals', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 12 }), async (deeds) => {
        rmSync(path, { force: true });
        const { readNew, lines, reset } = reader();
        let content: Buffer | undefined;
        let shown: readonly string[] = [];
        for (const each of deeds) {
          perform(each);
          if (each.kind === 'remove') content = undefined;
          else
            content = Buffer.concat([
              each.kind === 'append' ? (content ?? Buffer.alloc(0)) : Buffer.alloc(0),
              each.bytes,
            ]);
          const isRead = await readNew().then(
            () => true,
            () => false,
          );
          expect(isRead).toBe(content !== undefined);
          if (content === undefined) reset();
          else shown = linesIn(content);
          expect(lines()).toEqual(shown);
        }
      }),
    );
  });

  it('gives no line twice and reports whether there was something new', async () => {
    writeFileSync(path, 'one\ntw');
    const { readNew, lines } = reader();
    expect([await readNew(), await readNew()]).toEqual([true, false]);
    appendFileSync(path, 'o\n');
    expect([await readNew(), await readNew(), lines()]).toEqual([true, false, ['one', 'two']]);
  });

  it('notices a file that was rewritten and has grown past the offset read so far', async () => {
    writeFileSync(path, 'one\ntwo\n');
    const { readNew, lines } = reader();
    await readNew();
    truncateSync(path);
    appendFileSync(path, 'another\nand longer\n');
    await readNew();
    expect(lines()).toEqual(['another', 'and longer']);
  });

  it('waits for a file that is created late and does not read a folder or link in its place', async () => {
    const { readNew, lines } = reader();
    await expect(readNew()).rejects.toThrow('ENOENT');
    mkdirSync(path);
    await expect(readNew()).rejects.toThrow('not a regular file');
    rmSync(path, { recursive: true });
    writeFileSync(path, 'late\n');
    await readNew();
    expect(lines()).toEqual(['late']);
    unlinkSync(path);
  });
});

describe('a long growing file', () => {
  const tells = (text: string): boolean => text.startsWith('reading');
  const lookBack = { firstBytes: 64, maxBytes: 512 };

  it('gives its first line and then only complete lines of its end, including the last useful one', async () => {
    const text = fc
      .string({ unit: 'grapheme', maxLength: 30 })
      .map((each) => `x${each.replaceAll('\n', '')}`);
    const telling = fc.nat().map((n) => `reading ${n}`);
    const lines = fc.array(fc.oneof({ weight: 6, arbitrary: text }, telling), {
      minLength: 1,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(lines, fc.array(text), async (before, after) => {
        writeFileSync(path, before.map((each) => `${each}\n`).join(''));
        const file = reader({ lookBack, tells });
        await file.readNew();
        const read = [...file.lines()];
        const isWhole = read.length === before.length;
        const reachable = before.filter((_, i) => Buffer.byteLength(before.slice(i).join('\n')) + 1 <= 512);
        expect(read).toEqual(before.slice(before.length - read.length));
        expect(read.findLast(tells)).toBe((isWhole ? before : reachable).findLast(tells));
        expect(file.head() ?? before[0]).toBe(before[0]);
        expect(isWhole || file.head() !== undefined).toBe(true);
        appendFileSync(path, after.map((each) => `${each}\n`).join(''));
        await file.readNew();
        expect(file.lines()).toEqual([...read, ...after]);
      }),
      runs(300),
    );
  });

  it('is only read near its end, however long it is', async () => {
    const file = openSync(path, 'w');
    writeSync(file, 'head\n');
    writeSync(file, '\nreading 1\nhalf', 200 * 1024 * 1024); // everything between is a hole in the file
    let bytes = 0;
    let head = '';
    let lines: string[] = [];
    const growing = makeTailReader({
      path,
      onLine: (text) => {
        bytes += text.length;
        lines.push(text.slice(0, 20));
      },
      onHead: (text) => {
        head = text;
      },
      onRestart: () => {
        lines = [];
      },
      isEnough: () => lines.some(tells),
    });
    await growing.readNew();
    expect([head, lines]).toEqual(['head', ['reading 1']]);
    expect(bytes).toBeLessThan(100);
  });
});
