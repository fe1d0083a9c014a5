import { FILE_CLOCK_LAG_MS } from '../agents/files.js';
import { errorText, troubleText } from '../core/errors.js';
import type { Located, Agent, ChildPlace, SessionLog, Env } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import type { View } from '../core/shown-conversation.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';
import { makeFilePort } from '../storage/agent-file-reader.js';
import { makeWorkFollower } from '../session-files/follow-work.js';
import { makeFactCoalescer, makeFileReader, type FactCoalescer } from '../session-files/session-facts.js';
import { tail } from '../storage/tail.js';
import { keepLooking, pollPause, type Rest } from '../storage/watch.js';
import { chooseSession, placeOf, startChoice } from './session-choice.js';
import { followDatabase } from './session-database.js';
import { makeVersionReporter } from './version-notice.js';

// Finds the agent's session file, and follows it.

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
  /** of the child */
  readonly args: readonly string[];
  readonly startedAt: Millis;
  readonly now: () => Millis;
  /** when the user last pressed Enter; undefined if never */
  readonly enteredAt: () => Millis | undefined;
  /** when the first Enter of the last two seconds before that was pressed; the same one when absent */
  readonly enteredSince?: () => Millis | undefined;
  /** when the screen last showed that the agent begins to work (wall clock); undefined if never */
  readonly workedAt?: () => Millis | undefined;
  /** absent: the session is never at rest */
  readonly rest?: Rest;
  readonly onFact: (event: Event) => void;
  /** why there is no reading, for the log; a later fact means that reading works again */
  readonly onProblem: (reason: string) => void;
}

export interface Subscription {
  readonly stop: () => void;
}

export interface Following extends Subscription {
  /** the screen shows this; in another view the session is looked for anew, at once */
  readonly see: (view: View, isSame: boolean) => void;
  /** the session that was found is perhaps not the one in view: it is looked for without what was found before */
  readonly doubt: () => void;
  /** what is known of the child now */
  readonly place: () => ChildPlace;
}

/** Follows the child's session file until stopped. Errors in here are only reported as problems. */
export const followSession = (options: FollowOptions): Following => {
  const { log } = options.agent;
  return log
    ? follow(log, guardListeners(options))
    : {
        stop: () => undefined,
        see: () => undefined,
        doubt: () => undefined,
        place: () => placeNow(options),
      };
};

const follow = (log: SessionLog, options: FollowOptions): Following => {
  const port = makeFilePort();
  const began = performance.now();
  // by the wall clock, which agents and file times use; it may have been set back
  const startedAt = (): Millis => Math.min(options.startedAt, options.now() - (performance.now() - began));
  let seen: Pick<ChildPlace, 'view' | 'viewSince' | 'viewedBefore'> = {};
  // what was compacted before this view was compacted in another terminal, or was told already
  const since = (): Millis => Math.max(startedAt(), seen.viewSince ?? 0);
  const chosen = makeChosen(log, options, makeFactCoalescer(since));
  let isDoubted = false;
  let isStopped = false;
  const trouble = withoutRepeats(options.onProblem);

  const place = (): ChildPlace => {
    const { path: currentPath, pid: followedPid } = (isDoubted ? undefined : chosen.current()) ?? {};
    return {
      ...placeNow(options),
      startedAt: startedAt() - FILE_CLOCK_LAG_MS,
      ...seen,
      ...present({ currentPath, followedPid }),
    };
  };
  const locate = async (): Promise<void> => {
    const { view, viewSince } = seen;
    if (view?.shows === 'list') return;
    try {
      const asked = place();
      isDoubted = false;
      const found = await log.locate(port, asked);
      trouble(undefined);
      // what was found for another view says nothing about this one
      if (found && !isStopped && seen.viewSince === viewSince) chosen.switchTo(found);
    } catch (error) {
      if (!isStopped) trouble(`looking for the session file: ${troubleText(error)}`);
    }
  };

  const polling = pollForFile(options, locate);
  return {
    place,
    see: (view, isSame) => {
      const viewedBefore = seen.viewSince;
      seen = isSame ? { ...seen, view } : { view, viewSince: options.now(), ...present({ viewedBefore }) };
      if (!isSame) chosen.leave();
      if (chosen.current() === undefined) polling.look();
    },
    doubt: () => {
      isDoubted = true;
      polling.look();
    },
    stop: () => {
      isStopped = true;
      polling.stop();
      chosen.stop();
    },
  };
};

/** The session that is followed. */
const makeChosen = (log: SessionLog, options: FollowOptions, coalescer: FactCoalescer) => {
  let choice = startChoice;
  let file: Subscription | undefined;
  const stop = (): void => {
    file?.stop();
    file = undefined;
  };

  // A file guessed from its growth may belong to the same agent in another terminal, where somebody else types.
  const isAfterEnter = ({ writtenAt }: Located): boolean => {
    const at = writtenAt ?? options.now();
    const since = options.enteredSince?.() ?? options.enteredAt() ?? Infinity;
    return at >= since - FILE_CLOCK_LAG_MS && sinceEnter(options, at) <= ENTER_MS;
  };
  const isLikely = (found: Located): boolean => {
    const { current } = choice;
    const isFirst = current?.path === undefined;
    return found.certain || isFirst || placeOf(found) === placeOf(current) || isAfterEnter(found);
  };

  return {
    current: () => choice.current,
    switchTo: (found: Located): void => {
      const { current } = choice;
      const next = isLikely(found) ? chooseSession(choice, found) : choice;
      if (next === choice) return;
      choice = next;
      const isSame = current?.sessionId === found.sessionId;
      if (isSame && current.path === next.current?.path) return;
      stop();
      const { sessionId, certain: isCertain } = found;
      const path = log.database ? undefined : found.path;
      options.onFact({
        type: 'session-changed',
        sessionId,
        isCertain,
        ...present({ path }),
        ...(isSame ? { isSame } : {}),
      });
      // the same conversation continues in another file: it was shortened
      if (isSame && current.path !== undefined && !current.isEarlier) options.onFact({ type: 'voided' });
      file =
        found.path === undefined ? undefined : followFile(found as Followed, log, { options, coalescer });
    },
    /** the session is not in view any more, or may not be */
    leave: (): void => {
      stop();
      const { current: _, ...rest } = choice;
      choice = rest;
    },
    stop,
  };
};

/** Passes on a problem that is not the same as the last one; undefined for none. */
const withoutRepeats = (onProblem: FollowOptions['onProblem']): ((reason: string | undefined) => void) => {
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

/** Searches at once, more often for a while after Enter, and when it is told to. `locate` must not reject. */
const pollForFile = (
  options: FollowOptions,
  locate: () => Promise<void>,
): Subscription & { readonly look: () => void } => {
  let began = performance.now();
  let lookedAt = -Infinity;

  const locateWhenDue = async (): Promise<void> => {
    const now = performance.now();
    if (now - lookedAt >= LOOK_MS || sinceEnter(options, options.now()) <= ENTER_MS) {
      lookedAt = now;
      await locate();
    }
  };
  const pauseMs = (): number => {
    const enteredAt = performance.now() - sinceEnter(options, options.now());
    return pollPause(POLL_MS, Math.max(began, enteredAt));
  };
  const looking = keepLooking({ look: locateWhenDue, pauseMs, rest: options.rest });
  return {
    look: () => {
      began = performance.now();
      lookedAt = -Infinity;
      looking.lookNow();
    },
    stop: looking.stop,
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
  const work = makeWorkFollower(coalescer);
  let hasFillFacts = false;
  const version = makeVersionReporter(options);
  coalescer.flush(); // facts not reported yet belong to the previous file

  const common = {
    path,
    intervalMs: POLL_MS,
    rest: options.rest,
    onLine: (line: string, offset?: number) => {
      version.readLine(line);
      const result = file.read(line, options.now(), { offset });
      work.read(line, result);
      hasFillFacts ||= result.facts.some(({ type }) => type === 'reading' || type === 'boundary');
    },
    onRestart: () => {
      file.restart();
      hasFillFacts = false;
      work.restart();
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
