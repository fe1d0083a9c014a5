import { nearestWord } from '../core/text.js';
import { usageError } from './usage-error.js';

// The templates of `ctxwrap ps --format`: text with fields in braces. What a field holds is in ps-columns.ts.

/** All fields in the order of the documents, with what they hold. */
export const formatFields = {
  agent: 'name of the agent',
  version: 'version of the agent',
  model: 'model, as the agent names it',
  session: 'short id, as in the table',
  id: 'full id',
  pid: 'process id of ctxwrap',
  folder: 'folder it runs in, with ~ for your home folder',
  bar: 'bar of ten cells: progress to the next compaction',
  fill: 'how full the window is, as in the footer: 62%, ~62%, 62%?, >100%',
  percent: 'how full the window is, as a whole number from 0 to 100',
  used: 'used tokens: 124k, ~124k',
  window: 'size of the window in tokens: 200k, 200k?',
  tier: 'safe, warn, auto or hard',
  next: "what comes next: limit (yours), auto, own (the agent's) or hard",
  togo: 'how far away that is: 53k, ~53k, or 12% without tokens',
  distance: "as in the footer, far below the window: 58k to claude's own",
  activity: 'ready/draft/busy/dialog/compacting/unknown, or stale/dead/ended',
  waits: 'what it waits for or does next: permission, compacting in 8 s',
  mode: 'what happens when the window fills: auto, ask, warn or off',
  age: 'time since it started: 42s, 12m, 3h, 2d',
  compactions: 'number of compactions in this session',
  turns: 'your turns in this session',
  cache: 'how long the prompt cache stays warm: 12m, ~4m, cold',
  limits: "how much of the plan's limits is used: 5h 42% 7d 13%",
  exit: "the agent's exit status, or the signal that ended it",
} as const satisfies Readonly<Record<string, string>>;

export type FieldName = keyof typeof formatFields;

export const fieldNames = Object.keys(formatFields) as readonly FieldName[];

/** Literal texts and fields, in order. */
export type Template = readonly (string | { readonly field: FieldName })[];

const PIECE = /\{\{|\}\}|\{([^{}]*)\}|\{|[^{}]+|\}/gu;

/** Throws a UserError for a template without a field, for an unknown field and for a brace that is not closed. */
export const parseTemplate = (text: string): Template => {
  const template = [...text.matchAll(PIECE)].map(([piece, name]) => {
    if (name !== undefined) return { field: fieldNamed(name) };
    if (piece === '{')
      throw usageError(`--format has a { without a }: "${text}"`, 'write {{ for a plain brace');
    return piece === '{{' || piece === '}}' ? piece.slice(1) : piece;
  });
  if (template.every((piece) => typeof piece === 'string'))
    throw usageError(
      `--format needs a field in braces, got "${text}"`,
      `try --format '{agent} {fill} {tier}'`,
    );
  return template;
};

const fieldNamed = (name: string): FieldName => {
  const found = fieldNames.find((each) => each === name);
  if (found !== undefined) return found;
  const [close, list] = [nearestWord(name, fieldNames), `the fields are ${fieldNames.join(', ')}`];
  throw usageError(
    `--format has no field "${name}"`,
    close === undefined ? list : `did you mean {${close}}? ${list}`,
  );
};

/** The fields with what they hold, for help and the manual page. */
export const fieldsText = (): string => {
  const width = Math.max(...fieldNames.map(({ length }) => length)) + 2;
  return fieldNames.map((name) => name.padEnd(width) + formatFields[name]).join('\n');
};

/** One line: control characters in the values are the caller's matter. */
export const filledTemplate = (template: Template, valueOf: (field: FieldName) => string): string =>
  template.map((piece) => (typeof piece === 'string' ? piece : valueOf(piece.field))).join('');
