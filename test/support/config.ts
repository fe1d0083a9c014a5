// Settings of all layers, as `ctxwrap` would read them.
import { present } from '../../src/core/present.js';
import { keyOption } from '../../src/cli/options.js';
import { mergeSources } from '../../src/core/config/merge.js';
import type { Settings } from '../../src/core/config/merge.js';
import type { EffectiveValue } from '../../src/core/config/merge.js';
import { keys } from '../../src/core/config/keys.js';
import type { KeyName } from '../../src/core/config/keys.js';
import { readEntries, readEnv } from '../../src/core/config/read.js';

type Pairs = Readonly<Record<string, unknown>>;

export interface Layers {
  /** effective values */
  readonly flags?: Pairs;
  readonly env?: Readonly<Record<string, string>>;
  readonly project?: Pairs;
  readonly user?: Pairs;
  /** the modules of strategies that are not there */
  readonly missing?: readonly string[];
  /** the text of the others; undefined: it is too long */
  readonly module?: string | undefined;
}

const entries = (pairs: Pairs) => Object.entries(pairs).map(([key, value]) => ({ key, value }));

export const settingsOf = ({
  flags = {},
  env = {},
  project = {},
  user = {},
  missing = [],
  module = 'export const compact = (session) => session;',
}: Layers): Settings =>
  mergeSources({
    flags: Object.entries(flags).map(([key, value]) => ({
      key: key as KeyName,
      value,
      origin: { layer: 'flag', place: `--${key}` },
    })),
    env: readEnv(env),
    project: readEntries('project', '/work/.ctxwrap.jsonc', entries(project)),
    user: readEntries('user', '/home/config.jsonc', entries(user)),
    readModule: (path) => (missing.includes(path) ? undefined : present({ text: module })),
  });

export const effectiveOf = (settings: Settings, key: KeyName): EffectiveValue => {
  const found = settings.effective.find((each) => each.key === key);
  if (!found) throw new Error(`${key} is not there`);
  return found;
};

interface Sample {
  readonly valid: readonly unknown[];
  readonly wrong: readonly unknown[];
}

/** For each key, valid values (boundaries among them) and invalid ones. */
export const samples: Readonly<Record<KeyName, Sample>> = {
  mode: { valid: ['auto', 'ask', 'warn', 'off'], wrong: ['Auto', 'atuo', '', true, null, 1] },
  window: {
    valid: [1_000, 10_000_000, '1k', '10M', '200_000', '1.5m'],
    wrong: [
      999,
      10_000_001,
      '999',
      '11M',
      0,
      -1,
      Number.NaN,
      'much',
      '80%',
      null,
      [200_000],
      1_000.5,
      Infinity,
    ],
  },
  ladder: { valid: ['ladder', 'percent', 'handoff'], wrong: ['percentage', 70, {}] },
  warn: {
    valid: ['1%', '100%', '80.5%', '150k', 150_000, 1_000],
    wrong: ['0%', '101%', 80, '80', 999, 1_000.5, true],
  },
  auto: { valid: ['1%', '100%', '150k', 10_000_000], wrong: ['0.5%', '101%', 10_000_001, '', '%'] },
  limits: {
    valid: [{ '*opus*': '300k', 'gpt-5': 200_000, '*': '85%' }],
    wrong: [{}, { '*opus*': '0.5%' }, { '': '300k' }, { 'a=b': '300k' }, ['300k'], '300k', { '*': true }],
  },
  hard: { valid: ['95%', '190k'], wrong: ['95 %', -5, []] },
  atHard: { valid: ['pass', 'hold'], wrong: ['on', true, '95%'] },
  idle: { valid: ['off', 'compact'], wrong: ['on', true, 'Compact'] },
  'metrics.textfile': { valid: ['/var/lib/metrics', '~/metrics'], wrong: ['metrics', '', 1] },
  'metrics.otlp': {
    valid: ['http://localhost:4318', 'https://otel.example/v1', 'http://[::1]:4318/v1/metrics'],
    wrong: ['localhost:4318', 'ftp://x', 'http://user:secret@x', 'http://x/?key=1', 'http://x#a', '', true],
  },
  'summariser.url': {
    valid: ['agent', 'http://127.0.0.1:11434/v1', 'https://api.example/v1', 'http://[::1]:8080'],
    wrong: [
      'Agent',
      'localhost:11434',
      'http://user:secret@x',
      'http://x/?key=1',
      'http://x:99999/v1',
      '',
      true,
    ],
  },
  'summariser.model': { valid: ['qwen3:8b', 'org/model'], wrong: ['', ' ', 'x'.repeat(201), 5] },
  'summariser.keyEnv': {
    valid: ['OPENAI_API_KEY', '_K1'],
    wrong: ['sk-proj-0123456789', 'gsk_0123456789', '1KEY', '$KEY', '', 'K'.repeat(101), null],
  },
  'summariser.timeout': { valid: [10, 300, 3_600], wrong: [9, 3_601, 1.5, '5m', true] },
  'summariser.remote': { valid: [true, false], wrong: ['yes', 1] },
  strategies: {
    valid: [{}, { mine: '/opt/mine.js', 'other-1': '~/other.mjs' }],
    wrong: [{ mine: 'mine.js' }, { Mine: '/opt/mine.js' }, ['/opt/mine.js'], '/opt/mine.js', { mine: 1 }],
  },
  apply: { valid: ['switch', 'restart'], wrong: ['exit', true] },
  onExhausted: { valid: ['offer', 'rescue'], wrong: ['auto', true] },
  keepRecent: { valid: [1, 20, 1_000], wrong: [0, 1_001, 'all', 1.5, null] },
  draft: { valid: ['hold', 'stash'], wrong: ['keep', false] },
  recall: { valid: ['ask', 'rules', 'off'], wrong: ['auto', true, false, '', 1] },
  via: { valid: ['keys', 'channel'], wrong: ['server', '', 'Keys', null, true] },
  whenBusy: { valid: ['wait', 'queue'], wrong: ['Wait', 0] },
  focus: { valid: ['the failing tests', 'x', 'y'.repeat(200)], wrong: ['', '  ', 'z'.repeat(201), 5, null] },
  proactive: { valid: [true, false], wrong: ['true', 1, 'yes', null] },
  'hold.native': { valid: [true, false], wrong: ['yes', 1] },
  'handoff.after': { valid: [4, 0, 100], wrong: [-1, 1.5, 101, true, 'often', null] },
  strategy: { valid: ['auto', 'truncate', 'clustering'], wrong: ['Mine!', '', true] },
  blackbox: { valid: ['on', 'off'], wrong: [true, 'yes', null] },
  'blackbox.limit': {
    valid: ['2GB', 10_000_000, '10MB', '1.5 tb', '500000000'],
    wrong: ['9MB', 9_999_999, '11TB', 'much', '', -1, null, true],
  },
  checkpoint: { valid: [true, false], wrong: ['no', 0] },
  backend: {
    valid: ['claude', 'openai', 'gemini', 'ollama', 'vllm', 'custom'],
    wrong: ['postgres', 3, null],
  },
  'claude.million': { valid: [true, false], wrong: ['1', 1] },
  'claude.statusLine': { valid: ['auto', 'on', 'off'], wrong: [true, 'yes'] },
  'watch.omc': { valid: [true, false], wrong: ['on', {}] },
  footer: { valid: [true, false], wrong: ['hidden', 0] },
  'footer.items': { valid: [['bar', 'percent'], ['message']], wrong: ['bar', ['bars'], [1], {}] },
  theme: {
    valid: [
      'auto',
      'light',
      'dark',
      'contrast',
      'mono',
      { preset: 'dark', warn: '#ffaa00' },
      { bar: '█░', hard: '#FF0000' },
    ],
    wrong: [
      'blue',
      true,
      { preset: 'blue' },
      { warn: 'yellow' },
      { bar: '█' },
      { bar: '█░▒' },
      { bar: '🎉░' },
      { bar: '\x1b░' },
      { color: '#ffffff' },
    ],
  },
  summary: { valid: [true, false], wrong: ['few'] },
  tips: { valid: [true, false], wrong: ['few'] },
  'notify.on': { valid: [['hard'], ['auto', 'permission'], []], wrong: ['hard', ['error'], true] },
  'notify.command': { valid: ['notify-send ctxwrap', 'x'], wrong: ['', 'y'.repeat(1_001), ['a'], true] },
  'log.level': { valid: ['info', 'warn', 'error'], wrong: ['debug', 1, true] },
  'debug.text': { valid: [true, false], wrong: ['all'] },
  hotkey: { valid: ['Ctrl-]', '^G', 'c-a', 'none'], wrong: ['Ctrl-C', 'F1', '', ']', 29, true] },
  notNow: { valid: ['Esc', 'escape', '^G', 'c-a'], wrong: ['none', 'Ctrl-C', 'F1', '', 27, true] },
  log: { valid: ['/tmp/x.log', '~/x.log'], wrong: ['x.log', './x.log', '', '~', '/a\0b', 4, true] },
  quiet: { valid: [true, false], wrong: ['quiet'] },
  'env.file': { valid: ['/etc/ctxwrap.env', '~/env'], wrong: ['.env', '../.env', 7] },
  runtimes: { valid: [{}, { toy: {} }], wrong: ['toy', [], [{}], null] },
};

/** What an option makes of a text; throws what is wrong with it. */
export const readOption = (key: KeyName, text: string): unknown => keyOption(key).parseArg?.(text, undefined);

export const allKeys = Object.keys(keys) as readonly KeyName[];
