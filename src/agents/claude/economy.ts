import type { PlanLimit, PromptCache } from '../../core/economy.js';
import type { Fact } from '../../core/event.js';
import { getCount, getRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { parseMoment } from '../../core/time.js';

// The prompt cache and the plan's limits. The status line states both since 2.1.25x (docs/facts/claude.md#status-line): `prompt_cache` with
// `expires_at`, `rate_limits` with `five_hour`, `seven_day` and `spend_limit`, each with `used_percentage` and `resets_at`; times are
// seconds since the epoch. Without it the cache follows from an answer's usage, which counts what was written for an hour and for five
// minutes separately.

const LIFETIMES: readonly (readonly [key: string, ms: number])[] = [
  ['ephemeral_1h_input_tokens', 3_600_000],
  ['ephemeral_5m_input_tokens', 300_000],
];
const USUAL_MS = 300_000; // for what is only read, where nobody has said otherwise

/** How long the cache keeps what this request wrote, in milliseconds; undefined where it wrote nothing. */
export const timeToLive = (usage: JsonRecord | undefined): number | undefined => {
  const written = getRecord(usage, 'cache_creation');
  return LIFETIMES.find(([key]) => (getCount(written, key) ?? 0) > 0)?.[1];
};

/** The cache after an answer, which has renewed it; undefined where nothing is cached. */
export const promptCache = (
  usage: JsonRecord | undefined,
  lifetimeMs: number | undefined,
  at: Millis,
): PromptCache | undefined => {
  const cached =
    (getCount(usage, 'cache_read_input_tokens') ?? 0) + (getCount(usage, 'cache_creation_input_tokens') ?? 0);
  return cached === 0 ? undefined : { expiresAt: at + (lifetimeMs ?? USUAL_MS), exact: false };
};

export const statusLineCache = (reported: JsonRecord | undefined): readonly Fact[] => {
  const expiresAt = parseMoment(reported?.['expires_at']);
  return expiresAt === undefined ? [] : [{ type: 'cache', cache: { expiresAt, exact: true } }];
};

const LIMITS: readonly (readonly [key: string, name: string])[] = [
  ['five_hour', '5h'],
  ['seven_day', '7d'],
  ['spend_limit', 'spend'],
];

export const statusLineLimits = (reported: JsonRecord | undefined): readonly Fact[] => {
  const limits = LIMITS.flatMap(([key, name]): readonly PlanLimit[] => {
    const limit = getRecord(reported, key);
    const usedPercent = getCount(limit, 'used_percentage');
    const resetsAt = parseMoment(limit?.['resets_at']);
    if (usedPercent === undefined) return [];
    return [{ name, usedPercent, ...present({ resetsAt }) }];
  });
  return limits.length === 0 ? [] : [{ type: 'limits', limits }];
};
