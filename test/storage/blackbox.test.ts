// What is kept of a session file, whatever happens to the file afterwards.
import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  newestCopy,
  readCopyLines,
  restoreCopy,
  type KeptCopy,
} from '../../src/storage/blackbox/blackbox.js';
import { CHUNK_BYTES } from '../../src/storage/blackbox/chunks.js';
import { dropFile, isBeginningOf, noteFate } from '../../src/storage/blackbox/keep.js';
import { filesIn, linesFrom, makeBox, SESSION, type Box } from '../support/kept.js';
import { runs } from '../support/runs.js';

let box: Box;
beforeEach(() => {
  box = makeBox();
});
afterEach(() => box.remove());

const first = linesFrom(0, 100);

const copiesOf = async (): Promise<readonly KeptCopy[]> => (await box.session()).copies;
const only = async (): Promise<KeptCopy> => {
  const [copy, ...others] = await copiesOf();
  if (!copy || others.length > 0) throw new Error(`there are ${others.length + 1} copies`);
  return copy;
};

describe('the link to a session file', () => {
  beforeEach(async () => {
    writeFileSync(box.path, first);
    await box.link();
  });

  it('is made once', async () => {
    expect(await box.link()).toMatchObject({ kind: 'linked', isNew: false });
    expect(await copiesOf()).toHaveLength(1);
  });

  it('has what the agent writes afterwards, and costs nothing while the agent has it, too', async () => {
    appendFileSync(box.path, 'more\n');
    expect(await box.text(await only())).toBe(`${first}more\n`);
    expect(await only()).toMatchObject({ kind: 'file', isAlone: false, bytes: first.length + 5 });
  });

  it('outlives the removal of the file', async () => {
    unlinkSync(box.path);
    expect(await box.text(await only())).toBe(first);
    expect(await only()).toMatchObject({ isAlone: true });
  });

  it('outlives another file that takes its place, which gets a link of its own', async () => {
    writeFileSync(`${box.path}.new`, 'another\n');
    renameSync(`${box.path}.new`, box.path);
    expect(await box.link()).toMatchObject({ kind: 'linked', isNew: true });
    const texts = await Promise.all((await copiesOf()).map(box.text));
    expect(texts.toSorted()).toEqual(['another\n', first].toSorted());
    const newest = newestCopy(await box.session());
    expect(newest && (await box.text(newest))).toBe('another\n');
  });

  it('is made once, however often it is asked for', async () => {
    expect(await box.link()).toMatchObject({ kind: 'linked', isNew: false });
    expect(await copiesOf()).toHaveLength(1);
  });

  it('leaves the file as it is: content, permissions and times', async () => {
    const { mode, mtimeMs, size } = statSync(box.path);
    await box.keep();
    expect(statSync(box.path)).toMatchObject({ mode, mtimeMs, size });
  });

  it('can be dropped, and the file stays', async () => {
    const { id } = await only();
    await box.keep();
    await dropFile(box.place, id);
    expect((await copiesOf()).map(({ kind }) => kind)).toEqual(['checkpoint']);
    expect(readFileSync(box.path, 'utf8')).toBe(first);
  });
});

describe('a copy of a session file', () => {
  it('has the bytes of the file, whatever happens to the file then', async () => {
    writeFileSync(box.path, first);
    await box.keep();
    for (const change of [
      () => truncateSync(box.path, 10),
      () => writeFileSync(box.path, 'something else'),
      () => rmSync(box.path),
    ]) {
      change();
      expect(await box.text(await only())).toBe(first);
    }
  });

  it('is of the beginning up to a place, and gives its lines', async () => {
    const whole = first + linesFrom(100, 5);
    writeFileSync(box.path, whole);
    await box.keep('compaction', { end: first.length });
    const lines: string[] = [];
    await readCopyLines(box.stateFolder, await box.session(), await only(), (line) => lines.push(line));
    expect(lines).toEqual(first.trimEnd().split('\n'));
  });

  it('takes only the room of what is new', async () => {
    const large = linesFrom(0, 40_000, 200);
    writeFileSync(box.path, large);
    await box.keep('compaction');
    const { usedBytes } = await box.session();
    appendFileSync(box.path, linesFrom(40_000, 10));
    await box.keep('compaction');
    expect((await box.session()).copies).toHaveLength(2);
    expect((await box.session()).usedBytes - usedBytes).toBeLessThan(usedBytes / 4);
    const [before, after] = await copiesOf();
    expect(before && (await box.text(before))).toBe(large);
    expect(after && (await box.text(after))).toBe(large + linesFrom(40_000, 10));
  });

  it('that was made in passing makes room for a longer one; one of a compaction stays', async () => {
    writeFileSync(box.path, first);
    await box.keep('growing');
    appendFileSync(box.path, 'a\n');
    await box.keep('before');
    expect(await only()).toMatchObject({ why: 'before' });
    appendFileSync(box.path, 'b\n');
    await box.keep('compaction');
    expect(await only()).toMatchObject({ why: 'compaction' });
    appendFileSync(box.path, 'c\n');
    await box.keep('growing');
    expect(await copiesOf()).toMatchObject([{ why: 'compaction' }, { why: 'growing' }]);
  });

  it('that is longer than the record of a compaction, which was seen late, goes with the next one', async () => {
    writeFileSync(box.path, `${first}boundary\n`);
    await box.keep('growing');
    await box.keep('compaction', { end: first.length });
    appendFileSync(box.path, 'more\n');
    await box.keep('growing');
    expect((await copiesOf()).map(({ bytes }) => bytes)).toEqual([first.length, first.length + 14]);
  });

  it('is not made twice of the same contents', async () => {
    writeFileSync(box.path, first);
    const { checkpoint } = await box.keep('growing');
    expect(await box.keep('growing')).toEqual({ checkpoint, isNew: false });
    expect(await only()).toMatchObject({ id: checkpoint.id });
  });

  it('of a file that was rewritten in place is kept beside the one before, which is named', async () => {
    writeFileSync(box.path, first);
    const { checkpoint } = await box.keep('growing');
    const rewritten = first.replace('"n":50', '"n":77') + linesFrom(100, 5);
    writeFileSync(box.path, rewritten);
    expect(await box.keep('growing')).toMatchObject({ isNew: true, changed: checkpoint.id });
    expect(await Promise.all((await copiesOf()).map(box.text))).toEqual([first, rewritten]);
  });

  it('of contents that change all the time does not pile up', async () => {
    for (let turn = 0; turn < 15; turn += 1) {
      writeFileSync(box.path, `${turn} ${first}`);
      await box.keep('growing');
    }
    expect((await copiesOf()).length).toBe(9);
  });

  it('is refused where the file is shorter than it should be, or larger than the limit', async () => {
    writeFileSync(box.path, first);
    await expect(box.keep('compaction', { end: first.length + 1 })).rejects.toThrow('shorter than it was');
    await expect(box.keep('before', { mostBytes: 100 })).rejects.toThrow('larger than blackbox.limit');
    expect(filesIn(box.stateFolder).filter((name) => /chunks/.test(name))).toEqual([]);
  });

  it('is not made of a file with terabytes of holes', async () => {
    writeFileSync(box.path, first);
    truncateSync(box.path, 2 ** 41);
    await expect(box.keep()).rejects.toThrow(/^it holds more than 1 GB, and takes .* on the disk$/);
  });

  it('of any file in any steps has the bytes of each step', { timeout: 60_000 }, async () => {
    const step = fc.record({
      bytes: fc.oneof(fc.nat(2_000), fc.nat(400_000), fc.constant(CHUNK_BYTES), fc.nat(2 * CHUNK_BYTES)),
      fill: fc.nat(255),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
        const own = makeBox();
        try {
          let text = Buffer.alloc(0);
          const expected: string[] = [];
          for (const { bytes, fill } of steps) {
            text = Buffer.concat([text, Buffer.alloc(bytes + 1, `${fill} `)]);
            writeFileSync(own.path, text);
            const { checkpoint } = await own.keep('compaction');
            expected.push(checkpoint.sha256);
          }
          const { copies } = await own.session();
          for (const copy of copies) {
            const found = await own.text(copy);
            expect(found).toBe(text.subarray(0, copy.bytes).toString());
          }
          expect(copies.map((copy) => copy.kind === 'checkpoint' && copy.sha256)).toEqual(expected);
        } finally {
          own.remove();
        }
      }),
      runs(6),
    );
  });
});

describe('what is written', () => {
  beforeEach(async () => {
    writeFileSync(box.path, first);
    await box.link();
    await box.keep();
  });

  it('is readable by the user only', () => {
    const folder = join(box.stateFolder, 'checkpoints');
    for (const path of [
      folder,
      join(folder, `claude-${SESSION}`),
      join(folder, `claude-${SESSION}`, 'chunks'),
    ])
      expect(statSync(path).mode & 0o777).toBe(0o700);
    const own = filesIn(folder).filter((name) => !name.endsWith('.file'));
    expect(own.length).toBeGreaterThan(2);
    for (const name of own) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('has no lock and no temporary file left', () => {
    expect(filesIn(box.stateFolder).filter((name) => /lock|tmp/.test(name))).toEqual([]);
  });

  it('says what has happened to the file, at most fifty times', async () => {
    for (let at = 0; at < 60; at += 1) await noteFate(box.place, { at, fate: 'rewritten' });
    const { events } = await box.session();
    expect([events.length, events.at(-1)]).toEqual([50, { at: 59, fate: 'rewritten', path: box.path }]);
  });

  it('is read from the index before, where the index is damaged', async () => {
    await noteFate(box.place, { at: 1, fate: 'removed' });
    const index = join(box.stateFolder, 'checkpoints', `claude-${SESSION}`, 'index.json');
    writeFileSync(index, '{"schema":');
    expect((await copiesOf()).map(({ kind }) => kind).toSorted()).toEqual(['checkpoint', 'file']);
  });
});

describe('a damaged copy', () => {
  const chunk = (): string => {
    const found = filesIn(box.stateFolder).find((name) => name.includes('chunks/'));
    if (found === undefined) throw new Error('no piece');
    return join(box.stateFolder, found);
  };
  beforeEach(async () => {
    writeFileSync(box.path, first);
    await box.keep('compaction');
  });

  it.each([
    ['changed', (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size, 7))],
    ['cut', (path: string) => truncateSync(path, 20)],
    ['empty', (path: string) => truncateSync(path, 0)],
    ['missing', (path: string) => rmSync(path)],
  ])('whose piece is %s gives not one byte', async (_, damage) => {
    damage(chunk());
    const copy = await only();
    const lines: string[] = [];
    const session = await box.session();
    await expect(readCopyLines(box.stateFolder, session, copy, (line) => lines.push(line))).rejects.toThrow(
      /a piece of it is (damaged|missing)/,
    );
    expect(lines).toEqual([]);
    const target = join(box.root, 'restored.jsonl');
    await expect(restoreCopy(box.stateFolder, session, copy, target)).rejects.toThrow('a piece of it');
    expect(filesIn(box.root).filter((name) => name.startsWith('restored'))).toEqual([]);
  });

  it('with a damaged record is counted and not given; a new copy works', async () => {
    const { id } = await only();
    const record = join(box.stateFolder, 'checkpoints', `claude-${SESSION}`, `${id}.json`);
    writeFileSync(record, readFileSync(record, 'utf8').slice(0, -20));
    expect(await box.session()).toMatchObject({ damaged: 1, copies: [] });
    await box.keep();
    expect(await box.session()).toMatchObject({ damaged: 1, copies: [{ why: 'before' }] });
  });
});

describe('restoring', () => {
  beforeEach(async () => {
    writeFileSync(box.path, first);
    await box.link();
    await box.keep();
  });

  it('writes a new file with the bytes of the copy, for the user only', async () => {
    for (const [index, copy] of (await copiesOf()).entries()) {
      const target = join(box.root, `restored-${index}`);
      await restoreCopy(box.stateFolder, await box.session(), copy, target);
      expect(readFileSync(target, 'utf8')).toBe(first);
      expect(statSync(target).mode & 0o777).toBe(0o600);
    }
    expect(filesIn(box.root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('never replaces a file', async () => {
    const target = join(box.root, 'there');
    writeFileSync(target, 'mine');
    const [copy] = await copiesOf();
    if (!copy) throw new Error('no copy');
    await expect(restoreCopy(box.stateFolder, await box.session(), copy, target)).rejects.toThrow('EEXIST');
    expect(readFileSync(target, 'utf8')).toBe('mine');
    expect(filesIn(box.root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

describe('the newest copy', () => {
  it('is the one before, where the file has lost what that still has', async () => {
    writeFileSync(box.path, first);
    await box.link();
    await box.keep('growing');
    expect(newestCopy(await box.session())).toMatchObject({ kind: 'file' });
    truncateSync(box.path, 10);
    expect(newestCopy(await box.session())).toMatchObject({ kind: 'checkpoint', bytes: first.length });
  });

  it('is none where nothing is kept', () => {
    expect(newestCopy({ copies: [] })).toBeUndefined();
  });
});

describe('whether a file is the beginning of another one', () => {
  it.each([
    ['', 'anything', true],
    ['one\n', 'one\ntwo\n', true],
    ['one\n', 'onE\ntwo\n', false],
    ['one\ntwo\n', 'one\n', false],
    ['x'.repeat(70_000), `${'x'.repeat(70_000)}y`, true],
    [`${'x'.repeat(70_000)}y`, `${'x'.repeat(70_000)}z`, false],
  ])('%.8s of %.8s: %s', async (older, newer, is) => {
    const [a, b] = [join(box.root, 'a'), join(box.root, 'b')];
    writeFileSync(a, older);
    writeFileSync(b, newer);
    expect(await isBeginningOf(a, b)).toBe(is);
  });
});
