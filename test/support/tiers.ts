import type { Tier } from '../../src/core/ladder.js';

const order: readonly (Tier | undefined)[] = [undefined, 'safe', 'warn', 'auto', 'hard'];

/** No tier is less than any. */
export const isLess = (a: Tier | undefined, b: Tier | undefined): boolean =>
  order.indexOf(a) < order.indexOf(b);
