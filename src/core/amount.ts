// Numbers of tokens as people write them, and as agents show them.
import type { Bound } from './rung.js';

/** No agent has a smaller or a larger window; beyond them it is a slip of the finger. */
export const LEAST_TOKENS = 1_000;
export const MOST_TOKENS = 10_000_000;

const factors: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000, b: 1_000_000_000 };

/** 200000, 200_000, 200k, 1.5M; NaN for anything else, also for a part of a token. */
export const tokensIn = (text: string): number => {
  const found = /^(\d+(?:_\d+)*(?:\.\d+(?=[km]))?)([km]?)$/i.exec(text);
  const number = Number(found?.[1]?.replaceAll('_', ''));
  return Math.round(number * (factors[found?.[2]?.toLowerCase() ?? ''] ?? Number.NaN));
};

/** A number on a screen. */
export interface ShownAmount {
  readonly value: number;
  /** what its last digit is worth: the true number may be off by half of that */
  readonly step: number;
}

/** `53.4`, `12,345`, `1.2k`, `500K`, `0.5 M`, `1B`; undefined for any other text. */
export const shownAmount = (text: string | undefined): ShownAmount | undefined => {
  const found = /^\s*(\d{1,3}(?:[,_]\d{3})+|\d{1,12})(\.\d{1,6})?\s?([kmb]?)\s*$/i.exec(text ?? '');
  const [, whole, part = '', unit = ''] = found ?? [];
  if (whole === undefined) return undefined;
  const factor = factors[unit.toLowerCase()] ?? 1;
  const number = Number(whole.replaceAll(/[,_]/g, '') + part) * factor;
  return {
    value: factor === 1 ? number : Math.round(number),
    step: factor / 10 ** Math.max(0, part.length - 1),
  };
};

/** A boundary between two tiers: `80%` of the window, or tokens as for the window; undefined where it could be none. */
export const boundIn = (text: string): Bound | undefined => {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  const bound: Bound =
    percent === undefined
      ? { value: tokensIn(text), unit: 'tokens' }
      : { value: Number(percent), unit: 'percent' };
  const [least, most] = bound.unit === 'tokens' ? [LEAST_TOKENS, MOST_TOKENS] : [1, 100];
  return bound.value >= least && bound.value <= most ? bound : undefined;
};

/** As `boundIn` reads it. */
export const boundText = ({ value, unit }: Bound): string => (unit === 'percent' ? `${value}%` : `${value}`);
