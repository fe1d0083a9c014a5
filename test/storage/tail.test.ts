import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeLineSplitter } from '../../src/storage/tail.js';
import { tail } from '../../src/storage/tail.js';
import { eventually } from '../support/eventually.js';

const linesOf = (chunks: readonly Buffer[], longestBytes?: number): readonly string[] => {
  const lines: string[] = [];
  const splitter = makeLineSplitter(
    (line) => lines.push(line),
    longestBytes === undefined ? {} : { maxBytes: longestBytes },
  );
  for (const chunk of chunks) splitter.push(chunk);
  return lines;
};

/** Splits bytes at the given offsets, which may be inside a character. */
const cut = (bytes: Buffer, places: readonly number[]): readonly Buffer[] => {
  const at = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b),
    bytes.length,
  ];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
};

const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' '));

describe('the line splitter', () => {
  it('gives the same lines at any chunk size', () => {
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), line, (lines, places, rest) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join('') + rest);
        expect(linesOf(cut(bytes, places))).toEqual(lines);
      }),
    );
  });

  it('says at which byte each line begins, in any pieces and from any place on', () => {
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), fc.nat(1_000), (lines, places, offset) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const found: number[] = [];
        const splitter = makeLineSplitter((_, at) => found.push(at), { offset });
        for (const chunk of cut(bytes, places)) splitter.push(chunk);
        const expected = lines.map((_, i) =>
          lines.slice(0, i).reduce((sum, text) => sum + Buffer.byteLength(text) + 1, offset),
        );
        expect(found).toEqual(expected);
      }),
    );
  });

  it('copies bytes from a chunk whose memory is reused', () => {
    const chunk = Buffer.from('first');
    const lines: string[] = [];
    const splitter = makeLineSplitter((text) => lines.push(text));
    splitter.push(chunk);
    chunk.fill('x');
    splitter.push(Buffer.from('\n'));
    expect(lines).toEqual(['first']);
  });

  it('skips a line that is too long, wherever it is split, and reads the next one', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.integer({ min: 11, max: 60 }), (places, length) => {
        const bytes = Buffer.from(`before\n${'x'.repeat(length)}\n0123456789\n`);
        expect(linesOf(cut(bytes, places), 10)).toEqual(['before', '0123456789']);
      }),
    );
  });
});

describe('the tail of a file', () => {
  let folder: string;
  let path: string;
  let stops: (() => void)[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tail-'));
    path = join(folder, 'log.jsonl');
    stops = [];
  });

  afterEach(() => {
    for (const stop of stops) stop();
    rmSync(folder, { recursive: true });
  });

  const follow = () => {
    const seen: string[] = [];
    const following = tail({
      path,
      intervalMs: 2,
      onLine: (text) => seen.push(text),
      onCaughtUp: () => seen.push('|'),
      onRestart: () => seen.push('<restart>'),
      onProblem: (reason) => seen.push(`problem: ${reason.replace(path, 'log')}`),
    });
    stops.push(following.stop);
    return { seen, stop: following.stop, lines: () => seen.filter((text) => text !== '|') };
  };

  it('reads what is there, then what is appended, and keeps a half-written line for later', async () => {
    writeFileSync(path, 'one\ntwo\nthr');
    const { lines, seen } = follow();
    await eventually(() => expect(lines()).toEqual(['one', 'two']));
    appendFileSync(path, 'ee\nfo');
    await eventually(() => expect(lines()).toEqual(['one', 'two', 'three']));
    appendFileSync(path, Buffer.from('é').subarray(0, 1));
    appendFileSync(path, Buffer.concat([Buffer.from('é').subarray(1), Buffer.from('\n')]));
    await eventually(() => expect(lines()).toEqual(['one', 'two', 'three', 'foé']));
    await eventually(() => expect(seen.at(-1)).toBe('|'));
  });

  it('reports once that it has read a long file to its end', async () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `line ${i} ${'.'.repeat(40)}`);
    writeFileSync(path, lines.map((text) => `${text}\n`).join(''));
    const { seen } = follow();
    await eventually(() => expect(seen.at(-1)).toBe('|'));
    expect(seen.slice(0, -1)).toEqual(lines);
  });

  it('starts again when the file is truncated', async () => {
    writeFileSync(path, 'one\ntwo\n');
    const { lines } = follow();
    await eventually(() => expect(lines()).toEqual(['one', 'two']));
    truncateSync(path);
    await eventually(() => expect(lines()).toEqual(['one', 'two', '<restart>']));
    appendFileSync(path, 'new\n');
    await eventually(() => expect(lines()).toEqual(['one', 'two', '<restart>', 'new']));
  });

  it('starts again when another file takes its place, without the half line of the old one', async () => {
    writeFileSync(path, 'one\nhalf');
    const { lines } = follow();
    await eventually(() => expect(lines()).toEqual(['one']));
    writeFileSync(join(folder, 'next'), 'a rather longer first line\n');
    renameSync(join(folder, 'next'), path);
    await eventually(() => expect(lines()).toEqual(['one', '<restart>', 'a rather longer first line']));
  });

  it('reports once that the file is missing and reads it when it exists again', async () => {
    writeFileSync(path, 'one\n');
    const { lines } = follow();
    await eventually(() => expect(lines()).toEqual(['one']));
    renameSync(path, `${path}.away`);
    await eventually(() => expect(lines()[1]).toMatch(/problem: log: ENOENT/));
    renameSync(`${path}.away`, path);
    await eventually(() => expect(lines().slice(2)).toEqual(['<restart>', 'one']));
  });

  it('does not read through a link', async () => {
    writeFileSync(join(folder, 'secret'), 'one\n');
    symlinkSync(join(folder, 'secret'), path);
    const { lines } = follow();
    await eventually(() => expect(lines()).toEqual(['problem: log: not a regular file']));
  });

  it('calls nothing after it was stopped', async () => {
    writeFileSync(path, 'one\n');
    const { seen, stop } = follow();
    stop();
    const other = follow();
    appendFileSync(path, 'two\n');
    await eventually(() => expect(other.lines()).toEqual(['one', 'two']));
    expect(seen).toEqual([]);
  });

  it('skips a line at which the caller throws and continues with the next one', async () => {
    writeFileSync(path, 'bad\ngood\n');
    const seen: string[] = [];
    const { stop } = tail({
      path,
      intervalMs: 2,
      onLine: (text) => {
        if (text === 'bad') throw new Error('cannot use this');
        seen.push(text);
      },
      onCaughtUp: () => undefined,
      onRestart: () => seen.push('<restart>'),
      onProblem: (reason) => seen.push(reason.replace(path, 'log')),
    });
    stops.push(stop);
    await eventually(() => expect(seen).toEqual(['log: cannot use this', 'good']));
    appendFileSync(path, 'more\n');
    await eventually(() => expect(seen).toEqual(['log: cannot use this', 'good', 'more']));
  });

  it('does not read a long file again and again if the caller throws at its first line', async () => {
    writeFileSync(path, `head\n${'.'.repeat(100)}\nlast\n`);
    const seen: string[] = [];
    const { stop } = tail({
      path,
      intervalMs: 2,
      onLine: (text) => seen.push(text),
      onHead: () => {
        throw new Error('cannot use this');
      },
      isEnough: () => true,
      lookBack: { firstBytes: 10, maxBytes: 10 },
      onCaughtUp: () => seen.push('|'),
      onRestart: () => seen.push('<restart>'),
      onProblem: (reason) => seen.push(reason.replace(path, 'log')),
    });
    stops.push(stop);
    await eventually(() => expect(seen).toEqual(['log: cannot use this', 'last', '|']));
    appendFileSync(path, 'more\n');
    await eventually(() => expect(seen.slice(3)).toEqual(['more', '|']));
  });
});
