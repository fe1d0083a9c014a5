import { errorText, troubleText } from '../core/errors.js';
import type { LineResult, Located, Agent, ChildPlace, SessionLog, Env } from '../agents/agent.js';
import type { Fact, Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { makeFilePort } from '../storage/agent-file-reader.js';
import { tail } from '../storage/tail.js';
import { pollPause } from '../storage/watch.js';
import { followDatabase } from './session-database.js';
import { makeVersionReporter } from './version-notice.js';

// Finds the agent's session file, follows it, and makes events for the core of its lines.

/** Collects the facts of a stretch of a session file and gives those that still matter at its end. */
export interface FactCoalescer {
  readonly add: (fact: Fact) => void;
  readonly flush: () => readonly Fact[];
}

/**
 * Of several readings at once only the last one counts, so a resumed session of any length gives one. Old compactions do not belong to this
 * session, and one that is read again (a rewritten file, a return to a session) is not a second one: both only void the reading.
 */
export const makeFactCoalescer = (startedAt: () => Millis): FactCoalescer => {
  const counted = new Set<Millis>();
  let waiting: readonly Fact[] = [];

  const asNew = (fact: Fact): Fact => {
    if (fact.type !== 'boundary') return fact;
    const { at, postTokens } = fact.boundary;
    if (at < startedAt() || counted.has(at))
      return { type: 'voided', ...(postTokens === undefined ? {} : { leftTokens: postTokens }) };
    counted.add(at);
    return fact;
  };

  return {
    add: (fact) => {
      waiting = fact.type === 'initiator' ? withInitiator(waiting, fact) : added(waiting, asNew(fact));
    },
    flush: () => {
      const facts = waiting;
      waiting = [];
      return facts;
    },
  };
};

/**
 * The boundary and its initiator are written together, so the boundary is still waiting here. For one reported earlier the initiator is not
 * needed.
 */
const withInitiator = (
  waiting: readonly Fact[],
  { at, initiator }: Extract<Fact, { readonly type: 'initiator' }>,
): readonly Fact[] =>
  waiting.map((fact) =>
    fact.type === 'boundary' && fact.boundary.at === at
      ? { ...fact, boundary: { ...fact.boundary, initiator } }
      : fact,
  );

const added = (waiting: readonly Fact[], fact: Fact): readonly Fact[] => {
  switch (fact.type) {
    case 'growth': {
      const last = waiting.at(-1);
      if (last?.type !== 'growth') return [...waiting, fact];
      return [...waiting.slice(0, -1), { type: 'growth', tokens: last.tokens + fact.tokens }];
    }
    case 'window':
      return [...waiting.filter((each) => !isClaimFor(fact.claim.model, each)), fact];
    case 'compact-result':
      return [...waiting.filter(({ type }) => type !== 'compact-result'), fact];
    case 'cache':
    case 'limits':
      return [...waiting.filter(({ type }) => type !== fact.type), fact];
    default:
      return [...waiting.filter(({ type }) => keptTypes.includes(type)), fact];
  }
};

/** Facts that a later reading does not replace. */
const keptTypes: readonly Fact['type'][] = ['boundary', 'window', 'compact-result', 'cache', 'limits'];

const isClaimFor = (model: string | undefined, fact: Fact): boolean =>
  fact.type === 'window' && fact.claim.model === model;

/** How well the lines of a session file match the agent's known format, since the last reading. */
interface FormatCheck {
  readonly hasReading: boolean;
  readonly lines: number;
  readonly parseErrors: number;
  readonly reason?: string;
}

const startFormatCheck: FormatCheck = { hasReading: false, lines: 0, parseErrors: 0 };

// A single broken line in a file that was readable so far means nothing.
const PARSE_ERRORS_AFTER_READING = 3;
// A conversation has an answer with its usage long before this.
const LINES_WITHOUT_READING = 200;

const checkLine = (formatCheck: FormatCheck, step: LineResult): FormatCheck => {
  if (step.facts.some((fact) => fact.type === 'reading')) return { ...startFormatCheck, hasReading: true };
  const lines = formatCheck.lines + 1;
  return step.misfit === undefined
    ? { ...formatCheck, lines }
    : { ...formatCheck, lines, parseErrors: formatCheck.parseErrors + 1, reason: step.misfit };
};

/** Why the file cannot be read as a session of this agent; undefined where it can. */
const formatProblem = ({ hasReading, lines, parseErrors, reason }: FormatCheck): string | undefined => {
  if (parseErrors >= (hasReading ? PARSE_ERRORS_AFTER_READING : 1)) return reason;
  return !hasReading && lines >= LINES_WITHOUT_READING ? 'no usage in any record' : undefined;
};

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

/** Reads the lines of a session file into an inbox. */
export const makeFileReader = (log: SessionLog, env: Env, { add }: Pick<FactCoalescer, 'add'>) => {
  let reader = log.reader(env);
  let formatCheck = startFormatCheck;
  let reportedProblem: string | undefined;
  let compactedAt: number | undefined; // where the record of a compaction began that was not reported yet
  return {
    /** `offset`: where the line begins in the file */
    read: (line: string, now: Millis, offset?: number): LineResult => {
      const step = reader(line, now);
      reader = step.next;
      formatCheck = checkLine(formatCheck, step);
      for (const fact of step.facts)
        add(fact.type === 'boundary' ? placed(fact, compactedAt ?? offset) : fact);
      if (step.isCompaction) compactedAt = offset;
      else if (step.facts.some(({ type }) => type === 'boundary')) compactedAt = undefined;
      return step;
    },
    /** only what has to be remembered for the lines that follow */
    skim: (line: string, now: Millis): void => {
      reader = reader(line, now).next;
    },
    /** another file, or the same one written anew */
    restart: (): void => {
      reader = log.reader(env);
      formatCheck = startFormatCheck;
      compactedAt = undefined;
    },
    /** why it cannot be read, when that is new */
    problem: (): string | undefined => {
      const problem = formatProblem(formatCheck);
      const isNew = problem !== reportedProblem;
      reportedProblem = problem;
      return isNew ? problem : undefined;
    },
  };
};

const placed = (fact: Extract<Fact, { readonly type: 'boundary' }>, offset: number | undefined): Fact =>
  offset === undefined ? fact : { ...fact, boundary: { ...fact.boundary, offset } };

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
const FILE_CLOCK_LAG_MS = 100; // the kernel's file times lag behind the system clock

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
    ...(last === undefined ? {} : { enteredAt: last }),
    ...(first === undefined ? {} : { enteredSince: first }),
    ...(worked === undefined ? {} : { workedAt: worked }),
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
