import { isRecord } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';

const OWN_TYPES = /^(?:user|gemini|info|error|warning)$/;

/** A record as only Gemini CLI writes it: the head of the document, a patch of it, or a message with an id and a content of its own. */
export const isGeminiRecord = (record: JsonRecord): boolean => {
  const { type, id, content, uuid, message } = record;
  if (isRecord(record['$set']) || record['$rewindTo'] !== undefined) return true;
  if (record['projectHash'] !== undefined && record['sessionId'] !== undefined) return true;
  const isMessage = typeof type === 'string' && OWN_TYPES.test(type) && typeof id === 'string';
  return isMessage && content !== undefined && uuid === undefined && message === undefined;
};
