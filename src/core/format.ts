import type { Bound } from './ladder.js';
import { present } from './present.js';
import { isOfWindow, type Reading } from './reading.js';
import { MINUTE_MS, HOUR_MS, DAY_MS } from './time.js';

/** Tokens in at most four characters up to 999M: `950`, `9.5k`, `124k`, `1.0M`. */
export const formatTokens = (tokens: number): string => {
  if (tokens < 999.5) return String(Math.round(tokens));
  // the limits are where rounding would reach the next unit: 999 500 is `1.0M`, not `1000k`
  if (tokens < 999_500) return scaled(tokens / 1000, 'k');
  return scaled(tokens / 1_000_000, 'M');
};

const scaled = (value: number, unit: string): string =>
  value < 9.95 ? `${value.toFixed(1)}${unit}` : `${Math.round(value)}${unit}`;

/** Whole percent; 0, 99 and 100 only if exact: `<1%` above zero, `99%` below a hundred, `>100%` above it. */
export const formatPercent = (percent: number): string => {
  if (percent > 100) return '>100%';
  if (percent > 0 && percent < 0.5) return '<1%';
  const whole = Math.round(percent);
  return `${whole === 100 && percent < 100 ? 99 : whole}%`;
};

/**
 * A percentage that is not one of the window, as agents say it: `1% until auto-compact`, `82% context used`; undefined for one of the
 * window.
 */
export const formatOwnPercent = ({
  basis = 'window',
  usedPercent,
}: Pick<Reading, 'basis' | 'usedPercent'>): string | undefined => {
  if (isOfWindow({ basis, ...present({ usedPercent }) }) || usedPercent === undefined) return undefined;
  const percent = Math.min(100, usedPercent);
  return basis === 'auto-compact'
    ? `${formatPercent(100 - percent)} until auto-compact`
    : `${formatPercent(percent)} context used`;
};

/** The percentage, limited to 100; `>100%` if `isOver` (more is used than the window holds). Neither this nor `<1%` gets the mark of an estimate. */
export const formatFill = (percent: number, isOver: boolean | undefined, mark: '~' | '' = ''): string =>
  isOver ? formatPercent(Infinity) : formatPercent(percent).replace(/^(?=\d)/, mark);

/** Number of filled cells of a bar; like the percentage, empty or full only if exact. */
export const filledCells = (percent: number, cells: number): number => {
  if (percent <= 0) return 0;
  if (percent >= 100) return cells;
  return Math.min(cells - 1, Math.max(1, Math.round((percent / 100) * cells)));
};

/** True for a number that can be displayed; NaN, infinite and negative values cannot. */
export const isDrawable = (value: number | undefined): value is number =>
  value !== undefined && Number.isFinite(value) && value >= 0;

// Numbers of tokens as users write them and as agents display them.

/** Limits for a window: no agent has a smaller or a larger one, so anything else is a mistake. */
export const MIN_TOKENS = 1_000;
export const MAX_TOKENS = 10_000_000;

const factors: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000, b: 1_000_000_000 };

/** 200000, 200_000, 200k, 1.5M; NaN for anything else, and for fractions of a token. */
export const parseTokens = (text: string): number => {
  const found = /^(\d+(?:_\d+)*(?:\.\d+(?=[km]))?)([km]?)$/i.exec(text);
  const number = Number(found?.[1]?.replaceAll('_', ''));
  return Math.round(number * (factors[found?.[2]?.toLowerCase() ?? ''] ?? Number.NaN));
};

// Sizes on a disk, in the units of `df -H`: 1 MB is a million bytes.

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `512 B`, `1.4 MB`, `2 GB`, which `parseBytes` reads. */
export const formatBytes = (size: number): string => {
  let [value, index] = [Math.max(0, size), 0];
  for (; value >= 999.5 && index < byteUnits.length - 1; index += 1) value /= 1_000;
  const isWhole = index === 0 || value >= 9.95 || Math.abs(value - Math.round(value)) < 0.05;
  return `${isWhole ? Math.round(value) : value.toFixed(1)} ${byteUnits[index]}`;
};

/** Bytes: `2GB`, `500 MB`, `1.5g`, `2000000`; NaN for anything else. */
export const parseBytes = (text: string): number => {
  const found = /^(\d{1,15}(?:\.\d{1,3})?) ?([kmgt]?)b?$/i.exec(text.trim());
  const power = ['', 'k', 'm', 'g', 't'].indexOf(found?.[2]?.toLowerCase() ?? '');
  return found ? Math.round(Number(found[1]) * 1_000 ** power) : Number.NaN;
};

/** A number read from a screen. */
export interface DisplayedAmount {
  readonly value: number;
  /** value of its last digit: the true number may differ by half of it */
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

/** A boundary between two tiers: `80%` of the window, or tokens; undefined for anything else. */
export const parseBound = (text: string): Bound | undefined => {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  const bound: Bound =
    percent === undefined
      ? { value: parseTokens(text), unit: 'tokens' }
      : { value: Number(percent), unit: 'percent' };
  const [least, most] = bound.unit === 'tokens' ? [MIN_TOKENS, MAX_TOKENS] : [1, 100];
  return bound.value >= least && bound.value <= most ? bound : undefined;
};

/** In a form that `parseBound` reads. */
export const formatBound = ({ value, unit }: Bound): string =>
  unit === 'percent' ? `${value}%` : `${value}`;

// The hotkey: parsing and names.

/** A control byte, or `none`. */
export type ControlKey = number | 'none';

/** The accepted forms: `Ctrl-]`, `ctrl+g`, `C-g`, `^G`. */
const controlKeyForms = 'Ctrl with a letter or one of @ \\ ] ^ _, or none';

// Keys that the user needs for other purposes.
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

/** The control byte of a key, or the rule that the text violates. */
export const parseControlKey = (text: string): ControlKey | { readonly rule: string } => {
  if (text.toLowerCase() === 'none') return 'none';
  const key = /^(?:ctrl[-+]|c-|\^)([a-z@[\\\]^_])$/i.exec(text)?.[1]?.toUpperCase();
  if (key === undefined) return { rule: controlKeyForms };
  const reason = taken[key];
  if (reason !== undefined) return { rule: `a key the agent can do without (Ctrl-${key} ${reason})` };
  return key.charCodeAt(0) & 0x1f;
};

/** The name for users: `Ctrl-]`. */
export const formatControlKey = (key: ControlKey): string =>
  key === 'none' ? key : `Ctrl-${String.fromCharCode(key | 0x40)}`;

/** The control byte of Escape, which Ctrl-[ is, too. */
export const ESCAPE = 0x1b;

/** The control byte of `Esc` or of another key, or the rule that the text violates. */
export const parseEscapeOrControlKey = (text: string): number | { readonly rule: string } => {
  if (/^esc(?:ape)?$/i.test(text)) return ESCAPE;
  const key = parseControlKey(text);
  const isForm = typeof key === 'object' && key.rule === controlKeyForms;
  return key === 'none' || isForm ? { rule: 'Esc, or Ctrl with a letter or one of @ \\ ] ^ _' } : key;
};

/** The name for users: `Esc`, `Ctrl-G`. */
export const formatEscapeOrControlKey = (key: number): string =>
  key === ESCAPE ? 'Esc' : formatControlKey(key);

/** The hotkey of these settings for users; undefined where it is disabled. */
export const hotkeyName = ({ hotkey }: { readonly hotkey: ControlKey }): string | undefined =>
  hotkey === 'none' ? undefined : formatControlKey(hotkey);

/** The keys that request a compaction: `Ctrl-] c`; undefined where the hotkey is disabled. */
export const compactKeys = (values: { readonly hotkey: ControlKey }): string | undefined => {
  const hotkey = hotkeyName(values);
  return hotkey === undefined ? undefined : `${hotkey} c`;
};

const SECOND_MS = 1_000;

/** A duration in short form: `8 s`, `42 min`, `2 h 5 min`, `3 d 4 h`. */
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

/** How long ago; less than 5 s is `now`, so that the text does not change every second. */
export const formatAge = (ms: number): string => (ms < 5 * SECOND_MS ? 'now' : `${formatDuration(ms)} ago`);

/** The sentence for a missing number, by the footer's note (`waiting for the first turn`). */
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

/** The items of the footer. `distance` is the way to a next compaction far below the window, `cache` is how long the prompt cache stays warm, `limits` how much of the plan is used, `message` the state of compaction, a notice, or the reason for a missing number. */
export const footerItems = [
  'runtime',
  'model',
  'bar',
  'percent',
  'used',
  'tier',
  'distance',
  'compactions',
  'cache',
  'limits',
  'message',
] as const;

export type FooterItem = (typeof footerItems)[number];

/** The levels of the log, from the most to the fewest entries. */
export const logLevels = ['info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

/** `1 session`, `2 sessions` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
