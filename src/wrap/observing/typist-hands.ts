import type { TypistPort } from '../compacting/type-order.js';
import type { Observer } from './observe.js';

/** What the typist needs beside its eyes. */
export interface TypistHands extends Omit<TypistPort, 'look' | 'refresh'> {
  /** the screen model does not show what the child has drawn */
  readonly isBlind: () => boolean;
}

/** Where nothing is ever typed. */
export const untouched: TypistHands = {
  write: () => undefined,
  holdKeys: () => ({ waiting: () => 0, releaseOne: () => undefined, release: () => undefined }),
  drawn: () => 0,
  typed: () => 0,
  isBlind: () => true,
};

/** The hands with the eyes of the observer, once there is one. */
export const typistPort = (hands: TypistHands, observer: () => Observer | undefined): TypistPort => ({
  ...hands,
  look: () => (hands.isBlind() ? undefined : observer()?.look()),
  refresh: async () => observer()?.refresh(),
});
