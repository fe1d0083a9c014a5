import type { Bound } from './ladder.js';

/** Tokens in at most four characters up to 999M: `950`, `9.5k`, `124k`, `1.0M`. */
export const formatTokens = (tokens: number): string => {
  if (tokens < 999.5) return String(Math.round(tokens));
  // the bounds are where rounding would carry into the next unit: 999 500 is `1.0M`, not `1000k`
  if (tokens < 999_500) return scaled(tokens / 1000, 'k');
  return scaled(tokens / 1_000_000, 'M');
};

const scaled = (value: number, unit: string): string =>
  value < 9.95 ? `${value.toFixed(1)}${unit}` : `${Math.round(value)}${unit}`;

/** Whole percent that never claims an end that is not reached: `<1%` above zero, `99%` below a hundred, `>100%` for all above. */
export const formatPercent = (percent: number): string => {
  if (percent > 100) return '>100%';
  if (percent > 0 && percent < 0.5) return '<1%';
  const whole = Math.round(percent);
  return `${whole === 100 && percent < 100 ? 99 : whole}%`;
};

/** The percentage of a fill, which is clamped; `isOver`: more is used than there is room for. That is no number that needs the mark of an estimate. */
export const formatFill = (percent: number, isOver: boolean | undefined, mark: '~' | '' = ''): string =>
  isOver ? formatPercent(Infinity) : `${mark}${formatPercent(percent)}`;

/** Filled cells of a bar; like the percent, neither empty nor full before it is. */
export const filledCells = (percent: number, cells: number): number => {
  if (percent <= 0) return 0;
  if (percent >= 100) return cells;
  return Math.min(cells - 1, Math.max(1, Math.round((percent / 100) * cells)));
};

/** A number that can be drawn; NaN, infinite and negative values are no observation. */
export const isDrawable = (value: number | undefined): value is number =>
  value !== undefined && Number.isFinite(value) && value >= 0;

// Numbers of tokens as people write them, and as agents show them.

/** No agent has a smaller or a larger window; beyond them it is a slip of the finger. */
export const MIN_TOKENS = 1_000;
export const MAX_TOKENS = 10_000_000;

const factors: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000, b: 1_000_000_000 };

/** 200000, 200_000, 200k, 1.5M; NaN for anything else, also for a part of a token. */
export const parseTokens = (text: string): number => {
  const found = /^(\d+(?:_\d+)*(?:\.\d+(?=[km]))?)([km]?)$/i.exec(text);
  const number = Number(found?.[1]?.replaceAll('_', ''));
  return Math.round(number * (factors[found?.[2]?.toLowerCase() ?? ''] ?? Number.NaN));
};

/** A number on a screen. */
export interface DisplayedAmount {
  readonly value: number;
  /** what its last digit is worth: the true number may be off by half of that */
  readonly step: number;
}

/** `53.4`, `12,345`, `1.2k`, `500K`, `0.5 M`, `1B`; undefined for any other text. */
export const parseDisplayedAmount = (text: string | undefined): DisplayedAmount | undefined => {
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
export const parseBound = (text: string): Bound | undefined => {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  const bound: Bound =
    percent === undefined
      ? { value: parseTokens(text), unit: 'tokens' }
      : { value: Number(percent), unit: 'percent' };
  const [least, most] = bound.unit === 'tokens' ? [MIN_TOKENS, MAX_TOKENS] : [1, 100];
  return bound.value >= least && bound.value <= most ? bound : undefined;
};

/** As `boundIn` reads it. */
export const formatBound = ({ value, unit }: Bound): string =>
  unit === 'percent' ? `${value}%` : `${value}`;

// A key that the user presses for us, as people write it and as a terminal sends it.

/** A control byte, or no key at all. */
export type ControlKey = number | 'none';

/** What can stand for it: `Ctrl-]`, `ctrl+g`, `C-g`, `^G`. */
const controlKeyForms = 'Ctrl with a letter or one of @ \\ ] ^ _, or none';

// A wrapper that swallows one of these would leave the user without it.
const taken: Readonly<Record<string, string>> = {
  C: 'interrupts the agent',
  D: 'ends the input',
  H: 'is Backspace',
  I: 'is Tab',
  J: 'is a line feed',
  M: 'is Enter',
  Z: 'suspends the agent',
  '[': 'is Escape',
};

/** The control byte of a key, or what a key must be to be one. */
export const parseControlKey = (text: string): ControlKey | { readonly rule: string } => {
  if (text.toLowerCase() === 'none') return 'none';
  const key = /^(?:ctrl[-+]|c-|\^)([a-z@[\\\]^_])$/i.exec(text)?.[1]?.toUpperCase();
  if (key === undefined) return { rule: controlKeyForms };
  const reason = taken[key];
  if (reason !== undefined) return { rule: `a key the agent can do without (Ctrl-${key} ${reason})` };
  return key.charCodeAt(0) & 0x1f;
};

/** As people write it. */
export const formatControlKey = (key: ControlKey): string =>
  key === 'none' ? key : `Ctrl-${String.fromCharCode(key | 0x40)}`;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A time span in words that stay short: `8 s`, `42 min`, `2 h 5 min`, `3 d 4 h`. */
export const formatDuration = (ms: number): string => {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.floor(ms / SECOND_MS))} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  return ms < DAY_MS ? pair(ms, HOUR_MS, 'h', [MINUTE_MS, 'min']) : pair(ms, DAY_MS, 'd', [HOUR_MS, 'h']);
};

const pair = (
  ms: number,
  unitMs: number,
  unit: string,
  [restMs, rest]: readonly [number, string],
): string => {
  const more = Math.floor((ms % unitMs) / restMs);
  return `${Math.floor(ms / unitMs)} ${unit}${more > 0 ? ` ${more} ${rest}` : ''}`;
};

/** How long ago; the first seconds are now, so that the text does not change with each of them. */
export const formatAge = (ms: number): string => (ms < 5 * SECOND_MS ? 'now' : `${formatDuration(ms)} ago`);

/** What is said in place of the numbers, for the note that the footer shows (`waiting for the first turn`). */
export const noNumberSentence = (note: string | undefined): string => {
  switch (note) {
    case undefined:
    case 'waiting for the first turn':
      return 'No number yet: the first answer brings it.';
    case 'size pending':
      return 'Just compacted: the exact size follows with the next answer.';
    default:
      return `No number: ${note}.`;
  }
};

/** What a footer can show. `message` is what is done about a full window, a notice, or why there is no number. */
export const footerItems = [
  'runtime',
  'model',
  'bar',
  'percent',
  'used',
  'tier',
  'compactions',
  'message',
] as const;

export type FooterItem = (typeof footerItems)[number];

/** What the log can have, from all to the least. */
export const logLevels = ['info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];
