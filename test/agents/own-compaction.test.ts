// What the agents' own settings say of where they compact, as real files of theirs would have it.
import { describe, expect, it } from 'vitest';
import { nativeTriggerTokens, triggerRuleFor } from '../../src/core/build-ladder.js';
import { parseCommentedJson } from '../../src/agents/own-compaction.js';
import { agents } from '../../src/agents/index.js';

interface Case {
  readonly what: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly model?: string;
  readonly at: number | undefined;
}

const windows = { claude: 200_000, codex: 258_400, gemini: 1_048_576, qwen: 131_072 };

const readOf = async (name: keyof typeof windows, { files = {}, env = {}, args = [] }: Case) => {
  const port = {
    text: (path: string) => Promise.resolve(files[path]),
    names: (folder: string) =>
      Promise.resolve(
        Object.keys(files).flatMap((path) =>
          path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [],
        ),
      ),
  };
  const found = await agents[name].ownCompaction?.read(port, {
    env,
    home: '/home/me',
    cwd: '/proj/app',
    args,
  });
  if (!found) throw new Error(`${name} has no settings that are known`);
  return found;
};

const pointOf = async (name: keyof typeof windows, each: Case): Promise<number | undefined> => {
  const { trigger } = await readOf(name, each);
  const rule = trigger && triggerRuleFor(trigger, each.model, windows[name]);
  return rule && nativeTriggerTokens(windows[name], rule);
};

const USER = '/home/me/.claude/settings.json';
const PROJECT = '/proj/app/.claude/settings.json';
const LOCAL = '/proj/app/.claude/settings.local.json';
const STATE = '/home/me/.claude.json';

describe('the own compaction of claude', () => {
  it.each<Case>([
    { what: 'no settings', at: 167_000 },
    { what: 'a window for compactions', files: { [USER]: '{"autoCompactWindow":150000}' }, at: 117_000 },
    { what: 'one that is too small', files: { [USER]: '{"autoCompactWindow":5}' }, at: 67_000 },
    { what: 'one that is none', files: { [USER]: '{"autoCompactWindow":"much"}' }, at: 167_000 },
    { what: 'one larger than the window', files: { [USER]: '{"autoCompactWindow":1000000}' }, at: 167_000 },
    {
      what: 'the folder over the user',
      files: { [USER]: '{"autoCompactWindow":150000}', [PROJECT]: '{"autoCompactWindow":120000}' },
      at: 87_000,
    },
    {
      what: 'the local file over the folder',
      files: { [PROJECT]: '{"autoCompactWindow":150000}', [LOCAL]: '{"autoCompactWindow":"auto"}' },
      at: 167_000,
    },
    {
      what: '--settings over all of them',
      files: { [LOCAL]: '{"autoCompactWindow":150000}' },
      args: ['--settings', '{"autoCompactWindow":110000}'],
      at: 77_000,
    },
    {
      what: 'the environment over the settings',
      files: { [USER]: '{"autoCompactWindow":150000}' },
      env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '120000' },
      at: 87_000,
    },
    {
      what: 'only the sources that are wanted',
      files: { [USER]: '{"autoCompactWindow":150000}' },
      args: ['--setting-sources', 'project'],
      at: 167_000,
    },
    {
      what: 'a window of one model',
      files: { [USER]: '{"modelSettings":{"claude-haiku-4-5":{"autoCompactWindow":150000}}}' },
      model: 'claude-haiku-4-5',
      at: 117_000,
    },
    {
      what: 'a window of another model',
      files: { [USER]: '{"modelSettings":{"claude-haiku-4-5":{"autoCompactWindow":150000}}}' },
      model: 'claude-sonnet-4-6',
      at: 167_000,
    },
    { what: 'a model that goes on', model: 'claude-haiku-4-5', at: undefined },
    {
      what: 'a model that goes on, with a window for all',
      files: { [USER]: '{"autoCompactWindow":150000}' },
      model: 'claude-haiku-4-5',
      at: 117_000,
    },
    {
      what: 'switched off in the old file',
      files: { [STATE]: '{"autoCompactEnabled": false}' },
      at: undefined,
    },
    {
      what: 'switched off in the settings',
      files: { [USER]: '{"autoCompactEnabled":false}' },
      at: undefined,
    },
    {
      what: 'the settings over the old file',
      files: { [STATE]: '{"autoCompactEnabled":false}', [USER]: '{"autoCompactEnabled":true}' },
      at: 167_000,
    },
    { what: 'a switch that is none', files: { [USER]: '{"autoCompactEnabled":"no"}' }, at: 167_000 },
    {
      what: 'the same words further in, or half a file',
      files: {
        [STATE]: '{"projects":{"/a":{"autoCompactEnabled":false}}}',
        [USER]: '{"autoCompactEnabled":fal',
      },
      at: 167_000,
    },
    {
      what: 'a variable in the settings',
      files: { [USER]: '{"env":{"DISABLE_AUTO_COMPACT":"1"}}' },
      at: undefined,
    },
    {
      what: 'managed settings over --settings',
      files: { '/etc/claude-code/managed-settings.json': '{"autoCompactWindow":140000}' },
      args: ['--settings={"autoCompactWindow":110000}'],
      at: 107_000,
    },
  ])('with $what is $at', async (each) => {
    expect(await pointOf('claude', each)).toBe(each.at);
  });

  it('says which setting it comes from', async () => {
    const what = 'it is switched off';
    const found = await readOf('claude', {
      what,
      files: { [USER]: '{"autoCompactEnabled":false}' },
      at: undefined,
    });
    expect(found.settings).toEqual([{ name: 'autoCompactEnabled', value: 'false', place: USER }]);
  });
});

const TOML = '/home/me/.codex/config.toml';

describe('the own compaction of codex', () => {
  it.each<Case>([
    { what: 'no settings', at: 244_800 },
    {
      what: 'a limit',
      files: { [TOML]: 'model = "x"\nmodel_auto_compact_token_limit = 50_000 # so\n' },
      at: 50_000,
    },
    {
      what: 'one above its own',
      files: { [TOML]: 'model_auto_compact_token_limit = 99999999\n' },
      at: 244_800,
    },
    {
      what: 'one in a table',
      files: { [TOML]: '[a]\nmodel_auto_compact_token_limit = 50000\n' },
      at: 244_800,
    },
    { what: 'a comment', files: { [TOML]: '# model_auto_compact_token_limit = 50000\n' }, at: 244_800 },
    { what: 'a text', files: { [TOML]: 'model_auto_compact_token_limit = "50000"\n' }, at: 244_800 },
    { what: 'zero', files: { [TOML]: 'model_auto_compact_token_limit = 0\n' }, at: 244_800 },
    {
      what: '-c',
      files: { [TOML]: 'model_auto_compact_token_limit = 50000\n' },
      args: ['-c', 'model_auto_compact_token_limit=60000'],
      at: 60_000,
    },
    { what: '--config=', args: ['--config=model_auto_compact_token_limit=60000'], at: 60_000 },
    { what: 'a prompt', args: ['--', 'model_auto_compact_token_limit=60000'], at: 244_800 },
  ])('with $what is $at', async (each) => {
    expect(await pointOf('codex', each)).toBe(each.at);
  });
});

const GEMINI = '/home/me/.gemini/settings.json';

describe('the own compaction of gemini', () => {
  it.each<Case>([
    { what: 'no settings', at: 524_288 },
    { what: 'a share', files: { [GEMINI]: '{"model":{"compressionThreshold":0.3}}' }, at: 314_572 },
    {
      what: 'comments',
      files: { [GEMINI]: '{// "x"\n"a":"http://b","model":{/* 0.9 */"compressionThreshold":0.3}}' },
      at: 314_572,
    },
    {
      what: 'a comment only',
      files: { [GEMINI]: '{// "model":{"compressionThreshold":0.3}\n}' },
      at: 524_288,
    },
    {
      what: 'the old name',
      files: { [GEMINI]: '{"chatCompression":{"contextPercentageThreshold":0.3}}' },
      at: 314_572,
    },
    {
      what: 'the folder over the user',
      files: {
        [GEMINI]: '{"model":{"compressionThreshold":0.3}}',
        '/proj/app/.gemini/settings.json': '{"model":{"compressionThreshold":0.8}}',
      },
      at: 838_860,
    },
    { what: 'one', files: { [GEMINI]: '{"model":{"compressionThreshold":1}}' }, at: undefined },
    { what: 'zero', files: { [GEMINI]: '{"model":{"compressionThreshold":0}}' }, at: 524_288 },
    { what: 'less than nothing', files: { [GEMINI]: '{"model":{"compressionThreshold":-1}}' }, at: 524_288 },
    { what: 'a text', files: { [GEMINI]: '{"model":{"compressionThreshold":"0.3"}}' }, at: 524_288 },
  ])('with $what is $at', async (each) => {
    expect(await pointOf('gemini', each)).toBe(each.at);
  });
});

const QWEN = '/home/me/.qwen/settings.json';

describe('the own compaction of qwen', () => {
  it.each<Case>([
    { what: 'no settings', at: 98_072 },
    { what: 'a share', files: { [QWEN]: '{"context":{"autoCompactThreshold":0.5}}' }, at: 65_536 },
    {
      what: 'a share above what it keeps free',
      files: { [QWEN]: '{"context":{"autoCompactThreshold":1}}' },
      at: 98_072,
    },
    { what: 'more than all', files: { [QWEN]: '{"context":{"autoCompactThreshold":5}}' }, at: 98_072 },
  ])('with $what is $at', async (each) => {
    expect(await pointOf('qwen', each)).toBe(each.at);
  });
});

// a project can bring such a file along; read again from each of its comments and quotes, it would take hours
describe('settings in a project, with comments or strings that never end', () => {
  it.each([['/*x'], ['"\\"'], ['"\\"/*']])('are no settings, however often %j comes in them', (each) => {
    expect(parseCommentedJson(`{"a":1,${each.repeat(1_000_000)}`)).toBeUndefined();
    expect(parseCommentedJson('{"a":"/*","b":"\\"//"/* c */}// d\n')).toEqual({ a: '/*', b: '"//' });
  });
});
