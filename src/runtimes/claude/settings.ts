// Claude Code's settings: where they are, which one counts, and `--settings` in the arguments.
import { isRecord, listAt, parseRecord, recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import { words } from '../launch-rules.js';
import { configFolder } from './paths.js';
import type { SettingsPort } from '../official-source.js';
import { placedSettings } from '../own-compaction.js';
import type { PlacedSettings, SettingsPlace } from '../own-compaction.js';

/** A flag's value among the arguments. */
interface Given {
  /** of the word that holds the value */
  readonly index: number;
  /** `--flag=value` in one word */
  readonly joined: boolean;
  /** undefined when the flag is the last word */
  readonly value: string | undefined;
}

// Flags that take the next word whatever it is; the others stop at a word with a dash.
const takesAnyWord = words(`
  --agent --agents --append-system-prompt --debug-file --effort --fallback-model --input-format --json-schema
  --managed-settings --max-budget-usd --model --name -n --output-format --permission-mode --remote-control-session-name-prefix
  --session-id --setting-sources --settings --system-prompt
`);

export const valuesOf = (args: readonly string[], flag: string): readonly Given[] => {
  const found: Given[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? '';
    if (word === '--') break;
    if (word.startsWith(`${flag}=`)) found.push({ index, joined: true, value: word.slice(flag.length + 1) });
    if (!takesAnyWord.includes(word)) continue;
    index += 1;
    if (word === flag) found.push({ index, joined: false, value: args[index] });
  }
  return found;
};

/** The arguments with this settings file in the place of every other; the last one is the only one that Claude reads. */
export const withSettings = (args: readonly string[], path: string): readonly string[] => {
  const given = valuesOf(args, '--settings');
  if (given.length === 0) return ['--settings', path, ...args];
  return args.map((word, index) => {
    const here = given.find((each) => each.index === index);
    if (!here) return word;
    return here.joined ? `--settings=${path}` : path;
  });
};

/** What the user gave as `--settings`: text or file. Empty when nothing was given, undefined when it cannot be read as JSON. */
export const givenSettings = async (
  port: SettingsPort,
  args: readonly string[],
): Promise<JsonRecord | undefined> => {
  const last = valuesOf(args, '--settings').at(-1);
  if (!last) return {};
  const given = last.value?.trim();
  if (given === undefined || given === '') return undefined;
  const isText = given.startsWith('{') && given.endsWith('}');
  return parseSettings(isText ? given : await port.text(last.value ?? ''));
};

/** Settings without those of the command line, the weakest first. */
export interface OwnSettings {
  /** in the user's own folder */
  readonly user: readonly JsonRecord[];
  /** in the folder where Claude is started: whoever made that folder has written them */
  readonly project: readonly JsonRecord[];
}

/** Those that Claude is to read. */
export const ownSettings = async (port: SettingsPort, where: SettingsPlace): Promise<OwnSettings> => {
  const { user, project } = ownFiles(where);
  const read = async (paths: readonly string[]): Promise<readonly JsonRecord[]> =>
    (await placedSettings(port, paths, parseSettings)).map(({ settings }) => settings);
  return { user: await read(user), project: await read(project) };
};

/** The files of those settings; in the home folder the user's own are there, and are no project's. */
const ownFiles = (where: SettingsPlace) => {
  const named = valuesOf(where.args, '--setting-sources').at(-1)?.value;
  const wanted = named?.split(',').map((name) => name.trim());
  const only = (source: string, path: string): readonly string[] =>
    (wanted?.includes(source) ?? true) ? [path] : [];
  const user = `${configFolder(where)}/settings.json`;
  const shared = `${where.cwd}/.claude/settings.json`;
  return {
    user: only('user', user),
    project: [
      ...(shared === user ? [] : only('project', shared)),
      ...only('local', `${where.cwd}/.claude/settings.local.json`),
    ],
  };
};

/** Settings of an organisation, which nothing on the command line outranks. */
export const managedSettings = async (
  port: SettingsPort,
  where: SettingsPlace,
): Promise<readonly JsonRecord[]> =>
  (await placedSettings(port, await managedFiles(port, where), parseSettings)).map(
    ({ settings }) => settings,
  );

const managedFiles = async (port: SettingsPort, where: SettingsPlace): Promise<readonly string[]> => {
  const folders = ['/etc/claude-code', '/Library/Application Support/ClaudeCode'];
  const inFolders = await Promise.all(
    folders.map(async (folder) => {
      const names = await port.names(`${folder}/managed-settings.d`);
      return [
        `${folder}/managed-settings.json`,
        ...names
          .filter((name) => name.endsWith('.json'))
          .map((name) => `${folder}/managed-settings.d/${name}`),
      ];
    }),
  );
  return [`${configFolder(where)}/remote-settings.json`, ...inFolders.flat()];
};

/** All that Claude is to read, the weakest first, each with where it stands. */
export const settingsInOrder = async (
  port: SettingsPort,
  where: SettingsPlace,
): Promise<readonly PlacedSettings[]> => {
  const { user, project } = ownFiles(where);
  const [own, given, managed] = await Promise.all([
    placedSettings(port, [...user, ...project], parseSettings),
    givenSettings(port, where.args),
    managedFiles(port, where).then((paths) => placedSettings(port, paths, parseSettings)),
  ]);
  return [...own, ...(given ? [{ place: '--settings', settings: given }] : []), ...managed];
};

/** The status line that counts. Claude merges the fields of all sources, the strongest last; one without a command is none. */
export const statusLineOf = (settings: readonly JsonRecord[]): JsonRecord | undefined => {
  const merged: JsonRecord = Object.assign({}, ...settings.map((each) => recordAt(each, 'statusLine') ?? {}));
  const command = textAt(merged, 'command')?.trim() ?? '';
  return merged['type'] === 'command' && command !== '' ? merged : undefined;
};

/** Whether anything of a status line is said; Claude merges its fields with those of other sources. */
export const saysStatusLine = (settings: readonly JsonRecord[]): boolean =>
  settings.some((each) => each['statusLine'] !== undefined);

export const switchesStatusLinesOff = (settings: readonly JsonRecord[]): boolean =>
  settings.findLast((each) => each['disableAllHooks'] !== undefined)?.['disableAllHooks'] === true;

/** Whether some of it counts from the folder of the file it is in, so that it would mean something else in a file of ours. */
export const countsFromItsFolder = (settings: JsonRecord): boolean => {
  const permissions = recordAt(settings, 'permissions');
  const rules = ['allow', 'ask', 'deny'].flatMap((list) => listAt(permissions, list));
  const isAnchored = (rule: unknown): boolean => typeof rule === 'string' && ANCHORED_RULE.test(rule);
  return rules.some(isAnchored) || isRecord(recordAt(settings, 'sandbox')?.['filesystem']);
};

// `Edit(/src/**)` counts from the file's folder, `Edit(//src/**)` from the root; a shell command is no path.
const ANCHORED_RULE = /^(?!Bash\(|PowerShell\()\w+\(\/(?!\/)/;

export const parseSettings = (text: string | undefined): JsonRecord | undefined =>
  text === undefined ? undefined : parseRecord(text.replace(/^\uFEFF/, ''));
