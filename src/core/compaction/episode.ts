import type { Compaction, Mode } from './state.js';

/**
 * Nothing is wanted, asked for or under way: settings can change without a compaction having two of a kind. What nobody can see coming
 * may wait for nothing else than another setting.
 */
export const isBetweenEpisodes = ({ episodeSince, phase, request }: Compaction): boolean =>
  (episodeSince === undefined || (phase.kind === 'held' && phase.hold.why === 'unseen')) &&
  request === undefined &&
  phase.kind !== 'typing' &&
  phase.kind !== 'sent' &&
  phase.kind !== 'foreign';

const order: readonly Mode[] = ['auto', 'ask', 'warn', 'off'];

/** Whether a mode does less than another. */
export const doesLess = (mode: Mode, than: Mode): boolean => order.indexOf(mode) > order.indexOf(than);
