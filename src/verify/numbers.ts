import { percentText, tokensText } from '../core/format.js';
import { countAt, listAt, parseRecord, recordAt, textAt } from '../core/json.js';
import type { TriedAgent } from './agents.js';

// To how many tokens the window is filled: around the tiers that the session has.

/** Where tiers begin, in tokens or 0…100 of the window. */
export type Tiers = Readonly<Record<'warn' | 'auto' | 'hard', Bound>>;

interface Bound {
  readonly value: number;
  readonly unit: 'tokens' | 'percent';
}

/** Tokens in each tier. */
export interface Sizes {
  readonly safe: number;
  readonly warn: number;
  readonly auto: number;
}

const SAFE_SHARE = 0.4;
const BELOW_WARN = 0.8;
const STEP = 0.01; // of the window, above the beginning of auto: an agent's own trigger is not far

/** Whether the session has had a number in a known window; its tiers are others before that. */
export const knowsWindow = (ps: string): boolean => {
  const [session] = listAt(parseRecord(ps), 'sessions');
  return countAt(recordAt(session, 'reading'), 'windowTokens') !== undefined;
};

/** Throws where `ctxwrap ps --json` tells of no session with tiers. */
export const tiersIn = (ps: string): Tiers => {
  const [session] = listAt(parseRecord(ps), 'sessions');
  const boundOf = (tier: keyof Tiers): Bound => {
    const found = listAt(session, 'thresholds').find((each) => textAt(each, 'name') === tier);
    const value = countAt(found, 'value');
    if (value === undefined) throw new Error(`ctxwrap ps --json does not tell where ${tier} begins`);
    return { value, unit: textAt(found, 'unit') === 'percent' ? 'percent' : 'tokens' };
  };
  return { warn: boundOf('warn'), auto: boundOf('auto'), hard: boundOf('hard') };
};

export const sizesBelow = (windowTokens: number, tiers: Tiers): Sizes => {
  const tokens = ({ value, unit }: Bound): number =>
    unit === 'tokens' ? value : (value / 100) * windowTokens;
  const [warn, auto, hard] = [tokens(tiers.warn), tokens(tiers.auto), tokens(tiers.hard)];
  return {
    safe: Math.round(Math.min(SAFE_SHARE * windowTokens, BELOW_WARN * warn)),
    warn: Math.round((warn + auto) / 2),
    auto: Math.round(auto + Math.min(STEP * windowTokens, Math.max(0, hard - auto) / 2)),
  };
};

// The number in the footer, held against what the model server has told.

/** What the server told of a turn, in tokens. */
export interface Told {
  readonly input: number;
  readonly output: number;
}

// `▰▱▱ 40% 80k/200k safe`; `~` and `?` mark an estimate and a window that is inferred
const NUMBERS = /(?<![\d.])(?<percent>[<>]?\d+)%\s+~?(?<used>[\d.]+[kM]?)\/(?<window>[\d.]+[kM]?)\??(?=\s|$)/;

/** Why the footer's number is not what the server told; undefined when it is. */
export const wrongIn = (
  footer: string,
  { input, output }: Told,
  { windowTokens, freeTokens = 0 }: Pick<TriedAgent, 'windowTokens' | 'freeTokens'>,
): string | undefined => {
  const found = NUMBERS.exec(footer)?.groups;
  if (!found) return 'has no number';
  // an agent counts its answer as used at once, or when it is sent back
  const uses = [input, input + output];
  if (!uses.some((used) => tokensText(used) === found['used'])) return `says ${found['used']} used`;
  if (tokensText(windowTokens) !== found['window']) return `says a window of ${found['window']}`;
  const percents = uses.map((used) => (Math.max(0, used - freeTokens) / (windowTokens - freeTokens)) * 100);
  const isNear = percents.some((percent) => Math.abs(percent - shownPercent(found['percent'])) <= 1);
  return isNear ? undefined : `says ${found['percent']}%, not ${percentText(percents[0] ?? 0)}`;
};

const shownPercent = (text = ''): number => (text.startsWith('<') ? 0 : Number(text.replace('>', '')));

/** `40% 80k/200k`, as the footer has it; '' where it has none. */
export const numbersIn = (footer: string): string => NUMBERS.exec(footer)?.[0].replace(/\s+/g, ' ') ?? '';
