// To how many tokens the window is filled: around the tiers that the session has.
import { countAt, listAt, parseRecord, recordAt, textAt } from '../core/json.js';
import { must } from './scenario.js';

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
    must(value !== undefined, `ctxwrap ps --json does not tell where ${tier} begins`);
    return { value: value ?? 0, unit: textAt(found, 'unit') === 'percent' ? 'percent' : 'tokens' };
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
