import { parseDisplayedAmount } from '../../core/format.js';
import { present } from '../../core/present.js';
import type { ScreenView } from '../../core/reading.js';
import type { AgentState } from '../tested.js';
import { isDrawn, type Pane, type ConversationEnd } from './layout.js';

// The percentages Codex shows when configured to: in the status line below the composer, in the terminal title, and in the footer of older
// versions (docs/facts/codex.md#percentage-on-the-screen, #older-versions). The numbers of `/status` are part of the conversation: they get
// old and can be forged.

export interface DisplayedPercent {
  /** 0…100 used */
  readonly usedPercent: number;
  /** the window as shown, rounded to three digits, in tokens */
  readonly windowTokens?: number;
}

const PERCENT = /^Context (\d{1,3})% (left|used)$/;
const WINDOW = /^(\d+(?:\.\d+)?[KMB]?) window$/;
const HINTS =
  /\? for shortcuts|← for agents|^ {2}(?:esc again|tab to queue|reverse-i-search:)|⚠ \d+ warning|Shell mode|Vim: /;
// 0.50 has it before the hint, 0.98 at the right end of the row.
const OLD_FOOTER =
  /^ {2}(?:(\d{1,3})% context left · \? for shortcuts|\? for shortcuts {2,}(\d{1,3})% context left)$/;

/** A row of items: the status line, or the title. */
export interface ItemRow {
  /** undefined where no item is a percentage, or where they contradict each other */
  readonly shown: DisplayedPercent | undefined;
  /** the items that are a percentage, verbatim; '' for none */
  readonly percents: string;
  readonly text: string;
}

/** Where Codex shows a percentage. */
export interface DisplayedPlaces {
  /** the status line below the composer; undefined where it is not visible, or cut off before a percentage */
  readonly line: ItemRow | undefined;
  readonly title: ItemRow | undefined;
  /** the footer of older versions, which has no items */
  readonly footer: DisplayedPercent | undefined;
}

export const findPlaces = (
  screen: ScreenView,
  pane: Pane | undefined,
  title: string | undefined,
): DisplayedPlaces => ({
  line: pane && statusLine(screen, pane),
  title: title ? placeOf(title, ' | ') : undefined,
  footer: pane && inOldFooter(screen, pane),
});

/** The percentage; undefined where there is none, or where the places differ. */
export const agreedPercent = ({ line, title, footer }: DisplayedPlaces): DisplayedPercent | undefined => {
  const below = line?.shown ?? footer;
  const above = title?.shown;
  if (!below || !above) return below ?? above;
  return below.usedPercent === above.usedPercent ? below : undefined;
};

// A narrow screen wraps the line between any two words, even inside an item.
const statusLine = (screen: ScreenView, { footer }: Pane): ItemRow | undefined => {
  const [first] = footer;
  const last = footer.at(-1);
  if (first === undefined || last === undefined || !isDrawn(screen, first)) return undefined;
  const rows = HINTS.test(screen.text(last)) ? footer.slice(0, -1) : footer;
  const place = placeOf(rows.map((row) => screen.text(row).trim()).join(' '), ' · ');
  const isWhole = place.text !== '' && !place.text.endsWith('…');
  return place.percents !== '' || isWhole ? place : undefined;
};

const placeOf = (text: string, separator: string): ItemRow => {
  const items = text.split(separator);
  const percents = items.filter((item) => PERCENT.test(item)).join(separator);
  return { shown: shownIn(items), percents, text };
};

const inOldFooter = (screen: ScreenView, { footer }: Pane): DisplayedPercent | undefined => {
  const last = footer.at(-1);
  if (last === undefined || !isDrawn(screen, last)) return undefined;
  const [, before, behind] = OLD_FOOTER.exec(screen.text(last)) ?? [];
  const left = before ?? behind;
  return left === undefined ? undefined : usedOf([100 - Number(left)]);
};

const shownIn = (items: readonly string[]): DisplayedPercent | undefined => {
  const used = items.flatMap((item) => {
    const [, number, side] = PERCENT.exec(item) ?? [];
    if (number === undefined) return [];
    return [side === 'used' ? Number(number) : 100 - Number(number)];
  });
  const shown = usedOf(used);
  const windowTokens = shown && windowIn(items);
  return shown && { ...shown, ...present({ windowTokens }) };
};

// A thread's name may look like an item, so contradictory items give no number.
const usedOf = (numbers: readonly number[]): DisplayedPercent | undefined => {
  const [usedPercent] = numbers;
  if (usedPercent === undefined || usedPercent < 0 || usedPercent > 100) return undefined;
  return numbers.every((number) => number === usedPercent) ? { usedPercent } : undefined;
};

const windowIn = (items: readonly string[]): number | undefined => {
  for (const item of items) {
    const shown = parseDisplayedAmount(WINDOW.exec(item)?.[1]);
    if (shown) return Math.round(shown.value);
  }
  return undefined;
};

// Which displayed percentages are trusted (docs/facts/codex.md#percentage-on-the-screen). Codex shows 0 % used before the first count, from
// the start of a manual compaction, and after a failed one; and a meaningless percentage after a context-length error. A thread may be
// named `Context 97% used`, by the user or by the model, and its name is among the items of the status line and of the title.

export interface PercentTrust {
  /** a percentage that is not trusted until it changes or a turn has ended well */
  readonly percent?: number;
  /** the last one displayed */
  readonly shown?: number;
  /** the request was refused as too long: the window is full, whatever is displayed */
  readonly isFull: boolean;
  /** window sizes displayed so far, in tokens: the model's own before the first count, 95 % of it after */
  readonly windows: readonly number[];
}

/** One look at the screen. */
export interface PercentSighting {
  readonly state: AgentState['state'] | undefined;
  readonly isCompacting: boolean;
  /** the last item of the conversation */
  readonly head: ConversationEnd | undefined;
  readonly shown: DisplayedPercent | undefined;
}

/** What is known about a place. */
interface Known {
  /** it had a percentage the first time it was seen */
  readonly isConfigured: boolean;
  /** its percentages while they have not changed: a name stays the same */
  readonly still?: string;
  /** as last seen: a picker covers the status line */
  readonly text: string;
}

/** Items that Codex is configured to show are there from the start; a name comes later, or in both places at once. */
export interface KnownPlaces {
  readonly line?: Known;
  readonly title?: Known;
}

/** Before the first count. */
export const initialTrust: PercentTrust = { isFull: false, windows: [] };

const COMPACTED = /^• Context compacted(?: · |$)/;
const RAN_OUT = /^■ Codex ran out of room/;
const CONFIGURING = /^ {2}Configure (?:Status Line|Terminal Title)$/;
const EFFECTIVE_SHARE = 0.95; // of the model's window
const ROUNDING = 0.006; // each of the two is displayed with three digits
const MOST_WINDOWS = 8;

export const isCompacted = (head: ConversationEnd | undefined): boolean => COMPACTED.test(head?.text ?? '');

export const hasRunOut = (head: ConversationEnd | undefined): boolean => RAN_OUT.test(head?.text ?? '');

export const updateTrust = (doubt: PercentTrust, look: PercentSighting): PercentTrust => {
  const { state, head } = look;
  const shown = look.shown?.usedPercent;
  const window = look.shown?.windowTokens;
  // versions before 0.163 do not report their state: there the message counts as long as it is the last one
  const isFull =
    state === 'error' || state === undefined ? hasRunOut(head) : doubt.isFull && state !== 'working';
  const known = window === undefined || doubt.windows.includes(window);
  return {
    ...doubted(doubt, look, isFull),
    ...((shown ?? doubt.shown) === undefined ? {} : { shown: shown ?? doubt.shown }),
    isFull:
      isFull && (state === 'error' || state === undefined || shown === undefined || shown === doubt.shown),
    windows: known ? doubt.windows : [...doubt.windows, window].slice(-MOST_WINDOWS),
  };
};

const doubted = (
  doubt: PercentTrust,
  look: PercentSighting,
  isFull: boolean,
): Pick<PercentTrust, 'percent'> => {
  const { state, isCompacting, head } = look;
  const shown = look.shown?.usedPercent;
  if (isCompacting || (state === 'done' && isCompacted(head))) return { percent: 0 };
  // only a turn that ended well has surely been counted
  if (state === 'done' && head) return {};
  if (state === 'error') return isFull ? percentOf(shown ?? doubt.percent) : { percent: 0 };
  if (shown === undefined) return percentOf(doubt.percent);
  if (shown === 0) return doubt.shown === 0 ? percentOf(doubt.percent) : { percent: 0 };
  return percentOf(shown === doubt.percent ? shown : undefined);
};

const percentOf = (percent: number | undefined): Pick<PercentTrust, 'percent'> =>
  percent === undefined ? {} : { percent };

export const isTrusted = (
  { percent, windows }: PercentTrust,
  { usedPercent, windowTokens }: DisplayedPercent,
): boolean =>
  usedPercent !== percent &&
  !(usedPercent === 0 && windowTokens !== undefined && windows.some((each) => isShare(each, windowTokens)));

/** The exact window, once the model's own window was displayed too. */
export const exactWindow = (
  { windows }: PercentTrust,
  shownTokens: number | undefined,
): number | undefined => {
  const own = windows.find((each) => shownTokens !== undefined && isShare(shownTokens, each));
  return own === undefined ? undefined : Math.round(own * EFFECTIVE_SHARE);
};

const isShare = (effective: number, own: number): boolean =>
  Math.abs(effective / own - EFFECTIVE_SHARE) < ROUNDING;

/** The user is choosing the items. */
export const isConfiguring = (screen: ScreenView): boolean => {
  for (let row = 0; row < screen.rows; row += 1) if (CONFIGURING.test(screen.text(row))) return true;
  return false;
};

export const updateKnownPlaces = (known: KnownPlaces, shown: DisplayedPlaces): KnownPlaces => {
  const line = knownOf(known.line, shown.line);
  const title = knownOf(known.title, shown.title);
  return { ...present({ line, title }) };
};

/** Without the places whose percentage may be a thread's name. */
export const withoutThreadNames = (
  shown: DisplayedPlaces,
  { line, title }: KnownPlaces,
): DisplayedPlaces => ({
  ...shown,
  line: isSure(line, title) ? shown.line : undefined,
  title: isSure(title, line) ? shown.title : undefined,
});

const isSure = (known: Known | undefined, other: Known | undefined): boolean => {
  if (!known?.isConfigured) return false;
  return known.still === undefined || !other?.text.includes(known.still);
};

const knownOf = (known: Known | undefined, place: ItemRow | undefined): Known | undefined => {
  if (!place) return known;
  const { percents, text } = place;
  const isConfigured = known ? known.isConfigured : percents !== '';
  const stays = percents === '' || !known || percents === known.still;
  const still = known ? known.still : percents;
  return { isConfigured, text, ...(stays && still ? { still } : {}) };
};

// Codex's own percentage (docs/facts/codex.md#percentage-as-a-formula) counts the first 12 000 tokens, which every conversation has, as empty.
const BASELINE_TOKENS = 12_000;

/** The tokens that are 100 % in Codex's percentage. */
export const usableTokens = (windowTokens: number): number => Math.max(0, windowTokens - BASELINE_TOKENS);

/** Used percent exactly as Codex shows it, 0…100; Codex rounds the remaining part. */
export const codexPercent = (usedTokens: number, windowTokens: number): number => {
  const room = usableTokens(windowTokens);
  if (room === 0) return 100;
  const left = Math.max(0, room - Math.max(0, usedTokens - BASELINE_TOKENS));
  return 100 - Math.round((left * 100) / room);
};

// Context windows of the models that Codex comes with, in tokens, from the list in 0.171.0 (2026-11-27). It uses 95 % of each, and a
// `model_context_window` in its configuration in place of all of them.

const LARGE = 500_000;
const USUAL = 272_000;
const ownWindows: Readonly<Record<string, number>> = {
  'gpt-6.2-sol': LARGE,
  'gpt-6.2-astra': USUAL,
  'gpt-6-astra': USUAL,
  'gpt-6.1-sol': LARGE,
  'gpt-6.1-terra': LARGE,
  'gpt-6-sol': USUAL,
  'gpt-6-luna': USUAL,
  'gpt-5.6-sol': USUAL,
  'gpt-5.6-terra': USUAL,
  'gpt-5.6-luna': USUAL,
  'gpt-daybreak-blue-latest': USUAL,
  'gpt-daybreak-red-latest': 372_000,
  'gpt-5.5': USUAL,
};

const listedWindow = (model: string): number | undefined => {
  const own = Object.hasOwn(ownWindows, model) ? ownWindows[model] : undefined;
  return own === undefined ? undefined : Math.round(own * EFFECTIVE_SHARE);
};

/**
 * The window of a model before its first turn, by the list. It holds only if Codex has reported the list's window for the model
 * before: otherwise the configuration or the server has set another window.
 */
export const windowAfter = (
  before: { readonly model?: string | undefined; readonly windowTokens?: number | undefined },
  model: string,
): number | undefined =>
  before.model !== undefined && before.windowTokens === listedWindow(before.model)
    ? listedWindow(model)
    : undefined;
