// How the agent can behave differently from what is expected of it where compacting is concerned.

/**
 * What becomes of `/compact`:
 * - `work`: the conversation becomes short, as it should
 * - `swallow`: the prompt is emptied, and nothing happens
 * - `fail`: it takes its time and ends with an error
 * - `noop`: says at once that there is nothing to compact
 * - `lie`: says that it worked, but the window is as full as before and no record is written
 * - `hang`: goes on for ever
 */
export const compactWays = ['work', 'swallow', 'fail', 'noop', 'lie', 'hang'] as const;
export type CompactWay = (typeof compactWays)[number];

export const ignorableKeys = ['text', 'enter', 'backspace'] as const;
export type IgnorableKey = (typeof ignorableKeys)[number];

export interface Quirks {
  readonly onCompact: CompactWay;
  /** the error of `fail` */
  readonly failure: string;
  readonly ignoredKeys: readonly IgnorableKey[];
  /** asks to run this as soon as the command stands in the prompt */
  readonly dialogBehind?: string;
  /** compacts by itself after a turn that ends with so many tokens or more */
  readonly compactsFrom: number;
}

export const usual: Quirks = { onCompact: 'work', failure: '', ignoredKeys: [], compactsFrom: Infinity };
