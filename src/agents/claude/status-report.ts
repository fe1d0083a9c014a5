import type { Fact } from '../../core/event.js';
import { parseRecord, getRecord, type JsonRecord, getCount, getText } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis, Reading } from '../../core/reading.js';
import type { OfficialReport } from '../agent.js';
import { statusLineCache, statusLineLimits } from './economy.js';
import { usedTokens } from './session.js';
import { modelKey } from './window.js';

// What the command of Claude Code's status line gets on stdin (docs/facts/claude.md#status-line, #older-versions).

/** The numbers of one report; undefined for anything else. */
export const readStatusReport = (text: string, now: Millis): OfficialReport | undefined => {
  const record = parseRecord(text);
  const context = getRecord(record, 'context_window');
  if (!record || !context) return undefined;
  const sessionId = getText(record, 'session_id');
  const id = getText(getRecord(record, 'model'), 'id');
  const model = id === undefined ? undefined : modelKey(id);
  const facts = [
    ...factsOf(context, { model, now }),
    ...statusLineCache(getRecord(record, 'prompt_cache')),
    ...statusLineLimits(getRecord(record, 'rate_limits')),
  ];
  return { ...present({ sessionId }), facts };
};

interface Given {
  readonly model: string | undefined;
  readonly now: Millis;
}

// Versions differ in what `total_input_tokens` counts; `current_usage` is the window in all of them, and null before the first answer.
const factsOf = (context: JsonRecord, { model, now }: Given): readonly Fact[] => {
  const usage = getRecord(context, 'current_usage');
  const used = usedTokens(usage);
  const size = getCount(context, 'context_window_size');
  const window = size ? { windowTokens: size, windowSource: 'agent' as const } : undefined;
  const named = model === undefined ? {} : { model };
  const claims: readonly Fact[] = window ? [{ type: 'window', claim: { ...window, ...named } }] : [];
  if (used === undefined) return claims;
  if (used === 0) return [...claims, { type: 'voided' }]; // just compacted: the exact size comes with the next answer
  const answerTokens = getCount(usage, 'output_tokens');
  const cachedTokens = getCount(usage, 'cache_read_input_tokens');
  const usedPercent = getCount(context, 'used_percentage');
  const reading: Reading = {
    usedTokens: used,
    ...(answerTokens ? { answerTokens } : {}),
    ...present({ cachedTokens }),
    ...window,
    ...(usedPercent === undefined ? {} : { usedPercent, basis: 'window' as const }),
    source: 'official',
    ...named,
    at: now,
  };
  return [...claims, { type: 'reading', reading }];
};
