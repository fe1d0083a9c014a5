// Codex's own compaction (facts/codex.md §6): at 90 % of the raw window, or earlier where the user says so; nothing switches it off.
import { posix } from 'node:path';
import type { NativeTrigger } from '../../core/native.js';
import type { OwnCompactionSource, OwnSetting } from '../own-compaction.js';
import { codexFolder } from './paths.js';

const NAME = 'model_auto_compact_token_limit';

// Codex reports 95 % of the raw window as the window.
export const usualTrigger: NativeTrigger = { share: 0.9 / 0.95, reserveTokens: 0 };

export const codexCompaction: OwnCompactionSource = {
  read: async (port, where) => {
    const file = posix.join(codexFolder(where), 'config.toml');
    const said = inArguments(where.args) ?? inFile(file, (await port.text(file)) ?? '');
    if (!said) return { trigger: usualTrigger, said: [] };
    return { trigger: { ...usualTrigger, mostTokens: said.tokens }, said: [said.setting] };
  },
};

interface Said {
  readonly setting: OwnSetting;
  readonly tokens: number;
}

const saidOf = (value: string | undefined, place: string): Said | undefined => {
  const tokens = Number(value?.replaceAll('_', ''));
  return value !== undefined && Number.isSafeInteger(tokens) && tokens > 0
    ? { setting: { name: NAME, value, place }, tokens }
    : undefined;
};

const FLAG = /^(?:-c|--config)$/;
const JOINED_FLAG = /^(?:-c=?|--config=)(?=\w)/;

/** `-c NAME=VALUE`, `--config=NAME=VALUE`; the last one counts. */
const inArguments = (args: readonly string[]): Said | undefined => {
  const end = args.indexOf('--');
  return args
    .slice(0, end < 0 ? args.length : end)
    .map((word, index, own) => (FLAG.test(word) ? own[index + 1] : word.replace(JOINED_FLAG, '')))
    .map((word) => saidOf(/^model_auto_compact_token_limit\s*=\s*([\d_]+)$/.exec(word ?? '')?.[1], '-c'))
    .findLast((said) => said !== undefined);
};

/** Only what stands before the first table: in one of them the name is another setting. */
const inFile = (file: string, text: string): Said | undefined => {
  const [top = ''] = text.split(/^[ \t]*\[/m);
  return saidOf(
    /^[ \t]*model_auto_compact_token_limit[ \t]*=[ \t]*(\d[\d_]*)[ \t]*(?:#.*)?$/m.exec(top)?.[1],
    file,
  );
};
