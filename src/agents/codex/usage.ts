import { limitName, type PlanLimit } from '../../core/economy.js';
import type { Fact } from '../../core/event.js';
import { getCount, getRecord, getText, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis, Reading } from '../../core/reading.js';
import { parseMoment } from '../../core/time.js';
import { codexPercent, usableTokens } from './percent.js';

// The content of a `token_count` record of a rollout (docs/facts/codex.md#rollouts): how full the window is, and the plan's limits.

/** What is known of the model. */
export interface KnownModel {
  readonly model?: string;
  /** in tokens, as Codex uses it */
  readonly windowTokens?: number;
}

export interface UsageCount extends Pick<KnownModel, 'windowTokens'> {
  readonly reading?: Reading;
  readonly misfit?: string;
}

/** The usage in the record. */
export const readCount = (known: KnownModel, payload: JsonRecord, at: Millis): UsageCount => {
  // Before the first answer Codex writes `info: null`.
  if (payload['info'] === null) return {};
  const info = getRecord(payload, 'info');
  const last = getRecord(info, 'last_token_usage');
  const used = getCount(last, 'total_tokens');
  if (used === undefined) return { misfit: 'a token count without last_token_usage' };
  const window = windowIn(info);
  const after = { ...known, ...window };
  if (isFullMark(info, after.windowTokens)) return { ...window, reading: fullWindow(after, at) };
  const guessed = guessOf(payload) !== undefined;
  const cachedTokens = getCount(last, 'cached_input_tokens');
  const inputTokens = getCount(last, 'input_tokens');
  const cached = cachedTokens ? { cachedTokens, ...present({ inputTokens }) } : {};
  const seen = { source: guessed ? 'estimate' : 'log', at, ...cached } as const;
  return { ...window, reading: readingOf(after, used, seen) };
};

/** A total without input and output is Codex's own estimate of what a compaction kept. */
export const guessOf = (payload: JsonRecord): number | undefined => {
  const last = getRecord(getRecord(payload, 'info'), 'last_token_usage');
  const isGuess = getCount(last, 'input_tokens') === 0 && getCount(last, 'output_tokens') === 0;
  return isGuess ? getCount(last, 'total_tokens') : undefined;
};

// A refused turn is recorded as a total of exactly one window without any input; its `last` is meaningless.
const isFullMark = (info: JsonRecord | undefined, windowTokens: number | undefined): boolean => {
  const total = getRecord(info, 'total_token_usage');
  return getCount(total, 'input_tokens') === 0 && getCount(total, 'total_tokens') === windowTokens;
};

/** The window in a record. */
export const windowIn = (from: JsonRecord | undefined): Pick<KnownModel, 'windowTokens'> => {
  const windowTokens = getCount(from, 'model_context_window');
  return windowTokens ? { windowTokens } : {};
};

const readingOf = (
  state: KnownModel,
  usedTokens: number,
  seen: Pick<Reading, 'source' | 'at' | 'cachedTokens' | 'inputTokens'>,
): Reading => {
  const { windowTokens, model } = state;
  const percent =
    windowTokens === undefined
      ? {}
      : { usedPercent: codexPercent(usedTokens, windowTokens), ...scale(state) };
  return { usedTokens, ...percent, ...(model ? { model } : {}), ...seen };
};

const scale = ({ windowTokens }: KnownModel): Omit<Reading, 'source' | 'at'> => ({
  basis: 'baseline',
  ...(windowTokens === undefined
    ? {}
    : { windowTokens, windowSource: 'agent', basisTokens: usableTokens(windowTokens) }),
});

/** The request was refused as too long. */
export const fullWindow = (known: KnownModel, at: Millis): Reading => ({
  usedPercent: 100,
  ...scale(known),
  source: 'log',
  ...(known.model ? { model: known.model } : {}),
  at,
});

// The plan's limits in a `token_count` record (docs/facts/codex.md#rollouts): `primary` and `secondary`, each null or with `used_percent`,
// `window_minutes` and `resets_at` in seconds since the epoch; older versions give `resets_in_seconds`. Other models have limits of their
// own with another `limit_id`, which are not those of the conversation.

const SPANS = ['primary', 'secondary'] as const;
const MAIN_LIMIT = 'codex';

export const planLimits = (reported: JsonRecord | undefined, at: Millis): readonly Fact[] => {
  if (reported === undefined || (getText(reported, 'limit_id') ?? MAIN_LIMIT) !== MAIN_LIMIT) return [];
  const limits = SPANS.flatMap((key): readonly PlanLimit[] => {
    const limit = getRecord(reported, key);
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
        ...present({ resetsAt }),
      },
    ];
  });
  return limits.length === 0 ? [] : [{ type: 'limits', limits }];
};
