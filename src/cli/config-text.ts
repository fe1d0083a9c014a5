// What `ctxwrap config` prints.
import { keyOf } from '../core/config/keys.js';
import type { Effective } from '../core/config/merge.js';
import type { Origin, Setting } from '../core/config/setting.js';
import { writtenOf } from '../core/config/written.js';
import type { JsonRecord } from '../core/json.js';
import { findingOf, placeOf } from './config-messages.js';
import type { Finding } from './config-messages.js';
import type { WholeConfiguration } from './configure.js';
import { plain } from '../ui/plain-text.js';
import { table } from './table.js';
import type { Column } from './table.js';

interface Look {
  readonly withOrigin: boolean;
  /** columns */
  readonly width: number;
}

/** One row for each key. */
export const settingsText = (all: readonly Effective[], { withOrigin, width }: Look): readonly string[] => {
  const columns: readonly Column[] = [
    { title: 'KEY', rank: 0 },
    { title: 'VALUE', rank: 0 },
    ...(withOrigin
      ? [
          { title: 'FROM', rank: 0 },
          { title: 'INSTEAD OF', rank: 1 },
        ]
      : []),
  ];
  const rows = all.map(({ key, value, origin, overrides }) => [
    key,
    valueText(key, value),
    originText(origin),
    overrides.map((each) => `${valueText(key, each.value)} (${originText(each.origin)})`).join(', '),
  ]);
  return table(columns, rows, width);
};

const valueText = (key: Effective['key'], value: unknown): string => {
  if (value !== undefined && key === 'runtimes') return plain(Object.keys(Object(value)).join(', '));
  if (value === undefined) return keyOf(key).isTold ? 'as the agent tells' : '-';
  return plain(JSON.stringify(writtenOf(keyOf(key).type, value)));
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
