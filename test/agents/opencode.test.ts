import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { locateOpencode } from '../../src/agents/opencode/files.js';
import { foundWindow, narrowed } from '../../src/agents/opencode/screen.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { linesOf, readLines } from '../support/read-log.js';

const { opencode } = agents;

const factsOf = (...lines: readonly string[]) => readLines(opencode, lines).facts;
const NOW = 1_000_000;

/** A row of an answer, as the database gives it. */
const answer = (id: string, created: number, tokens: object, more: object = {}): string =>
  JSON.stringify({
    type: 'message',
    id,
    at: created,
    data: {
      role: 'assistant',
      modelID: 'm',
      tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 }, ...tokens },
      time: { created, completed: created + 10 },
      finish: 'stop',
      ...more,
    },
    ...('summary' in more ? { characters: 10, isAuto: 0 } : {}),
  });

describe('the database of opencode', () => {
  it('tells the tokens of each answer, and of a compaction only that it was', () => {
    const facts = factsOf(...linesOf('opencode', 'turns.jsonl'));
    expect(
      facts.map((fact) =>
        fact.type === 'reading' ? fact.reading.usedTokens : fact.type === 'boundary' ? fact.boundary : fact,
      ),
    ).toEqual([
      20_020,
      120_020,
      expect.objectContaining({ initiator: 'user', preTokens: 120_020 }), // its own request had 120 020, too
      9_020,
      9_020, // a tool call that was refused
    ]);
  });

  it('counts what the footer of opencode counts: all tokens of the last answer, those from the cache included', () => {
    const tokens = { input: 100, output: 20, reasoning: 3, cache: { read: 4_000, write: 50_000 } };
    expect(factsOf(answer('a', 1, tokens))).toEqual([
      {
        type: 'reading',
        reading: {
          usedTokens: 54_123,
          cachedTokens: 4_000,
          inputTokens: 54_100,
          source: 'log',
          model: 'm',
          at: 11,
        },
      },
    ]);
  });

  it('takes no number of an answer that has none yet, and each number once, however often its row changes', () => {
    const rows = [answer('a', 1, {}), answer('a', 1, { output: 20 }), answer('a', 1, { output: 20 })];
    expect(factsOf(...rows)).toHaveLength(1);
  });

  it('takes no number of an earlier answer whose row changes later', () => {
    const early = answer('a', 1, { output: 20 });
    const compaction = answer('s', 5, { output: 700 }, { summary: true });
    expect(factsOf(early, compaction, early).map(({ type }) => type)).toEqual(['reading', 'boundary']);
  });

  it('tells a compaction once it is complete', () => {
    const running = answer('s', 5, {}, { summary: true, time: { created: 5 }, finish: undefined });
    expect(factsOf(running)).toEqual([]);
    const done = answer('s', 5, { output: 700 }, { summary: true });
    expect(factsOf(running, done, done).map(({ type }) => type)).toEqual(['boundary']);
  });

  it('tells a compaction whose summary is empty, and those that were not the user’s', () => {
    const row = JSON.parse(answer('s', 5, { output: 1 }, { summary: true }));
    expect(factsOf(JSON.stringify({ ...row, characters: 0, isAuto: 1 }))).toEqual([
      {
        type: 'boundary',
        boundary: { initiator: 'agent', summary: 'empty', uuid: 's', durationMs: 10, at: 15 },
      },
    ]);
  });

  it('gives the size of a summary that is as large as the conversation, which is then no success', () => {
    const sizeAfter = (output: number): unknown =>
      factsOf(
        answer('a', 1, { input: 55_000, output: 20 }),
        answer('s', 5, { output }, { summary: true }),
      ).map((fact) => (fact.type === 'boundary' ? fact.boundary.postTokens : fact.type));
    expect(sizeAfter(60_000)).toEqual(['reading', 60_000]);
    expect(sizeAfter(1_000)).toEqual(['reading', undefined]);
  });

  it('never takes a failed or cancelled compaction for one that worked', () => {
    const failed = linesOf('opencode', 'failures.jsonl');
    const boundaries = factsOf(...failed).filter(({ type }) => type === 'boundary');
    expect(boundaries).toEqual([
      expect.objectContaining({ boundary: expect.objectContaining({ summary: 'empty' }) }),
    ]);
    const cancelled = factsOf(...linesOf('opencode', 'interrupted.jsonl'));
    // opencode makes the summary up with the next message
    expect(cancelled.filter(({ type }) => type === 'boundary')).toHaveLength(1);
  });

  it('says in opencode’s words why a compaction failed just now', () => {
    const error = { name: 'APIError', data: { message: 'made up 400' } };
    const row = answer('s', 5, {}, { summary: true, finish: undefined, error });
    expect(factsOf(row)).toEqual([
      { type: 'compact-result', result: { kind: 'failed', failure: 'error', text: 'made up 400' } },
    ]);
    const aborted = answer(
      's',
      5,
      {},
      { summary: true, finish: undefined, error: { name: 'MessageAbortedError' } },
    );
    expect(factsOf(aborted)).toEqual([
      { type: 'compact-result', result: { kind: 'interrupted', by: 'the user' } },
    ]);
  });

  describe('when a part of the conversation is hidden or shown again', () => {
    const session = (cutFrom?: string): string =>
      JSON.stringify({
        type: 'session',
        id: 's',
        version: '1.18.33',
        at: 1,
        cutFrom,
        isReverted: +!!cutFrom,
      });
    const first = answer('msg_1', 1, { input: 9_000, output: 20 });
    const second = answer('msg_3', 3, { input: 54_000, output: 30 });
    const summary = answer('msg_5', 5, { output: 700 }, { summary: true });
    const after = answer('msg_7', 7, { input: 11_000, output: 50 });
    const told = (...lines: readonly string[]) =>
      factsOf(...lines).map((fact) =>
        fact.type === 'reading'
          ? fact.reading.usedTokens
          : fact.type === 'voided'
            ? { left: fact.leftTokens }
            : fact.type,
      );

    it('the size is that of the last answer that is not hidden', () => {
      const back = [session('msg_2'), session('msg_2'), session('msg_0'), session('msg_2'), session()];
      expect(told(session(), first, second, ...back)).toEqual([
        9_020,
        54_030,
        { left: 9_020 },
        { left: undefined },
        { left: 9_020 },
        { left: 54_030 },
      ]);
    });

    it('the size of an undone compaction is that from before, and is not known right after one that is not', () => {
      const undone = session('msg_4');
      expect(told(session(), second, summary, undone)).toEqual([54_030, 'boundary', { left: 54_030 }]);
      expect(told(session(), second, summary, after, undone).at(-1)).toEqual({ left: 54_030 });
      expect(told(session(), second, summary, after, session('msg_6')).at(-1)).toEqual({ left: undefined });
      expect(told(session(), second, summary, undone, session()).at(-1)).toEqual({ left: undefined });
    });

    it('no number of what is hidden from the beginning stays', () => {
      expect(told(session('msg_4'), second, summary, after)).toEqual([
        { left: undefined },
        54_030,
        'boundary',
        { left: 54_030 },
        11_050,
        { left: 54_030 },
      ]);
    });

    it('a compaction that is hidden has the size that was before it', () => {
      const facts = factsOf(session('msg_2'), first, second, summary);
      expect(facts.find(({ type }) => type === 'boundary')).toMatchObject({
        boundary: { preTokens: 54_030 },
      });
    });

    it('the rows of a changed database are read in any order', () => {
      const late = answer('msg_1', 1, { input: 9_000, output: 25 });
      const later = [session('msg_2'), late, session('msg_4')];
      expect(told(session(), first, second, ...later).slice(2)).toEqual([
        { left: 9_020 },
        9_025,
        { left: 54_030 },
      ]);
    });
  });
});

describe('the session of opencode in this terminal', () => {
  const path = '/home/me/.local/share/opencode/opencode.db';
  const enteredAt = NOW;
  const place = fakePlace({ enteredAt, now: enteredAt + 2_000, startedAt: 0 });
  const locate = (
    ...rows: readonly { readonly id: string; readonly directory: string; readonly sent: number }[]
  ) => locateOpencode(fakePort({ files: {}, rows: { [path]: rows } }), place);

  it('is the one with a message from the moment of Enter', async () => {
    expect(await locate({ id: 'ses_1', directory: '/else', sent: NOW + 5 })).toEqual({
      sessionId: 'ses_1',
      path,
      certain: false,
      writtenAt: NOW + 5,
    });
  });

  it('is of several the one of this folder', async () => {
    const other = { id: 'ses_2', directory: '/else', sent: NOW };
    expect(await locate(other, { id: 'ses_1', directory: '/proj/app', sent: NOW })).toMatchObject({
      sessionId: 'ses_1',
    });
    const twin = { id: 'ses_3', directory: '/proj/app', sent: NOW };
    expect(await locate(twin, { id: 'ses_1', directory: '/proj/app', sent: NOW })).toBeUndefined();
  });

  it('is not known without Enter, before its two seconds are over, and without SQLite', async () => {
    const row = { id: 'ses_1', directory: '/proj/app', sent: NOW };
    const port = fakePort({ files: {}, rows: { [path]: [row] } });
    expect(await locateOpencode(port, fakePlace())).toBeUndefined();
    expect(await locateOpencode(port, { ...place, now: NOW + 1_999 })).toBeUndefined();
    expect(await locateOpencode(fakePort({ files: {} }), place)).toBeUndefined();
  });

  it('is looked for where the environment says', async () => {
    const rows = { '/data/opencode/opencode.db': [{ id: 'ses_1', directory: '/', sent: NOW }] };
    const env = { XDG_DATA_HOME: '/data' };
    expect(await locateOpencode(fakePort({ files: {}, rows }), { ...place, env })).toMatchObject({
      path: '/data/opencode/opencode.db',
    });
  });
});

describe('the window of opencode’s model', () => {
  const after = (...numbers: readonly (readonly [number, number])[]) =>
    numbers.reduce<ReturnType<typeof narrowed> | undefined>(
      (search, [usedTokens, usedPercent]) => narrowed(search, { model: 'm', usedTokens, usedPercent }),
      undefined,
    );
  const windowAfter = (...numbers: readonly (readonly [number, number])[]) => {
    const search = after(...numbers);
    return search && foundWindow(search);
  };

  it('is the only usual one that agrees with what the screen has shown', () => {
    expect(windowAfter([120_000, 60])).toBe(200_000);
    expect(windowAfter([10_000, 5])).toBeUndefined(); // 200 000, 202 752 or 204 800
    expect(windowAfter([10_000, 5], [11_000, 6])).toBe(200_000);
  });

  it('is unknown where none agrees', () => {
    expect(windowAfter([50_000, 71])).toBeUndefined();
  });

  it('is looked for anew with another model', () => {
    const search = narrowed(after([120_000, 60]), { model: 'n', usedTokens: 120_000, usedPercent: 12 });
    expect(foundWindow(search)).toBe(1_000_000);
  });
});
