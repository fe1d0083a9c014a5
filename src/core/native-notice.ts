import type { Ladder } from './ladder.js';
import { grouped } from './rung.js';

/**
 * What the user should know of auto and of where the agent compacts by itself: that auto gave way, or that the agent comes first. One
 * line; undefined where auto is where it was wanted, and comes first.
 */
export const nativeNotice = (
  { auto, native }: Pick<Ladder, 'auto' | 'native'>,
  runtime: string,
): string | undefined => {
  if (!auto || !native || auto.unit !== 'tokens') return undefined;
  const own = `${runtime} compacts by itself at ${grouped(native.tokens)}`;
  if (auto.asked !== undefined) return `auto ${grouped(auto.value)}, not ${grouped(auto.asked)}: ${own}`;
  if (auto.value < native.tokens) return undefined;
  return auto.value === native.tokens
    ? `${own}, where auto is`
    : `${own}, before auto at ${grouped(auto.value)}`;
};
