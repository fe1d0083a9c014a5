// Whether an agent that is about to compact by itself, perhaps in the middle of a turn, is to wait.
import { effectiveTokens } from '../ladder-presets.js';
import { countedIn } from '../measure.js';
import type { Liveness, SessionRecord } from '../session-record.js';

/** What the hook knows of its session; nothing where no wrapper has written of it. */
export type HeldSession = { readonly record: SessionRecord; readonly liveness: Liveness } | undefined;

/** One line on why it waits; undefined where it may: at hard, and wherever anything is not known for certain. */
export const nativeHold = (session: HeldSession): string | undefined => {
  const { reading, tier, thresholds } = session?.record ?? {};
  const used = reading?.exact ? countedIn(reading) : undefined;
  if (session?.liveness !== 'live' || used === undefined) return undefined;
  if (tier === undefined || tier === 'hard') return undefined;
  // a window or bounds of the user's may lie beyond what the agent can do without
  if (reading?.windowTokens === undefined || reading.windowSource === 'user') return undefined;
  const effective = effectiveTokens(reading.windowTokens);
  const hard = thresholds?.find(({ name, unit }) => name === 'hard' && unit === 'tokens')?.value ?? Infinity;
  const until = Math.min(effective, hard);
  return used < until ? `${used} tokens used, held until ${until}` : undefined;
};
