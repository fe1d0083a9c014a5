import { dirname, resolve } from 'node:path';
import { type Styled } from '../../core/printable.js';
import { countProblems } from '../../core/config/check.js';
import { unsetTexts } from '../../core/config/describe.js';
import { envNames, isKeyName, keyNames, configKey, toWritten, type KeyName } from '../../core/config/keys.js';
import {
  type Origin,
  type Problem,
  type EffectiveValue,
  type Setting,
  type LayerName,
} from '../../core/config/merge.js';
import { UserError } from '../../core/errors.js';
import { formatBytes, parseBytes } from '../../core/format.js';
import { type JsonRecord } from '../../core/json.js';
import { toOneLine, quoteForCopying } from '../../core/text.js';
import type { FileFault, RefusedFile } from '../../storage/config-file.js';
import { toPlainText } from '../../ui/text.js';
import { nearestWord } from '../messages.js';
import { valueChoices } from '../options.js';
import { table } from '../text.js';
import type { WholeConfiguration } from './load.js';
import { configCommand, type ConfigOptions } from './path.js';

// Messages about configuration problems: what is wrong, where, why, and the command that fixes it.

/** A problem as text. */
export interface Finding {
  readonly level: Problem['level'];
  readonly what: string;
  /** `FILE:LINE:COLUMN`, or an environment variable */
  readonly where: string;
  readonly why: string;
  readonly fix: string;
}

/** Where the value is. */
const placeOf = ({ place = '', file, at, layer }: Origin): string => {
  if (layer === 'env' && file !== undefined) return place === '' ? file : `${place} in ${file}`;
  return at ? `${place}:${at.line}:${at.column}` : place;
};

/** A problem as sentences. */
export const toFinding = (problem: Problem): Finding => {
  const { level, origin } = problem;
  return { level, where: placeOf(origin), ...sentences(problem) };
};

type Sentences = Pick<Finding, 'what' | 'why' | 'fix'>;
type Of<K extends Problem['kind']> = Extract<Problem, { kind: K }>;

const sentences = (problem: Problem): Sentences => {
  switch (problem.kind) {
    case 'wrong':
      return wrong(problem);
    case 'unknown':
      return unknown(problem);
    case 'refused':
      return refused(problem);
    case 'order':
      return order(problem);
    case 'capacity':
      return capacity(problem);
    case 'native':
      return native(problem);
    case 'unusable':
      return { what: `${problem.key} is not used`, why: problem.reason, fix: problem.fix };
    case 'repeated':
      return repeated(problem);
    case 'syntax':
      return syntax(problem);
    case 'file':
      return { what: 'ctxwrap does not read the file', why: problem.reason, fix: problem.fix };
    case 'definition':
      return {
        what: `${keyText(problem.key)} is not valid`,
        why: problem.reason,
        fix: fixOf(problem.origin),
      };
    case 'more':
      return more(problem);
  }
};

const wrong = ({ key, given, rule, used, origin }: Of<'wrong'>): Sentences => ({
  what: `${key} is ${given}`,
  why: `it must be ${rule}; ${used === undefined ? 'it is ignored' : `it counts as ${used}`}`,
  fix: fixOf(origin, rightValue(key)),
});

const unknown = ({ key, origin }: Of<'unknown'>): Sentences => ({
  what: `${keyText(key)} is unknown`,
  why: `there is no such key${hintFor(key, origin)}`,
  fix: fixOf(origin),
});

const refused = ({ key, allowed }: Of<'refused'>): Sentences => {
  const can = allowed.length > 0 ? `; here it can only be ${allowed.join(' or ')}` : '';
  return {
    what: `${key} is ignored`,
    why: `a project file can only restrict what ctxwrap does${can}`,
    fix: `set it in your own configuration: ${edit(undefined)}`,
  };
};

const order = ({ key, above, given, used, origin }: Of<'order'>): Sentences => ({
  what: `${key} is ${given}, which is higher than ${above}`,
  why: `each tier must begin before the next: it counts as ${used}`,
  fix: fixOf(origin, used),
});

const capacity = ({ key, given, backend, most, origin }: Of<'capacity'>): Sentences => ({
  what: `${key} is ${given}, but ${backend} has at most ${most}`,
  why: 'yours is used; if the agent reports another number, change one of them',
  fix: fixOf(origin, String(most)),
});

const native = ({ key, given, agents, origin }: Of<'native'>): Sentences => ({
  what: `${key} is ${given}, but ${agents.map(({ agent }) => agent).join(', ')} may compact first`,
  why: agents
    .map(({ agent, at, usual, used }) => {
      const ours = used === undefined ? 'yours is used' : `it counts as ${used}`;
      return `${agent} compacts on its own at ${at} in its usual window of ${usual}; there ${ours}`;
    })
    .join('; '),
  fix: fixOf(origin),
});

const repeated = ({ key, origin }: Of<'repeated'>): Sentences => ({
  what: `${keyText(key)} appears more than once`,
  why: 'the last one is used; remove the others',
  fix: fixOf(origin),
});

const syntax = ({ reason, origin: { layer, place, at } }: Of<'syntax'>): Sentences => ({
  what: layer === 'env' ? 'a line is not valid' : 'the file is not valid JSONC',
  why: reason,
  fix: edit(place, at?.line),
});

const more = ({ of, count, origin }: Of<'more'>): Sentences => ({
  what: `${count} more ${kinds[of] ?? 'problems of one kind'}`,
  why: 'only the first ones are listed',
  fix: fixOf(origin),
});

const kinds: Partial<Record<Problem['kind'], string>> = {
  unknown: 'keys are unknown',
  repeated: 'keys appear more than once',
  wrong: 'values are wrong',
  syntax: 'lines are not valid',
  definition: 'mistakes are in descriptions of agents',
};

/** A name that someone else may have written, quoted so that it cannot pass for one of ctxwrap's own sentences. */
const keyText = (key: string): string =>
  /^[\w.$-]{1,60}$/.test(key) ? key : toOneLine(JSON.stringify(key), LONGEST_KEY);

const LONGEST_KEY = 40; // characters

const hintFor = (key: string, { layer }: Origin): string => {
  const inner = keyNames.filter((name) => name.startsWith(`${key}.`));
  if (layer !== 'env' && inner.length > 0)
    return `; write the key in one piece: ${inner.map((name) => JSON.stringify(name)).join(', ')}`;
  const close = nearestWord(key, layer === 'env' ? envNames.map(({ name }) => name) : keyNames);
  return close === undefined ? '' : `; did you mean ${close}?`;
};

const rightValue = (key: string): string | undefined => {
  if (!isKeyName(key)) return undefined;
  const { example, fallback = example } = configKey(key);
  return fallback === undefined ? undefined : String(fallback);
};

/** The command that fixes the problem. */
const fixOf = ({ layer, place = '', file, at }: Origin, value?: string): string => {
  if (layer !== 'env') return edit(place, at?.line);
  if (file !== undefined) return edit(file);
  // other names have other values
  return value === undefined || !place.startsWith('CTXWRAP_')
    ? `unset ${place}`
    : `export ${place}='${value}'`;
};

const edit = (path: string | undefined, line?: number): string =>
  `\${EDITOR:-vi}${line === undefined ? '' : ` +${line}`} ${path === undefined ? '"$(ctxwrap config path)"' : quoteForCopying(path)}`;

// Errors about a configuration file, and the notice at the start of a session.

const usage = 2;

export const refusedConfig = (path: string, reason: string, fix: string): UserError =>
  new UserError(`cannot use the configuration "${path}": ${reason}`, {
    exitCode: usage,
    hint: `fix it with: ${fix}`,
  });

export const brokenConfig = (path: string, check: string): UserError =>
  new UserError(`"${path}" is not valid JSONC, so ctxwrap adds nothing to it`, {
    exitCode: usage,
    hint: `see what is wrong with: ${check}`,
  });

export const unwritableConfig = (path: string, reason: string): UserError =>
  new UserError(`cannot write the configuration "${path}": ${reason}`, {
    exitCode: usage,
    hint: 'use another one: ctxwrap --config FILE config init',
  });

export const unchangeableConfig = (path: string, place: string, options: ConfigOptions): UserError =>
  new UserError(`"${path}" is not valid JSONC${place}, so nothing in it is changed`, {
    exitCode: usage,
    hint: `correct it first: ${configCommand('config edit', options)}`,
  });

/** One line for the footer; in a narrow footer only the fix remains. */
export const problemsNotice = (problems: readonly Problem[]): string | undefined => {
  const [first] = problems;
  if (!first) return undefined;
  return `see ctxwrap config check: ${problems.length === 1 ? shortly(first) : `${countProblems(problems)} problems`}`;
};

/** A file from a project is described in ctxwrap's own words only, so that it cannot address the user. */
const shortly = (problem: Problem): string => {
  if (problem.origin.layer === 'project') return 'a problem in .ctxwrap.jsonc';
  return toOneLine(toFinding(problem).what, LONGEST_WHAT);
};

const LONGEST_WHAT = 80; // characters

/** One line for the log. */
export const findingLine = ({ what, where, why, fix }: Finding): string =>
  `configuration: ${what} (${where}): ${why}; fix it with: ${fix}`;

// The output of `ctxwrap config`.

/** One row per key, never cut: half a value or half a path is useless. */
export const settingsText = (all: readonly EffectiveValue[], withOrigin: boolean): readonly Styled[] => {
  const titles = ['KEY', 'VALUE', ...(withOrigin ? ['FROM', 'INSTEAD OF'] : [])];
  const rows = all.map(({ key, value, origin, overrides }) => [
    key,
    valueText(key, value),
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
  const told = set.map(({ key, value, origin }) => {
    const isText = ['text', 'focus', 'definitions', 'modules'].includes(configKey(key).type.kind);
    return `${key}${isText ? '' : ` ${valueText(key, value)}`} (${originText(origin)})`;
  });
  return `configured: ${told.length > 0 ? told.join(', ') : 'nothing'}`;
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

/** The findings, one after another. */
export const findingsText = (findings: readonly Finding[]): readonly string[] => {
  if (findings.length === 0) return ['no mistakes found'];
  return findings.flatMap(({ level, what, where, why, fix }, index) => [
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
  problems: whole.problems.map(toFinding),
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
  if (added.length === 0) return `${path}: nothing to add, all keys are there\n`;
  return `${path}: added ${added.join(', ')}; the previous text is in ${path}.bak\n`;
};

// `ctxwrap config set`, `unset` and `edit`.

/** The value of a key as the command line gives it, in the form of a file; throws if it is wrong. */
export const parseSetting = (key: KeyName, text: string, { cwd, options }: SettingPlace): unknown => {
  const { type } = configKey(key);
  const command = (words: string): string => configCommand(`config ${words}`, options);
  if (type.kind === 'definitions' || type.kind === 'modules')
    throw new UserError(`${key} holds objects, which do not fit on a command line`, {
      exitCode: usage,
      hint: command('edit'),
    });
  const plain = type.fromText?.(text.trim()) ?? text;
  const written = isNumeric(type.kind) && /^\d+$/.test(text) ? Number(text) : plain;
  if (type.read(written) !== undefined) return written;
  const near = nearestSetting(key, text, cwd);
  const right = /^[\w.,%]+$/.test(near) ? near : quoteForCopying(near);
  const got = type.isPrivate ? '' : `, got "${toOneLine(text, LONGEST_VALUE)}"`;
  throw new UserError(`${key} must be ${type.rule(text)}${got}`, {
    exitCode: usage,
    hint: `try ${command(`set ${key} ${right}`)}`,
  });
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
  const usual = String(fallback);
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
  const about = problems.filter((each) => 'key' in each && each.key === key && each.origin.layer === 'user');
  return [
    ...(isHidden ? [`${key} is still ${valueText(key, value)} here, set by ${originText(origin)}`] : []),
    ...about.map(toFinding).map(({ what, why }) => `${what}: ${why}`),
  ];
};

/** The result of `config edit`. */
export const editedText = (place: string, problems: readonly Problem[], isNew: boolean): string =>
  problems.length > 0
    ? findingsText(problems.map(toFinding)).join('\n')
    : `${place}: ${isNew ? 'no mistakes found' : 'not changed'}`;

/** `reason` as the end of a sentence. */
export const failedEditor = (editor: string, reason: string): UserError =>
  new UserError(`the editor "${editor}" ${reason}`, {
    exitCode: 1,
    hint: 'set VISUAL or EDITOR to another one',
  });

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
