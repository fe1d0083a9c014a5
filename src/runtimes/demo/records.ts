import type { JsonRecord } from '../../core/json.js';

export const isDemoRecord = ({ type, at, sessionId, payload }: JsonRecord): boolean =>
  (type === 'turn' || type === 'compaction' || type === 'compaction-failed') &&
  typeof at === 'number' &&
  sessionId === undefined &&
  payload === undefined;
