import { errorText } from '../core/json.js';
import type { LineStep, Located, Runtime, SessionLog, Env } from '../agents/agent.js';
import type { Fact, Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { sessionFiles } from '../storage/agent-files.js';
import { tail } from '../storage/tail.js';
import { versionTeller } from './version-notice.js';

/** Keeps what a stretch of a session file said until its end is reached, then gives what still matters. */
export interface FactInbox {
  readonly put: (fact: Fact) => void;
  readonly take: () => readonly Fact[];
}

/**
 * Of all numbers read at once only the last one counts, so a resumed session of any length gives one. Its old compactions are not
 * this session's, and one that is read again (a rewritten file, a return to a session) is not a second one: both only void the number.
 */
export const factInbox = (startedAt: () => Millis): FactInbox => {
  const counted = new Set<Millis>();
  let waiting: readonly Fact[] = [];

  const asNew = (fact: Fact): Fact => {
    if (fact.type !== 'boundary') return fact;
    const { at } = fact.boundary;
    if (at < startedAt() || counted.has(at)) return { type: 'voided' };
    counted.add(at);
    return fact;
  };

  return {
    put: (fact) => {
      waiting = fact.type === 'initiator' ? withInitiator(waiting, fact) : added(waiting, asNew(fact));
    },
    take: () => {
      const facts = waiting;
      waiting = [];
      return facts;
    },
  };
};

/** Both are written at once, so the compaction still waits here; of one that was told before it is not needed any more. */
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
    default:
      return [...waiting.filter(({ type }) => lasting.includes(type)), fact];
  }
};

/** What a later number does not replace. */
const lasting: readonly Fact['type'][] = ['boundary', 'window', 'compact-result'];

const isClaimFor = (model: string | undefined, fact: Fact): boolean =>
  fact.type === 'window' && fact.claim.model === model;

/** How well the lines of a session file fit what is known of the runtime's files, since its last reading. */
interface FileShape {
  readonly hasReading: boolean;
  readonly lines: number;
  readonly misfits: number;
  readonly reason?: string;
}

const unknownShape: FileShape = { hasReading: false, lines: 0, misfits: 0 };

// One torn line in a file that was understood so far means nothing.
const MISFITS_AFTER_READING = 3;
// A conversation has an answer with its usage long before this.
const LINES_WITHOUT_READING = 200;

const seeLine = (shape: FileShape, step: LineStep): FileShape => {
  if (step.facts.some((fact) => fact.type === 'reading')) return { ...unknownShape, hasReading: true };
  const lines = shape.lines + 1;
  return step.misfit === undefined
    ? { ...shape, lines }
    : { ...shape, lines, misfits: shape.misfits + 1, reason: step.misfit };
};

/** Why the file cannot be read as a session of this runtime, if that is what it looks like. */
const shapeProblem = ({ hasReading, lines, misfits, reason }: FileShape): string | undefined => {
  if (misfits >= (hasReading ? MISFITS_AFTER_READING : 1)) return reason;
  return !hasReading && lines >= LINES_WITHOUT_READING ? 'no usage in any record' : undefined;
};

/** Which session file is followed, and what was learnt on the way. */
export interface Choice {
  readonly current?: Located;
  /** files that were followed before */
  readonly left: readonly string[];
  /** files of another process: they grew in turns with ours */
  readonly foreign: readonly string[];
}

export const noChoice: Choice = { left: [], foreign: [] };

/**
 * The choice after another look; the same object when nothing changes, also when a session's file is gone: following it tells that. Where a session is only guessed from which file grew, a
 * file that grows again after we left it shows that two agents write in this folder: the one in between is not ours.
 */
export const chooseSession = (choice: Choice, found: Located): Choice => {
  const { current, left, foreign } = choice;
  const isSame = current?.sessionId === found.sessionId;
  if (isSame && (found.path === current.path || found.path === undefined)) return choice;
  const isGuess = !found.certain && found.path !== undefined;
  if (isGuess && foreign.includes(found.path)) return choice;
  const leaving = current?.path === undefined ? [] : [current.path];
  const isBack = isGuess && left.includes(found.path);
  return {
    current: found,
    left: [...left, ...leaving],
    foreign: isBack ? [...foreign, ...leaving] : foreign,
  };
};

/** Reads the lines of a session file into an inbox. */
export const makeFileReader = (log: SessionLog, env: Env, { put }: Pick<FactInbox, 'put'>) => {
  let reader = log.reader(env);
  let shape = unknownShape;
  let said: string | undefined;
  return {
    read: (line: string, now: Millis): LineStep => {
      const step = reader(line, now);
      reader = step.next;
      shape = seeLine(shape, step);
      step.facts.forEach(put);
      return step;
    },
    /** only what has to be remembered for the lines that follow */
    skim: (line: string, now: Millis): void => {
      reader = reader(line, now).next;
    },
    /** another file, or the same one written anew */
    restart: (): void => {
      reader = log.reader(env);
      shape = unknownShape;
    },
    /** why it cannot be read, when that is new */
    problem: (): string | undefined => {
      const problem = shapeProblem(shape);
      const isNew = problem !== said;
      said = problem;
      return isNew ? problem : undefined;
    },
  };
};

// Joins finding the session file, following it and reading its lines into events for the core.

const POLL_MS = 250;
const LOOK_MS = 1_000; // most agents make the file at the first turn
const ENTER_MS = 2_000; // within this an agent begins to write after Enter; `/clear`, `/new` and resume go to another file
const FILE_CLOCK_LAG_MS = 100; // the kernel stamps files with a coarser clock than ours

export interface FollowOptions {
  readonly runtime: Runtime;
  readonly childPid: number;
  readonly cwd: string;
  readonly home: string;
  /** of the child */
  readonly env: Env;
  readonly startedAt: Millis;
  readonly now: () => Millis;
  /** when the user pressed Enter last; undefined while never */
  readonly enteredAt: () => Millis | undefined;
  readonly onFact: (event: Event) => void;
  /** the session file that is followed from now on; undefined while the conversation has none */
  readonly onFile?: (path: string | undefined) => void;
  /** why there is no reading, for the log; a later fact means that it works again */
  readonly onProblem: (reason: string) => void;
}

export interface Following {
  readonly stop: () => void;
}

/** Follows the child's session file until stopped. What goes wrong in here reaches the caller as a problem only. */
export const followSession = (options: FollowOptions): Following => {
  const { log } = options.runtime;
  return log ? follow(log, guarded(options)) : { stop: () => undefined };
};

const follow = (log: SessionLog, options: FollowOptions): Following => {
  const port = sessionFiles();
  const began = performance.now();
  // as the wall clock has it, by which agents and files count: it may have been set back
  const startedAt = (): Millis => Math.min(options.startedAt, options.now() - (performance.now() - began));
  const inbox = factInbox(startedAt);
  let choice = noChoice;
  let file: Following | undefined;
  let stopped = false;

  // A guess from which file grew may be the file of the same agent in another terminal, where somebody else types.
  const isAsked = ({ writtenAt }: Located): boolean => {
    const after = sinceEnter(options, writtenAt ?? options.now());
    return after >= -FILE_CLOCK_LAG_MS && after <= ENTER_MS;
  };

  const moveTo = (found: Located): void => {
    const { current } = choice;
    const isFirst = current?.path === undefined;
    const isSame = current?.path !== undefined && found.path === current.path;
    if (!found.certain && !isFirst && !isSame && !isAsked(found)) return;
    const next = chooseSession(choice, found);
    if (next === choice) return;
    choice = next;
    file?.stop();
    if (current?.sessionId !== found.sessionId) {
      options.onFact({ type: 'session-changed', sessionId: found.sessionId });
    } else if (current.path !== undefined) {
      options.onFact({ type: 'voided' }); // the same conversation goes on in another file: it was cut back
    }
    options.onFile?.(found.path);
    file = found.path === undefined ? undefined : followFile(found.path, log, { options, inbox });
  };

  const look = async (): Promise<void> => {
    const { enteredAt: lastEnter, ...place } = options;
    const enteredAt = lastEnter();
    try {
      const found = await log.locate(port, {
        ...place,
        startedAt: startedAt() - FILE_CLOCK_LAG_MS,
        now: options.now(),
        ...(enteredAt === undefined ? {} : { enteredAt }),
        ...(choice.current?.path === undefined ? {} : { currentPath: choice.current.path }),
      });
      if (found && !stopped) moveTo(found);
    } catch (error) {
      options.onProblem(`looking for the session file: ${errorText(error)}`);
    }
  };

  const looking = lookNowAndAgain(options, look);
  return {
    stop: () => {
      stopped = true;
      looking.stop();
      file?.stop();
    },
  };
};

const sinceEnter = ({ enteredAt }: FollowOptions, at: Millis): number => at - (enteredAt() ?? -Infinity);

/** Looks at once, and more often for a while after Enter. `look` must not reject. */
const lookNowAndAgain = (options: FollowOptions, look: () => Promise<void>): Following => {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let lookedAt = -Infinity;

  const lookWhenDue = async (): Promise<void> => {
    const now = performance.now();
    if (now - lookedAt >= LOOK_MS || sinceEnter(options, options.now()) <= ENTER_MS) {
      lookedAt = now;
      await look();
    }
    if (!stopped) timer = setTimeout(lookWhenDue, POLL_MS).unref();
  };

  void lookWhenDue();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
};

interface FileContext {
  readonly options: FollowOptions;
  readonly inbox: FactInbox;
}

const followFile = (path: string, log: SessionLog, { options, inbox }: FileContext): Following => {
  const file = makeFileReader(log, options.env, inbox);
  let tellsFill = false;
  const version = versionTeller(options);
  inbox.take(); // what was left unsaid belongs to the file before

  return tail({
    path,
    intervalMs: POLL_MS,
    onLine: (line) => {
      version.see(line);
      const { facts } = file.read(line, options.now());
      tellsFill ||= facts.some(({ type }) => type === 'reading' || type === 'boundary');
    },
    onHead: (line) => {
      version.see(line);
      file.skim(line, options.now());
    },
    onRestart: () => {
      file.restart();
      tellsFill = false;
      inbox.put({ type: 'voided' });
    },
    isEnough: () => tellsFill,
    onCaughtUp: () => {
      for (const fact of inbox.take()) options.onFact(fact);
      version.tell();
      const problem = file.problem();
      if (problem !== undefined) options.onProblem(`${path}: ${problem}`);
    },
    onProblem: options.onProblem,
  });
};

// The caller's own mistakes must not stop the following, nor may ours stop the caller.
const guarded = (options: FollowOptions): FollowOptions => {
  const onProblem = (reason: string): void => {
    try {
      options.onProblem(reason);
    } catch {
      // Nobody is left to tell.
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
