import { describe, expect, it } from 'vitest';
import { buildLadder } from '../../../src/core/build-ladder.js';
import { assumedWindow } from '../../../src/core/config/backends.js';
import type { Agent } from '../../../src/agents/agent.js';
import { agents } from '../../../src/agents/index.js';
import { configKey } from '../../../src/core/config/keys.js';
import { readEntries } from '../../../src/core/config/read.js';
import { allKeys, effectiveOf, samples, settingsOf } from '../../support/config.js';

describe('a project’s file', () => {
  const free = allKeys.filter((key) => configKey(key).project === undefined);

  it.each(free)('cannot set %s', (key) => {
    const value = samples[key].valid[0];
    const before = settingsOf({});
    const settings = settingsOf({ project: { [key]: value } });
    expect(settings.values).toEqual(before.values);
    expect(settings.problems).toMatchObject([
      { kind: 'refused', level: 'warning', key, why: 'a project file can only restrict what ctxwrap does' },
    ]);
  });

  it.each(['window', 'auto', 'focus', 'strategy', 'runtimes', 'hotkey', 'log', 'env.file'])(
    'has no say in %s: that is what is typed, run, written or shown',
    (key) => {
      expect(free).toContain(key);
    },
  );

  it('cannot bring recipes, patterns, commands and strategies', () => {
    const settings = settingsOf({
      project: {
        recipe: '/clear',
        strategy: 'truncate',
        runtimes: { claude: { command: 'evil', recipe: { command: '/clear' } } },
        'notify.command': 'curl evil',
      },
    });
    expect(settings.values).toEqual(settingsOf({}).values);
    expect(settings.problems).toHaveLength(4); // each once
    expect(new Set(settings.problems.map((each) => ('key' in each ? each.key : '')))).toEqual(
      new Set(['recipe', 'strategy', 'runtimes', 'notify.command']),
    );
  });

  it.each([
    ['mode', 'auto', 'warn', 'warn'],
    ['mode', 'ask', 'off', 'off'],
    ['mode', 'warn', 'ask', 'warn'],
    ['mode', 'off', 'auto', 'off'],
    ['proactive', true, false, false],
    ['proactive', false, true, false],
    ['draft', 'stash', 'hold', 'hold'],
    ['draft', 'hold', 'stash', 'hold'],
    ['whenBusy', 'wait', 'queue', 'wait'],
    ['watch.omc', false, true, false],
    ['claude.statusLine', 'auto', 'on', 'auto'],
    ['claude.statusLine', 'auto', 'off', 'off'],
  ] as const)('may only have less done: %s is %j, the project says %j', (key, user, project, holds) => {
    const settings = settingsOf({ user: { [key]: user }, project: { [key]: project } });
    expect(effectiveOf(settings, key).value).toBe(holds);
    expect(settings.problems).toHaveLength(holds === project ? 0 : 1);
  });

  it('is measured against the default where the user says nothing', () => {
    expect(settingsOf({ project: { draft: 'stash' } }).values.draft).toBe('hold');
    expect(settingsOf({ project: { mode: 'ask' } }).values.mode).toBe('ask');
  });

  it('gives way to the environment and to options', () => {
    expect(settingsOf({ project: { mode: 'warn' }, env: { CTXWRAP_MODE: 'ask' } }).values.mode).toBe('ask');
    expect(settingsOf({ project: { mode: 'warn' }, flags: { mode: 'auto' } }).values.mode).toBe('auto');
  });
});

describe('names of other programs in the environment', () => {
  it.each([
    ['CONTEXT_WINDOW_SIZE', '1000', 'window', 1_000],
    ['CONTEXT_WINDOW_SIZE', '2000000', 'window', 2_000_000],
    ['CONTEXT_WINDOW_SIZE', '999', 'window', undefined],
    ['CONTEXT_WINDOW_SIZE', '2000001', 'window', undefined],
    ['CONTEXT_WINDOW_SIZE', 'large', 'window', undefined],
    ['COMPACTION_THRESHOLD_PCT', '50', 'auto', { value: 50, unit: 'percent', yields: true }],
    ['COMPACTION_THRESHOLD_PCT', '85.5', 'auto', { value: 85.5, unit: 'percent', yields: true }],
    ['COMPACTION_THRESHOLD_PCT', '99', 'auto', { value: 99, unit: 'percent', yields: true }],
    ['COMPACTION_THRESHOLD_PCT', '49', 'auto', undefined],
    ['COMPACTION_THRESHOLD_PCT', '100', 'auto', undefined],
    ['COMPACTION_THRESHOLD_PCT', 'x', 'auto', undefined],
    ['CUSTOM_CONTEXT_COMPACTION', 'yes', 'mode', 'auto'],
    ['CUSTOM_CONTEXT_COMPACTION', '0', 'mode', 'warn'],
    ['CUSTOM_CONTEXT_COMPACTION', 'maybe', 'mode', 'warn'],
    ['COMPACTION_STRATEGY', 'clustering', 'strategy', 'clustering'],
    ['CHECKPOINT_BEFORE_COMPACTION', 'false', 'blackbox', 'off'],
    ['ANTHROPIC_1M_CONTEXT', 'true', 'claude.million', true],
    ['BACKEND', 'OpenAI', 'backend', 'openai'],
    ['BACKEND', 'postgres', 'backend', 'custom'],
  ] as const)('%s=%s', (name, text, key, value) => {
    expect(effectiveOf(settingsOf({ env: { [name]: text } }), key).value).toEqual(value);
  });

  it('give way to ours', () => {
    const env = { CTXWRAP_AUTO: '70%', COMPACTION_THRESHOLD_PCT: '90' };
    expect(effectiveOf(settingsOf({ env }), 'auto')).toMatchObject({
      value: { value: 70 },
      overrides: [{ value: { value: 90 }, origin: { place: 'COMPACTION_THRESHOLD_PCT' } }],
    });
  });

  it('warn of a backend that nobody knows, and say what a wrong value counts as', () => {
    expect(settingsOf({ env: { BACKEND: 'postgres' } }).problems).toMatchObject([
      { kind: 'wrong', level: 'warning', why: expect.stringMatching(/; it counts as custom$/) },
    ]);
    expect(settingsOf({ env: { COMPACTION_THRESHOLD_PCT: '100' } }).problems).toMatchObject([
      {
        kind: 'wrong',
        level: 'error',
        why: expect.stringMatching(/^it must be a percentage from 50 to 99;/),
      },
    ]);
  });

  it.each([
    [8_192, '85', 6_963],
    [200_000, '85', 170_000],
    [100_000, '90', 90_000],
  ])('a window of %i at %s%% begins auto at %i', (windowTokens, percent, tokens) => {
    const { auto } = settingsOf({ env: { COMPACTION_THRESHOLD_PCT: percent } }).values;
    const ladder = buildLadder({ agent: 'x', windowTokens, choice: auto ? { auto } : {} });
    expect(ladder.auto).toMatchObject({ value: tokens, custom: true });
  });

  it.each([
    ['claude', 200_000],
    ['openai', 128_000],
    ['gemini', 1_000_000],
    ['ollama', 8_192],
    ['vllm', 32_768],
    ['custom', 32_768],
  ] as const)('the backend %s is taken to have a window of %i', (backend, tokens) => {
    expect(assumedWindow(backend, { isKnown: false })).toBe(tokens);
  });

  it('a million is Claude’s, and a backend that is none of ours says nothing of an agent we know', () => {
    const large = Object.values<Agent>(agents).filter(({ home }) => home?.largeWindowTokens === 1_000_000);
    expect(large.map(({ name }) => name)).toEqual(['claude']);
    expect(assumedWindow('claude', { isKnown: true, ownTokens: 1_000_000 })).toBe(1_000_000);
    expect(assumedWindow(undefined, { isKnown: true })).toBeUndefined();
    expect(assumedWindow('custom', { isKnown: true })).toBeUndefined();
  });
});

describe('boundaries that contradict each other', () => {
  const problems = (layers: Parameters<typeof settingsOf>[0]) =>
    settingsOf(layers).problems.filter(({ kind }) => kind === 'order');

  it.each([
    [{ warn: '90%', auto: '80%' }, [['warn is 90%, which is higher than auto', '70%']]],
    [{ auto: '150k', hard: 120_000 }, [['auto is 150000, which is higher than hard', '120000']]],
    [{ warn: '90%', hard: '80%' }, [['warn is 90%, which is higher than hard', '70%']]],
    [
      { warn: '90%', auto: '80%', hard: '70%' },
      [
        ['warn is 90%, which is higher than auto', '60%'],
        ['auto is 80%, which is higher than hard', '70%'],
      ],
    ],
    [{ warn: '80%', auto: '80%' }, []],
    [{ warn: '90%', auto: '50k' }, []], // which is more depends on the window
  ])('are told where both are the user’s: %j', (user, told) => {
    expect(problems({ user }).map(({ what, why }) => [what, why])).toEqual(
      told.map(([what, used]) => [what, `each tier must begin before the next: it counts as ${used}`]),
    );
  });

  it('are told across layers, but not of what stands on the command line', () => {
    const user = { warn: '70%' };
    expect(problems({ user, env: { COMPACTION_THRESHOLD_PCT: '60' } })).toMatchObject([
      { level: 'warning', key: 'warn', why: expect.stringMatching(/as 50%$/), origin: { layer: 'user' } },
    ]);
    expect(problems({ user, flags: { auto: { value: 60, unit: 'percent' } } })).toEqual([]);
  });
});

describe('limits for single models', () => {
  it('hold without the one that is wrong, which is named', () => {
    const { values, problems } = settingsOf({ user: { limits: { '*opus*': '300k', '*': 'abc' } } });
    expect(values.limits).toEqual({ '*opus*': { value: 300_000, unit: 'tokens' } });
    expect(problems).toMatchObject([
      {
        level: 'error',
        key: 'limits',
        why: expect.stringMatching(/for "\*" is not a limit; the others are used$/),
      },
    ]);
    expect(settingsOf({ user: { limits: { 'a=b': '300k' } } }).values.limits).toBeUndefined();
  });

  const limits = { '*opus*': '300k' };
  const bound = { '*opus*': { value: 300_000, unit: 'tokens' } };

  it('hold beside a limit of the same file, and give way to one as an option or in the environment', () => {
    expect(settingsOf({ user: { limits, auto: '200k' } }).values.limits).toEqual(bound);
    const env = { CTXWRAP_AUTO: '200k' };
    const flags = { auto: { value: 200_000, unit: 'tokens' } } as const;
    expect(settingsOf({ user: { limits }, env }).values.limits).toBeUndefined();
    expect(settingsOf({ user: { limits }, flags }).values.limits).toBeUndefined();
    expect(
      settingsOf({ user: { auto: '200k' }, env: { CTXWRAP_LIMITS: '*opus*=300k' } }).values,
    ).toMatchObject({
      auto: { value: 200_000 },
      limits: bound,
    });
    const { effective } = settingsOf({ user: { limits }, env });
    expect(effective.find(({ key }) => key === 'limits')).toMatchObject({
      origin: { layer: 'env' },
      overrides: [{ key: 'limits', value: bound, origin: { layer: 'user' } }],
    });
  });
});

describe('a window that is larger than the backend’s', () => {
  it.each([
    ['openai', 1_500_000, 1_047_576],
    ['gemini', 2_000_000, 1_048_576],
    ['claude', 1_500_000, 1_000_000],
  ])('holds, and is told: %s with %i', (backend, window, most) => {
    const settings = settingsOf({ env: { BACKEND: backend, CONTEXT_WINDOW_SIZE: `${window}` } });
    expect(settings.values.window).toBe(window);
    expect(settings.problems).toMatchObject([
      { kind: 'capacity', level: 'warning', what: `window is ${window}, but ${backend} has at most ${most}` },
    ]);
  });

  it.each([
    ['openai', 400_000],
    ['gemini', 1_048_576],
    ['claude', 1_000_000],
    ['ollama', 131_072],
    ['custom', 500_000],
  ])('is not %s with %i', (backend, window) => {
    expect(settingsOf({ user: { backend, window } }).problems).toEqual([]);
    expect(settingsOf({ user: { backend }, flags: { window: 9_000_000 } }).problems).toEqual([]);
  });
});

describe('one key for two purposes', () => {
  it('is told, also where one of them has its default', () => {
    const what = 'notNow is the same key as hotkey';
    const problem = { kind: 'unusable', level: 'error', key: 'notNow', what };
    expect(settingsOf({ user: { notNow: 'Ctrl-]' } }).problems).toMatchObject([problem]);
    const same = settingsOf({ user: { notNow: '^G', hotkey: 'C-g' } });
    expect(same.problems).toMatchObject([problem]);
    expect(same.values).toMatchObject({ hotkey: 0x07, notNow: 0x1b });
    expect(settingsOf({ user: { notNow: '^G' } }).problems).toEqual([]);
  });
});

describe('a name that is no key', () => {
  it('is told once, in a file as an error, in the environment as a warning', () => {
    expect(settingsOf({ user: { mdoe: 'auto', $schema: './x.json' } }).problems).toMatchObject([
      { kind: 'unknown', level: 'error', key: 'mdoe' },
    ]);
    expect(settingsOf({ env: { CTXWRAP_MDOE: 'auto', CTXWRAP_DISABLE: '0' } }).problems).toMatchObject([
      { kind: 'unknown', level: 'warning', key: 'CTXWRAP_MDOE' },
    ]);
  });

  it('is told ten times in a file, and further ones are only counted, also between keys that are known', () => {
    const many = Array.from({ length: 24_000 }, (_, index) => ({ key: `k${index}`, value: 1 }));
    const read = readEntries('project', 'f', [...many, { key: 'mode', value: 'ask' }]);
    expect(read.settings).toMatchObject([{ key: 'mode', value: 'ask' }]);
    expect(read.problems).toHaveLength(11);
    expect(read.problems.at(-1)).toMatchObject({
      kind: 'unknown',
      more: 23_990,
      level: 'error',
    });
  });

  it.each(['__proto__', 'constructor', 'toString'])('may be %s without harm', (key) => {
    expect(readEntries('user', 'f', [{ key, value: {} }]).problems).toMatchObject([{ kind: 'unknown', key }]);
  });
});
