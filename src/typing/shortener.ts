import type { Agent, SavedSession } from '../agents/agent.js';
import { shownId } from '../core/shown-conversation.js';
import type { Values } from '../core/config/keys.js';
import { errorText } from '../core/errors.js';
import { leavesConversation, type Boundary, type Event } from '../core/event.js';
import { formatTokens } from '../core/format.js';
import { type Activity, type Millis, windowPercent } from '../core/reading.js';
import { sessionThresholds } from '../core/report/report.js';
import { answerEvent } from '../core/session-flow.js';
import type { KnownWindow } from '../core/strategies/budget.js';
import type { Summarise } from '../core/strategies/strategy.js';
import { HOUR_MS } from '../core/time.js';
import { removeCreated } from '../storage/files.js';
import type { Log } from '../storage/log-file.js';
import { findStrategy } from '../session-files/find-strategy.js';
import type { RecordSource } from '../session-files/session-records.js';
import type { Restarter } from './restarter.js';
import { shorten, writeForSwitch, writeShortened, type Shortened } from '../session-files/shorten.js';
import { safeMoment, WITHDRAWN, type MomentWait, type TypingGate } from './safe-moment.js';
import { type Switcher, UNSUPPORTED } from './switcher.js';
import type { TypistPort } from './typing-steps.js';
import { newSession } from '../session-files/undo.js';
import type { RestartPlan } from '../session/options.js';
import type { SessionLoop, Replaced } from '../session/ports.js';

// Shortens the conversation of the running agent by a strategy: computes a new session while the agent rests, and has the agent go on with it.
// The old session stays as it is, and the agent keeps it where anything fails.

export interface ShortenAsked {
  /** the agent cannot go on with the conversation as it is, whatever the numbers say */
  readonly isTooLong?: boolean;
  /** it is how an attempt to compact is carried out; the caller reports the result */
  readonly isForAttempt?: boolean;
  /** a name as in `strategy`; the configured one when absent, or truncate where that is the agent's own command */
  readonly strategy?: string | undefined;
  readonly keepRecent?: number | undefined;
  readonly budgetTokens?: number | undefined;
}

export type ShortenResult =
  | {
      readonly kind: 'shortened';
      /** `by truncate, 169k → 40k` */
      readonly words: string;
      /** of the window, in the agent's tokens */
      readonly preTokens: number;
      readonly postTokens: number;
    }
  /** the agent has ended, and is started again with the shorter conversation; not confirmed yet that it loaded the session */
  | { readonly kind: 'restarting'; readonly words: string }
  /** nothing was typed, or it was taken back: the agent has its conversation as before */
  | { readonly kind: 'refused'; readonly reason: string }
  /** the command may have been sent, and its effect is not known; `byHand` is what the user can type to have the shorter conversation */
  | { readonly kind: 'unknown'; readonly reason: string; readonly byHand?: string };

export interface ShortenerOptions {
  readonly agent: Agent;
  readonly values: Pick<Values, 'strategy' | 'strategies' | 'keepRecent'>;
  readonly home: string;
  readonly cwd: string;
  readonly summarise: Summarise | undefined;
  readonly switcher: Pick<Switcher, 'switchTo'>;
  /** in place of the switcher, where the agent is to be started again with the new session */
  readonly restarter?: Restarter | undefined;
  /** what this run of the agent was started again with */
  readonly restarted?: RestartPlan | undefined;
  /** when conversations were shortened before, in earlier runs (wall clock) */
  readonly times?: readonly Millis[] | undefined;
  readonly port: TypistPort;
  readonly flow: SessionLoop['flow'];
  /** the agent's session file, once it is known */
  readonly sessionFile: () => string | undefined;
  readonly log: Log;
  readonly onEvent: (event: Event) => void;
  /** the agent has the shortened session */
  readonly onReplaced?: ((replaced: Replaced) => void) | undefined;
}

export type ShortenWait = Pick<MomentWait, 'signal' | 'onHold' | 'gate'>;

export interface Shortener {
  /** a boundary ctxwrap wrote itself; already reported */
  readonly isOwnBoundary: (boundary: Boundary) => boolean;
  readonly noteEvent: (event: Event) => void;
  /** never rejects */
  readonly shorten: (asked: ShortenAsked, wait: ShortenWait) => Promise<ShortenResult>;
  /** like `shorten`, but reports in the footer */
  readonly rescue: (wait: Omit<ShortenWait, 'onHold'>) => Promise<void>;
  /** the session before the last shortening, while the agent has the shortened one */
  readonly previous: () => SavedSession | undefined;
  readonly stop: () => void;
}

const MOST_TRIES = 3; // the conversation may go on while a summary is written
const MOST_AN_HOUR = 3;
const WAIT_MS = 600_000; // as long as a request to compact waits

export const makeShortener = (options: ShortenerOptions): Shortener => {
  const { onEvent, log } = options;
  const ended = new AbortController();
  const turn = makeTurnWatch();
  const written = makeWrittenWatch(options.agent, options.restarted?.writtenAt);
  const replaced = makeReplacedWatch(options);
  const { onReplaced } = replaced;
  const { restarter } = options;
  let isTaken = false;
  let doneAt: readonly Millis[] = options.times ?? [];

  const attempt = async (asked: ShortenAsked, wait: ShortenWait): Promise<ShortenResult> => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const result = await shortenOnce(options, { asked, wait, turn, written, onReplaced, doneAt });
      if (result !== undefined) return result; // otherwise the conversation has gone on
    }
    return { kind: 'refused', reason: 'the conversation goes on faster than it can be shortened' };
  };
  const run = async (asked: ShortenAsked, given: ShortenWait): Promise<ShortenResult> => {
    if (isTaken) return { kind: 'refused', reason: 'it is being shortened already' };
    const obstacle = restarter ? restarter.obstacle() : switchObstacle(options.agent);
    if (obstacle !== undefined) return { kind: 'refused', reason: obstacle };
    doneAt = doneAt.filter((at) => Date.now() - at < HOUR_MS);
    // attempts to compact have limits of their own, which do not outlast the run of an agent
    if (doneAt.length >= MOST_AN_HOUR && (restarter !== undefined || !asked.isForAttempt))
      return { kind: 'refused', reason: `${MOST_AN_HOUR} times within an hour is the most` };
    isTaken = true;
    try {
      const signal = AbortSignal.any([given.signal, ended.signal]);
      const result = await attempt(asked, { ...given, signal });
      if (result.kind === 'shortened') {
        doneAt = [...doneAt, Date.now()];
        if (!asked.isForAttempt) onEvent(shortenedEvent(result));
      }
      log.info(`shortening: ${result.kind}, ${'reason' in result ? result.reason : result.words}`);
      return result;
    } catch (error) {
      return { kind: 'unknown', reason: errorText(error) }; // the agent may have been told
    } finally {
      isTaken = false;
    }
  };
  return {
    isOwnBoundary: written.isOwn,
    noteEvent: turn.noteEvent,
    shorten: run,
    rescue: async (wait) => {
      const say = (text: string): void => onEvent(answerEvent(text));
      say('rescue: shortening the conversation without the agent');
      const result = await run({ isTooLong: true }, { ...wait, onHold: (words) => say(`rescue ${words}`) });
      if (!ended.signal.aborted && !wait.signal.aborted) say(rescueText(result));
    },
    previous: replaced.previous,
    stop: () => {
      ended.abort();
      restarter?.stop();
    },
  };
};

/** One line for the footer. */
const rescueText = (result: ShortenResult): string => {
  switch (result.kind) {
    case 'shortened':
    case 'restarting':
      return `rescued ${result.words}`;
    case 'refused':
      return `rescue failed: ${result.reason}`;
    case 'unknown':
      return `rescue not confirmed${result.byHand === undefined ? `: ${result.reason}` : ` · by hand: ${result.byHand}`}`;
  }
};

/** The session that the agent had before the one that it has now. */
const makeReplacedWatch = ({
  restarted,
  flow,
  onReplaced,
}: ShortenerOptions): Pick<Once, 'onReplaced'> & Pick<Shortener, 'previous'> => {
  let last: Replaced | undefined = restarted && { from: restarted.before, to: restarted.session };
  return {
    onReplaced: (next) => {
      last = next;
      onReplaced?.(next);
    },
    previous: () => (last?.to.id === shownId(flow().session.conversation) ? last?.from : undefined),
  };
};

/** What the session is told of it: as of a compaction that the agent records. */
export const shortenedEvent = ({
  preTokens,
  postTokens,
}: Pick<Extract<ShortenResult, { kind: 'shortened' }>, 'preTokens' | 'postTokens'>): Event => ({
  type: 'boundary',
  boundary: { at: Date.now(), initiator: 'ctxwrap', preTokens, postTokens },
});

/** Tells when the agent has worked, which makes a computed session outdated. */
const makeTurnWatch = () => {
  let watching: AbortController | undefined;
  let since = 0;
  const working: readonly Activity[] = ['busy', 'compacting', 'dialog'];
  return {
    noteEvent: (event: Event): void => {
      if (event.type === 'activity' && working.includes(event.report.activity)) watching?.abort();
      if (leavesConversation(event) || event.type === 'boundary' || event.type === 'voided')
        watching?.abort();
      // a turn may be too short to be seen, but its answer is in the session file
      if (event.type === 'reading' && event.reading.source === 'log' && event.reading.at > since)
        watching?.abort();
    },
    /** aborts as soon as the agent works */
    watch: (): AbortSignal => {
      watching = new AbortController();
      since = Date.now();
      return watching.signal;
    },
    rest: (): void => {
      watching = undefined;
    },
  };
};

const LATE_MS = 10_000; // from the switch to the agent's own record of it, with an agent that writes one

/** Tells records of compactions that ctxwrap has written, or had the agent write, from others. */
const makeWrittenWatch = ({ newSessions }: Agent, writtenBefore?: Millis) => {
  const recordsItself = newSessions?.switching?.checkpoint !== undefined;
  let writtenAt = writtenBefore;
  let until = -Infinity;
  return {
    isOwn: ({ at, initiator }: Boundary): boolean => {
      if (initiator === 'ctxwrap') return false; // it is the one that tells
      return at === writtenAt || (recordsItself && performance.now() < until);
    },
    /** a session with records of this time is about to be taken */
    begin: (at: number): void => {
      writtenAt = at;
      until = Infinity;
    },
    end: (isDone: boolean): void => {
      until = isDone ? performance.now() + LATE_MS : -Infinity;
    },
  };
};

interface Once {
  readonly asked: ShortenAsked;
  readonly wait: ShortenWait;
  readonly turn: ReturnType<typeof makeTurnWatch>;
  readonly written: ReturnType<typeof makeWrittenWatch>;
  readonly onReplaced: (replaced: Replaced) => void;
  /** when it was done within the last hour */
  readonly doneAt: readonly Millis[];
}

const switchObstacle = ({ newSessions }: Agent): string | undefined =>
  newSessions && !newSessions.switching ? UNSUPPORTED : undefined;

/** undefined: the conversation went on meanwhile, and nothing was typed. */
const shortenOnce = async (options: ShortenerOptions, once: Once): Promise<ShortenResult | undefined> => {
  const { agent, flow, port } = options;
  const { asked, wait, turn } = once;
  const { signal, onHold } = wait;
  const { isForAttempt } = asked;
  const moment = await safeMoment(
    { flow, port },
    { until: performance.now() + WAIT_MS, signal, onHold, isForAttempt },
  );
  if ('reason' in moment) return { kind: 'refused', reason: moment.reason };
  moment.endTurn(); // it takes long: the user may type meanwhile
  const path = options.sessionFile();
  if (!agent.newSessions)
    return { kind: 'refused', reason: `ctxwrap cannot write sessions of ${agent.name}` };
  if (path === undefined) return { kind: 'refused', reason: 'the session file is not known yet' };
  const worked = turn.watch();
  const isOutdated = (): boolean => worked.aborted && !signal.aborted;
  const both = AbortSignal.any([signal, worked]);
  let isTold = false;
  const given = { ...wait, signal: both, gate: noting(wait.gate, () => (isTold = true)) };
  try {
    const source = { agent, path };
    const computed = await compute(options, { asked, source, signal: both });
    if (worked.aborted) return undefined;
    if (signal.aborted) return { kind: 'refused', reason: WITHDRAWN };
    // withdrawn if the agent works before the first key
    const result = await applyTo(options, once, { ...computed, source, wait: given });
    return result.kind === 'refused' && isOutdated() ? undefined : result;
  } catch (error) {
    if (isTold) return { kind: 'unknown', reason: errorText(error) };
    if (isOutdated()) return undefined;
    return { kind: 'refused', reason: signal.aborted ? WITHDRAWN : errorText(error) };
  } finally {
    turn.rest();
  }
};

/** Also calls back before the first key. */
const noting = (gate: TypingGate | undefined, onBegin: () => void): TypingGate => ({
  begin: async () => {
    onBegin();
    return gate?.begin();
  },
  rest: () => gate?.rest(),
});

interface Computed {
  readonly shortened: Shortened;
  /** `by truncate, 169k → 40k` */
  readonly words: string;
  readonly preTokens: number;
  readonly postTokens: number;
}

interface Computing {
  readonly asked: ShortenAsked;
  readonly source: RecordSource;
  readonly signal: AbortSignal;
}

const compute = async (
  { values, home, summarise, flow }: ShortenerOptions,
  { asked, source, signal }: Computing,
): Promise<Computed> => {
  const { keepRecent = values.keepRecent, budgetTokens, isTooLong = false } = asked;
  const name = asked.strategy ?? configuredStrategy(values.strategy, summarise);
  const strategy = await findStrategy(name, { values, home });
  const known = knownWindow(flow());
  const shortened = await shorten({
    source,
    strategy,
    options: { keepRecent, summarise, signal },
    budgetTokens,
    known,
    isTooLong,
  });
  const { windowTokens: postTokens, change } = shortened;
  const preTokens = known.usedTokens ?? change.tokensBefore;
  const words = `by ${name}, ${formatTokens(preTokens)} → ${formatTokens(postTokens)}`;
  return { shortened, words, preTokens, postTokens };
};

interface Application extends Computed {
  readonly source: RecordSource;
  readonly wait: ShortenWait;
}

/** Writes the new session and has the agent go on with it; the file is removed where it is certain that the agent was not told of it. */
const applyTo = async (
  { agent, cwd, switcher, restarter, flow }: ShortenerOptions,
  { asked: { isForAttempt }, written: watch, onReplaced, doneAt }: Once,
  { source, shortened, words, preTokens, postTokens, wait }: Application,
): Promise<ShortenResult> => {
  const { session, compaction } = flow();
  const sessionId = shownId(session.conversation);
  const as = { ...newSession(cwd), usedTokens: postTokens };
  const given = { ...wait, isForAttempt };
  if (restarter) {
    if (sessionId === undefined)
      return { kind: 'refused', reason: 'the id of the conversation is not known yet' };
    const file = await writeShortened({ source }, shortened, as);
    const plan: RestartPlan = {
      session: { id: file.name, path: file.path },
      before: { id: sessionId, path: source.path },
      preTokens,
      postTokens,
      writtenAt: as.now,
      mode: compaction.mode,
      limit: session.limit,
      times: [...doneAt, as.now],
    };
    let isPlanned = false; // then the main thread may start the agent with it as soon as that has ended
    const gate = noting(given.gate, () => (isPlanned = true));
    const result = await restarter.restartWith(plan, { ...given, gate });
    if (result.kind === 'refused' && !isPlanned) await removeCreated(file.path);
    return 'reason' in result ? result : { kind: 'restarting', words };
  }
  const file = await writeForSwitch({ source }, shortened, as);
  const gate = noting(given.gate, () => watch.begin(as.now));
  const result = await switcher.switchTo(file.name, { ...given, gate });
  watch.end(result.kind === 'switched');
  if (result.kind === 'refused') await removeCreated(file.path);
  if (result.kind === 'unknown') return { ...result, ...byHand(agent, file.name) };
  if (result.kind === 'refused') return result;
  if (sessionId !== undefined && sessionId !== file.name)
    onReplaced({ from: { id: sessionId, path: source.path }, to: { id: file.name, path: file.path } });
  return { kind: 'shortened', words, preTokens, postTokens };
};

const byHand = ({ newSessions }: Agent, name: string): { readonly byHand?: string } => {
  const command = newSessions?.switching?.command(name);
  return command === undefined ? {} : { byHand: command };
};

/** The configured strategy; in place of the agent's own command, what works without it. */
const configuredStrategy = (configured: string | undefined, summarise: Summarise | undefined): string => {
  if (configured !== undefined && configured !== 'auto') return configured;
  return summarise ? 'summarize' : 'truncate';
};

const knownWindow = ({ session }: ReturnType<SessionLoop['flow']>): KnownWindow => {
  const warn = sessionThresholds(session).find(({ name, unit }) => name === 'warn' && unit === 'tokens');
  const { reading } = session.fused ?? {};
  const { usedTokens, windowTokens = NaN } = reading ?? {};
  const ofPercent = ((reading && windowPercent(reading)) ?? NaN) * (windowTokens / 100);
  return {
    warnTokens: warn?.value,
    usedTokens: usedTokens ?? (Number.isNaN(ofPercent) ? undefined : Math.round(ofPercent)),
  };
};
