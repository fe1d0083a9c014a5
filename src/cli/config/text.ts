import { dirname, resolve } from 'node:path';
import { type Styled } from '../../core/printable.js';
import { unsetTexts } from '../../core/config/describe.js';
import { toText } from '../../core/config/key.js';
import { configKey, ladderChoice, toWritten, type KeyName } from '../../core/config/keys.js';
import type { EffectiveValue, Setting } from '../../core/config/merge.js';
import {
  countProblems,
  placeOf,
  type LayerName,
  type Origin,
  type Problem,
} from '../../core/config/problem.js';
import { knownStrategies } from '../../core/config/strategy.js';
import type { UserError } from '../../core/errors.js';
import { formatBytes, parseBytes } from '../../core/format.js';
import { type JsonRecord } from '../../core/json.js';
import { nearestWord, toOneLine, quoteForCopying } from '../../core/text.js';
import type { FileFault, RefusedFile } from '../../storage/config-file.js';
import { toPlainText } from '../../ui/text.js';
import { valueChoices } from '../options.js';
import { table } from '../text.js';
import { failure, usageError } from '../usage-error.js';
import type { WholeConfiguration } from './load.js';
import { configCommand, type ConfigOptions } from './path.js';

// The texts about configurations, in the footer, in the log and by `ctxwrap config`.

// Errors about a configuration file, and the notice at the start of a session.

export const refusedConfig = (path: string, reason: string, fix: string): UserError =>
  usageError(`cannot use the configuration "${path}": ${reason}`, `fix it with: ${fix}`);

export const brokenConfig = (path: string, check: string): UserError =>
  usageError(
    `"${path}" is not valid JSONC, so ctxwrap does not change it`,
    `see what is wrong with: ${check}`,
  );

export const unwritableConfig = (path: string, reason: string): UserError =>
  usageError(
    `cannot write the configuration "${path}": ${reason}`,
    'use another one: ctxwrap --config FILE config init',
  );

export const unchangeableConfig = (path: string, place: string, options: ConfigOptions): UserError =>
  usageError(
    `"${path}" is not valid JSONC${place}, so it was not changed`,
    `correct it first: ${configCommand('config edit', options)}`,
  );

/** One line for the footer, which cuts it at its end. What changes how the window is compacted comes first, also among others. */
export const problemsNotice = (problems: readonly Problem[], options: ConfigOptions): string | undefined => {
  const see = `see ${checkCommand(options)}`;
  const first = problems.find(({ short }) => short !== undefined) ?? problems[0];
  if (!first) return undefined;
  const count = countProblems(problems);
  const { kind, what, short = what, fix } = first;
  const isNamed = kind === 'unusable' && (count === 1 || first.short !== undefined);
  if (!isNamed) return `${see}: ${count === 1 ? shortly(first) : `${count} problems`}`;
  const help = count > 1 ? `${see}: ${count} problems` : fix.length <= SHORT_FIX ? fix : see;
  return `${toOneLine(short, LONGEST_WHAT)} · ${help}`;
};

/** What lists the problems of the same configuration. */
const checkCommand = ({ config, flags }: ConfigOptions): string => {
  const envFile = flags['env.file'];
  const words = envFile === undefined ? [] : ['--env-file', quoteForCopying(envFile)];
  return configCommand([...words, 'config check'].join(' '), { config, flags });
};

/** A file from a project is described in ctxwrap's own words only, so that it cannot address the user. */
const shortly = (problem: Problem): string => {
  if (problem.origin.layer === 'project') return 'a problem in .ctxwrap.jsonc';
  return toOneLine(problem.what, LONGEST_WHAT);
};

const LONGEST_WHAT = 80; // characters
const SHORT_FIX = 50; // characters: longer ones are cut off

/** One line for the log. */
export const problemLine = ({ what, where, why, fix }: Problem): string =>
  `configuration: ${what} (${where}): ${why}; fix it with: ${fix}`;

// The output of `ctxwrap config`.

/** One row per key, never cut: half a value or half a path is useless. */
export const settingsText = (
  all: readonly EffectiveValue[],
  { values }: WholeConfiguration['settings'],
  withOrigin: boolean,
): readonly Styled[] => {
  const titles = ['KEY', 'VALUE', ...(withOrigin ? ['FROM', 'INSTEAD OF'] : [])];
  const rows = all.map(({ key, value, origin, overrides }) => [
    key,
    valueText(key, key === 'ladder' ? ladderChoice(values).preset : value),
    originText(origin),
    overrides.map((each) => `${valueText(key, each.value)} (${originText(each.origin)})`).join(', '),
  ]);
  return table(
    titles.map((title) => ({ title, rank: 0 })),
    rows,
    Infinity,
  );
};

const valueText = (key: EffectiveValue['key'], value: unknown): string => {
  if (value !== undefined && key === 'runtimes') return toPlainText(Object.keys(Object(value)).join(', '));
  const { setBy, type } = configKey(key);
  if (value === undefined) return setBy === undefined ? '-' : unsetTexts[setBy];
  if (type.kind === 'bytes') return `"${shortBytes(Number(value))}"`;
  return toPlainText(JSON.stringify(toWritten(key, value)));
};

/** As one writes it, if that is exact. */
const shortBytes = (size: number): string => {
  const short = formatBytes(size).replace(' ', '');
  return parseBytes(short) === size ? short : String(size);
};

/** The user's settings in one line for the log. Free texts are only named. */
export const settingsLine = (all: readonly EffectiveValue[]): string => {
  const set = all.filter(({ origin: { layer } }) => layer !== 'default' && layer !== 'agent');
  const texts = set.map(({ key, value, origin }) => {
    const isText = ['text', 'focus', 'definitions', 'modules'].includes(configKey(key).type.kind);
    return `${key}${isText ? '' : ` ${valueText(key, value)}`} (${originText(origin)})`;
  });
  return `configured: ${texts.length > 0 ? texts.join(', ') : 'nothing'}`;
};

const originText = (origin: Origin): string => {
  switch (origin.layer) {
    case 'agent':
    case 'default':
      return origin.layer;
    case 'project':
      return toPlainText(`project ${placeOf(origin)}`);
    default:
      return toPlainText(placeOf(origin));
  }
};

/** The problems, one after another. */
export const problemsText = (problems: readonly Problem[]): readonly string[] => {
  if (problems.length === 0) return ['no problems found'];
  return problems.flatMap(({ level, what, where, why, fix }, index) => [
    ...(index > 0 ? [''] : []),
    `${level}: ${toPlainText(what)}`,
    `  where  ${toPlainText(where)}`,
    `  why    ${toPlainText(why)}`,
    `  fix    ${toPlainText(fix)}`,
  ]);
};

/** `ctxwrap.config/1` */
export const configRecord = (all: readonly EffectiveValue[], whole: WholeConfiguration): JsonRecord => ({
  schema: 'ctxwrap.config/1',
  files: { user: whole.userPath, project: whole.projectPath },
  ...(all.length > 0 ? { keys: all.map(keyRecord) } : {}),
  problems: whole.problems.map(({ level, where, what, why, fix }) => ({ level, where, what, why, fix })),
});

const keyRecord = ({ key, value, origin, overrides }: EffectiveValue): JsonRecord => ({
  key,
  ...written(key, value),
  origin,
  overrides: overrides.map((each: Setting) => ({ ...written(key, each.value), origin: each.origin })),
});

const written = (key: EffectiveValue['key'], value: unknown): JsonRecord =>
  value === undefined ? {} : { value: toWritten(key, value) };

/** The result of `config init`. */
export const initText = (
  path: string,
  { added, isNew }: { readonly added: readonly string[]; readonly isNew: boolean },
): string => {
  if (isNew) return `${path}: written, with ${added.length} keys as comments\n`;
  if (added.length === 0) return `${path}: nothing to add, it has all keys\n`;
  return `${path}: added ${added.join(', ')}; the previous text is in ${path}.bak\n`;
};

// `ctxwrap config set`, `unset` and `edit`.

/** The value of a key as the command line gives it, in the form of a file; throws if it is wrong. */
export const parseSetting = (key: KeyName, text: string, { cwd, options }: SettingPlace): unknown => {
  const { type } = configKey(key);
  const command = (words: string): string => configCommand(`config ${words}`, options);
  if (type.kind === 'definitions' || type.kind === 'modules')
    throw usageError(`${key} holds objects, which cannot be set on a command line`, command('edit'));
  const plain = type.fromText?.(text.trim()) ?? text;
  const written = isNumeric(type.kind) && /^\d+$/.test(text) ? Number(text) : plain;
  if (type.read(written) !== undefined) return written;
  const near = nearestSetting(key, text, cwd);
  const right = /^[\w.,%]+$/.test(near) ? near : quoteForCopying(near);
  const got = type.isPrivate ? '' : `, got "${toOneLine(text, LONGEST_VALUE)}"`;
  throw usageError(`${key} must be ${type.rule(text)}${got}`, `try ${command(`set ${key} ${right}`)}`);
};

/** Throws for a strategy that is neither ctxwrap's nor one of the user's own. */
export const checkStrategy = (
  given: unknown,
  { settings }: WholeConfiguration,
  options: ConfigOptions,
): void => {
  const known = knownStrategies(settings.values.strategies);
  const name = String(given);
  if (known.includes(name)) return;
  const near = nearestWord(name, known) ?? 'auto';
  throw usageError(
    `strategy must be one of ${known.join(', ')}, got "${toOneLine(name, LONGEST_VALUE)}"`,
    `try ${configCommand(`config set strategy ${near}`, options)}`,
  );
};

/** Throws if one key would open the overview and say "not now". */
export const checkKeys = (
  key: 'hotkey' | 'notNow',
  given: unknown,
  { settings }: WholeConfiguration,
  options: ConfigOptions,
): void => {
  const other = key === 'hotkey' ? 'notNow' : 'hotkey';
  const { type, fallback = '' } = configKey(key);
  const value = type.read(given);
  if (value === undefined || value !== settings.values[other]) return;
  const usual = quoteForCopying(toText(fallback));
  throw usageError(
    `${String(toWritten(key, value))} cannot both open the overview and say "not now": it is already the ${other}`,
    `try ${configCommand(`config set ${key} ${usual}`, options)}, or another key`,
  );
};

export interface SettingPlace {
  readonly cwd: string;
  readonly options: ConfigOptions;
}

const LONGEST_VALUE = 60; // characters

const isNumeric = (kind: string): boolean => ['tokens', 'bound', 'bytes', 'count'].includes(kind);

const nearestSetting = (key: KeyName, text: string, cwd: string): string => {
  const { type, example, fallback = example } = configKey(key);
  const choices = valueChoices(key);
  const usual = fallback === undefined ? '' : toText(fallback);
  switch (type.kind) {
    case 'choice':
    case 'flag':
      return nearestWord(text, choices) ?? usual;
    case 'list': {
      const items = text.split(',').flatMap((each) => nearestWord(each.trim(), choices) ?? []);
      return items.length > 0 ? [...new Set(items)].join(',') : usual;
    }
    case 'path':
      return text === '' ? usual : resolve(cwd, text);
    default:
      return type.nearest?.(text) ?? usual;
  }
};

/** A value in a file in the words of the command line; `not set` if there is none. */
const settingText = (written: unknown): string => {
  if (written === undefined) return 'not set';
  const isPlain = typeof written === 'string' || (Array.isArray(written) && written.length > 0);
  return toOneLine(isPlain ? String(written) : JSON.stringify(written), LONGEST_VALUE) || '""';
};

/** What `config set` and `config unset` have done. */
export const changedText = (
  key: KeyName,
  [before, after]: readonly [unknown, unknown],
  place: string,
): string => {
  const [was, is] = [settingText(before), settingText(after)];
  const isSame = JSON.stringify(before) === JSON.stringify(after);
  const since = isSame || configKey(key).isLive ? '' : ' (from the next start)';
  return `${key}: ${isSame ? `already ${is}` : `${was} → ${is}`} in ${place}${since}\n`;
};

/** Why the value that was set has another effect than it says, or none. */
export const doubtsAbout = (key: KeyName, { settings, problems }: WholeConfiguration): readonly string[] => {
  const { origin, value } = settings.effective.find((each) => each.key === key) ?? {};
  const isHidden = origin?.layer === 'env' || origin?.layer === 'project';
  const about = problems.filter((each) => each.key === key && each.origin.layer === 'user');
  return [
    ...(isHidden ? [`${key} is still ${valueText(key, value)} here, set by ${originText(origin)}`] : []),
    ...about.map(({ what, why }) => `${what}: ${why}`),
  ];
};

/** The result of `config edit`. */
export const editedText = (place: string, problems: readonly Problem[], isNew: boolean): string =>
  problems.length > 0
    ? problemsText(problems).join('\n')
    : `${place}: ${isNew ? 'no problems found' : 'not changed'}`;

/** `reason` as the end of a sentence. */
export const failedEditor = (editor: string, reason: string): UserError =>
  failure(`the editor "${editor}" ${reason}`, 'set VISUAL or EDITOR to another one');

// Commands that fix an unreadable file. A file that came with a project was not put there by the user, so it is never written to, followed
// or given more rights, only moved away.

export const fileFix = ({ path, fault }: RefusedFile, layer: LayerName, options: ConfigOptions): string => {
  const word = quoteForCopying(path);
  if (layer === 'project')
    return fault.kind === 'open-to-all' && fault.isOwn ? `chmod o-w ${word}` : away(word);
  switch (fault.kind) {
    case 'open-to-all':
      return `${fault.isOwn ? '' : 'sudo '}chmod o-w ${word}`;
    case 'foreign':
      return `sudo chown -h "$USER" ${word}`;
    case 'closed':
      return opening(fault, path);
    case 'device':
      return unnaming(layer, options);
    case 'link':
      if (fault.open !== undefined) return `chmod go-w ${quoteForCopying(fault.open)}`;
      return fault.leadsTo === undefined
        ? `rm ${word} && ${anew(layer, word, options)}`
        : naming(layer, quoteForCopying(fault.leadsTo), options);
    case 'unusable':
      return `mv ${word} ${word}.$(date +%s) && ${anew(layer, word, options)}`;
  }
};

/** The command that creates a dotenv file. */
export const makeEnvFileCommand = (path: string): string =>
  `mkdir -p ${quoteForCopying(dirname(path))} && touch ${quoteForCopying(path)}`;

/** Moves the file to a new name. */
const away = (word: string): string => `mv ${word} "$(mktemp -d)"`;

const opening = ({ path, isOwn }: Extract<FileFault, { kind: 'closed' }>, file: string): string => {
  const word = quoteForCopying(path);
  return isOwn ? `chmod u+${path === file ? 'r' : 'x'} ${word}` : `sudo chown -h "$USER" ${word}`;
};

const naming = (layer: LayerName, word: string, { config, flags }: ConfigOptions): string => {
  if (layer === 'env')
    return flags['env.file'] === undefined
      ? `export CTXWRAP_ENV_FILE=${word}`
      : `ctxwrap --env-file ${word} config check`;
  return config === undefined ? `export CTXWRAP_CONFIG=${word}` : `ctxwrap --config ${word} config check`;
};

const unnaming = (layer: LayerName, { config, flags }: ConfigOptions): string => {
  if ((layer === 'env' ? flags['env.file'] : config) !== undefined) return 'ctxwrap config check';
  return layer === 'env' ? 'unset CTXWRAP_ENV_FILE' : 'unset CTXWRAP_CONFIG';
};

const anew = (layer: LayerName, word: string, options: ConfigOptions): string =>
  layer === 'env' ? `touch ${word}` : configCommand('config init', options);
