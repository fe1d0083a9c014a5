// Whether the user could see a countdown. Nothing is typed by itself behind one that nobody could.
import type { Hold } from './gate.js';
import type { Compaction } from './state.js';

/** Why a countdown cannot be seen. */
export type Unseen =
  /** the user wants no footer */
  | 'off'
  /** the terminal has no room for one */
  | 'small'
  /** a page of the overview is over it that does not show it */
  | 'covered'
  /** it has not got to the screen */
  | 'undrawn'
  /** it was given up, because something of ours has failed */
  | 'failed';

/** What holds back a countdown that nobody could see. */
export const unseenHold = ({ unseen, settings }: Compaction): Hold | undefined =>
  unseen === undefined || (unseen === 'off' && settings.mayTypeUnseen === true)
    ? undefined
    : { why: 'unseen' };

export const isUnseen = ({ phase }: Compaction): boolean =>
  phase.kind === 'held' && phase.hold.why === 'unseen';

/**
 * A compaction is to come by itself, or on its way, and gets a row also in a terminal that has none for less; a countdown comes before
 * everything else that could be said. For one that was asked for, nothing changes.
 */
export type Due = 'soon' | 'countdown' | 'asked';

export const dueOf = ({ phase, request }: Compaction): Due | undefined => {
  switch (phase.kind) {
    case 'countdown':
      return 'countdown';
    case 'held':
      return request ? 'asked' : 'soon';
    case 'typing':
    case 'sent':
      return phase.attempt.request ? 'asked' : 'soon';
    default:
      return undefined;
  }
};
