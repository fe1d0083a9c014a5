// What a record of a rollout adds to the conversation before the next count tells its exact size.
import type { Fact } from '../../core/event.js';
import { estimateTokens } from '../../core/estimate.js';
import { listAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';

const OUTPUT = /_call_output$/;

/** A message of the user or what a tool gave back; an answer comes with its own count. */
export const readGrowth = (item: JsonRecord): readonly Fact[] => {
  const isMessage = item['type'] === 'message' && item['role'] === 'user';
  if (!isMessage && !OUTPUT.test(textAt(item, 'type') ?? '')) return [];
  const tokens = estimateTokens(textIn(item, isMessage ? 'content' : 'output'));
  return tokens === 0 ? [] : [{ type: 'growth', tokens }];
};

// A text, or blocks of text; images have none and are left out.
const textIn = (item: JsonRecord, key: string): string =>
  textAt(item, key) ??
  listAt(item, key)
    .map((block) => textAt(block, 'text') ?? '')
    .join('');
