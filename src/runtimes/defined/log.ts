// One line of a session file as its definition maps it.
import type { Fact } from '../../core/event.js';
import { parseRecord } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { isoMillis } from '../../core/time.js';
import { lineReader } from '../runtime.js';
import type { LineReader, Understood } from '../runtime.js';
import type { Definition, FieldEquals, LogDefinition } from './definition.js';
import { valuesAt } from './field-path.js';
import type { FieldPath } from './field-path.js';
import { windowOf } from './window.js';

type Said = Omit<Understood<object>, 'state'>;

export const logReader = (log: LogDefinition, window: Definition['window']): LineReader =>
  lineReader({}, (state, line, now) => ({ state, ...readLine({ log, window }, line, now) }));

interface Mapping {
  readonly log: LogDefinition;
  readonly window: Definition['window'];
}

const readLine = (mapping: Mapping, line: string, now: Millis): Said => {
  if (line.trim() === '') return { facts: [] };
  const record = parseRecord(line);
  if (!record) return { facts: [], misfit: 'not a JSON object' };
  const { ignore = [], boundary, timestamp } = mapping.log;
  if (ignore.some((rule) => holds(record, rule))) return { facts: [] };
  const at = timeAt(record, timestamp) ?? now;
  if (boundary && holds(record, boundary.where)) {
    const preTokens = countAt(record, boundary.preTokens);
    const postTokens = countAt(record, boundary.postTokens);
    const sizes = {
      ...(preTokens === undefined ? {} : { preTokens }),
      ...(postTokens === undefined ? {} : { postTokens }),
    };
    return { facts: [{ type: 'boundary', boundary: { ...sizes, at } }] };
  }
  return { facts: readUsage(mapping, record, at) };
};

const readUsage = ({ log, window }: Mapping, record: JsonRecord, at: Millis): readonly Fact[] => {
  const counts = log.used.flatMap((path) => valuesAt(record, path)).filter(isCount);
  const usedTokens = counts.reduce((sum, count) => sum + count, 0);
  // No agent's window is empty once it has answered: a zero stands where the agent did not count.
  if (usedTokens === 0) return [];
  const model = log.model && valuesAt(record, log.model).find((value) => typeof value === 'string');
  const said = countAt(record, log.window);
  const reading = {
    usedTokens,
    ...(said ? { windowTokens: said, windowSource: 'agent' as const } : windowOf(window, model)),
    ...(model === undefined ? {} : { model }),
    source: 'log' as const,
    at,
  };
  return [{ type: 'reading', reading }];
};

const holds = (record: JsonRecord, { path, equals }: FieldEquals): boolean =>
  valuesAt(record, path).includes(equals);

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

const countAt = (record: JsonRecord, path: FieldPath | undefined): number | undefined =>
  path && valuesAt(record, path).find(isCount);

/** When a line was written, as its own timestamp tells. */
export const lineTime =
  ({ timestamp }: LogDefinition) =>
  (line: string): Millis | undefined => {
    const record = timestamp && parseRecord(line);
    return record && timeAt(record, timestamp);
  };

const MILLISECONDS = 1e11; // a smaller number of milliseconds would be before 1973, so it is seconds

const timeAt = (record: JsonRecord, path: FieldPath | undefined): Millis | undefined => {
  const [value] = path ? valuesAt(record, path) : [];
  if (typeof value === 'string') return isoMillis(value);
  return isCount(value) && value > 0 ? (value < MILLISECONDS ? value * 1000 : value) : undefined;
};
