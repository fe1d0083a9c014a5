import { isRecord } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';

/** A record as only Qwen Code writes it: with an id, and a message in the parts of the Gemini API or a payload of the system. */
export const isQwenRecord = ({ uuid, sessionId, isSidechain, message, systemPayload }: JsonRecord): boolean =>
  typeof uuid === 'string' &&
  typeof sessionId === 'string' &&
  isSidechain === undefined &&
  (isRecord(systemPayload) || (isRecord(message) && Array.isArray(message['parts'])));
