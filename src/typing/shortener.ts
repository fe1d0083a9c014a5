import type { Agent, SavedSession } from '../agents/agent.js';
import { writtenText } from '../agents/gemini-family.js';
import type { Values } from '../core/config/keys.js';
import type { ShortenedSession } from '../core/compaction/shortened-session.js';
import type { Compaction, PendingSession } from '../core/compaction/state.js';
import { errorText } from '../core/errors.js';
import { leavesConversation, type Event, type Shortening } from '../core/event.js';
import { formatTokens } from '../core/format.js';
import { present } from '../core/present.js';
import { type Activity, type Millis, windowPercent } from '../core/reading.js';
import { sessionThresholds } from '../core/report/report.js';
import { answerEvent } from '../core/session-flow.js';
import { shownId } from '../core/shown-conversation.js';
import type { KnownWindow } from '../core/strategies/budget.js';
import type { Strategy, Summarise } from '../core/strategies/strategy.js';
import { HOUR_MS } from '../core/time.js';
import type { RestartPlan } from '../session/options.js';
import type { Replaced, SessionLoop } from '../session/ports.js';
import { findStrategy } from '../session-files/find-strategy.js';
import type { RecordSource } from '../session-files/session-records.js';
import {
  shorten,
  ShortenError,
  writeForSwitch,
  writeShortened,
  type Shortened,
} from '../session-files/shorten.js';
import { newSession } from '../session-files/undo.js';
import { removeCreated } from '../storage/files.js';
import { homeFolder } from '../storage/state-folder.js';
import {
  makeLane,
  notDoneText,
  refused,
  safeMoment,
  unknown,
  WITHDRAWN,
  type ActionContext,
  type ActionWait,
  type NotDone,
} from './action.js';
import { shortenedEvent, type Restarter } from './restarter.js';
import { UNSUPPORTED, type SwitchTo } from './switcher.js';

// Shortens the conversation of the running agent by a strategy: computes a new session while the agent rests, and has the agent go on with it.
// The old session stays as it is, and the agent keeps it where anything fails.

export interface ShortenAsked {
  /** the agent cannot go on with the conversation as it is, whatever the numbers say */
  readonly isTooLong?: boolean;
  /** a name as in `strategy`; the configured one when absent, or truncate where that is the agent's own command */
  readonly strategy?: string | undefined;
  readonly keepRecent?: number | undefined;
  readonly budgetTokens?: number | undefined;
}

type DoneShortening = Pick<RestartPlan, 'preTokens' | 'postTokens' | 'shortening'>;

export type ShortenResult =
  | ({
      readonly kind: 'shortened';
      /** `by truncate, 169k → ~40k`: what is left is estimated until the agent's next answer */
      readonly words: string;
    } & DoneShortening)
  /** the agent has ended, and is started again with the shorter conversation; not confirmed yet that it loaded the session */
  | { readonly kind: 'restarting'; readonly words: string }
  /** `pendingSession`: the session that the agent may still take */
  | (NotDone & { readonly pendingSession?: PendingSession });

export interface ShortenerParts {
  readonly switchTo: SwitchTo;
  /** in place of the switch, where the agent is to be started again with the new session */
  readonly restarter?: Restarter | undefined;
  readonly summarise?: Summarise | undefined;
}

export interface Shortener {
  /** a boundary ctxwrap wrote itself; already reported */
  readonly isOwnBoundary: (event: BoundaryEvent) => boolean;
  /** what the session is told after this event, by which the agent has gone on in a session later than was waited for */
  readonly takenLate: (event: Event) => readonly Event[];
  readonly noteEvent: (event: Event) => void;
  /** never rejects; where it is for an attempt to compact, the caller reports the result */
  readonly shorten: (asked: ShortenAsked, wait: ActionWait) => Promise<ShortenResult>;
  /** like `shorten`, but reports in the footer */
  readonly rescue: (wait: Omit<ActionWait, 'onHold'>) => Promise<void>;
  /** the session before the last shortening, while the agent has the shortened one */
  readonly previous: () => SavedSession | undefined;
}

type BoundaryEvent = Extract<Event, { readonly type: 'boundary' }>;

const MOST_TRIES = 3; // the conversation may go on while a summary is written
const MOST_AN_HOUR = 3;

export const makeShortener = (context: ActionContext, parts: ShortenerParts): Shortener => {
  const { session, take, ended } = context;
  const { agent, restarted } = session;
  const { restarter } = parts;
  const lane = makeLane(ended, 'it is already being shortened');
  const turn = makeTurnWatch();
  const written = makeWrittenWatch(agent, restarted?.writtenAt);
  const replaced = makeReplacedWatch(context);
  let doneAt: readonly Millis[] = session.shortenedAt ?? [];
  const late = makeLateWatch(context, (each) => {
    replaced.note(each);
    doneAt = [...doneAt, Date.now()];
  });

  const attempt = async (asked: ShortenAsked, wait: ActionWait): Promise<ShortenResult> => {
    const obstacle = restarter ? restarter.obstacle() : switchObstacle(agent);
    if (obstacle !== undefined) return refused(obstacle);
    doneAt = doneAt.filter((at) => Date.now() - at < HOUR_MS);
    // attempts to compact have limits of their own, which do not outlast the run of an agent
    if (doneAt.length >= MOST_AN_HOUR && (restarter !== undefined || !wait.isForAttempt))
      return refused(`${MOST_AN_HOUR} times an hour is the most`);
    const found = await strategyFor(asked, { session, ...parts }).catch(refusedBy);
    if ('kind' in found) return found;
    const watches = { turn, written, late, onReplaced: replaced.note, ...found };
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const result = await shortenOnce({ ...context, ...parts, ...watches, asked, doneAt }, wait);
      if (result !== undefined) return result; // otherwise the conversation has gone on
    }
    return refused('the conversation grows faster than it can be shortened');
  };
  const run: Shortener['shorten'] = (asked, given) =>
    lane<ShortenResult>(given, async (wait) => {
      const result = await attempt(asked, wait);
      if (result.kind === 'shortened') {
        doneAt = [...doneAt, Date.now()];
        if (!wait.isForAttempt) take(shortenedEvent(result));
      }
      session.log.info(`shortening: ${result.kind}, ${'reason' in result ? result.reason : result.words}`);
      return result;
    });
  return {
    isOwnBoundary: written.isOwn,
    takenLate: late.taken,
    noteEvent: turn.noteEvent,
    shorten: run,
    rescue: async (wait) => {
      const say = (text: string): void => take(answerEvent(text));
      say('rescue: shortening the conversation without the agent');
      const result = await run({ isTooLong: true }, { ...wait, onHold: (words) => say(`rescue ${words}`) });
      if (!ended.aborted && !wait.signal.aborted) say(rescueText(result));
    },
    previous: replaced.previous,
  };
};

interface FoundStrategy {
  readonly strategy: Strategy;
  readonly strategyName: string;
}

/** Before anything is waited for: what cannot work at any moment is said at once. */
const strategyFor = async (
  asked: ShortenAsked,
  { session: { values, env }, summarise }: Pick<ActionContext, 'session'> & ShortenerParts,
): Promise<FoundStrategy> => {
  const strategyName = asked.strategy ?? configuredStrategy(values.strategy, summarise);
  const strategy = await findStrategy(strategyName, {
    values,
    hasSummariser: summarise !== undefined,
    home: homeFolder(env),
  });
  return { strategy, strategyName };
};

const refusedBy = (error: unknown): ShortenResult & { readonly kind: 'refused' } => {
  const { why, fix } = error instanceof ShortenError ? error : {};
  const reason = errorText(error);
  return { ...refused(fix === undefined ? reason : `${reason}: ${fix}`), ...present({ why }) };
};

const switchObstacle = ({ newSessions }: Agent): string | undefined =>
  newSessions && !newSessions.switching ? UNSUPPORTED : undefined;

/** One line for the footer. */
const rescueText = (result: ShortenResult): string =>
  result.kind === 'shortened' || result.kind === 'restarting'
    ? `rescued ${result.words}`
    : notDoneText(result, { failed: 'rescue failed', unsure: 'rescue not confirmed' });

/** The session that the agent had before the one that it has now. */
const makeReplacedWatch = ({ session: { restarted }, flow, publisher }: ActionContext) => {
  let last: Replaced | undefined = restarted && { from: restarted.before, to: restarted.session };
  if (last) publisher?.onReplaced(last);
  return {
    note: (next: Replaced): void => {
      last = next;
      publisher?.onReplaced(next);
    },
    previous: (): SavedSession | undefined =>
      last?.to.id === shownId(flow().session.conversation) ? last?.from : undefined,
  };
};

interface Late extends DoneShortening {
  readonly pendingSession: PendingSession;
  readonly replaced: Replaced;
}

/**
 * Tells when the agent goes on in a session after all, which it was told to and did not show in time. There is no limit to that: it may show its
 * session only with its next answer, and the user may type the command that the footer has named.
 */
const makeLateWatch = ({ flow, publisher }: ActionContext, onTaken: (replaced: Replaced) => void) => {
  let waiting: Late | undefined;
  return {
    waitFor: (next: Late | undefined): void => {
      waiting = next;
    },
    taken: (event: Event): readonly Event[] => {
      if (!waiting || event.type !== 'session-changed' || event.sessionId !== waiting.pendingSession.id)
        return [];
      const { pendingSession, replaced, ...shortened } = waiting;
      waiting = undefined;
      onTaken(replaced);
      publisher?.endEarlierSwitch(pendingSession.id, { kind: 'switched' }, flow().session);
      return [shortenedEvent(shortened, pendingSession.writtenAt)]; // its answer may be older than this event
    },
  };
};

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

const LEAST_SUMMARY = 40; // characters: a shorter one may be in any text
const LATE_MS = 10_000; // from the switch to the agent's own record of it, with an agent that writes one

/** Tells records of compactions that ctxwrap has written, or had the agent write, from others. */
const makeWrittenWatch = ({ newSessions }: Agent, writtenBefore?: Millis) => {
  const recordsItself = newSessions?.switching?.checkpoint !== undefined;
  let writtenAt = writtenBefore;
  let until = -Infinity;
  let summaries: readonly string[] = [];
  return {
    isOwn: ({ boundary: { at, initiator }, text }: BoundaryEvent): boolean => {
      if (initiator === 'ctxwrap') return false; // it is the one that tells
      // an agent that hangs may write its record at any time
      const isWritten =
        text !== undefined && text.length >= LEAST_SUMMARY && summaries.some((each) => each.includes(text));
      return at === writtenAt || isWritten || (recordsItself && performance.now() < until);
    },
    /** a session with records of this time, and these summaries, is about to be taken */
    begin: (at: number, written: readonly string[]): void => {
      writtenAt = at;
      until = Infinity;
      summaries = written;
    },
    end: (isDone: boolean): void => {
      until = isDone ? performance.now() + LATE_MS : -Infinity;
      if (!isDone) summaries = [];
    },
  };
};

interface ShortenContext extends ActionContext, ShortenerParts, FoundStrategy {
  readonly asked: ShortenAsked;
  readonly turn: ReturnType<typeof makeTurnWatch>;
  readonly written: ReturnType<typeof makeWrittenWatch>;
  readonly late: ReturnType<typeof makeLateWatch>;
  readonly onReplaced: (replaced: Replaced) => void;
  /** when it was done within the last hour */
  readonly doneAt: readonly Millis[];
}

/** undefined: the conversation went on meanwhile, and nothing was typed. */
const shortenOnce = async (
  shortening: ShortenContext,
  { gate, ...wait }: ActionWait,
): Promise<ShortenResult | undefined> => {
  const { session, turn, sessionFile } = shortening;
  const { agent } = session;
  gate?.rest(); // until the first key it can be withdrawn, also in a further try
  const moment = await safeMoment(shortening, wait);
  if ('reason' in moment) return refused(moment.reason);
  moment.endTurn(); // it takes long: the user may type meanwhile
  const path = sessionFile();
  if (!agent.newSessions) return refused(`ctxwrap cannot write sessions of ${agent.name}`);
  if (path === undefined) return refused('the session file is not known yet');
  const worked = turn.watch();
  const isOutdated = (): boolean => worked.aborted && !wait.signal.aborted;
  const signal = AbortSignal.any([wait.signal, worked]);
  let mayHaveSession = false;
  try {
    const source = { agent, path };
    const computed = await compute(shortening, source, signal);
    if (worked.aborted) return undefined;
    if (signal.aborted) return refused(WITHDRAWN);
    const onBegin = (): Promise<string | undefined> | undefined => {
      mayHaveSession = true;
      return gate?.begin();
    };
    // withdrawn if the agent works before the first key
    const given = { ...wait, signal, gate: { begin: async () => onBegin(), rest: () => gate?.rest() } };
    const result = await applyTo(
      shortening,
      { ...computed, source, mayHaveSession: () => mayHaveSession },
      given,
    );
    return result.kind === 'refused' && isOutdated() ? undefined : result;
  } catch (error) {
    if (mayHaveSession) return unknown(errorText(error));
    if (isOutdated()) return undefined;
    if (signal.aborted) return refused(WITHDRAWN);
    return refusedBy(error);
  } finally {
    turn.rest();
  }
};

interface Computed extends DoneShortening {
  readonly shortened: Shortened;
  /** `by truncate, 169k → ~40k` */
  readonly words: string;
}

const compute = async (
  { session: { values }, strategy, strategyName: name, summarise, flow, asked }: ShortenContext,
  source: RecordSource,
  signal: AbortSignal,
): Promise<Computed> => {
  const { keepRecent = values.keepRecent, budgetTokens, isTooLong = false } = asked;
  const known = knownWindow(flow());
  const options = { keepRecent, summarise, signal };
  const shortened = await shorten({ source, strategy, options, budgetTokens, known, isTooLong });
  const { preTokens, windowTokens: postTokens } = shortened;
  const words = `by ${name}, ${formatTokens(preTokens)} → ~${formatTokens(postTokens)}`;
  const { compaction, session } = flow();
  const shortening = { ...shorteningBy(name, compaction), from: shownId(session.conversation) };
  return { shortened, words, preTokens, postTokens, shortening };
};

/** As of the attempt to compact that it is for, if it is for one. */
const shorteningBy = (strategy: string, { phase }: Compaction): Shortening =>
  phase.kind === 'typing'
    ? { strategy, isManual: phase.attempt.request !== undefined, startedAt: phase.attempt.startedAt }
    : { strategy, isManual: true };

interface Application extends Computed {
  readonly source: RecordSource;
  /** the agent may have the new session */
  readonly mayHaveSession: () => boolean;
}

/** Writes the new session and has the agent go on with it; the file is removed where it is certain that the agent was not told of it. */
const applyTo = async (
  shortening: ShortenContext,
  application: Application,
  wait: ActionWait & Required<Pick<ActionWait, 'gate'>>,
): Promise<ShortenResult> => {
  const { session, flow, switchTo, restarter, written, late, onReplaced, publisher } = shortening;
  const { source, shortened, words, preTokens, postTokens, mayHaveSession } = application;
  const did: DoneShortening = { preTokens, postTokens, shortening: application.shortening };
  const id = shownId(flow().session.conversation);
  const as = newSession(session.cwd);
  const { strategy } = did.shortening;
  const request = { source, strategy, as, onWrite: (made: ShortenedSession) => publisher?.onShortened(made) };
  if (restarter) {
    if (id === undefined) return refused('the id of the conversation is not known yet');
    const to = await writeShortened(request, shortened);
    const replaced = { from: { id, path: source.path }, to: { id: to.name, path: to.path } };
    const plan = restartPlan(shortening, application, { replaced, at: as.now });
    const result = await restarter.restartWith(plan, wait);
    // once it is told, the main thread may start the agent with the file as soon as that has ended
    if (result.kind === 'refused' && !mayHaveSession()) await removeCreated(to.path);
    return result.kind === 'restarting' ? { kind: 'restarting', words } : result;
  }
  const { name, path } = await writeForSwitch(request, shortened);
  const begin = async (): Promise<string | undefined> => {
    written.begin(as.now, summariesIn(shortened));
    return wait.gate?.begin();
  };
  const gate = { begin, rest: () => wait.gate?.rest() };
  late.waitFor(undefined);
  const result = await switchTo(name, { ...wait, gate });
  written.end(result.kind !== 'refused');
  if (result.kind === 'refused') {
    await removeCreated(path);
    return result;
  }
  const replaced =
    id === undefined || id === name ? undefined : { from: { id, path: source.path }, to: { id: name, path } };
  // it may be there, and work already
  if (result.kind === 'unknown' && shownId(flow().session.conversation) !== name) {
    const pendingSession = { id: name, writtenAt: as.now };
    const switching = session.agent.newSessions?.switching;
    // an agent that keeps its id never shows the name
    if (replaced && !switching?.restores) late.waitFor({ ...did, pendingSession, replaced });
    return { ...result, pendingSession, ...present({ byHand: switching?.command(name) }) };
  }
  if (replaced) onReplaced(replaced);
  return { kind: 'shortened', words, ...did };
};

/** As Gemini and Qwen have them in their records. */
const summariesIn = ({ after }: Shortened): readonly string[] =>
  after.entries.flatMap((entry) => (entry.kind === 'summary' ? [writtenText(entry)] : []));

const restartPlan = (
  { flow, doneAt }: ShortenContext,
  { preTokens, postTokens, shortening }: Computed,
  { replaced: { from, to }, at }: { readonly replaced: Replaced; readonly at: Millis },
): RestartPlan => {
  const { session, compaction } = flow();
  const { mode } = compaction;
  const settings = { mode, limit: session.limit, times: [...doneAt, at] };
  return { session: to, before: from, preTokens, postTokens, shortening, writtenAt: at, ...settings };
};

/** The configured strategy; in place of the agent's own command, what works without it. */
const configuredStrategy = (configured: Values['strategy'], summarise: Summarise | undefined): string => {
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
    isEstimated: reading?.source === 'estimate',
  };
};
