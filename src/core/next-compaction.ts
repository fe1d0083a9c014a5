import type { Mode } from './compaction/state.js';
import type { FusedReading } from './fusion.js';
import type { Ladder } from './ladder.js';
import { present } from './present.js';
import { isOverFull, percentUsed, windowPercent } from './reading.js';

// What comes next as the window fills, and how far it is.

/** `limit`: auto, set by the user; `auto`: that of the ladder; `own`: the agent compacts by itself; `hard`: nothing compacts before it. */
export type NextKind = 'limit' | 'auto' | 'own' | 'hard';

/** The point at which something happens next. */
export interface NextPoint {
  readonly kind: NextKind;
  readonly value: number;
  readonly unit: 'tokens' | 'percent';
}

/** How far it is to a point that the percentage of the window does not tell. */
export interface Distance {
  readonly to: 'limit' | 'own';
  /** more than 0 */
  readonly tokens: number;
}

/** The next point, as a number of tokens or of percent has come near it. */
export interface Approach {
  readonly point: NextPoint;
  /** what is left, in the unit of the point: 0 where it is reached; absent if that is unknown */
  readonly left?: number;
  /** 0…100 of the way, not rounded: 100 only where the point, or the end of the window before it, is reached */
  readonly wayPercent?: number;
  readonly distance?: Distance;
}

/** The first point at which ctxwrap in this mode or the agent compacts; `hard` where neither does. */
export const nextPoint = ({ auto, hard, native }: Ladder, mode: Mode): NextPoint => {
  const own: NextPoint | undefined = native && { kind: 'own', value: native.tokens, unit: 'tokens' };
  if (!auto) return own ?? { kind: 'hard', value: hard.value, unit: hard.unit };
  const ours: NextPoint = { kind: auto.custom ? 'limit' : 'auto', value: auto.value, unit: auto.unit };
  const isTyping = mode === 'auto' || mode === 'ask';
  return own && !(isTyping && ours.value < own.value) ? own : ours;
};

// Of the window. Up to here the percentage still looks harmless when the point is reached; the usual points, from 80 %, it tells by itself.
const FAR_SHARE = 3 / 4;

/** The point that the user knows by name: where auto only precedes the agent's own point, that one. */
const landmark = ({ kind, value }: NextPoint, { native }: Ladder): Distance | undefined => {
  if (kind === 'limit') return { to: 'limit', tokens: value };
  return kind === 'hard' || !native ? undefined : { to: 'own', tokens: native.tokens };
};

const distanceTo = (
  point: NextPoint,
  ladder: Ladder,
  { tokens }: Pick<FusedReading, 'tokens'>,
): Distance | undefined => {
  const mark = point.unit === 'tokens' ? landmark(point, ladder) : undefined;
  if (!mark || tokens === undefined || tokens >= mark.tokens) return undefined;
  const isFar = ladder.windowTokens === undefined || mark.tokens <= ladder.windowTokens * FAR_SHARE;
  return isFar ? { to: mark.to, tokens: mark.tokens - tokens } : undefined;
};

/** What comes next for a number, on its ladder. */
export const approachOf = (
  ladder: Ladder,
  mode: Mode,
  fused: Pick<FusedReading, 'reading' | 'tokens'> | undefined,
): Approach => {
  const point = nextPoint(ladder, mode);
  if (!fused) return { point };
  const { value, unit } = point;
  const used = unit === 'tokens' ? fused.tokens : percentUsed(fused.reading);
  return {
    point,
    ...(used === undefined ? {} : { left: Math.max(0, value - used) }),
    ...present({ wayPercent: wayPercent(point, ladder, fused), distance: distanceTo(point, ladder, fused) }),
  };
};

/** A point beyond the window is never reached: then the way is that to the window's end. */
const wayPercent = (
  { value, unit }: NextPoint,
  { windowTokens = Infinity }: Ladder,
  { reading, tokens }: Pick<FusedReading, 'reading' | 'tokens'>,
): number | undefined => {
  const isTokens = unit === 'tokens';
  const used = isTokens ? tokens : windowPercent(reading);
  if (used === undefined) return undefined;
  const whole = isTokens ? Math.min(value, windowTokens) : value;
  return isOverFull(reading) || used >= whole ? 100 : (used * 100) / whole;
};
