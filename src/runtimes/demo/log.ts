// One line of the demo agent's session file.
import type { CompactResult } from '../../core/event.js';
import { countAt, parseRecord, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { lineReader } from '../runtime.js';
import type { LineReader, Understood } from '../runtime.js';

export const demoReader = (): LineReader => lineReader({}, readLine);

const readLine = (state: object, line: string, now: Millis): Understood<object> => {
  const record = parseRecord(line);
  const at = countAt(record, 'at') ?? now;
  switch (record?.['type']) {
    case 'turn':
      return { state, ...readTurn(record, at) };
    case 'compaction':
      return { state, facts: [{ type: 'boundary', boundary: readCompaction(record, at) }] };
    case 'compaction-failed':
      return { state, facts: [{ type: 'compact-result', result: readFailure(record) }] };
    default:
      return record ? { state, facts: [] } : { state, facts: [], misfit: 'not JSON' };
  }
};

const readTurn = (record: JsonRecord, at: Millis): Omit<Understood<object>, 'state'> => {
  const usedTokens = countAt(record, 'usedTokens');
  const windowTokens = countAt(record, 'windowTokens');
  if (usedTokens === undefined || !windowTokens) return { facts: [], misfit: 'a turn without numbers' };
  const model = textAt(record, 'model') ?? 'demo-1';
  return {
    facts: [
      {
        type: 'reading',
        reading: { usedTokens, windowTokens, windowSource: 'agent', source: 'log', model, at },
      },
    ],
  };
};

const readFailure = (record: JsonRecord): CompactResult => ({
  kind: 'failed',
  failure: 'error',
  text: textAt(record, 'text') ?? 'it does not say why',
});

const readCompaction = (record: JsonRecord, at: Millis) => {
  const preTokens = countAt(record, 'preTokens');
  const postTokens = countAt(record, 'postTokens');
  return {
    initiator: record['trigger'] === 'agent' ? ('agent' as const) : ('user' as const),
    ...(preTokens === undefined ? {} : { preTokens }),
    ...(postTokens === undefined ? {} : { postTokens }),
    at,
  };
};
