// Joins finding the session file, following it and reading its lines into events for the core.
import type { Event } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { LineStep, Located, Runtime, SessionLog } from '../../runtimes/runtime.js';
import { sessionFiles } from '../../storage/session-files.js';
import { versionTeller } from './version-teller.js';
import { tail } from '../../storage/tail.js';
import { factInbox } from './fact-inbox.js';
import type { FactInbox } from './fact-inbox.js';
import { seeLine, shapeProblem, unknownShape } from './file-shape.js';
import { chooseSession, noChoice } from './session-choice.js';
import type { Env } from '../../runtimes/place.js';

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
  const inbox = factInbox(options.startedAt);
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
        startedAt: options.startedAt - FILE_CLOCK_LAG_MS,
        now: options.now(),
        ...(enteredAt === undefined ? {} : { enteredAt }),
        ...(choice.current?.path === undefined ? {} : { currentPath: choice.current.path }),
      });
      if (found && !stopped) moveTo(found);
    } catch (error) {
      options.onProblem(`looking for the session file: ${textOf(error)}`);
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
    const now = options.now();
    const rested = now - lookedAt;
    if (rested < 0 || rested >= LOOK_MS || sinceEnter(options, now) <= ENTER_MS) {
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
  let reader = log.reader(options.env);
  let shape = unknownShape;
  let tellsFill = false;
  let said: string | undefined;
  const version = versionTeller(options);
  inbox.take(); // what was left unsaid belongs to the file before

  const see = (step: LineStep): void => {
    reader = step.next;
    shape = seeLine(shape, step);
    tellsFill ||= step.facts.some(({ type }) => type === 'reading' || type === 'boundary');
    for (const fact of step.facts) inbox.put(fact);
  };

  return tail({
    path,
    intervalMs: POLL_MS,
    onLine: (line) => {
      version.see(line);
      see(reader(line, options.now()));
    },
    onHead: (line) => {
      version.see(line);
      reader = reader(line, options.now()).next;
    },
    onRestart: () => {
      reader = log.reader(options.env);
      shape = unknownShape;
      tellsFill = false;
      inbox.put({ type: 'voided' });
    },
    isEnough: () => tellsFill,
    onCaughtUp: () => {
      for (const fact of inbox.take()) options.onFact(fact);
      version.tell();
      const problem = shapeProblem(shape);
      if (problem !== undefined && problem !== said) options.onProblem(`${path}: ${problem}`);
      said = problem;
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
      onProblem(`using a fact of the session file: ${textOf(error)}`);
    }
  };
  return { ...options, onFact, onProblem };
};

const textOf = (error: unknown): string => String(error instanceof Error ? error.message : error);
