// Boundaries the user sets: they replace those of the preset and nothing moves them, except each other.
import type { Mark } from './ladder-limits.js';
import { besideAuto, grouped, percentOfTokens } from './rung.js';
import type { Bound, CustomBounds, Rung, RungName, Rungs } from './rung.js';

/** What custom bounds are put into. */
export interface Room {
  readonly windowTokens?: number;
  /** the latest that still comes before the agent's own compaction */
  readonly latest?: Mark | undefined;
}

/** The rungs with the user's own in their places and in order: warn ≤ auto ≤ hard. */
export const withCustom = (rungs: Rungs, bounds: CustomBounds, { windowTokens, latest }: Room): Rungs => {
  const placed = (name: RungName, preset: Rung | undefined): Rung | undefined => {
    const bound = bounds[name];
    if (!bound) return preset;
    const rung = customRung(name, bound, windowTokens);
    return bound.yields ? yielded(name, rung, latest) : rung;
  };
  const auto = placed('auto', rungs.auto);
  const ordered = inOrder({
    warn: placed('warn', rungs.warn) ?? rungs.warn,
    ...(auto ? { auto } : {}),
    hard: placed('hard', rungs.hard) ?? rungs.hard,
  });
  return { ...ordered, warn: besideAuto(ordered.warn, rungs.auto, ordered.auto) };
};

const customRung = (name: RungName, { value, unit }: Bound, windowTokens: number | undefined): Rung => {
  if (unit === 'percent' && windowTokens !== undefined) {
    const tokens = percentOfTokens(windowTokens, value);
    const why = `custom, ${value}% of the window of ${grouped(windowTokens)}`;
    return { value: tokens, unit: 'tokens', custom: true, reason: `${name} ${grouped(tokens)}: ${why}` };
  }
  if (unit === 'percent') return { value, unit, custom: true, reason: `${name} ${value}%: custom` };
  const beyond = windowTokens !== undefined && value > windowTokens;
  const note = beyond ? `, more than the window of ${grouped(windowTokens)}` : '';
  return { value, unit, custom: true, reason: `${name} ${grouped(value)}: custom${note}` };
};

const yielded = (name: RungName, rung: Rung, latest: Mark | undefined): Rung => {
  if (!latest || rung.unit !== 'tokens' || rung.value <= latest.tokens) return rung;
  const { tokens, why } = latest;
  return {
    ...rung,
    value: tokens,
    asked: rung.value,
    reason: `${name} ${grouped(tokens)}: ${why}; you asked for ${grouped(rung.value)}`,
  };
};

/** A preset's rung gives way to a custom one; of two custom ones that contradict each other the lower one holds. */
const inOrder = ({ warn, auto, hard }: Rungs): Rungs => {
  const raised = auto && warn.custom && !auto.custom ? atLeast('auto', auto, ['warn', warn]) : auto;
  const top = hard.custom ? hard : atLeast('hard', hard, raised ? ['auto', raised] : ['warn', warn]);
  if (!raised) return { warn: atMost('warn', warn, ['hard', top]), hard: top };
  const middle = atMost('auto', raised, ['hard', top]);
  return { warn: atMost('warn', warn, ['auto', middle]), auto: middle, hard: top };
};

type Named = readonly [RungName, Rung];

// A percentage and a number of tokens cannot be put in order while the window is not known.
const atMost = (name: RungName, rung: Rung, [otherName, other]: Named): Rung =>
  rung.unit !== other.unit || rung.value <= other.value
    ? rung
    : moved(name, rung, other, `lowered to ${otherName}`);

const atLeast = (name: RungName, rung: Rung, [otherName, other]: Named): Rung =>
  rung.unit !== other.unit || rung.value >= other.value
    ? rung
    : moved(name, rung, other, `raised to ${otherName}`);

const moved = (name: RungName, rung: Rung, to: Rung, what: string): Rung => {
  const text = (value: number): string => (rung.unit === 'percent' ? `${value}%` : grouped(value));
  const was = rung.custom ? `custom ${text(rung.value)}` : text(rung.value);
  return { ...rung, value: to.value, reason: `${name} ${text(to.value)}: ${was} ${what}` };
};
