import { posix } from 'node:path';
import { isRecord, getList, parseRecord, getRecord, getText, type JsonRecord } from '../../core/json.js';
import type { SettingsPort, Env } from '../agent.js';
import type { AgentFolders, Retention } from '../home.js';
import { splitWords } from '../launch.js';
import {
  findLastNumber,
  readSettingsFiles,
  type SettingsFile,
  type SettingsContext,
  type OwnCompactionSource,
  type OwnSetting,
} from '../own-compaction.js';
import { modelKey, clampWindow, nativeTrigger, type OwnWindows } from './window.js';
import { present } from '../../core/present.js';

// Claude Code's settings: where they are, which one wins, and `--settings` in the arguments.

export const configFolder = ({ env, home }: AgentFolders): string =>
  env['CLAUDE_CONFIG_DIR'] || posix.join(home, '.claude');

/** A flag's value among the arguments. */
interface Given {
  /** of the word with the value */
  readonly index: number;
  /** `--flag=value` in one word */
  readonly joined: boolean;
  /** undefined when the flag is the last word */
  readonly value: string | undefined;
}

// Flags that take the next word whatever it is; the others stop at a word with a dash.
const takesAnyWord = splitWords(`
  --agent --agents --append-system-prompt --debug-file --effort --fallback-model --input-format --json-schema
  --managed-settings --max-budget-usd --model --name -n --output-format --permission-mode --remote-control-session-name-prefix
  --session-id --setting-sources --settings --system-prompt
`);

export const flagValues = (args: readonly string[], flag: string): readonly Given[] => {
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

/** The arguments with this settings file instead of any other; Claude reads only the last one. */
export const withSettings = (args: readonly string[], path: string): readonly string[] => {
  const given = flagValues(args, '--settings');
  if (given.length === 0) return ['--settings', path, ...args];
  return args.map((word, index) => {
    const here = given.find((each) => each.index === index);
    if (!here) return word;
    return here.joined ? `--settings=${path}` : path;
  });
};

/** The user's `--settings`: text or file. Empty when not given, undefined when it is not valid JSON. */
export const readGivenSettings = async (
  port: SettingsPort,
  args: readonly string[],
): Promise<JsonRecord | undefined> => {
  const last = flagValues(args, '--settings').at(-1);
  if (!last) return {};
  const given = last.value?.trim();
  if (given === undefined || given === '') return undefined;
  const isText = given.startsWith('{') && given.endsWith('}');
  return parseSettings(isText ? given : await port.text(last.value ?? ''));
};

/** Settings other than those on the command line, weakest first. */
export interface OwnSettings {
  /** in the user's home folder */
  readonly user: readonly JsonRecord[];
  /** in the folder where Claude starts; they may come from whoever made that folder */
  readonly project: readonly JsonRecord[];
}

/** The settings that Claude will read. */
export const readOwnSettings = async (port: SettingsPort, where: SettingsContext): Promise<OwnSettings> => {
  const { user, project } = ownFiles(where);
  const read = async (paths: readonly string[]): Promise<readonly JsonRecord[]> =>
    (await readSettingsFiles(port, paths, parseSettings)).map(({ settings }) => settings);
  return { user: await read(user), project: await read(project) };
};

/** The paths of those files; in the home folder itself the files are the user's and no project's. */
const ownFiles = (where: SettingsContext) => {
  const named = flagValues(where.args, '--setting-sources').at(-1)?.value;
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

/** An organisation's managed settings, which nothing on the command line overrides. */
export const readManagedSettings = async (
  port: SettingsPort,
  where: SettingsContext,
): Promise<readonly JsonRecord[]> =>
  (await readSettingsFiles(port, await managedFiles(port, where), parseSettings)).map(
    ({ settings }) => settings,
  );

const managedFiles = async (port: SettingsPort, where: SettingsContext): Promise<readonly string[]> => {
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

/** All settings Claude will read, weakest first, each with its place. */
const settingsInOrder = async (
  port: SettingsPort,
  where: SettingsContext,
): Promise<readonly SettingsFile[]> => {
  const { user, project } = ownFiles(where);
  const [own, given, managed] = await Promise.all([
    readSettingsFiles(port, [...user, ...project], parseSettings),
    readGivenSettings(port, where.args),
    managedFiles(port, where).then((paths) => readSettingsFiles(port, paths, parseSettings)),
  ]);
  return [...own, ...(given ? [{ place: '--settings', settings: given }] : []), ...managed];
};

/** The status line in effect. Claude merges the fields of all sources, strongest last; without a command there is no status line. */
export const effectiveStatusLine = (settings: readonly JsonRecord[]): JsonRecord | undefined => {
  const merged: JsonRecord = Object.assign(
    {},
    ...settings.map((each) => getRecord(each, 'statusLine') ?? {}),
  );
  const command = getText(merged, 'command')?.trim() ?? '';
  return merged['type'] === 'command' && command !== '' ? merged : undefined;
};

/** Whether any status line is set; Claude merges its fields with those of other sources. */
export const mentionsStatusLine = (settings: readonly JsonRecord[]): boolean =>
  settings.some((each) => each['statusLine'] !== undefined);

export const disablesStatusLines = (settings: readonly JsonRecord[]): boolean =>
  settings.findLast((each) => each['disableAllHooks'] !== undefined)?.['disableAllHooks'] === true;

/** Whether a setting is relative to its file's folder, so that it would mean something else in a file of ctxwrap's. */
export const hasRelativePaths = (settings: JsonRecord): boolean => {
  const permissions = getRecord(settings, 'permissions');
  const rules = ['allow', 'ask', 'deny'].flatMap((list) => getList(permissions, list));
  const isAnchored = (rule: unknown): boolean => typeof rule === 'string' && ANCHORED_RULE.test(rule);
  return rules.some(isAnchored) || isRecord(getRecord(settings, 'sandbox')?.['filesystem']);
};

// `Edit(/src/**)` is relative to the file's folder, `Edit(//src/**)` to the root; a shell command is not a path.
const ANCHORED_RULE = /^(?!Bash\(|PowerShell\()\w+\(\/(?!\/)/;

const parseSettings = (text: string | undefined): JsonRecord | undefined =>
  text === undefined ? undefined : parseRecord(text.replace(/^\uFEFF/, ''));

// Where Claude Code compacts by itself, according to its settings (docs/facts/claude.md#compaction, #windows-and-reserves). It rereads them
// while it runs.

export const claudeCompaction: OwnCompactionSource = {
  read: async (port, where) => {
    const legacy = legacyFile(where);
    const files = await settingsInOrder(port, where);
    const state = await port.text(legacy);
    const { env, places } = effectiveEnv(where.env, files);
    const moved = moving
      .filter((name) => env[name] !== undefined)
      .map((name): OwnSetting => ({ name, value: env[name] ?? '', place: places[name] ?? ENVIRONMENT }));
    // the file is large, written after every turn, and seldom mentions this setting
    const old = state?.includes(SWITCH) ? (parseSettings(state) ?? {}) : {};
    const switched = switchOf([{ place: legacy, settings: old }, ...files]);
    if (switched?.value === 'false') return { trigger: undefined, settings: [switched, ...moved] };
    const windows = windowsIn(files);
    return { trigger: nativeTrigger(env, windows), settings: [...moved, ...windows.settings] };
  },
};

const ENVIRONMENT = 'the environment';
const SWITCH = 'autoCompactEnabled';

// Environment variables that move it; the last settings file that sets a variable overrides the process environment.
const moving = [
  'DISABLE_COMPACT',
  'DISABLE_AUTO_COMPACT',
  'CLAUDE_CODE_AUTO_COMPACT_WINDOW',
  'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE',
  'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
];

const effectiveEnv = (env: Env, files: readonly SettingsFile[]) => {
  const added = files.flatMap(({ place, settings }) =>
    Object.entries(getRecord(settings, 'env') ?? {}).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [{ name, value: String(value), place }] : [],
    ),
  );
  const all: Record<string, string | undefined> = { ...env };
  const places: Record<string, string> = {};
  for (const { name, value, place } of added.filter((each) => moving.includes(each.name))) {
    all[name] = value;
    places[name] = place;
  }
  return { env: all, places };
};

// Older versions keep it in a separate file; a settings file overrides that.
const legacyFile = ({ env, home }: SettingsContext): string =>
  posix.join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json');

const switchOf = (files: readonly SettingsFile[]): OwnSetting | undefined => {
  const found = files.findLast(({ settings }) => typeof settings[SWITCH] === 'boolean');
  return found && { name: SWITCH, value: String(found.settings[SWITCH]), place: found.place };
};

/** In each file a model's own window replaces the general one; the strongest file that sets either wins. */
const windowsIn = (
  files: readonly SettingsFile[],
): OwnWindows & { readonly settings: readonly OwnSetting[] } => {
  const name = 'autoCompactWindow';
  let all: number | undefined;
  let byModel: Record<string, number> = {};
  let used: readonly OwnSetting[] = [];
  for (const { place, settings } of files) {
    const whole = settings[name];
    if (whole === 'auto' || isWindow(whole)) {
      all = isWindow(whole) ? clampWindow(whole) : undefined;
      byModel = {};
      used = isWindow(whole) ? [{ name, value: String(whole), place }] : [];
    }
    for (const [model, window] of ownOfModels(settings, name)) {
      byModel = { ...byModel, [modelKey(model)]: clampWindow(window) };
      used = [...used, { name: `${name} of ${model}`, value: String(window), place }];
    }
  }
  return { ...present({ all }), byModel, settings: used };
};

const isWindow = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;

const ownOfModels = (settings: JsonRecord, name: string): readonly (readonly [string, number])[] =>
  Object.entries(getRecord(settings, 'modelSettings') ?? {}).flatMap(([model, own]) => {
    const window = isRecord(own) ? own[name] : undefined;
    return isWindow(window) ? [[model, window] as const] : [];
  });

const KEPT_DAYS = 30; // by default (docs/facts/claude.md#session-files)
const RETENTION = 'cleanupPeriodDays';

/** How long Claude keeps transcripts that are no longer used. */
export const claudeRetention = async (port: SettingsPort, where: SettingsContext): Promise<Retention> => {
  const files = await settingsInOrder(port, where);
  const given = findLastNumber(files, [RETENTION], (days) => days >= 0);
  const setting = { setting: RETENTION, userFile: `${configFolder(where)}/settings.json` };
  if (!given) return { days: KEPT_DAYS, ...setting };
  const { number: days, ...setBy } = given;
  // as its maintainers describe it; not tried in the lab
  const meaning = 'versions before 2.1.89 write no transcripts then, and later ones reject the value';
  return { days, ...setting, given: setBy, ...(days === 0 ? { meaning } : {}) };
};
