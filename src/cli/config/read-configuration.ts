// Reads everything that says something about settings: the command line, the environment, and the files. Never throws.
import { isAbsolute, resolve } from 'node:path';
import { envNames } from '../../core/config/env-names.js';
import { readDotenv } from '../../core/config/dotenv.js';
import { mergeSources } from '../../core/config/merge.js';
import type { Settings, Sources } from '../../core/config/merge.js';
import { readEntries, readEnv } from '../../core/config/read-layer.js';
import type { Origin, Position, Problem, Read } from '../../core/config/setting.js';
import { readConfigFile, readPlainFile } from '../../storage/config-file.js';
import type { ConfigFile, PlainFile } from '../../storage/config-file.js';
import { projectConfigPath } from '../../storage/config-paths.js';
import { configPath, ownCommand, withHome } from './path.js';
import type { Surroundings } from './path.js';
import { flagSettings } from './flag-settings.js';
import { envFileMade, fixOfFile } from './file-fix.js';
import type { Options } from '../request.js';

export interface Configuration {
  readonly settings: Settings;
  /** the user's file, which may not be there */
  readonly userPath: string;
  readonly projectPath: string;
  /** there is something of that name, read or not */
  readonly isThere: boolean;
  /** where something stands in the user's file */
  readonly positionOf: (path: readonly string[]) => Position | undefined;
}

export const readConfiguration = (
  options: Partial<Options>,
  given: readonly string[],
  surroundings: Surroundings,
): Configuration => {
  const { env, cwd } = surroundings;
  const { path: userPath, isNamed } = configPath(options, surroundings);
  const projectPath = projectConfigPath(cwd);
  const userFile = readConfigFile(userPath);
  const flags = flagSettings(options, given);
  const init = isNamed ? ownCommand('config init', options) : undefined;
  const user = fileRead('user', userFile, { options, make: init });
  // a folder whose project file is the user's own configuration has none
  const project =
    projectPath === userPath ? noRead : fileRead('project', readConfigFile(projectPath), { options });
  const sources: Sources = { flags, env: readEnv(env), project, user };
  const file = mergeSources(sources).values['env.file'];
  const settings = mergeSources({ ...sources, env: withFile(sources.env, file, { surroundings, options }) });
  const positionOf = userFile.kind === 'read' ? userFile.positionOf : () => undefined;
  return { settings, userPath, projectPath, isThere: userFile.kind !== 'absent', positionOf };
};

const noRead: Read = { settings: [], problems: [] };

interface Mending {
  readonly options: Partial<Options>;
  /** the command that makes the file; undefined where a file that is not there is nothing to be told */
  readonly make?: string | undefined;
}

const fileRead = (layer: 'user' | 'project', file: ConfigFile, mending: Mending): Read => {
  const { path } = file;
  if (file.kind !== 'read') return unread({ layer, place: path }, file, mending);
  const { settings, problems } = readEntries(layer, path, file.entries);
  // those behind the first mostly follow from it
  const faults = file.faults.slice(0, 1).map(({ reason, at }): Problem => ({
    kind: 'syntax',
    level: 'error',
    origin: { layer, place: path, at },
    reason,
  }));
  const repeated = file.repeated.map(({ key, at }): Problem => ({
    kind: 'repeated',
    level: 'warning',
    key,
    origin: { layer, place: path, at },
  }));
  const all = [...faults, ...problems, ...repeated];
  return { settings: faults.length > 0 ? careful(layer, path, settings) : settings, problems: all };
};

/** What a file that is not read leaves: its problem, unless it simply is not there. */
const unread = (
  origin: Origin,
  file: Exclude<PlainFile, { kind: 'read' }>,
  { options, make }: Mending,
): Read => {
  if (file.kind === 'absent' && make === undefined) return noRead;
  const { layer, place = '' } = origin;
  const [reason, fix] =
    file.kind === 'absent'
      ? ['there is no such file', make ?? '']
      : [file.reason, fixOfFile(file, layer, options)];
  const settings = careful(layer, place, []);
  return { settings, problems: [{ kind: 'file', level: 'error', origin, reason, fix }] };
};

// The mode may have stood where nothing could be read: nothing is typed as long as that is not known.
const careful = (layer: Origin['layer'], place: string, settings: Read['settings']): Read['settings'] => {
  if (layer === 'project' || settings.some(({ key }) => key === 'mode')) return settings;
  return [...settings, { key: 'mode', value: 'warn', origin: { layer, place } }];
};

const dotenvRead = (text: string, path: string): Read => {
  const { values, unread: lines } = readDotenv(text.replace(/^\uFEFF/, ''));
  const { settings, problems } = readEnv(values, path);
  // the others are other programs' affair
  const ours = lines.filter(({ text: line }) => envNames.some(({ name }) => line.includes(name)));
  const unreadable = ours.map(({ number: line }): Problem => ({
    kind: 'syntax',
    level: 'warning',
    origin: { layer: 'env', place: path, at: { line, column: 1 } },
    reason: 'it is no NAME=value, and no comment; it is passed over',
  }));
  return { settings, problems: [...problems, ...unreadable] };
};

interface Around {
  readonly surroundings: Surroundings;
  readonly options: Partial<Options>;
}

/** The environment itself comes before a file with more of it. */
const withFile = (env: Read, file: string | undefined, { surroundings, options }: Around): Read => {
  const { home, cwd } = surroundings;
  if (file === undefined) return env;
  const path = isAbsolute(file) ? file : resolve(cwd, withHome(file, home));
  const read = readPlainFile(path);
  const more =
    read.kind === 'read'
      ? dotenvRead(read.text, path)
      : unread({ layer: 'env', place: path }, read, { options, make: envFileMade(path) });
  return {
    settings: [...env.settings, ...more.settings],
    problems: [...env.problems, ...more.problems],
  };
};
