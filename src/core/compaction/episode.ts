import { isUnseen } from './sight.js';
import type { Compaction, Mode } from './state.js';

/**
 * Nothing is wanted, asked for or under way: settings can change without a compaction having two of a kind. What nobody can see coming
 * may wait for nothing else than another setting.
 */
export const isBetweenEpisodes = (state: Compaction): boolean => {
  const { episodeSince, request } = state;
  return (episodeSince === undefined || isUnseen(state)) && request === undefined && !isUnderWay(state);
};

/** A compaction has begun, ours or another. */
export const isUnderWay = ({ phase: { kind } }: Compaction): boolean =>
  kind === 'typing' || kind === 'sent' || kind === 'foreign';

const order: readonly Mode[] = ['auto', 'ask', 'warn', 'off'];

/** Whether a mode does less than another. */
export const doesLess = (mode: Mode, than: Mode): boolean => order.indexOf(mode) > order.indexOf(than);
