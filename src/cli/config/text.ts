// What `ctxwrap config` prints.
import { keyOf } from '../../core/config/keys.js';
import type { Effective, Origin, Setting } from '../../core/config/setting.js';
import { writtenOf } from '../../core/config/written.js';
import type { JsonRecord } from '../../core/json.js';
import { findingOf, placeOf } from './findings.js';
import type { Finding } from './findings.js';
import type { WholeConfiguration } from './whole-configuration.js';
import { plain } from '../../ui/plain-text.js';
import { table } from '../table.js';

/** One row for each key, as long as it must be: half a value, or half the name of a file, is none. */
export const settingsText = (all: readonly Effective[], withOrigin: boolean): readonly string[] => {
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

const valueText = (key: Effective['key'], value: unknown): string => {
  if (value !== undefined && key === 'runtimes') return plain(Object.keys(Object(value)).join(', '));
  if (value === undefined) return keyOf(key).isTold ? 'as the agent tells' : '-';
  return plain(JSON.stringify(writtenOf(keyOf(key).type, value)));
};

/** What the user has set, in one line for the log. Texts of the user's are named only. */
export const settingsLine = (all: readonly Effective[]): string => {
  const set = all.filter(({ origin: { layer } }) => layer !== 'default' && layer !== 'agent');
  const told = set.map(({ key, value, origin }) => {
    const isText = ['text', 'focus', 'definitions'].includes(keyOf(key).type.kind);
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
      return plain(`project ${placeOf(origin)}`);
    default:
      return plain(placeOf(origin));
  }
};

/** What is wrong, one after the other. */
export const findingsText = (findings: readonly Finding[]): readonly string[] => {
  if (findings.length === 0) return ['nothing is wrong'];
  return findings.flatMap(({ level, what, where, why, fix }, index) => [
    ...(index > 0 ? [''] : []),
    `${level}: ${plain(what)}`,
    `  where  ${plain(where)}`,
    `  why    ${plain(why)}`,
    `  fix    ${plain(fix)}`,
  ]);
};

/** `ctxwrap.config/1` */
export const configRecord = (all: readonly Effective[], whole: WholeConfiguration): JsonRecord => ({
  schema: 'ctxwrap.config/1',
  files: { user: whole.userPath, project: whole.projectPath },
  ...(all.length > 0 ? { keys: all.map(keyRecord) } : {}),
  problems: whole.problems.map(findingOf),
});

const keyRecord = ({ key, value, origin, overrides }: Effective): JsonRecord => ({
  key,
  ...written(key, value),
  origin,
  overrides: overrides.map((each: Setting) => ({ ...written(key, each.value), origin: each.origin })),
});

const written = (key: Effective['key'], value: unknown): JsonRecord =>
  value === undefined ? {} : { value: writtenOf(keyOf(key).type, value) };

/** What `config init` has done. */
export const initText = (
  path: string,
  { added, isNew }: { readonly added: readonly string[]; readonly isNew: boolean },
): string => {
  if (isNew) return `${path}: written, with ${added.length} keys as comments\n`;
  if (added.length === 0) return `${path}: all keys are there\n`;
  return `${path}: added ${added.join(', ')}; what was there before is in ${path}.bak\n`;
};
