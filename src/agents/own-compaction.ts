import type { NativeTrigger } from '../core/build-ladder.js';
import { isRecord, type JsonRecord, parseRecord } from '../core/json.js';
import type { SettingsPort, ChildPlace } from './agent.js';

// Where an agent compacts by itself, according to its own settings; read by the session and by `ctxwrap doctor`.

/** Where an agent is started: the parts that affect its settings. */
export type SettingsContext = Pick<ChildPlace, 'env' | 'home' | 'cwd'> & { readonly args: readonly string[] };

export interface OwnCompactionSource {
  /** the agent reads its settings only at its start */
  readonly isReadOnce?: true;
  /** Never rejects; an unreadable file counts as empty. */
  readonly read: (port: SettingsPort, where: SettingsContext) => Promise<OwnCompaction>;
}

export interface OwnCompaction {
  /** undefined when it does not compact by itself */
  readonly trigger: NativeTrigger | undefined;
  /** the settings that move it from its default */
  readonly settings: readonly OwnSetting[];
}

/** A setting of the agent in effect. */
export interface OwnSetting {
  readonly name: string;
  readonly value: string;
  /** a file, or `the environment` */
  readonly place: string;
}

/** A settings file that could be read. */
export interface SettingsFile {
  readonly place: string;
  readonly settings: JsonRecord;
}

/** The settings files in this order, without those that are unreadable or no JSON object. */
export const readSettingsFiles = async (
  port: SettingsPort,
  paths: readonly string[],
  parse: (text: string) => JsonRecord | undefined,
): Promise<readonly SettingsFile[]> => {
  const texts = await Promise.all(paths.map((path) => port.text(path)));
  return paths.flatMap((place, index) => {
    const settings = parse(texts[index] ?? '');
    return settings ? [{ place, settings }] : [];
  });
};

/** The object in JSON with comments, as Gemini CLI and its forks accept it. */
export const parseCommentedJson = (text: string): JsonRecord | undefined => {
  const bare = text
    .replace(/^\uFEFF/, '')
    .replace(
      /("(?:\\.|[^"\\])*(?:"|$))|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g,
      (_, kept?: string) => kept ?? ' ',
    );
  return parseRecord(bare);
};

/** The number at a path of names, from the last of these files that has it; impossible values are ignored. */
export const findLastNumber = (
  files: readonly SettingsFile[],
  names: readonly string[],
  isPossible: (value: number) => boolean,
): (OwnSetting & { readonly number: number }) | undefined => {
  const found = files.flatMap(({ place, settings }) =>
    names.flatMap((name) => {
      const number = name
        .split('.')
        .reduce<unknown>((from, key) => (isRecord(from) ? from[key] : undefined), settings);
      return typeof number === 'number' && isPossible(number)
        ? [{ name, number, value: String(number), place }]
        : [];
    }),
  );
  return found.at(-1);
};
