import { limitName, type PlanLimit } from '../../core/economy.js';
import type { Fact } from '../../core/event.js';
import { getCount, getRecord, getText, type JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { parseMoment } from '../../core/time.js';

// The plan's limits in a `token_count` record (facts/codex.md §7): `primary` and `secondary`, each null or with `used_percent`,
// `window_minutes` and `resets_at` in seconds since the epoch; older versions give `resets_in_seconds`. Other models have limits of their
// own with another `limit_id`, which are not those of the conversation.

const SPANS = ['primary', 'secondary'] as const;
const MAIN_LIMIT = 'codex';

export const planLimits = (told: JsonRecord | undefined, at: Millis): readonly Fact[] => {
  if (told === undefined || (getText(told, 'limit_id') ?? MAIN_LIMIT) !== MAIN_LIMIT) return [];
  const limits = SPANS.flatMap((key): readonly PlanLimit[] => {
    const limit = getRecord(told, key);
    const usedPercent = getCount(limit, 'used_percent');
    if (usedPercent === undefined) return [];
    const minutes = getCount(limit, 'window_minutes');
    const seconds = getCount(limit, 'resets_in_seconds');
    const resetsAt =
      parseMoment(limit?.['resets_at']) ?? (seconds === undefined ? undefined : at + seconds * 1000);
    return [
      {
        name: minutes ? limitName(minutes) : key,
        usedPercent,
        ...(resetsAt === undefined ? {} : { resetsAt }),
      },
    ];
  });
  return limits.length === 0 ? [] : [{ type: 'limits', limits }];
};
