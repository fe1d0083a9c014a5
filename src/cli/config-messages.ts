// Every sentence about a configuration: what, where, why, and the command that mends it.
import { fallbackOf } from '../core/config/merge.js';
import { isKeyName, keyNames, keyOf } from '../core/config/keys.js';
import type { Origin, Problem } from '../core/config/setting.js';
import { writtenOf } from '../core/config/written.js';
import { envNames } from '../core/config/env-names.js';
import { shellWord } from '../core/shell-word.js';
import { UserError } from '../core/user-error.js';
import { nearest } from './nearest.js';

const usage = 2;

/** What is wrong with one value. */
export interface Finding {
  readonly level: Problem['level'];
  readonly what: string;
  /** `FILE:LINE:COLUMN`, or a name in the environment */
  readonly where: string;
  readonly why: string;
  readonly fix: string;
}

export const refusedConfig = (path: string, reason: string, fix: string): UserError =>
  new UserError(`cannot use the configuration "${path}": ${reason}`, {
    exitCode: usage,
    hint: `mend it with: ${fix}`,
  });

export const brokenConfig = (path: string, check: string): UserError =>
  new UserError(`"${path}" is not valid JSONC, so nothing is added to it`, {
    exitCode: usage,
    hint: `see what is wrong with: ${check}`,
  });

export const unwritableConfig = (path: string, reason: string): UserError =>
  new UserError(`cannot write the configuration "${path}": ${reason}`, {
    exitCode: usage,
    hint: 'name another one: ctxwrap --config FILE config init',
  });

/** Where something stands. */
export const placeOf = ({ place = '', file, at, layer }: Origin): string => {
  if (layer === 'env') return file === undefined ? place : `${place} in ${file}`;
  return at ? `${place}:${at.line}:${at.column}` : place;
};

/** A problem in sentences. */
export const findingOf = (problem: Problem): Finding => {
  const { level, origin } = problem;
  return { level, where: placeOf(origin), ...sentences(problem) };
};

const sentences = (problem: Problem): Pick<Finding, 'what' | 'why' | 'fix'> => {
  const { origin } = problem;
  switch (problem.kind) {
    case 'wrong': {
      const { key, given, rule, used } = problem;
      const counts = used === undefined ? 'it is passed over' : `it counts as ${used}`;
      return {
        what: `${key} is ${given}`,
        why: `it must be ${rule}; ${counts}`,
        fix: fixOf(origin, rightValue(key)),
      };
    }
    case 'unknown': {
      const { key } = problem;
      const isEnv = origin.layer === 'env';
      const close = nearest(key, isEnv ? envNames.map(({ name }) => name) : keyNames);
      const why =
        close === undefined ? 'there is no such name' : `there is no such name; did you mean ${close}?`;
      return { what: `${key} is unknown`, why, fix: fixOf(origin) };
    }
    case 'deprecated': {
      const { key, doc, instead } = problem;
      const now = instead === undefined ? 'remove it' : `write ${instead} in its place`;
      return { what: `${key} is not used any more`, why: `${doc} It is ignored; ${now}`, fix: fixOf(origin) };
    }
    case 'refused': {
      const { key, allowed } = problem;
      const can = allowed.length > 0 ? `; here it can only be ${allowed.join(' or ')}` : '';
      return {
        what: `${key} is ignored`,
        why: `a project's file may only have less done than your own configuration${can}`,
        fix: `set it in your own: ${edit(undefined)}`,
      };
    }
    case 'pending':
      return {
        what: `${problem.key} has no effect yet`,
        why: 'nothing uses it in this version',
        fix: 'leave it',
      };
    case 'repeated':
      return {
        what: `${problem.key} stands more than once`,
        why: 'the last one holds; remove the others',
        fix: fixOf(origin),
      };
    case 'syntax':
      return { what: 'the file is not valid JSONC', why: problem.reason, fix: fixOf(origin) };
    case 'file':
      return { what: 'the file is not read', why: problem.reason, fix: problem.fix };
    case 'definition':
      return { what: `${problem.key} is not valid`, why: problem.reason, fix: fixOf(origin) };
  }
};

const rightValue = (key: string): string | undefined => {
  if (!isKeyName(key)) return undefined;
  const { example, type } = keyOf(key);
  const value = writtenOf(type, fallbackOf(key)) ?? example;
  return value === undefined ? undefined : String(value);
};

/** The command that mends it. */
const fixOf = ({ layer, place = '', file, at }: Origin, value?: string): string => {
  if (layer !== 'env') return edit(place, at?.line);
  if (file !== undefined) return edit(file);
  // other names mean other values
  return value === undefined || !place.startsWith('CTXWRAP_')
    ? `unset ${place}`
    : `export ${place}='${value}'`;
};

const edit = (path: string | undefined, line?: number): string =>
  `\${EDITOR:-vi}${line === undefined ? '' : ` +${line}`} ${path === undefined ? '"$(ctxwrap config path)"' : shellWord(path)}`;

/** One line for the footer. */
export const noticeOf = (findings: readonly Finding[]): string | undefined => {
  const [first] = findings;
  if (!first) return undefined;
  const what =
    findings.length === 1 ? `configuration: ${first.what}` : `configuration: ${findings.length} problems`;
  return `${what}, see ctxwrap config check`;
};

/** One line for the log. */
export const detailOf = ({ what, where, why, fix }: Finding): string =>
  `configuration: ${what} (${where}): ${why}; mend it with: ${fix}`;
