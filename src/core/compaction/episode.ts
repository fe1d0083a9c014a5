import { isUnseen } from './sight.js';
import type { Compaction, Mode } from './state.js';

/**
 * Nothing is wanted, asked for or under way: settings can change without a compaction having two of a kind. What nobody can see coming
 * may wait for nothing else than another setting.
 */
export const isBetweenEpisodes = (state: Compaction): boolean => {
  const { episodeSince, phase, request } = state;
  const isUnderWay = phase.kind === 'typing' || phase.kind === 'sent' || phase.kind === 'foreign';
  return (episodeSince === undefined || isUnseen(state)) && request === undefined && !isUnderWay;
};

const order: readonly Mode[] = ['auto', 'ask', 'warn', 'off'];

/** Whether a mode does less than another. */
export const doesLess = (mode: Mode, than: Mode): boolean => order.indexOf(mode) > order.indexOf(than);
