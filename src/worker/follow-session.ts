import { FILE_CLOCK_LAG_MS } from '../agents/files.js';
import { errorText, troubleText } from '../core/errors.js';
import type { Located, Agent, ChildPlace, SessionLog, Env } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';
import { makeFilePort } from '../storage/agent-file-reader.js';
import { makeFactCoalescer, makeFileReader, type FactCoalescer } from '../session-files/session-facts.js';
import { tail } from '../storage/tail.js';
import { pollPause } from '../storage/watch.js';
import { followDatabase } from './session-database.js';
import { makeVersionReporter } from './version-notice.js';

// Finds the agent's session file, and follows it.

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
  if (isSame && (found.path === current.path || found.path === undefined)) return choice;
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
const placeOf = (located: Located | undefined): string | undefined =>
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

// Locates the session file, follows it, and passes its facts on.

const POLL_MS = 250;
const LOOK_MS = 2_000; // most agents create the file at the first turn
const ENTER_MS = 2_000; // an agent begins to write within this time after Enter; `/clear`, `/new` and resume switch to another file

export interface FollowOptions {
  readonly agent: Agent;
  readonly childPid: number;
  readonly cwd: string;
  readonly home: string;
  /** of the child */
  readonly env: Env;
  readonly startedAt: Millis;
  readonly now: () => Millis;
  /** when the user last pressed Enter; undefined if never */
  readonly enteredAt: () => Millis | undefined;
  /** when the first Enter of the last two seconds before that was pressed; the same one when absent */
  readonly enteredSince?: () => Millis | undefined;
  /** when the screen last showed that the agent begins to work (wall clock); undefined if never */
  readonly workedAt?: () => Millis | undefined;
  readonly onFact: (event: Event) => void;
  /** the session file that is followed from now on; undefined while the conversation has none, and for one in a database with others */
  readonly onFile?: (path: string | undefined, sessionId: string) => void;
  /** why there is no reading, for the log; a later fact means that reading works again */
  readonly onProblem: (reason: string) => void;
}

export interface Subscription {
  readonly stop: () => void;
}

/** Follows the child's session file until stopped. Errors in here are only reported as problems. */
export const followSession = (options: FollowOptions): Subscription => {
  const { log } = options.agent;
  return log ? follow(log, guardListeners(options)) : { stop: () => undefined };
};

const follow = (log: SessionLog, options: FollowOptions): Subscription => {
  const port = makeFilePort();
  const began = performance.now();
  // by the wall clock, which agents and file times use; it may have been set back
  const startedAt = (): Millis => Math.min(options.startedAt, options.now() - (performance.now() - began));
  const coalescer = makeFactCoalescer(startedAt);
  let choice = startChoice;
  let file: Subscription | undefined;
  let isStopped = false;
  const trouble = tellOnce(options.onProblem);

  // A file guessed from its growth may belong to the same agent in another terminal, where somebody else types.
  const isAfterEnter = ({ writtenAt }: Located): boolean => {
    const at = writtenAt ?? options.now();
    const since = options.enteredSince?.() ?? options.enteredAt() ?? Infinity;
    return at >= since - FILE_CLOCK_LAG_MS && sinceEnter(options, at) <= ENTER_MS;
  };

  const switchTo = (found: Located): void => {
    const { current } = choice;
    const isFirst = current?.path === undefined;
    const isSame = current?.path !== undefined && placeOf(found) === placeOf(current);
    if (!found.certain && !isFirst && !isSame && !isAfterEnter(found)) return;
    const next = chooseSession(choice, found);
    if (next === choice) return;
    choice = next;
    file?.stop();
    if (current?.sessionId !== found.sessionId) {
      options.onFact({ type: 'session-changed', sessionId: found.sessionId });
    } else if (current.path !== undefined) {
      options.onFact({ type: 'voided' }); // the same conversation continues in another file: it was shortened
    }
    options.onFile?.(log.database ? undefined : found.path, found.sessionId);
    file = found.path === undefined ? undefined : followFile(found as Followed, log, { options, coalescer });
  };

  const locate = async (): Promise<void> => {
    try {
      const found = await log.locate(port, {
        ...placeNow(options),
        startedAt: startedAt() - FILE_CLOCK_LAG_MS,
        ...(choice.current?.path === undefined ? {} : { currentPath: choice.current.path }),
      });
      trouble(undefined);
      if (found && !isStopped) switchTo(found);
    } catch (error) {
      if (!isStopped) trouble(`looking for the session file: ${troubleText(error)}`);
    }
  };

  const polling = pollForFile(options, locate);
  return {
    stop: () => {
      isStopped = true;
      polling.stop();
      file?.stop();
    },
  };
};

/** Passes on a problem that is not the same as the last one; undefined for none. */
const tellOnce = (onProblem: FollowOptions['onProblem']): ((reason: string | undefined) => void) => {
  let last: string | undefined;
  return (reason) => {
    if (reason !== undefined && reason !== last) onProblem(reason);
    last = reason;
  };
};

const placeNow = ({ enteredAt, enteredSince, workedAt, now, ...place }: FollowOptions): ChildPlace => {
  const [last, first, worked] = [enteredAt(), enteredSince?.(), workedAt?.()];
  return {
    ...place,
    now: now(),
    ...present({ enteredAt: last, enteredSince: first, workedAt: worked }),
  };
};

const sinceEnter = ({ enteredAt }: FollowOptions, at: Millis): number => at - (enteredAt() ?? -Infinity);

/** Searches at once, and more often for a while after Enter. `look` must not reject. */
const pollForFile = (options: FollowOptions, locate: () => Promise<void>): Subscription => {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const began = performance.now();
  let lookedAt = -Infinity;

  const locateWhenDue = async (): Promise<void> => {
    const now = performance.now();
    if (now - lookedAt >= LOOK_MS || sinceEnter(options, options.now()) <= ENTER_MS) {
      lookedAt = now;
      await locate();
    }
    const enteredAt = performance.now() - sinceEnter(options, options.now());
    if (!isStopped) timer = setTimeout(locateWhenDue, pollPause(POLL_MS, Math.max(began, enteredAt))).unref();
  };

  void locateWhenDue();
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};

interface FileContext {
  readonly options: FollowOptions;
  readonly coalescer: FactCoalescer;
}

type Followed = Located & { readonly path: string };

const followFile = (
  { path, sessionId }: Followed,
  log: SessionLog,
  { options, coalescer }: FileContext,
): Subscription => {
  const file = makeFileReader(log, options.env, coalescer);
  let hasFillFacts = false;
  const version = makeVersionReporter(options);
  coalescer.flush(); // facts not reported yet belong to the previous file

  const common = {
    path,
    intervalMs: POLL_MS,
    onLine: (line: string, offset?: number) => {
      version.readLine(line);
      const { facts } = file.read(line, options.now(), offset);
      hasFillFacts ||= facts.some(({ type }) => type === 'reading' || type === 'boundary');
    },
    onRestart: () => {
      file.restart();
      hasFillFacts = false;
      coalescer.add({ type: 'voided' });
    },
    onCaughtUp: () => {
      for (const fact of coalescer.flush()) options.onFact(fact);
      version.report();
      const problem = file.problem();
      if (problem !== undefined) options.onProblem(`${path}: ${problem}`);
    },
    onProblem: options.onProblem,
  };
  const { database } = log;
  if (database) return followDatabase({ ...common, sessionId, database });
  return tail({
    ...common,
    onHead: (line) => {
      version.readLine(line);
      file.skim(line, options.now());
    },
    isEnough: () => hasFillFacts,
  });
};

// Errors thrown by the caller's listeners must not stop the following.
const guardListeners = (options: FollowOptions): FollowOptions => {
  const onProblem = (reason: string): void => {
    try {
      options.onProblem(reason);
    } catch {
      // onProblem itself failed; there is nobody to report it to
    }
  };
  const onFact = (event: Event): void => {
    try {
      options.onFact(event);
    } catch (error) {
      onProblem(`using a fact of the session file: ${errorText(error)}`);
    }
  };
  return { ...options, onFact, onProblem };
};
