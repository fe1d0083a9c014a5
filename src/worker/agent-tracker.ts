import { errorStack, errorText } from '../core/errors.js';
import type { Agent, ChildPlace, CompactRecipe } from '../agents/agent.js';
import type { AgentFolders } from '../agents/home.js';
import type { InvisibleReason } from '../core/compaction/policy.js';
import { focusText } from '../core/conversation/brief.js';
import type { Effect } from '../core/compaction/state.js';
import type { Event } from '../core/event.js';
import type { Disagreement } from '../core/evidence.js';
import type { Session } from '../core/session.js';
import { UserError } from '../core/errors.js';
import type { FooterView } from '../core/footer-view.js';
import { askedText, type ActivityReport, type Millis } from '../core/reading.js';
import { noticeEvent, type SessionFlow } from '../core/session-flow.js';
import { present } from '../core/present.js';
import { escapeMentions } from '../core/text.js';
import { shownId, shownPath } from '../core/shown-conversation.js';
import { makeFilePort } from '../storage/agent-file-reader.js';
import { terminalReaders } from '../storage/processes.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import { makeRest, type Rest } from '../storage/watch.js';
import type { ScreenModel } from '../terminal/screen-model.js';
import type { ActionContext } from '../typing/action.js';
import { makeAgentActions, type AgentActions } from '../typing/agent-actions.js';
import type { SessionSource } from '../session-files/read-history.js';
import { readWindowEvidence } from '../session-files/read-receipt.js';
import { runningSource } from '../session-files/session-sources.js';
import { openBlackBox, type BlackBox } from './blackbox.js';
import { type AskableChannel, makeCompactor } from '../typing/compactor.js';
import { confirmRestart, shortenedEvent } from '../typing/restarter.js';
import { makeEstimateSource } from './estimate.js';
import { makeHandoffWriter, type HandoffWriter } from './handoff-writer.js';
import { makeModelMemory, type ModelMemory } from './model-memory.js';
import type { Notifier } from './notifier.js';
import type { StartedChild, WrapSession } from '../session/options.js';
import {
  makeTrustFilter,
  makeObserver,
  type Observer,
  makeScreenLog,
  tellingCommands,
} from './screen-reader.js';
import { followSession, type Following } from './follow-session.js';
import { offerLimit } from './limit-choice.js';
import { compactSettings, followSettings, makeSessionLoop } from './session-loop.js';
import { followReports, followOwnCompaction, type ReportSubscription } from './agent-reports.js';
import { makeTurns, type TypistPort } from '../typing/typing-steps.js';
import { makeClock } from '../storage/timing.js';
import { makeVersionNotifier } from './version-notice.js';
import type { Publisher, SessionLoop } from '../session/ports.js';

/** What the tracker reads, and who carries out the session's decisions. */
export interface TrackerParts {
  readonly session: WrapSession;
  readonly screen: ScreenModel;
  readonly input: TrackerInput;
  /** grows with everything that the child writes */
  readonly outputBytes: TypistPort['outputBytes'];
  readonly onView: (view: FooterView) => void;
  /** why a countdown could not be seen now; undefined where it could */
  readonly unseen: () => InvisibleReason | undefined;
  readonly notify: Notifier['notify'];
  /** other programs */
  readonly publisher: Publisher | undefined;
  readonly onRestart: ActionContext['onRestart'];
  /** the agent that was started again has the new session; what came of it is recorded */
  readonly onRestartProgress: (progress: 'taken' | 'recorded') => void;
}

/** The child's input. */
export interface TrackerInput {
  readonly write: TypistPort['write'];
  readonly hold: TypistPort['holdKeys'];
  readonly typedCount: TypistPort['typedCount'];
  readonly hasUnreportedKeys: TypistPort['hasUnreportedKeys'];
  /** the same, and from now on the session has been told of them */
  readonly takeUnreportedKeys: () => boolean;
  /** when Enter was last sent to the child (wall clock); undefined if never */
  readonly enteredAt: () => Millis | undefined;
  /** when the first Enter of those was sent that followed one another within two seconds */
  readonly enteredSince: () => Millis | undefined;
  /** Enter is sent at this time */
  readonly onEntered: (at: Millis) => void;
}

export interface AgentTracker extends Omit<AgentActions, 'noteEvent' | 'isOwnBoundary'> {
  /** the child has written output */
  readonly noteOutput: () => void;
  /** an event caused by the user or another program */
  readonly handle: (event: Event) => void;
  readonly flow: SessionLoop['flow'];
  /** the agent's session; undefined while it is not known. Rejects where it cannot be read */
  readonly source: () => Promise<SessionSource | undefined>;
  /** the key that writes a handoff */
  readonly pressHandoff: () => void;
  /** the screen model is no longer fed, so it does not show the child's screen any more */
  readonly stopReadingScreen: () => void;
  /** the child has ended */
  readonly stop: () => void;
}

/**
 * Follows the agent's session file, status reports and screen, and passes their events to the session; the session updates the footer and
 * the published record, and has the command typed.
 */
export const trackAgent = (parts: TrackerParts, { pid: childPid, startedAt }: StartedChild): AgentTracker => {
  const { session } = parts;
  const { agent, env, cwd, args, log } = session;
  const rest = makeRest();
  const blackBox = openBlackBox(session, {
    onNotice: (text) => loop.take(noticeEvent(text)),
    onFailure: (reason) => log.warn(`the black box: ${reason}`),
    isResting: rest.isResting,
  });
  const work = makeWorkTimes();
  const take = (event: Event): void => {
    if (event.type === 'activity') logActivity(log, event.report);
    work.note(event);
    if (event.type === 'boundary' && actions.isOwnBoundary(event)) return; // of a session that ctxwrap has written
    if (event.type === 'view') takeView(event, { log, following, official });
    blackBox.onEvent(event, loop.flow().compaction);
    actions.noteEvent(event);
    loop.take(event);
    actions.takenLate(event).forEach(loop.take);
  };
  const place = { childPid, cwd, home: homeFolder(env), env, args, startedAt };
  const observer = observe(parts, { childPid, place: () => following.place() }, take);
  const port = typistPort(parts, observer);
  const later = { actions: () => actions, source: () => own.source(), onApart: () => following.doubt() };
  const memory = makeModelMemory(session, stateFolder(env, place.home), (event) => loop.take(event));
  const writer = { handoffs: () => handoffs };
  const loop = startLoop(parts, { childPid, port, blackBox, memory, take, ...later, ...writer });
  const own = makeOwnSession(agent, place, loop.flow);
  const handoffs = makeHandoffWriter({ ...parts, flow: loop.flow, take, source: own.source });
  const { onEntered } = parts.input;
  const typing = { port, flow: loop.flow, take, onEntered, onRestart: planRestart(parts, take) };
  const actions = makeAgentActions({ ...parts, childPid, ...typing, ...own });
  const restart = followRestart(parts, loop, take);
  const official = followReports(session, { onFact: take, now: Date.now }, rest);
  const handling = { handle: take, switchTo: official.switchTo, workedAt: work.begunAt, rest };
  const following = followFile(parts, place, handling);
  const ownCompaction = followOwnCompaction(session, take, rest);
  const stopSettings = followSettings(session, agent.recipe?.(env), take, parts.publisher?.onSettings);
  const reading = readOutput(parts, observer, take);
  reading.noteOutput(); // for output before this point
  return {
    ...actions,
    noteOutput: awake(rest, reading.noteOutput),
    handle: awake(rest, take),
    flow: loop.flow,
    source: own.source,
    pressHandoff: handoffs.press,
    stopReadingScreen: () => giveUpScreen(reading, take),
    stop: () => {
      stopSettings();
      for (const part of [restart, actions, reading, following, official, ownCompaction, blackBox, memory])
        part.stop();
      take({ type: 'activity', report: { activity: 'dead', witnesses: ['the child has ended'] } });
      loop.stop();
    },
  };
};

const giveUpScreen = (reading: { readonly stop: () => void }, take: (event: Event) => void): void => {
  reading.stop();
  take({ type: 'screen-blank' });
  take({ type: 'activity', report: { activity: 'unknown', witnesses: ['the screen is not followed'] } });
};

/** The same, but it ends the session's rest. */
const awake =
  <Given extends readonly unknown[]>(rest: Rest, act: (...given: Given) => void) =>
  (...given: Given): void => {
    rest.end();
    act(...given);
  };

/** The conversation in view, once it is known. */
const makeOwnSession = (agent: Agent, where: AgentFolders, flow: SessionLoop['flow']) => {
  const sessionFile = (): string | undefined => shownPath(flow().session.conversation);
  return {
    sessionFile,
    source: (): Promise<SessionSource | undefined> =>
      runningSource(agent, where, {
        path: sessionFile(),
        sessionId: shownId(flow().session.conversation),
      }),
  };
};

/** Notes when the agent begins to work. */
const makeWorkTimes = () => {
  let [isBusy, begunAt] = [false, undefined as Millis | undefined];
  return {
    note: (event: Event): void => {
      if (event.type !== 'activity') return;
      const { activity } = event.report;
      if (activity === 'busy' && !isBusy) begunAt = Date.now();
      isBusy = activity === 'busy';
    },
    /** the last time (wall clock); undefined if never */
    begunAt: () => begunAt,
  };
};

/** Plans the agent's restart, and tells the session of it. */
const planRestart =
  ({ onRestart }: TrackerParts, take: (event: Event) => void): TrackerParts['onRestart'] =>
  (plan) => {
    onRestart(plan);
    take({ type: 'restart-planned', isPlanned: plan !== undefined });
  };

/** For an agent that was started again, or could not be. */
const followRestart = (
  { session: { restarted: plan, unstarted, restartProgress }, publisher, onRestartProgress }: TrackerParts,
  { flow }: SessionLoop,
  take: (event: Event) => void,
): { readonly stop: () => void } => {
  if (plan && restartProgress === undefined)
    return confirmRestart({ plan, flow, take, publisher, onTaken: () => onRestartProgress('taken') });
  // only the answer that proves it is missing, and may be older than this worker
  if (plan && restartProgress === 'taken') take(shortenedEvent(plan, plan.writtenAt));
  if (unstarted && restartProgress === undefined) {
    const { preTokens, shortening } = unstarted;
    take({ type: 'restart-failed', reason: 'the agent could not be started again', preTokens, shortening });
  }
  return { stop: () => undefined };
};

/** Tells once that the shortening for which the agent was started again is recorded: nothing else of ctxwrap ends before it. */
const makeRestartRecord = ({
  session: { restarted, unstarted },
  onRestartProgress,
}: TrackerParts): ((effect: Effect) => void) => {
  let isOpen = restarted !== undefined || unstarted !== undefined;
  return (effect) => {
    if (!isOpen || effect.type !== 'ended' || effect.ended.initiator !== 'ctxwrap') return;
    isOpen = false;
    onRestartProgress('recorded');
  };
};

/** What reads the screen, and for an agent without numbers an estimate. */
const readOutput = (
  { session, screen }: TrackerParts,
  observer: Observer,
  take: (event: Event) => void,
): { readonly noteOutput: () => void; readonly stop: () => void } => {
  const readers = session.agent.isEstimated
    ? [observer, makeEstimateSource({ screen, now: makeClock(), onFact: take })]
    : [observer];
  return {
    noteOutput: () => readers.forEach((reader) => reader.noteOutput()),
    stop: () => readers.forEach((reader) => reader.stop()),
  };
};

interface LoopParts {
  readonly childPid: number;
  readonly port: TypistPort;
  readonly blackBox: BlackBox;
  readonly memory: ModelMemory;
  /** the screen and the file have begun to disagree: perhaps the file is of another conversation */
  readonly onApart: () => void;
  readonly take: (event: Event) => void;
  /** as `AgentTracker.source` */
  readonly source: AgentTracker['source'];
  /** they exist as soon as the first event was taken */
  readonly actions: () => Pick<AgentActions, 'startRescue' | 'shorten'>;
  readonly handoffs: () => HandoffWriter;
}

/** Runs the session and carries out the effects of each step. */
const startLoop = (
  parts: TrackerParts,
  { childPid, port, blackBox, memory, onApart, source, take, actions, handoffs }: LoopParts,
): SessionLoop => {
  const { session, onView, unseen, notify, publisher } = parts;
  const lookAgain = makeApartWatch(onApart);
  const recipe = session.agent.recipe?.(session.env);
  const settings = compactSettings(session, recipe, session.agent.newSessions);
  for (const notice of session.notices ?? []) session.log.info(`at the start: ${notice}`);
  session.log.info(`strategy: ${settings.strategy ?? `auto, ${settings.command ?? 'no command is known'}`}`);
  const noteRecorded = makeRestartRecord(parts);
  const compactor = makeCompactor({
    recipe,
    port,
    copy: blackBox.copy,
    findFocus: () => findFocus(session, recipe, source),
    channel: askableChannel(session, { childPid, port }, () => loop.flow()),
    begin: publisher && publisher.beginTyping,
    shorten: (strategy, signal) => actions().shorten({ strategy }, { signal, isForAttempt: true }),
    log: session.log,
    onEvent: take,
  });
  const loop = makeSessionLoop(session, settings, {
    onView,
    unseen,
    takeUnreportedKeys: parts.input.takeUnreportedKeys,
    onExhausted: () => {
      if (session.values.onExhausted === 'rescue') queueMicrotask(() => actions().startRescue());
    },
    onHandoffDue: () => queueMicrotask(() => handoffs().writeAtHard()),
    onLimitOffer: () => void offerLimit(session, take),
    onNotification: notify,
    onState: (state, facts) => {
      publisher?.onState(state, facts);
      blackBox.onState(state);
      memory.onState(state);
      lookAgain(state);
    },
    onEffect: (effect, state) => {
      publisher?.onEffect(effect, state);
      noteRecorded(effect);
      compactor.run(effect);
    },
  });
  return {
    ...loop,
    stop: () => {
      compactor.stop();
      loop.stop();
    },
  };
};

/** The text behind the compact command that says what must be kept, from the conversation; undefined where nothing is known. Never rejects. */
const findFocus = async (
  { agent, log }: Pick<WrapSession, 'agent' | 'log'>,
  recipe: CompactRecipe | undefined,
  source: AgentTracker['source'],
): Promise<string | undefined> => {
  if (!recipe?.takesFocus || !agent.log?.conversation) return undefined;
  const escape = agent.readsMentions ? escapeMentions : undefined;
  try {
    const found = await source();
    return found && focusText(await readWindowEvidence(found), present({ escape }));
  } catch (error) {
    log.info(`what must be kept cannot be read: ${errorText(error)}`);
    return undefined;
  }
};

/** Calls back each time the screen and the session file begin to disagree. */
const makeApartWatch = (onApart: () => void): ((state: Session) => void) => {
  let last: Disagreement['phase'] = 'agreeing';
  return ({ evidence: { disagreement } }) => {
    const { phase } = disagreement;
    if (phase === 'apart' && last === 'agreeing') queueMicrotask(onApart); // the step that found it is not finished
    last = phase;
  };
};

const askableChannel = (
  session: WrapSession,
  child: { readonly childPid: number; readonly port: TypistPort },
  flow: () => SessionFlow,
): AskableChannel | undefined => {
  const { agent, channel: open } = session;
  const { channel } = agent;
  if (!channel || !open) return undefined;
  return {
    name: channel.name,
    ask: async (signal) => {
      const sessionId = shownId(flow().session.conversation);
      const { askToCompact, isInOtherTerminal } = await import('../typing/channel.js');
      const isElsewhereToo = (): Promise<boolean> => isInOtherTerminal(session, sessionId);
      return askToCompact({ channel, open, ...child, sessionId, isElsewhereToo, signal });
    },
  };
};

/** The child's screen and input as the typist uses them. */
const typistPort = (
  { input, outputBytes, screen, publisher }: TrackerParts,
  observer: Observer,
): TypistPort => ({
  takeTurn: makeTurns(),
  observe: () => (screen.isBehind() ? undefined : observer.observe()),
  refresh: observer.refresh,
  write: (bytes, name) => {
    publisher?.onStroke(name === undefined ? bytes : Buffer.from(name));
    input.write(bytes);
  },
  holdKeys: input.hold,
  typedCount: input.typedCount,
  hasUnreportedKeys: input.hasUnreportedKeys,
  outputBytes,
});

const logActivity = (log: WrapSession['log'], { activity, witnesses, asks, place }: ActivityReport): void => {
  log.info([`activity ${activity}`, ...(place === undefined ? [] : [place]), ...witnesses].join(', '));
  const asked = askedText(activity, asks);
  if (asked !== undefined) log.text?.(`asks: ${asked}`); // it may contain text of the conversation
};

interface ViewParts {
  readonly log: WrapSession['log'];
  readonly following: Following;
  readonly official: ReportSubscription;
}

const takeView = (event: ViewEvent, { log, following, official }: ViewParts): void => {
  const { view, isSame = false } = event;
  logView(log, event);
  following.see(view, isSame);
  if (!isSame) official.switchTo(''); // until a conversation is found, none of its reports count
};

type ViewEvent = Extract<Event, { readonly type: 'view' }>;

const logView = (log: WrapSession['log'], { view, isSame }: ViewEvent): void => {
  if (!isSame)
    log.info(`the screen shows ${view.shows === 'list' ? view.name : 'perhaps another conversation'}`);
  if (view.shows === 'conversation')
    log.text?.(`marks of it: ${JSON.stringify([view.names, view.messages])}`);
};

type AgentPlace = Pick<ChildPlace, 'childPid' | 'cwd' | 'home' | 'env' | 'args' | 'startedAt'>;

interface FileListener {
  readonly handle: (event: Event) => void;
  /** the agent switched to another conversation */
  readonly switchTo: (sessionId: string) => void;
  /** when the screen last showed that the agent begins to work */
  readonly workedAt: () => Millis | undefined;
  readonly rest: Rest;
}

const followFile = (
  { session, input }: TrackerParts,
  place: AgentPlace,
  { handle, switchTo, workedAt, rest }: FileListener,
): Following => {
  const { agent, log } = session;
  const notifyVersion = makeVersionNotifier(agent, stateFolder(place.env, place.home), (text, isNew) => {
    log.info(text);
    if (isNew) handle(noticeEvent(text));
  });
  return followSession({
    ...place,
    agent: agent,
    now: Date.now,
    enteredAt: input.enteredAt,
    enteredSince: input.enteredSince,
    workedAt,
    rest,
    onFact: (event) => {
      if (event.type === 'session-changed' && !event.isSame)
        log.info(`the agent's session is ${event.sessionId}`);
      if (event.type === 'boundary') log.info('the agent has compacted');
      handle(event);
      if (event.type === 'agent-version') void notifyVersion(event.version);
      if (event.type === 'session-changed') switchTo(event.sessionId);
    },
    onProblem: (reason) => {
      log.warn(reason);
      handle({ type: 'source-problem', reason });
    },
  });
};

const observe = (
  { session: { agent, env, log, values }, screen }: TrackerParts,
  { childPid, place }: { readonly childPid: number; readonly place: () => ChildPlace },
  take: (event: Event) => void,
): Observer => {
  const { status, reader, prompt } = agent.screen ?? {};
  const port = makeFilePort();
  const read = reader?.(env);
  return makeObserver({
    model: screen,
    read: read && prompt && values.atHard === 'hold' ? tellingCommands(read, prompt) : read,
    prompt,
    trustFilter: makeTrustFilter(() => terminalReaders(childPid)),
    status: status && (() => status(port, place())),
    onEvent: take,
    onRead: log.text && makeScreenLog(log.text),
    onFailure: (error) => {
      log.error(`reading the screen failed: ${errorStack(error)}`);
      take({ type: 'screen-blank' });
      take({ type: 'activity', report: { activity: 'unknown', witnesses: ['the screen cannot be read'] } });
      if (error instanceof UserError) take(noticeEvent(`the screen is not read any more: ${error.message}`));
    },
  });
};
