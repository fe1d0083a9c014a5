import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defineRuntime } from '../../src/runtimes/defined/define.js';
import type { Runtime } from '../../src/runtimes/runtime.js';
import { seenAfter } from '../support/drawn-screen.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { readLines } from '../support/read-log.js';

const file = new URL('../fixtures/programs/toy-agent.json', import.meta.url);
const toy = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;

const define = (value: unknown): Runtime => {
  const defined = defineRuntime(value);
  if ('problems' in defined) throw new Error(JSON.stringify(defined.problems, undefined, 2));
  return defined.runtime;
};
const problemsOf = (value: unknown) => {
  const defined = defineRuntime(value);
  return 'problems' in defined ? defined.problems : [];
};
const least = { name: 'toy', command: 'toy-agent' };

describe('a definition', () => {
  it('needs a name and a command, and is then an agent whose text is counted', () => {
    const runtime = define(least);
    expect(runtime).toMatchObject({ name: 'toy', command: 'toy-agent', isEstimated: true });
    expect(runtime.isInteractive(['--help'])).toBe(true);
    expect(runtime.log).toBeUndefined();
  });

  it('says which starts are no conversation, where the agent compacts, and how it is asked to', () => {
    const defined = defineRuntime(toy);
    if ('problems' in defined) throw new Error('it is wrong');
    const { runtime, recipe } = defined;
    expect(runtime.isInteractive(['chat', 'hello'])).toBe(true);
    expect(runtime.isInteractive(['--print', 'hello'])).toBe(false);
    expect(runtime.isInteractive(['login'])).toBe(false);
    expect(runtime.isInteractive(['--model', 'login'])).toBe(true);
    expect(runtime.nativeTrigger({})).toEqual({ share: 0.9, reserveTokens: 0 });
    expect(recipe).toEqual({ command: '/compact' });
    expect(runtime.isEstimated).toBeUndefined();
  });

  it.each([
    [undefined, '', undefined],
    [[], '', '[]'],
    [{ command: 'x' }, 'name', undefined],
    [{ ...least, name: 'Toy Agent' }, 'name', '"Toy Agent"'],
    [{ ...least, command: '/usr/bin/toy' }, 'command', '"/usr/bin/toy"'],
    [{ ...least, window: -1 }, 'window', '-1'],
    [{ ...least, window: [{ pattern: 'x' }] }, 'window.0.tokens', undefined],
    [{ ...least, log: { globs: ['a/*.jsonl'], used: ['a'] } }, 'log.globs.0', '"a/*.jsonl"'],
    [{ ...least, log: { globs: '~/a/../b', used: 'a' } }, 'log.globs', '"~/a/../b"'],
    [{ ...least, log: { globs: '~/a/{pid}/b', used: 'a' } }, 'log.globs', '"~/a/{pid}/b"'],
    [{ ...least, log: { globs: '~/a/x', used: ['a..b'] } }, 'log.used.0', '"a..b"'],
    [{ ...least, log: { globs: '~/a/x', used: [] } }, 'log.used', '[]'],
    [
      { ...least, log: { globs: '~/x', used: 'a', boundary: { where: { path: 'a', equals: {} } } } },
      'log.boundary.where.equals',
      '{}',
    ],
    [
      { ...least, screen: { region: 'last-rows:0', pattern: '(a)', polarity: 'used', unit: 'tokens' } },
      'screen.region',
      '"last-rows:0"',
    ],
    [
      { ...least, screen: [{ region: 'cursor-row', pattern: 'a', polarity: 'used', unit: 'tokens' }] },
      'screen.0.pattern',
      '"a"',
    ],
    [
      { ...least, screen: [{ region: 'cursor-row', pattern: '(a+)+', polarity: 'used', unit: 'tokens' }] },
      'screen.0.pattern',
      '"(a+)+"',
    ],
    [
      { ...least, screen: [{ region: 'cursor-row', pattern: '(a)', polarity: 'free', unit: 'tokens' }] },
      'screen.0.polarity',
      '"free"',
    ],
    [{ ...least, activity: { ready: { absent: ['x'] } } }, 'activity.ready', '{"absent":["x"]}'],
    [
      { ...least, activity: { busy: [{ region: 'cursor-row' }] } },
      'activity.busy.0',
      '{"region":"cursor-row"}',
    ],
    [{ ...least, recipe: { keys: 'x' } }, 'recipe', '{"keys":"x"}'],
    [{ ...least, nativeTrigger: { share: 90, reserveTokens: 0 } }, 'nativeTrigger.share', '90'],
  ])('%j is wrong at "%s", where %s was given', (value, path, given) => {
    expect(problemsOf(value)).toEqual([
      expect.objectContaining({ path, ...(given === undefined ? {} : { given }) }),
    ]);
  });

  it('is told all its mistakes at once, with the names that a wrong one could have meant', () => {
    const log = { glob: ['~/x'], used: 'a' };
    const problems = problemsOf({ name: 'toy', comand: 'x', log });
    expect(problems.map(({ path }) => path).toSorted()).toEqual([
      'comand',
      'command',
      'log.glob',
      'log.globs',
    ]);
    expect(problems.find(({ path }) => path === 'log.glob')?.known).toContain('globs');
  });

  it('may be any value at all without harm', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const defined = defineRuntime(value);
        const spread = defineRuntime({ ...toy, log: value, screen: value, activity: value, window: value });
        return 'problems' in defined || 'runtime' in defined || 'problems' in spread;
      }),
    );
  });
});

const RECORD = {
  kind: 'answer',
  model: 'toy-large-1',
  usage: { input: 1_000, cached: 200 },
  time: 1_795_255_200,
};
const line = (more: object = {}): string => JSON.stringify({ ...RECORD, ...more });

describe('the session file of a defined agent', () => {
  const runtime = define(toy);
  const readingsOf = (...lines: readonly string[]) =>
    readLines(runtime, lines).facts.flatMap((fact) => (fact.type === 'reading' ? [fact.reading] : []));

  it('gives the sum of the fields, the model and its window, and the time', () => {
    expect(readLines(runtime, [line()])).toEqual({
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
    const { facts } = readLines(runtime, [
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
    expect(readLines(runtime, [text])).toEqual({ facts: [], misfits: [] });
  });

  it('reports lines that are no records', () => {
    expect(readLines(runtime, ['{"kind":"answ', '[1]', 'hello']).misfits).toHaveLength(3);
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
    const runtime = define({ ...least, log: { globs: ['{cwd}/log.jsonl'], used: ['a'] } });
    const port = fakePort({ files: { '/proj/other/log.jsonl': at(1) } });
    expect(await runtime.log?.locate(port, odd)).toBeUndefined();
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
    const runtime = define({ ...least, log: { globs: ['~/.toy/**/y.jsonl'], used: ['a'] } });
    expect((await runtime.log?.locate(counting, place))?.path).toMatch(/\/\.toy\/8\d\d\//);
    expect(reads).toBeLessThanOrEqual(64);
  });
});

describe('the screen of a defined agent', () => {
  const runtime = define(toy);
  const look = async (output: string, more: object = {}) => {
    const { screen } = Object.keys(more).length > 0 ? define({ ...least, ...more }) : runtime;
    const { activity, facts } = screen?.reader({})(await seenAfter(output), 7) ?? {
      activity: undefined,
      facts: [],
    };
    return {
      activity: activity?.activity,
      witnesses: activity?.witnesses,
      reading: facts[0]?.type === 'reading' ? facts[0].reading : undefined,
    };
  };
  const prompt = (footer: string, title = 'toy: idle', above = 'hello\r\n'): string =>
    `\x1b]0;${title}\x07${above}> \r\n${footer}\x1b[2;3H`;

  it('gives the percentage used, whichever way it is written, against what the definition names', async () => {
    expect((await look(prompt('ctx 37.5% left'))).reading).toEqual({
      usedPercent: 62.5,
      basis: 'auto-compact',
      source: 'screen',
      at: 7,
    });
  });

  it.each([
    ['the conversation', prompt('', 'toy: idle', 'ctx 5% left\r\n')],
    ['the draft', '\r\n> ctx 5% left\x1b[2;8H'],
    ['a row that says more than the agent does', prompt('  ctx 5% left of it')],
    ['two rows that disagree', prompt('ctx 5% left\r\nctx 6% left')],
    ['an impossible percentage', prompt('ctx 130% left')],
    ['a screen without a number', prompt('ready')],
  ])('reads no number from %s', async (_, output) => {
    expect((await look(output)).reading).toBeUndefined();
  });

  it.each([
    ['12,345 tokens', 'used', 12_345],
    ['12.3k tokens', 'used', 12_300],
    ['1.2M tokens', 'used', undefined],
    ['150k tokens', 'left', 50_000],
    ['1,23 tokens', 'used', undefined],
  ])('reads %s %s as %s tokens of 200 000', async (text, polarity, usedTokens) => {
    const number = { region: 'last-rows:12', pattern: '^([0-9.,]+[kM]?) tokens$', polarity, unit: 'tokens' };
    const { reading } = await look(text, { window: 200_000, screen: [number] });
    expect(reading?.usedTokens).toBe(usedTokens);
  });

  it.each([
    ['ready', prompt('')],
    ['busy', prompt('', 'toy: working')],
    ['dialog', 'Allow this?\r\n  1. Yes\r\n  2. No\x1b[2;3H'],
    ['unknown', prompt('', 'vim')], // the prompt row alone
    ['unknown', '\x1b]0;toy: idle\x07hello\r\n> a draft'],
    ['unknown', prompt('', 'toy: idle', 'Allow this?\r\n')], // ready and dialog cannot both be
    ['unknown', prompt('  queued: 1')],
    ['unknown', ''],
  ])('is %s by the signs that agree', async (activity, output) => {
    expect((await look(output)).activity).toBe(activity);
  });

  it('says what speaks for an activity', async () => {
    expect((await look(prompt(''))).witnesses).toEqual(['title toy: idle', 'prompt row']);
  });
});
