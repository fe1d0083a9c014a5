// A compaction that is not ours: the agent's own, or the user's. While it lasts nothing is typed, and if it works we stand down.
import type { Boundary, Event } from '../event.js';
import { faultOf } from './boundary-fault.js';
import { foreignWorked } from './end.js';
import { withoutGivenUp } from './late.js';
import { isLower } from './outcome.js';
import { GONE_MS, SUCCESS } from './sent.js';
import { inPhase } from './state.js';
import type { Compaction, Moment, Phase } from './state.js';

export type Foreign = Extract<Phase, { readonly kind: 'foreign' }>;

export const foreignAfter = (state: Compaction, event: Event, moment: Moment): Compaction => {
  switch (event.type) {
    case 'boundary':
      return afterBoundary(state, event.boundary, moment);
    case 'compact-result':
      return withoutGivenUp(state.phase.kind === 'foreign' ? inPhase(state, { kind: 'rest' }) : state);
    case 'activity':
      return afterActivity(state, event.report.activity === 'compacting', moment);
    default:
      return state;
  }
};

const afterBoundary = (state: Compaction, boundary: Boundary, moment: Moment): Compaction => {
  const { initiator, postTokens, source } = boundary;
  if (source === 'screen') return moment.seen.fileTells ? state : saidToWork(state, moment);
  const before = state.phase.kind === 'foreign' ? state.phase.before : moment.seen.fill;
  if (faultOf(boundary, before)) return withoutGivenUp(inPhase(state, { kind: 'rest' }));
  const after = postTokens === undefined ? {} : { after: { usedTokens: postTokens } };
  const by = initiator === undefined ? {} : { initiator };
  return foreignWorked(state, { ...by, evidence: 'its record of the compaction', ...after }, moment);
};

/** Words alone prove nothing: the next number tells. */
const saidToWork = (state: Compaction, moment: Moment): Compaction => {
  const { phase } = state;
  const { numberSince: _, ...rest } = phase.kind === 'foreign' ? phase : begun(moment);
  return inPhase(state, { ...rest, ...numberOf(moment), success: SUCCESS });
};

const begun = (moment: Moment): Foreign => {
  const { seen, now } = moment;
  return { kind: 'foreign', since: now, ...(seen.fill ? { before: seen.fill } : {}), ...numberOf(moment) };
};

const numberOf = ({ seen }: Moment): Pick<Foreign, 'numberSince'> =>
  seen.fillSince === undefined ? {} : { numberSince: seen.fillSince };

const afterActivity = (state: Compaction, isCompacting: boolean, moment: Moment): Compaction => {
  const { phase } = state;
  if (phase.kind === 'foreign') {
    const { goneAt, ...rest } = phase;
    return inPhase(state, isCompacting ? rest : { ...rest, goneAt: goneAt ?? moment.now });
  }
  return isCompacting ? inPhase(state, begun(moment)) : state;
};

/** What the number says, and the time. */
export const foreignAt = (state: Compaction, phase: Foreign, moment: Moment): Compaction => {
  const { seen, now } = moment;
  const { before, success, numberSince } = phase;
  if (seen.fill && seen.fillSince !== numberSince) {
    if (isLower(before, seen.fill)) {
      return foreignWorked(state, { evidence: 'the window is emptier', after: seen.fill }, moment);
    }
    if (success !== undefined) return inPhase(state, { kind: 'rest' });
  }
  const due = foreignDue(phase);
  return due !== undefined && now >= due ? inPhase(state, { kind: 'rest' }) : state;
};

/** When it is over without a word. */
export const foreignDue = ({ goneAt, success }: Foreign): number | undefined =>
  goneAt === undefined || success !== undefined ? undefined : goneAt + GONE_MS;
