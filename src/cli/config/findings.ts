// Every sentence about what is wrong in a configuration: what, where, why, and the command that mends it.
import { envNames } from '../../core/config/env-names.js';
import { isKeyName, keyNames, keyOf } from '../../core/config/keys.js';
import { fallbackOf } from '../../core/config/merge.js';
import type { Origin, Problem } from '../../core/config/setting.js';
import { writtenOf } from '../../core/config/written.js';
import { oneLine } from '../../core/one-line.js';
import { shellWord } from '../../core/shell-word.js';
import { nearest } from '../nearest.js';

/** What is wrong with one value. */
export interface Finding {
  readonly level: Problem['level'];
  readonly what: string;
  /** `FILE:LINE:COLUMN`, or a name in the environment */
  readonly where: string;
  readonly why: string;
  readonly fix: string;
}

/** Where something stands. */
export const placeOf = ({ place = '', file, at, layer }: Origin): string => {
  if (layer === 'env' && file !== undefined) return place === '' ? file : `${place} in ${file}`;
  return at ? `${place}:${at.line}:${at.column}` : place;
};

/** A problem in sentences. */
export const findingOf = (problem: Problem): Finding => {
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
    case 'deprecated':
      return deprecated(problem);
    case 'refused':
      return refused(problem);
    case 'pending':
      return pending(problem);
    case 'order':
      return order(problem);
    case 'capacity':
      return capacity(problem);
    case 'native':
      return native(problem);
    case 'repeated':
      return repeated(problem);
    case 'syntax':
      return syntax(problem);
    case 'file':
      return { what: 'the file is not read', why: problem.reason, fix: problem.fix };
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
  why: `it must be ${rule}; ${used === undefined ? 'it is passed over' : `it counts as ${used}`}`,
  fix: fixOf(origin, rightValue(key)),
});

const unknown = ({ key, origin }: Of<'unknown'>): Sentences => ({
  what: `${keyText(key)} is unknown`,
  why: `there is no such name${hintFor(key, origin)}`,
  fix: fixOf(origin),
});

const deprecated = ({ key, doc, instead, origin }: Of<'deprecated'>): Sentences => ({
  what: `${key} is not used any more`,
  why: `${doc} It is ignored; ${instead === undefined ? 'remove it' : `write ${instead} in its place`}`,
  fix: fixOf(origin),
});

const refused = ({ key, allowed }: Of<'refused'>): Sentences => {
  const can = allowed.length > 0 ? `; here it can only be ${allowed.join(' or ')}` : '';
  return {
    what: `${key} is ignored`,
    why: `a project's file may only have less done than your own configuration${can}`,
    fix: `set it in your own: ${edit(undefined)}`,
  };
};

const pending = ({ key }: Of<'pending'>): Sentences => ({
  what: `${key} has no effect yet`,
  why: 'nothing uses it in this version',
  fix: 'leave it',
});

const order = ({ key, above, given, used, origin }: Of<'order'>): Sentences => ({
  what: `${key} is ${given}, which is more than ${above}`,
  why: `the tiers begin one after the other: it counts as ${used}`,
  fix: fixOf(origin, used),
});

const capacity = ({ key, given, backend, most, origin }: Of<'capacity'>): Sentences => ({
  what: `${key} is ${given}, and ${backend} has ${most} at most`,
  why: 'yours holds; if the agent says another number, change one of them',
  fix: fixOf(origin, String(most)),
});

const native = ({ key, given, agents, origin }: Of<'native'>): Sentences => ({
  what: `${key} is ${given}, and ${agents.map(({ agent }) => agent).join(', ')} may compact first`,
  why: agents
    .map(({ agent, at, usual, used }) => {
      const ours = used === undefined ? 'yours holds' : `it counts as ${used}`;
      return `${agent} compacts by itself at ${at} in a window of ${usual}, its usual one: ${ours} there`;
    })
    .join('; '),
  fix: fixOf(origin),
});

const repeated = ({ key, origin }: Of<'repeated'>): Sentences => ({
  what: `${keyText(key)} stands more than once`,
  why: 'the last one holds; remove the others',
  fix: fixOf(origin),
});

const syntax = ({ reason, origin: { layer, place, at } }: Of<'syntax'>): Sentences => ({
  what: layer === 'env' ? 'a line is not read' : 'the file is not valid JSONC',
  why: reason,
  fix: edit(place, at?.line),
});

const more = ({ of, count, origin }: Of<'more'>): Sentences => ({
  what: `${count} more ${kinds[of] ?? 'problems of one kind'}`,
  why: 'only the first ones are told one by one',
  fix: fixOf(origin),
});

const kinds: Partial<Record<Problem['kind'], string>> = {
  unknown: 'names are unknown',
  repeated: 'names stand more than once',
  wrong: 'values are wrong',
  syntax: 'lines are not read',
  definition: 'faults are in definitions of agents',
};

/** A name that somebody else may have written: it must not look like a sentence of ours. */
const keyText = (key: string): string =>
  /^[\w.$-]{1,60}$/.test(key) ? key : oneLine(JSON.stringify(key), LONGEST_KEY);

const LONGEST_KEY = 40; // characters

const hintFor = (key: string, { layer }: Origin): string => {
  const inner = keyNames.filter((name) => name.startsWith(`${key}.`));
  if (layer !== 'env' && inner.length > 0)
    return `; names are written in one piece: ${inner.map((name) => JSON.stringify(name)).join(', ')}`;
  const close = nearest(key, layer === 'env' ? envNames.map(({ name }) => name) : keyNames);
  return close === undefined ? '' : `; did you mean ${close}?`;
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
