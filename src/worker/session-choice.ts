import type { Located } from '../agents/agent.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';

// Which session is followed, and when the user pressed Enter, from which that may follow.

/** The session file that is followed, and those that were ruled out. */
export interface SessionChoice {
  readonly current?: Located;
  /** places (`placeOf`) that were followed before */
  readonly formerPlaces: readonly string[];
  /** places of another process: they grew in turns with this session's file */
  readonly otherPlaces: readonly string[];
}

export const startChoice: SessionChoice = { formerPlaces: [], otherPlaces: [] };

/**
 * The choice after another search; the same object when nothing changes, also when the session's file is gone (the tail reports that).
 * Where a session is only guessed from which file grew, a file that grows again after it was left shows that two agents write in this
 * folder: the file in between belongs to the other agent.
 */
export const chooseSession = (choice: SessionChoice, found: Located): SessionChoice => {
  const { current, formerPlaces, otherPlaces } = choice;
  const isSame = current?.sessionId === found.sessionId;
  if (isSame && (found.path === current.path || found.path === undefined))
    return found.pid === current.pid
      ? choice
      : { ...choice, current: { ...current, ...present({ pid: found.pid }) } };
  const place = placeOf(found);
  const isGuess = !found.certain && place !== undefined;
  if (isGuess && otherPlaces.includes(place)) return choice;
  const left = placeOf(current);
  const leaving = left === undefined ? [] : [left];
  const isBack = isGuess && formerPlaces.includes(place);
  return {
    current: found,
    formerPlaces: [...formerPlaces, ...leaving],
    otherPlaces: isBack ? [...otherPlaces, ...leaving] : otherPlaces,
  };
};

/** Where a session is written: its file, or its rows in a database that holds others, too. */
export const placeOf = (located: Located | undefined): string | undefined =>
  located?.path === undefined ? undefined : `${located.path} ${located.sessionId}`;

// When the user pressed Enter. An agent may still be recording the message of one Enter when the next is pressed.

const TOGETHER_MS = 2_000;
const MOST = 20; // of a key that is held down

export interface EnterTimes {
  readonly note: (at: Millis) => void;
  /** the last time; undefined if never */
  readonly last: () => Millis | undefined;
  /** the first of those within two seconds before the last one, or that one */
  readonly first: () => Millis | undefined;
}

export const makeEnterTimes = (): EnterTimes => {
  let times: readonly Millis[] = [];
  return {
    note: (at) => {
      const together = times.filter((each) => each <= at && at - each <= TOGETHER_MS);
      times = [...together, at].slice(-MOST);
    },
    last: () => times.at(-1),
    first: () => times[0],
  };
};
