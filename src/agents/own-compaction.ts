import type { NativeTrigger } from '../core/build-ladder.js';
import { isRecord, type JsonRecord } from '../core/json.js';
import type { SettingsPort, ChildPlace } from './agent.js';

// What an agent's own settings say of where it compacts by itself: one reader for the session and for `ctxwrap doctor`.

/** Where an agent is started, as far as its settings go. */
export type SettingsContext = Pick<ChildPlace, 'env' | 'home' | 'cwd'> & { readonly args: readonly string[] };

export interface OwnCompactionSource {
  /** it reads its settings at its start and not again */
  readonly isReadOnce?: true;
  /** Never rejects: what cannot be read says nothing. */
  readonly read: (port: SettingsPort, where: SettingsContext) => Promise<OwnCompaction>;
}

export interface OwnCompaction {
  /** undefined: it does not compact by itself */
  readonly trigger: NativeTrigger | undefined;
  /** what moves it from where it is by itself */
  readonly said: readonly OwnSetting[];
}

/** A setting of the agent's own that counts. */
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

/** Settings files in this order; what cannot be read, or is no object, is left out. */
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

/** The object in a JSON text with comments, as Gemini CLI and its kin take it. */
export const parseCommentedJson = (text: string): JsonRecord | undefined => {
  const bare = text
    .replace(/^\uFEFF/, '')
    .replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, kept?: string) => kept ?? ' ');
  try {
    const value: unknown = JSON.parse(bare);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The number at the end of a path of names that the last of these files has; one that is no possible value is none. */
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
