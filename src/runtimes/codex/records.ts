import { isRecord } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';

const OWN_TYPES =
  /^(?:session_meta|response_item|event_msg|turn_context|compacted|world_state|token_usage_record)$/;

/** A record as only Codex writes it: a type of its own around a payload. */
export const isCodexRecord = ({ type, payload }: JsonRecord): boolean =>
  typeof type === 'string' && OWN_TYPES.test(type) && isRecord(payload);
