// The limits of the black box: the oldest goes first, and never the last of a session that runs.
import { appendFileSync, existsSync, mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { nextRemoval } from '../../src/core/conversation/checkpoint.js';
import { keptKey, listKept } from '../../src/storage/blackbox/blackbox.js';
import { keepCopy, linkFile } from '../../src/storage/blackbox/keep.js';
import { pruneBlackBox } from '../../src/storage/blackbox/prune.js';
import { linesFrom, makeBox, type Box } from '../support/kept.js';

let box: Box;
beforeEach(() => {
  box = makeBox();
});
afterEach(() => box.remove());

const DAY = 86_400_000;
const NOW = 1_800_000_000_000;

/** A session with copies made so many days ago, of some hundred kilobytes each. */
const keep = async (session: string, ...daysAgo: readonly number[]): Promise<void> => {
  const path = join(box.root, `${session}.jsonl`);
  writeFileSync(path, '');
  for (const [index, days] of daysAgo.entries()) {
    // random, so that it does not get smaller
    const noise = Buffer.from(Array.from({ length: 300_000 }, () => 32 + Math.floor(Math.random() * 90)));
    appendFileSync(path, Buffer.concat([noise, Buffer.from(`${index}\n`)]));
    const place = { ...box.place, session, path };
    await keepCopy({ ...place, why: 'compaction', source: path, now: NOW - days * DAY, mostBytes: 1e9 });
  }
};

const left = async (): Promise<Readonly<Record<string, readonly number[]>>> => {
  const sessions = await listKept(box.stateFolder);
  return Object.fromEntries(
    sessions.map(({ session, copies }) => [session, copies.map(({ at }) => (NOW - at) / DAY)]),
  );
};
const used = async (): Promise<number> =>
  (await listKept(box.stateFolder)).reduce((sum, { usedBytes }) => sum + usedBytes, 0);
const prune = (more: Partial<Parameters<typeof pruneBlackBox>[0]> = {}) =>
  pruneBlackBox({ stateFolder: box.stateFolder, now: NOW, ...more });
const live = (session: string): string => keptKey({ runtime: 'claude', session });

describe('the limits', () => {
  it('remove nothing that is within them', async () => {
    await keep('a', 3, 2);
    expect((await prune({ limitBytes: 1e9 })).removed).toEqual([]);
    expect(await left()).toEqual({ a: [3, 2] });
  });

  it('remove the session that was written to least recently first, until the rest fits on the disk', async () => {
    for (const [index, days] of [9, 4, 7, 1, 5, 3, 2, 8].entries()) await keep(`s${index}`, days);
    const limitBytes = (await used()) * 0.7;
    const { removed, bytes } = await prune({ limitBytes });
    expect(removed.map(({ copy }) => (NOW - copy.at) / DAY)).toEqual([9, 8, 7]);
    expect(bytes[1]).toBeLessThanOrEqual(limitBytes);
    expect(bytes[1]).toBe(await used());
  });

  it('hold one session to a quarter, by removing its oldest copies where that frees anything', async () => {
    await keep('grows', 5, 4, 3);
    await keep('rewritten', 5);
    await keep('rewritten', 4);
    await keep('rewritten', 3);
    const [grows, rewritten] = (await listKept(box.stateFolder)).map(({ usedBytes }) => usedBytes);
    await prune({ limitBytes: (grows ?? 0) * 4 + 1 });
    expect(rewritten).toBeDefined();
    expect(await left()).toEqual({ grows: [5, 4, 3], rewritten: [5, 4, 3] });
    await prune({ limitBytes: (grows ?? 0) * 2.8, only: live('rewritten') });
    expect(await left()).toEqual({ grows: [5, 4, 3], rewritten: [4, 3] });
    // a copy that contains the others is left whole, and the last one stays
    await prune({ limitBytes: (grows ?? 0) * 2, only: live('grows') });
    expect(await left()).toMatchObject({ grows: [5, 4, 3] });
  });

  it('leave the last copy of a running session, however large, and take those of the others', async () => {
    await keep('a', 9);
    await keep('a', 8); // written anew
    await keep('b', 3, 2);
    await prune({ limitBytes: 1, liveKey: live('a') });
    expect(await left()).toEqual({ a: [8] });
    expect(readdirSync(join(box.stateFolder, 'checkpoints'))).toEqual([live('a')]);
  });

  it('leave a session that a record says is running', async () => {
    await keep('a', 9);
    mkdirSync(join(box.stateFolder, 'sessions'));
    const record = {
      schema: 'ctxwrap.session/1',
      id: 'w1',
      version: '1',
      pid: process.pid,
      childPid: 1,
      runtime: 'claude',
      cwd: '/',
      startedAt: NOW,
      heartbeatAt: NOW,
      agentSessionId: 'a',
      activity: 'ready',
    };
    writeFileSync(join(box.stateFolder, 'sessions', 'w1.json'), JSON.stringify(record));
    await prune({ limitBytes: 0 });
    expect(await left()).toEqual({ a: [9] });
    await prune({ before: Infinity });
    expect(await left()).toEqual({ a: [9] });
  });

  it('do not touch a link that costs nothing, and count one whose file the agent has removed', async () => {
    const path = join(box.root, 'linked.jsonl');
    writeFileSync(path, linesFrom(0, 5_000));
    await linkFile({ ...box.place, session: 'linked', path }, NOW);
    const small = await used();
    expect(small).toBeLessThan(20_000);
    await prune({ limitBytes: 0 });
    expect((await listKept(box.stateFolder))[0]?.copies).toHaveLength(1);
    unlinkSync(path);
    expect(await used()).toBeGreaterThan(small + 300_000);
    await prune({ limitBytes: 100_000 });
    expect(await listKept(box.stateFolder)).toEqual([]);
  });
});

describe('pruning by age', () => {
  it('removes what is older, and whole sessions with it', async () => {
    await keep('a', 40, 20);
    await keep('b', 50);
    await prune({ before: NOW - 30 * DAY });
    expect(await left()).toEqual({ a: [20] });
    expect(existsSync(join(box.stateFolder, 'checkpoints', live('b')))).toBe(false);
  });

  it('can remove everything, records that cannot be read included, and nothing that is not ours', async () => {
    await keep('a', 3);
    await keep('b', 2);
    const folder = join(box.stateFolder, 'checkpoints', live('b'));
    const record = readdirSync(folder).find((name) => /^[0-9a-f]{12}\.json$/.test(name)) ?? '';
    writeFileSync(join(folder, record), '{');
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    await prune({ before: Infinity });
    expect(readdirSync(join(box.stateFolder, 'checkpoints'))).toEqual([live('b')]);
    expect(readdirSync(folder)).toEqual(['mine.txt']);
  });

  it('can be for one session alone', async () => {
    await keep('a', 40);
    await keep('b', 40);
    await prune({ before: NOW, only: live('a') });
    expect(await left()).toEqual({ b: [40] });
  });
});

describe('what goes next', () => {
  const copy = fc.record({
    id: fc.uuid(),
    at: fc.nat(100),
    pieces: fc.array(fc.constantFrom('x', 'y', 'z', 'u', 'v')),
  });
  const session = fc
    .record({
      key: fc.uuid(),
      isLive: fc.boolean(),
      usedBytes: fc.nat(1_000),
      copies: fc.array(copy, { maxLength: 6 }),
    })
    .map((each) => ({ ...each, copies: each.copies.toSorted((a, b) => a.at - b.at) }));

  it('is never the last copy of a session that runs, and a part of a session never its last copy', () => {
    fc.assert(
      fc.property(fc.array(session), fc.nat(3_000), (sessions, limit) => {
        const next = nextRemoval(sessions, limit);
        const of = sessions.find(({ key }) => key === next?.key);
        if (!next || !of) return true;
        const last = of.copies.at(-1)?.id ?? '';
        return next.ids.length === of.copies.length
          ? !of.isLive || of.copies.length > 1
          : !next.ids.includes(last);
      }),
    );
  });

  it('is nothing where all is within the limits', () => {
    fc.assert(fc.property(fc.array(session), (sessions) => nextRemoval(sessions, 1e9) === undefined));
  });
});
