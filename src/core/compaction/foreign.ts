// A compaction that is not ours: the agent's own, or the user's. While it lasts nothing is typed, and if it works we stand down.
import type { Event } from '../event.js';
import { foreignWorked } from './end.js';
import { isLower } from './outcome.js';
import { GONE_MS } from './sent.js';
import { inPhase } from './state.js';
import type { Compaction, Moment, Phase } from './state.js';

export type Foreign = Extract<Phase, { readonly kind: 'foreign' }>;

export const foreignAfter = (state: Compaction, event: Event, moment: Moment): Compaction => {
  switch (event.type) {
    case 'boundary': {
      const { initiator = 'agent', postTokens, summary, source } = event.boundary;
      if (source === 'screen' && moment.seen.fileTells) return state;
      if (summary !== undefined) return inPhase(state, { kind: 'rest' });
      const after = postTokens === undefined ? {} : { after: { usedTokens: postTokens } };
      return foreignWorked(state, { initiator, evidence: 'its record of the compaction', ...after }, moment);
    }
    case 'compact-result':
      return state.phase.kind === 'foreign' ? inPhase(state, { kind: 'rest' }) : state;
    case 'activity':
      return afterActivity(state, event.report.activity === 'compacting', moment);
    default:
      return state;
  }
};

const afterActivity = (state: Compaction, isCompacting: boolean, { seen, now }: Moment): Compaction => {
  const { phase } = state;
  if (phase.kind === 'foreign') {
    const { goneAt, ...rest } = phase;
    return inPhase(state, isCompacting ? rest : { ...rest, goneAt: goneAt ?? now });
  }
  if (!isCompacting) return state;
  return inPhase(state, { kind: 'foreign', since: now, ...(seen.fill ? { before: seen.fill } : {}) });
};

/** What the number says, and the time. */
export const foreignAt = (state: Compaction, phase: Foreign, moment: Moment): Compaction => {
  const { seen, now } = moment;
  const { since, before, goneAt } = phase;
  if (seen.fill && seen.fillSince !== undefined && seen.fillSince > since && isLower(before, seen.fill)) {
    return foreignWorked(
      state,
      { initiator: 'agent', evidence: 'the window is emptier', after: seen.fill },
      moment,
    );
  }
  return goneAt !== undefined && now >= goneAt + GONE_MS ? inPhase(state, { kind: 'rest' }) : state;
};
