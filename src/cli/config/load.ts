import { isAbsolute, resolve } from 'node:path';
import { envNames, isKeyName, keyNames, configKey, type CurrentSettings } from '../../core/config/keys.js';
import {
  type Setting,
  mergeSources,
  type Settings,
  type Sources,
  type ReadSettings,
} from '../../core/config/merge.js';
import {
  editCommand,
  keyText,
  limitProblems,
  problemAt,
  type Origin,
  type Position,
  type Problem,
} from '../../core/config/problem.js';
import { readDotenv, readEntries, readEnv } from '../../core/config/read.js';
import {
  readConfigFile,
  readTrustedFile,
  readUserConfig,
  type ConfigFile,
  type TrustedFile,
} from '../../storage/config-file.js';
import { projectConfigPath, readNamedFile } from '../../storage/config-paths.js';
import { watchFile } from '../../storage/watch.js';
import type { Options, Configured, ConfigListener } from '../request.js';
import type { DefinedAgents } from './defined-agents.js';
import { configPath, configCommand, expandHome, type ConfigOptions, type ConfigContext } from './path.js';
import { makeEnvFileCommand, fileFix, settingsLine, problemLine, problemsNotice } from './text.js';

/** Settings from the command line. */
const flagSettings = (flags: Options['flags']): readonly Setting[] =>
  keyNames.flatMap((key) => {
    const value = flags[key];
    const place = configKey(key).option?.flag ?? '';
    return value === undefined ? [] : [{ key, value, origin: { layer: 'flag', place } }];
  });

// A project's file may come from someone other than the user.
export const toCurrentSettings = ({ values, effective }: Settings): CurrentSettings => {
  const layer = effective.find(({ key }) => key === 'mode')?.origin.layer;
  return { values, isModeGiven: layer === 'flag' || layer === 'env' || layer === 'user' };
};

// Reads every source of settings: the command line, the environment, and the files. Never throws.

export interface Configuration {
  readonly settings: Settings;
  /** the user's file, which may not exist */
  readonly userPath: string;
  readonly projectPath: string;
  /** something of that name exists, whether it could be read or not */
  readonly isThere: boolean;
  /** where a field is in the user's file */
  readonly positionOf: (path: readonly string[]) => Position | undefined;
}

export const readConfiguration = (options: ConfigOptions, surroundings: ConfigContext): Configuration => {
  const { env, cwd, home } = surroundings;
  const { path: userPath, isNamed } = configPath(options, surroundings);
  const projectPath = projectConfigPath(cwd);
  const userFile = readUserConfig(userPath);
  const flags = flagSettings(options.flags);
  const init = isNamed ? configCommand('config init', options) : undefined;
  const user = fileRead('user', userFile, { options, make: init });
  // a folder whose project file is the user's own configuration has no project file
  const project =
    projectPath === userPath
      ? noRead
      : fileRead('project', readConfigFile(projectPath, isKeyName), { options });
  const readModule: Sources['readModule'] = (module) => readNamedFile(expandHome(module, home));
  const sources: Sources = { flags, env: readEnv(env), project, user, readModule };
  const file = mergeSources(sources).values['env.file'];
  const settings = mergeSources({ ...sources, env: withFile(sources.env, file, { surroundings, options }) });
  const positionOf = userFile.kind === 'read' ? userFile.positionOf : () => undefined;
  return { settings, userPath, projectPath, isThere: userFile.kind !== 'absent', positionOf };
};

const noRead: ReadSettings = { settings: [], problems: [] };

interface Mending {
  readonly options: ConfigOptions;
  /** the command that creates the file; undefined where a missing file is no problem */
  readonly make?: string | undefined;
}

const fileRead = (
  layer: 'user' | 'project',
  file: ConfigFile & { readonly left?: number },
  mending: Mending,
): ReadSettings => {
  const { path } = file;
  if (file.kind !== 'read') return unread({ layer, place: path }, file, mending);
  const { settings, problems } = readEntries(layer, path, file.entries, file.left);
  // errors after the first mostly follow from it
  const faults = file.faults
    .slice(0, 1)
    .map(({ reason: why, at }) =>
      problemAt(
        { layer, place: path, at },
        { kind: 'syntax', level: 'error', what: 'the file is not valid JSONC', why },
      ),
    );
  const repeated = file.duplicates.map(({ key, at }) =>
    problemAt(
      { layer, place: path, at },
      {
        kind: 'repeated',
        level: 'warning',
        key,
        what: `${keyText(key)} appears more than once`,
        why: 'the last one is used; remove the others',
      },
    ),
  );
  const all = [...faults, ...problems, ...repeated];
  return { settings: faults.length > 0 ? careful(layer, path, settings) : settings, problems: all };
};

/** What an unreadable file means: its problem, unless it simply does not exist. */
const unread = (
  origin: Origin,
  file: Exclude<TrustedFile, { kind: 'read' }>,
  { options, make }: Mending,
): ReadSettings => {
  if (file.kind === 'absent' && make === undefined) return noRead;
  const { layer, place = '' } = origin;
  const [why, fix] =
    file.kind === 'absent'
      ? ['the file does not exist', make ?? '']
      : [file.reason, fileFix(file, layer, options)];
  const settings = careful(layer, place, []);
  const what = 'ctxwrap does not read the file';
  return { settings, problems: [problemAt(origin, { kind: 'file', level: 'error', what, why, fix })] };
};

// An unreadable file may have set the mode, so nothing is typed until it is known.
const careful = (
  layer: Origin['layer'],
  place: string,
  settings: ReadSettings['settings'],
): ReadSettings['settings'] => {
  if (layer === 'project' || settings.some(({ key }) => key === 'mode')) return settings;
  return [...settings, { key: 'mode', value: 'warn', origin: { layer, place } }];
};

const dotenvRead = (text: string, path: string): ReadSettings => {
  const { values, unread: lines } = readDotenv(text.replace(/^\uFEFF/, ''));
  const { settings, problems } = readEnv(values, path);
  // the other lines belong to other programs
  const ours = lines.filter(({ text: line }) => envNames.some(({ name }) => line.includes(name)));
  const unreadable = ours.map(({ number: line }) =>
    problemAt(
      { layer: 'env', place: path, at: { line, column: 1 } },
      {
        kind: 'syntax',
        level: 'warning',
        what: 'a line is not valid',
        why: 'it is neither NAME=value nor a comment; it is ignored',
        fix: editCommand(path, line),
      },
    ),
  );
  return { settings, problems: [...problems, ...unreadable] };
};

interface Around {
  readonly surroundings: ConfigContext;
  readonly options: ConfigOptions;
}

/** The environment itself outranks a file with more variables. */
const withFile = (
  env: ReadSettings,
  file: string | undefined,
  { surroundings, options }: Around,
): ReadSettings => {
  const { home, cwd } = surroundings;
  if (file === undefined) return env;
  const path = isAbsolute(file) ? file : resolve(cwd, expandHome(file, home));
  const read = readTrustedFile(path);
  const more =
    read.kind === 'read'
      ? dotenvRead(read.text, path)
      : unread({ layer: 'env', place: path }, read, { options, make: makeEnvFileCommand(path) });
  return {
    settings: [...env.settings, ...more.settings],
    problems: [...env.problems, ...more.problems],
  };
};

/** A configuration with its agents. */
export interface WholeConfiguration extends Configuration {
  readonly runtimes: Configured['runtimes'];
  readonly windows: Configured['windows'];
  readonly problems: readonly Problem[];
}

export const readWholeConfiguration = async (
  options: ConfigOptions,
  around: ConfigContext,
): Promise<WholeConfiguration> => {
  const configuration = readConfiguration(options, around);
  const { settings, userPath: path, positionOf } = configuration;
  const { runtimes: defined = {} } = settings.values;
  const {
    runtimes: agents,
    windows,
    problems,
  } = Object.keys(defined).length === 0
    ? noAgents
    : (await import('./defined-agents.js')).readDefinedAgents(defined, { path, positionOf });
  return {
    ...configuration,
    runtimes: agents,
    windows,
    problems: limitProblems([...settings.problems, ...problems]),
  };
};

const noAgents: DefinedAgents = { runtimes: [], windows: {}, problems: [] };

// Options with the user's whole configuration applied. A wrong value never prevents a start: it is ignored and reported.

/** Only problems with names that are surely ctxwrap's; other names in the environment can belong to other programs. */
const isToldAtStart = ({ kind, origin }: Problem): boolean =>
  kind !== 'capacity' && !(kind === 'unknown' && origin.layer === 'env');

/** The options in effect in this environment and folder. */
export const configure = async (options: Options, around: ConfigContext): Promise<Options> => {
  const whole = await readWholeConfiguration(options, around);
  const { settings, runtimes: agents, windows, problems } = whole;
  const { values, isModeGiven } = toCurrentSettings(settings);
  const notice = noticeIn(problems, options);
  const { 'metrics.textfile': metrics } = values;
  const isLogNamed = values.log !== undefined && options.flags.log === undefined;
  return {
    ...options,
    values: {
      ...values,
      ...(isLogNamed ? { log: expandHome(values.log, around.home) } : {}),
      ...(metrics === undefined ? {} : { 'metrics.textfile': expandHome(metrics, around.home) }),
    },
    isModeGiven,
    configured: {
      runtimes: agents,
      windows,
      autoFrom: autoFrom(settings),
      notices: notice === undefined ? [] : [notice],
      settingsLine: settingsLine(settings.effective),
      details: problems.map(problemLine),
      watch: (listener) => {
        const tell = watchConfiguration(listener, { notice, isThere: whole.isThere, options });
        return watchFile(whole.userPath, () => {
          void readWholeConfiguration(options, around).then(tell);
        });
      },
    },
  };
};

/** What outranks `auto` in the user's file. */
const autoFrom = ({ effective }: Settings): string | undefined => {
  const { layer, place } = effective.find(({ key }) => key === 'auto')?.origin ?? {};
  return layer === 'flag' || layer === 'env' ? place : undefined;
};

const noticeIn = (problems: readonly Problem[], options: ConfigOptions): string | undefined =>
  problemsNotice(problems.filter(isToldAtStart), options);

/** The settings when the session began. */
interface Before {
  /** the user has already seen it */
  readonly notice?: string | undefined;
  readonly isThere: boolean;
  readonly options: ConfigOptions;
}

/** Reports each change of the settings, or why they cannot be read. */
export const watchConfiguration = (
  { onChange, onNotice, onTrouble }: ConfigListener,
  before: Before,
): ((now: WholeConfiguration) => void) => {
  let { notice: last, isThere: wasThere } = before;
  return ({ problems, settings, userPath, isThere }) => {
    wasThere ||= isThere;
    const isGone = wasThere && !isThere;
    const notice = isGone ? GONE : noticeIn(problems, before.options);
    if (notice !== undefined && notice !== last) onNotice(notice);
    last = notice;
    const unread = problems.find(isUnread);
    // an editor may leave half a file, or none, for a moment: the previous settings stay in effect
    if (isGone) onTrouble(`configuration: ${userPath} no longer exists`);
    else if (unread) onTrouble(problemLine(unread));
    else onChange(toCurrentSettings(settings), settingsLine(settings.effective));
  };
};

const GONE = 'the configuration file is gone: its settings apply until this session ends';

/** The user's own file could not be read. Wrong values in a readable file are ignored, as at the start. */
const isUnread = ({ kind, origin }: Problem): boolean =>
  origin.layer === 'user' && (kind === 'syntax' || kind === 'file');
