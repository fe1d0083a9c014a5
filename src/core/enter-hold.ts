import type { Compaction } from './compaction/state.js';
import { isUnderWay } from './compaction/running.js';
import type { Event } from './event.js';
import type { Session } from './session.js';

// Whether the user's Enter is held back once, because the message would be sent into a window that is almost full. The terminal's thread holds
// it, and only where the question can be seen.

/** What the footer asks before the user's message is sent at hard. */
export interface EnterQuestion {
  readonly text: string;
  /** the user has pressed Enter and is being asked; otherwise the next Enter is held */
  readonly isAsked: boolean;
}

/** The parts of a session that it depends on. */
export interface EnterMoment {
  readonly session: Session;
  readonly compaction: Compaction;
  /** an Enter was held since the last turn, so the next one is sent */
  readonly isEnterAsked?: boolean;
}

/** After an event: true once the user was asked, until the agent works again or another conversation begins. */
export const stepEnterHold = (before: EnterMoment, event: Event, { session }: EnterMoment): boolean => {
  const isOther = event.type === 'view' || (event.type === 'session-changed' && !event.isSame);
  if (isOther || session.activity === 'busy' || session.activity === 'compacting') return false;
  return before.isEnterAsked === true || (event.type === 'enter-held' && isAtStake(before));
};

/** Undefined where an Enter is none of ctxwrap's business. `keys`: what compacts, for the user. */
export const enterQuestion = (moment: EnterMoment, keys: string): EnterQuestion | undefined => {
  if (!isAtStake(moment)) return undefined;
  const { settings } = moment.compaction;
  const keepsDraft = settings.mayStash || settings.stashesAsked || settings.channel !== undefined;
  const when = keepsDraft ? 'first' : 'once the prompt is empty';
  return {
    text: `hard: Enter sends anyway · ${keys} compacts ${when}`,
    isAsked: moment.isEnterAsked === true,
  };
};

/** The agent rests with a message of the user's in its prompt, and the window is almost full by a number that is certain. */
const isAtStake = ({ session, compaction }: EnterMoment): boolean => {
  const { settings, mode, phase, request } = compaction;
  const { activity, place, isCommand, fused } = session;
  if (!settings.holdsEnter || settings.command === undefined || mode === 'off') return false;
  const isMessage = activity === 'draft' && place === undefined && !isCommand;
  if (!isMessage || fused?.actingTier !== 'hard') return false;
  return request === undefined && phase.kind !== 'countdown' && !isUnderWay(compaction);
};
