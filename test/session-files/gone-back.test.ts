// Gemini CLI goes back to a conversation from before a compaction within the same file: what counts then is not the last compaction in it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { Fact } from '../../src/core/event.js';
import { readReceipt } from '../../src/session-files/read-receipt.js';
import { planCheckpoint } from '../../src/session-files/undo.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gone-back-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

let count = 0;
const message = (type: 'user' | 'gemini', text: string) => {
  count += 1;
  const id = `id-${count}`;
  const timestamp = new Date(Date.UTC(2026, 10, 24, 10, 0, count)).toISOString();
  const tokens = type === 'gemini' ? { tokens: { input: 1_000 * count } } : {};
  return { id, timestamp, type, content: [{ text }], ...tokens };
};
type Message = ReturnType<typeof message>;

const turn = (name: string): readonly Message[] => [
  message('user', `never forget ${name}`),
  message('gemini', `heard ${name}`),
];
const rename = { $set: { sessionId: 'the-session' } };
const compaction = (summary: string): readonly unknown[] => [
  rename,
  {
    $set: {
      messages: [
        message('user', `<state_snapshot>${summary}</state_snapshot>`),
        { ...message('gemini', 'Got it.'), tokens: null },
      ],
    },
  },
];
/** As after `/chat resume`: every message anew, then all of them at once. */
const goneBack = (...texts: readonly string[]): readonly unknown[] => {
  const messages = texts.map((text, index) => ({
    ...message(index % 2 === 0 ? 'user' : 'gemini', text),
    tokens: null,
  }));
  return [...messages, { $set: { messages } }];
};

const one = '<state_snapshot>first summary</state_snapshot>';
const [a, b] = [turn('apples'), turn('pears')];
const head = { sessionId: 'the-session', projectHash: 'x', startTime: '2026-11-24T10:00:00.000Z' };
const twice: readonly unknown[] = [
  head,
  ...a,
  ...compaction('first summary'),
  ...b,
  ...compaction('second summary'),
];

const written = (records: readonly unknown[]): string => {
  const path = join(folder, 'session-2026-11-24T10-00-the-session.jsonl');
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return path;
};

/** What an undo brings back, and which compaction it undoes. */
const undo = async (records: readonly unknown[], number?: number) => {
  const as = { id: 'new', cwd: folder, now: 0, newUuid: () => 'unused' };
  const request = { agent: agents.gemini, path: written(records), as, number };
  const planned = await planCheckpoint(request, 'name');
  return { number: planned?.plan.number, text: planned?.file.text ?? '' };
};

const boundaries = (records: readonly unknown[]): number => {
  let reader = agents.gemini.log?.reader({});
  const facts: Fact[] = [];
  for (const record of records) {
    const read = reader?.(JSON.stringify(record), 1);
    reader = read?.next;
    facts.push(...(read?.facts ?? []));
  }
  return facts.filter(({ type }) => type === 'boundary').length;
};

describe('after two compactions', () => {
  it('the last one is undone first', async () => {
    const { number, text } = await undo(twice);
    expect(number).toBe(2);
    expect(text).toContain('heard pears');
    expect(text).not.toContain('heard apples');
  });

  const once = [...twice, ...goneBack(one, 'Got it.', 'never forget pears', 'heard pears')];

  it('and going back by one, the first one is undone next', async () => {
    const { number, text } = await undo(once);
    expect(number).toBe(1);
    expect(text).toContain('heard apples');
  });

  it('the return to the first summary is no compaction', async () => {
    expect(boundaries(once)).toBe(2);
    await expect(undo(once, 3)).rejects.toThrow('there is no compaction #3, only #1 to #2');
  });

  it('and going back by both, nothing is left to undo, but any of them can still be named', async () => {
    const all = [...once, ...goneBack('never forget apples', 'heard apples')];
    await expect(undo(all)).rejects.toThrow('every compaction of this session is already undone');
    expect((await undo(all, 2)).text).toContain('heard pears');
  });

  it('a third one after that is the one that is undone', async () => {
    const third = [...twice, ...goneBack('never forget apples', 'heard apples'), ...compaction('third')];
    const { number, text } = await undo(third);
    expect(number).toBe(3);
    expect(text).toContain('heard apples');
  });

  it('a history that is written anew after a cancelled turn changes nothing', async () => {
    const two = '<state_snapshot>second summary</state_snapshot>';
    const cancelled = [...twice, ...goneBack(two, 'Got it.', 'stop')];
    expect((await undo(cancelled)).number).toBe(2);
  });
});

describe('the receipt of the last compaction', () => {
  it('is about one that counts: what was lost and is back is not lost', async () => {
    const path = written([...twice, ...goneBack(one, 'Got it.', 'never forget pears', 'heard pears')]);
    const { receipt } = (await readReceipt({ agent: agents.gemini, path }, 'last')) ?? {};
    expect(receipt?.items.map(({ text }) => text)).toEqual(['never forget apples']);
    const all = written([...twice, ...goneBack('never forget apples', 'heard apples')]);
    expect(await readReceipt({ agent: agents.gemini, path: all }, 'last')).toBeUndefined();
  });
});
