import { formatPercent, formatTokens } from '../core/format.js';
import { getCount, getList, parseRecord, getRecord, getText } from '../core/json.js';
import type { VerifiableAgent } from './agents.js';

// The token counts to which the window is filled, chosen from the session's tiers.

/** Where tiers begin, in tokens or 0…100 of the window. */
export type TierBounds = Readonly<Record<'warn' | 'auto' | 'hard', TierBound>>;

interface TierBound {
  readonly value: number;
  readonly unit: 'tokens' | 'percent';
}

/** A token count inside each tier. */
export interface FillSizes {
  readonly safe: number;
  readonly warn: number;
  readonly auto: number;
}

const SAFE_SHARE = 0.4;
const BELOW_WARN = 0.8;
const STEP = 0.01; // of the window, above the start of auto: the agent's own threshold may be close

/** Whether the session has had a reading with a known window; its tiers differ before that. */
export const knowsWindow = (ps: string): boolean => {
  const [session] = getList(parseRecord(ps), 'sessions');
  return getCount(getRecord(session, 'reading'), 'windowTokens') !== undefined;
};

/** Throws where `ctxwrap ps --json` lists no session with tiers. */
export const tiersIn = (ps: string): TierBounds => {
  const [session] = getList(parseRecord(ps), 'sessions');
  const boundOf = (tier: keyof TierBounds): TierBound => {
    const found = getList(session, 'thresholds').find((each) => getText(each, 'name') === tier);
    const value = getCount(found, 'value');
    if (value === undefined) throw new Error(`ctxwrap ps --json does not say where ${tier} begins`);
    return { value, unit: getText(found, 'unit') === 'percent' ? 'percent' : 'tokens' };
  };
  return { warn: boundOf('warn'), auto: boundOf('auto'), hard: boundOf('hard') };
};

export const fillSizes = (windowTokens: number, tiers: TierBounds): FillSizes => {
  const tokens = ({ value, unit }: TierBound): number =>
    unit === 'tokens' ? value : (value / 100) * windowTokens;
  const [warn, auto, hard] = [tokens(tiers.warn), tokens(tiers.auto), tokens(tiers.hard)];
  return {
    safe: Math.round(Math.min(SAFE_SHARE * windowTokens, BELOW_WARN * warn)),
    warn: Math.round((warn + auto) / 2),
    auto: Math.round(auto + Math.min(STEP * windowTokens, Math.max(0, hard - auto) / 2)),
  };
};

// Compares the number in the footer with the usage that the model server reported.

/** The server's reported usage of a turn, in tokens. */
export interface ServerUsage {
  readonly input: number;
  readonly output: number;
}

// `▰▱▱ 40% 80k/200k safe`; `~` and `?` mark an estimate and a window that is inferred
const NUMBERS = /(?<![\d.])(?<percent>[<>]?\d+)%\s+~?(?<used>[\d.]+[kM]?)\/(?<window>[\d.]+[kM]?)\??(?=\s|$)/;

/** How the footer's number differs from the server's; undefined when it is right. */
export const footerMismatch = (
  footer: string,
  { input, output }: ServerUsage,
  { windowTokens, freeTokens = 0 }: Pick<VerifiableAgent, 'windowTokens' | 'freeTokens'>,
): string | undefined => {
  const found = NUMBERS.exec(footer)?.groups;
  if (!found) return 'has no number';
  // an agent counts its answer as used at once, or with the next request
  const uses = [input, input + output];
  if (!uses.some((used) => formatTokens(used) === found['used'])) return `says ${found['used']} used`;
  if (formatTokens(windowTokens) !== found['window']) return `says a window of ${found['window']}`;
  const percents = uses.map((used) => (Math.max(0, used - freeTokens) / (windowTokens - freeTokens)) * 100);
  const isNear = percents.some((percent) => Math.abs(percent - shownPercent(found['percent'])) <= 1);
  return isNear ? undefined : `says ${found['percent']}%, not ${formatPercent(percents[0] ?? 0)}`;
};

const shownPercent = (text = ''): number => (text.startsWith('<') ? 0 : Number(text.replace('>', '')));

/** `40% 80k/200k`, as the footer shows it; '' where it shows none. */
export const footerNumbers = (footer: string): string => NUMBERS.exec(footer)?.[0].replace(/\s+/g, ' ') ?? '';
