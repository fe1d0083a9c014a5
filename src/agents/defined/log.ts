import type { Fact } from '../../core/event.js';
import { errorText } from '../../core/errors.js';
import { isRecord, parseRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { parseIsoTime } from '../../core/time.js';
import type { WindowSource, Millis } from '../../core/reading.js';
import {
  makeSessionReader,
  type RecordMeaning,
  type RecordPlace,
  type SessionReader,
} from '../session-format.js';
import { matchInTime, matchRow, findPatterns, type TimeLimit } from './pattern.js';
import type { Definition, FieldEquals, LogDefinition } from './schema.js';

/** The place of a value in a record: `usage.input`, `parts.0.tokens`; `*` matches all fields or items. */
export type FieldPath = readonly string[];

const MOST_VALUES = 1_000; // values that a path with `*` may return

export const parseFieldPath = (text: string): FieldPath | undefined => {
  const steps = text.split('.');
  return text.length <= 200 && steps.every((step) => step !== '' && (step === '*' || !step.includes('*')))
    ? steps
    : undefined;
};

/** All values at the path; at most one without a `*`. */
const valuesAt = (record: unknown, path: FieldPath): readonly unknown[] =>
  path.reduce<readonly unknown[]>(
    (values, step) => values.flatMap((value) => inside(value, step)).slice(0, MOST_VALUES),
    [record],
  );

const inside = (value: unknown, step: string): readonly unknown[] => {
  if (Array.isArray(value)) {
    if (step === '*') return value;
    const index = /^\d+$/.test(step) ? Number(step) : value.length;
    return value.slice(index, index + 1);
  }
  if (!isRecord(value)) return [];
  if (step === '*') return Object.values(value);
  return Object.hasOwn(value, step) ? [value[step]] : [];
};

interface Window {
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
}

/** The window that the definition gives this model, if any. */
export const modelWindow = (window: Definition['window'], model: string | undefined): Window => {
  const tokens =
    typeof window === 'object'
      ? window.find(({ pattern }) => model !== undefined && matchRow(pattern, model))?.tokens
      : window;
  return tokens === undefined ? {} : { windowTokens: tokens, windowSource: 'table' };
};

// One line of a session file, mapped by its definition.

export interface FieldMapping {
  readonly log: LogDefinition;
  readonly window: Definition['window'];
  readonly limit: TimeLimit;
}

/** What is known about the model of the last answer. */
interface Known {
  readonly model?: string;
  readonly window: Window;
  /** a pattern of the table took too long and is not used again */
  readonly problem?: string;
}

type Read = RecordMeaning<Known>;

export const makeLogReader = (mapping: FieldMapping): SessionReader =>
  makeSessionReader<Known>(
    { name: 'session', read: (known, record, place) => readRecord(mapping, known, { record, place }) },
    { window: {} },
  );

const readRecord = (
  mapping: FieldMapping,
  state: Known,
  { record, place }: { readonly record: JsonRecord; readonly place: RecordPlace },
): Read => {
  const { ignore = [], boundary, timestamp } = mapping.log;
  if (ignore.some((rule) => holds(record, rule))) return { state };
  const at = timeAt(record, timestamp) ?? place.now;
  if (boundary && holds(record, boundary.where)) {
    const preTokens = countAt(record, boundary.preTokens);
    const postTokens = countAt(record, boundary.postTokens);
    const sizes = {
      ...present({ preTokens, postTokens }),
    };
    return { state, facts: [{ type: 'boundary', boundary: { ...sizes, at } }] };
  }
  return readUsage(mapping, state, { record, at });
};

const readUsage = (
  mapping: FieldMapping,
  before: Known,
  { record, at }: { readonly record: JsonRecord; readonly at: Millis },
): Read => {
  const { log } = mapping;
  const counts = log.used.flatMap((path) => valuesAt(record, path)).filter(isCount);
  const usedTokens = counts.reduce((sum, count) => sum + count, 0);
  // No window is empty after an answer: zero means that the agent did not count.
  if (usedTokens === 0) return { state: before };
  const model = log.model && valuesAt(record, log.model).find((value) => typeof value === 'string');
  const state = knownOf(mapping, before, model);
  const windowTokens = countAt(record, log.window);
  const reading = {
    usedTokens,
    ...(windowTokens ? { windowTokens, windowSource: 'agent' as const } : state.window),
    ...present({ model }),
    source: 'log' as const,
    at,
  };
  const facts: readonly Fact[] = [{ type: 'reading', reading }];
  return { state, facts, ...present({ misfit: state.problem }) };
};

/** The table is searched once per model in a row. */
const knownOf = ({ window, limit }: FieldMapping, before: Known, model: string | undefined): Known => {
  if (model === undefined) return { ...before, window: modelWindow(window, model) };
  if (before.problem !== undefined || before.model === model) return before;
  const work = { patterns: findPatterns(window), texts: () => [model] };
  try {
    return { model, window: matchInTime(limit, work, () => modelWindow(window, model)) };
  } catch (error) {
    return { window: {}, problem: errorText(error) };
  }
};

const holds = (record: JsonRecord, { path, equals }: FieldEquals): boolean =>
  valuesAt(record, path).includes(equals);

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

const countAt = (record: JsonRecord, path: FieldPath | undefined): number | undefined =>
  path && valuesAt(record, path).find(isCount);

/** When a line was written, by its own timestamp. */
export const makeLineTime =
  ({ timestamp }: LogDefinition) =>
  (line: string): Millis | undefined => {
    const record = timestamp && parseRecord(line);
    return record && timeAt(record, timestamp);
  };

const MILLISECONDS = 1e11; // smaller numbers of milliseconds would be before 1973, so they are seconds

const timeAt = (record: JsonRecord, path: FieldPath | undefined): Millis | undefined => {
  const [value] = path ? valuesAt(record, path) : [];
  if (typeof value === 'string') return parseIsoTime(value);
  return isCount(value) && value > 0 ? (value < MILLISECONDS ? value * 1000 : value) : undefined;
};
