// What the window is full of, in parts that sum to the whole.

export type PartName = 'used' | 'cached' | 'fresh' | 'answer' | 'free' | 'buffer';

/** As people read them. */
export const partNames: Readonly<Record<PartName, string>> = {
  used: 'Used',
  cached: 'Cached input',
  fresh: 'Fresh input',
  answer: 'Last answer',
  free: 'Free',
  buffer: 'Compaction buffer',
};

export interface ContextPart {
  readonly name: PartName;
  readonly tokens: number;
  /** of the whole, one decimal; all parts together are 100 */
  readonly percent: number;
}

export interface PartsRequest {
  readonly usedTokens: number;
  readonly windowTokens: number;
  /** beside the used ones */
  readonly answerTokens?: number | undefined;
  /** of the used ones */
  readonly cachedTokens?: number | undefined;
  /** where the agent compacts by itself: what lies above cannot be filled */
  readonly nativeTokens?: number | undefined;
}

export interface ContextParts {
  /** the window, or what is used where that is more */
  readonly totalTokens: number;
  readonly parts: readonly ContextPart[];
}

/** Used tokens, split where the cached ones are known; then what is free, and what the agent keeps for its own compaction. */
export const contextParts = (request: PartsRequest): ContextParts => {
  const { usedTokens, windowTokens, answerTokens = 0, cachedTokens, nativeTokens } = request;
  const counted = usedTokens + answerTokens;
  const totalTokens = Math.max(counted, windowTokens);
  const unused = totalTokens - counted;
  const buffer = Math.min(unused, Math.max(0, windowTokens - (nativeTokens ?? windowTokens)));
  const cached = Math.min(usedTokens, cachedTokens ?? 0);
  const sizes: readonly (readonly [PartName, number])[] = [
    ...(cachedTokens === undefined
      ? [['used', usedTokens] as const]
      : [['cached', cached] as const, ['fresh', usedTokens - cached] as const]),
    ...(answerTokens === 0 ? [] : [['answer', answerTokens] as const]),
    ['free', unused - buffer],
    ...(nativeTokens === undefined ? [] : [['buffer', buffer] as const]),
  ];
  return { totalTokens, parts: withPercents(sizes, totalTokens) };
};

// Each part gets what the sum has grown by, so that rounding never makes 99.9 or 100.1 of them.
const withPercents = (
  sizes: readonly (readonly [PartName, number])[],
  totalTokens: number,
): readonly ContextPart[] => {
  const upTo = (count: number): number => {
    const sum = sizes.slice(0, count).reduce((total, [, tokens]) => total + tokens, 0);
    return totalTokens === 0 ? 0 : Math.round((sum * 1000) / totalTokens);
  };
  return sizes.map(([name, tokens], index) => ({
    name,
    tokens,
    percent: (upTo(index + 1) - upTo(index)) / 10,
  }));
};
