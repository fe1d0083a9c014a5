// The pieces a ladder is made of, and the figures in their sentences.

/** A boundary as the user writes it: `80%` of the window, or `150k` tokens. */
export interface Bound {
  /** 0…100, or tokens */
  readonly value: number;
  readonly unit: 'percent' | 'tokens';
  /** it gives way where the agent would compact first: a word that was not meant for this program alone */
  readonly yields?: true;
}

/** The bounds a user may set; what is absent is the preset's. */
export interface CustomBounds {
  readonly warn?: Bound;
  readonly auto?: Bound;
  readonly hard?: Bound;
}

/** One boundary between two tiers, inclusive: at `value` the higher tier has begun. */
export interface Rung extends Bound {
  /** the user set it, so nothing moves it unless it yields */
  readonly custom: boolean;
  /** the user asked for so many tokens, and it gave way to the agent's own compaction */
  readonly asked?: number;
  /** one sentence of facts and figures: `auto 162,000: 5,000 before claude compacts by itself at 167,000` */
  readonly reason: string;
}

/** `auto` is absent where nothing is ever typed (preset `handoff`). */
export interface Rungs {
  readonly warn: Rung;
  readonly auto?: Rung;
  readonly hard: Rung;
}

export type RungName = keyof Rungs;

/** A number of tokens with the sentence that explains it. */
export interface Figure {
  readonly tokens: number;
  readonly reason: string;
}

export const tokenRung = (name: RungName, tokens: number, why: string): Rung => ({
  value: tokens,
  unit: 'tokens',
  custom: false,
  reason: `${name} ${grouped(tokens)}: ${why}`,
});

export const percentRung = (name: RungName, percent: number, why: string): Rung => ({
  value: percent,
  unit: 'percent',
  custom: false,
  reason: `${name} ${percent}%: ${why}`,
});

/** Warn where auto is no longer the one that warn counts from: its sentence says so. */
export const besideAuto = (warn: Rung, usual: Rung | undefined, auto: Rung | undefined): Rung =>
  usual?.value === auto?.value
    ? warn
    : { ...warn, reason: warn.reason.replace('before auto', 'before the usual auto') };

/** 162000 as `162,000`, in every locale. */
export const grouped = (tokens: number): string => String(tokens).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** Whole-number arithmetic: 0.7 · w in floating point would miss a boundary by one. */
export const percentOfTokens = (tokens: number, percent: number): number =>
  Math.floor((tokens * percent) / 100);
