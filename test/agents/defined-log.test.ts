import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { define, least, toy } from '../support/defined.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { readLines } from '../support/read-log.js';

const RECORD = {
  kind: 'answer',
  model: 'toy-large-1',
  usage: { input: 1_000, cached: 200 },
  time: 1_795_255_200,
};
const line = (more: object = {}): string => JSON.stringify({ ...RECORD, ...more });

describe('the session file of a defined agent', () => {
  const agent = define(toy);
  const readingsOf = (...lines: readonly string[]) =>
    readLines(agent, lines).facts.flatMap((fact) => (fact.type === 'reading' ? [fact.reading] : []));

  it('gives the sum of the fields, the model and its window, and the time', () => {
    expect(readLines(agent, [line()])).toEqual({
      facts: [
        {
          type: 'reading',
          reading: {
            usedTokens: 1_200,
            windowTokens: 400_000,
            windowSource: 'table',
            model: 'toy-large-1',
            source: 'log',
            at: 1_795_255_200_000,
          },
        },
      ],
      misfits: [],
    });
  });

  it('trusts the window in a record more than its table', () => {
    expect(readingsOf(line({ window: 64_000 }))[0]).toMatchObject({
      windowTokens: 64_000,
      windowSource: 'agent',
    });
    expect(readingsOf(line({ window: 0 }))[0]).toMatchObject({ windowTokens: 400_000 });
    expect(readingsOf(line({ model: 'other' }))[0]).not.toHaveProperty('windowTokens');
  });

  it('knows a compaction by its field, with its sizes', () => {
    const { facts } = readLines(agent, [
      JSON.stringify({ kind: 'compaction', before: 9_000, after: 500, time: '2026-11-21T10:00:00.000Z' }),
    ]);
    expect(facts).toEqual([
      { type: 'boundary', boundary: { preTokens: 9_000, postTokens: 500, at: Date.UTC(2026, 10, 21, 10) } },
    ]);
  });

  it.each([
    ['a record to be ignored', line({ subagent: true })],
    ['zero tokens', line({ usage: { input: 0 } })],
    ['tokens as text', line({ usage: { input: '5000' } })],
    ['negative tokens', line({ usage: { input: -5 } })],
    ['no usage', line({ usage: null })],
    ['another record', '{"kind":"user","text":"{\\"usage\\":{\\"input\\":9}}"}'],
    ['an empty line', ''],
  ])('says nothing of %s', (_, text) => {
    expect(readLines(agent, [text])).toEqual({ facts: [], misfits: [] });
  });

  it('reports lines that are no records', () => {
    expect(readLines(agent, ['{"kind":"answ', '[1]', 'hello']).misfits).toHaveLength(3);
  });

  it('may be any text at all', () => {
    const field = fc.constantFrom('usage', 'input', 'kind', 'window', 'model', 'time');
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.json(),
            fc.dictionary(field, fc.jsonValue()).map((each) => JSON.stringify(each)),
          ),
        ),
        (lines) => {
          for (const { usedTokens = 0 } of readingsOf(...lines))
            if (!(usedTokens > 0)) throw new Error('an empty number');
        },
      ),
    );
  });

  it('takes a path with * for all items, and a number for one', () => {
    const paths = { globs: ['~/x'], used: ['parts.*.tokens', 'extra.1'] };
    const parts = define({ ...least, log: paths });
    const record = { parts: [{ tokens: 1 }, { tokens: 20 }, { other: 5 }], extra: [1_000, 300, 4] };
    expect(readLines(parts, [JSON.stringify(record)]).facts[0]).toMatchObject({
      reading: { usedTokens: 321 },
    });
  });
});

describe('finding the session file of a defined agent', () => {
  const place = fakePlace();
  const at = (seconds: number) => ({ modifiedAt: place.startedAt + seconds * 1000 });
  const locate = (glob: string, files: Readonly<Record<string, { modifiedAt: number }>>) =>
    define({ ...least, log: { globs: [glob], used: ['a'] } }).log?.locate(fakePort({ files }), place);

  it('takes the newest that has grown since the start, and is never certain of it', async () => {
    const files = {
      '/home/me/.toy/s/old.jsonl': at(-5),
      '/home/me/.toy/s/a.jsonl': at(2),
      '/home/me/.toy/s/b.jsonl': at(4),
      '/home/me/.toy/s/c.txt': at(9),
    };
    expect(await locate('~/.toy/s/*.jsonl', files)).toEqual({
      sessionId: 'b',
      path: '/home/me/.toy/s/b.jsonl',
      certain: false,
      writtenAt: place.startedAt + 4_000,
    });
    expect(await locate('~/.toy/s/old*.jsonl', files)).toBeUndefined();
  });

  it.each([
    ['~/.toy/**/*.jsonl', '/home/me/.toy/x.jsonl', 'x'],
    ['~/.toy/**/*.jsonl', '/home/me/.toy/2026/11/21/x.jsonl', 'x'],
    ['~/.toy/**/*.jsonl', '/home/me/.toy/1/2/3/4/5/x.jsonl', undefined],
    ['~/.toy/{slug}/log.jsonl', '/home/me/.toy/-proj-app/log.jsonl', '-proj-app'],
    ['{cwd}/.toy/log.jsonl', '/proj/app/.toy/log.jsonl', '-toy'],
    ['{home}/s-*/chat-*-end.jsonl', '/home/me/s-1/chat-7-end.jsonl', 'chat-7-end'],
    ['{home}/s-*/chat-*-end.jsonl', '/home/me/s-1/chat-end.jsonl', undefined],
    ['/var/toy/*/*.jsonl', '/var/toy/.hidden/x.jsonl', undefined],
    ['/var/toy/*.jsonl', '/var/toy/deep/x.jsonl', undefined],
    ['/var/toy/a*a.jsonl', '/var/toy/a.jsonl', undefined],
  ])('%s and %s', async (glob, path, id) => {
    expect((await locate(glob, { [path]: at(1) }))?.sessionId).toBe(id);
  });

  it('takes a * in the working folder for itself', async () => {
    const odd = fakePlace({ cwd: '/proj/*' });
    const agent = define({ ...least, log: { globs: ['{cwd}/log.jsonl'], used: ['a'] } });
    const port = fakePort({ files: { '/proj/other/log.jsonl': at(1) } });
    expect(await agent.log?.locate(port, odd)).toBeUndefined();
  });

  it('reads a bounded number of folders in a tree of any size, those with the last names first', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 900 }, (_, n) => [`/home/me/.toy/${String(n).padStart(3, '0')}/x/y.jsonl`, at(1)]),
    );
    const port = fakePort({ files });
    let reads = 0;
    const counting = {
      ...port,
      folders: (folder: string) => {
        reads += 1;
        return port.folders(folder);
      },
    };
    const agent = define({ ...least, log: { globs: ['~/.toy/**/y.jsonl'], used: ['a'] } });
    expect((await agent.log?.locate(counting, place))?.path).toMatch(/\/\.toy\/8\d\d\//);
    expect(reads).toBeLessThanOrEqual(64);
  });
});
