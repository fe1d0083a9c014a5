import { errorStack } from '../core/errors.js';
import type { ChildPlace } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import { UserError } from '../core/errors.js';
import { askedText, type ActivityReport } from '../core/reading.js';
import { noticeEvent } from '../core/session-flow.js';
import { makeFilePort } from '../storage/agent-file-reader.js';
import { terminalReaders } from '../storage/processes.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import { compactSettings, makeCompactor } from './compactor.js';
import { makeEstimateSource } from './estimate.js';
import { makeVisibilityCheck, type Footer, type VisibilityParts } from './footer.js';
import type { Keyboard } from './keyboard.js';
import type { Notifier } from './notifier.js';
import type { WrapSession } from './options.js';
import type { Output } from './output.js';
import type { Publisher } from './publish.js';
import type { Resize } from './resize.js';
import { makeTrustFilter, makeObserver, type Observer, makeScreenLog } from './screen-reader.js';
import { followSession, type Subscription } from './session-file.js';
import { followSettings, makeSessionLoop, type SessionLoop } from './session.js';
import { followReports, followOwnCompaction } from './status-line.js';
import type { TerminalSession } from './terminal-session.js';
import type { TypistPort } from './typing-steps.js';
import { makeClock } from './timing.js';
import { makeVersionNotifier } from './version-notice.js';

/** The parts that carry out the session's decisions. */
export interface TrackerParts extends VisibilityParts {
  readonly footer: Footer;
  readonly resize: Pick<Resize, 'check'>;
  readonly keyboard: Pick<Keyboard, 'enteredAt' | 'hold' | 'type' | 'typedCount'>;
  readonly output: Pick<Output, 'isBehind' | 'writtenBytes'>;
  readonly notifier: Pick<Notifier, 'notify'>;
  /** other programs */
  readonly publisher: Publisher | undefined;
}

export interface AgentTracker {
  /** the child has written output */
  readonly noteOutput: () => void;
  /** an event caused by the user or another program */
  readonly handle: (event: Event) => void;
  readonly flow: SessionLoop['flow'];
  /** the agent's session file, once it is known */
  readonly sessionFile: () => string | undefined;
  /** the screen model is no longer fed, so it does not show the child's screen any more */
  readonly stopReadingScreen: () => void;
  /** the child has ended */
  readonly stop: () => void;
}

/**
 * Follows the agent's session file, status reports and screen, and passes their events to the session; the session updates the footer and
 * the published record, and has the command typed.
 */
export const trackAgent = (parts: TrackerParts, childPid: number): AgentTracker => {
  const { terminal, publisher } = parts;
  const { session, screen } = terminal;
  const { agent, env, cwd, log } = session;
  const recipe = agent.recipe?.(env);
  const take = (event: Event): void => {
    if (event.type === 'activity') logActivity(log, event.report);
    loop.take(event);
  };
  const place = { childPid, cwd, home: homeFolder(env), env, startedAt: Date.now() };
  const observer = observe(terminal, place, take);
  const estimate = agent.isEstimated && makeEstimateSource({ screen, now: makeClock(), onFact: take });
  const loop = startLoop(parts, observer, take);
  const official = followReports(session, { onFact: take, now: Date.now });
  let file: string | undefined;
  const following = followFile(parts, place, {
    handle: take,
    switchTo: official.switchTo,
    onFile: (path) => {
      file = path;
      publisher?.onFile(path);
    },
  });
  const ownCompaction = followOwnCompaction(session, take);
  const stopSettings = followSettings(session, recipe, take);
  const noteOutput = (): void => {
    observer.noteOutput();
    if (estimate) estimate.noteOutput();
  };
  noteOutput(); // for output before this point
  const stopReading = (): void => {
    observer.stop();
    if (estimate) estimate.stop();
  };
  return {
    noteOutput,
    handle: take,
    flow: loop.flow,
    sessionFile: () => file,
    stopReadingScreen: () => {
      stopReading();
      take({ type: 'screen-blank' });
      take({ type: 'activity', report: { activity: 'unknown', witnesses: ['the screen is not followed'] } });
    },
    stop: () => {
      stopSettings();
      stopReading();
      for (const part of [following, official, ownCompaction]) part.stop();
      take({ type: 'activity', report: { activity: 'dead', witnesses: ['the child has ended'] } });
      loop.stop();
    },
  };
};

/** Runs the session and carries out the effects of each step. */
const startLoop = (parts: TrackerParts, observer: Observer, take: (event: Event) => void): SessionLoop => {
  const { terminal, footer, resize, notifier, publisher } = parts;
  const { session } = terminal;
  const recipe = session.agent.recipe?.(session.env);
  const settings = compactSettings(session, recipe);
  const compactor = makeCompactor({
    recipe,
    mayStash: settings.mayStash === true,
    port: typistPort(parts, observer),
    log: session.log,
    onEvent: take,
  });
  const loop = makeSessionLoop(session, settings, {
    onView: (view) => {
      if (view.due !== 'asked') terminal.isRowWanted = view.due !== undefined; // no change of size while a request is carried out
      resize.check();
      footer.show(view);
    },
    unseen: makeVisibilityCheck(parts),
    onNotification: notifier.notify,
    onState: publisher?.onState,
    onEffect: (effect, state) => {
      publisher?.onEffect(effect, state);
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

/** The child's screen and input as the typist uses them. */
const typistPort = ({ keyboard, output, publisher }: TrackerParts, observer: Observer): TypistPort => ({
  observe: () => (output.isBehind() ? undefined : observer.observe()),
  refresh: observer.refresh,
  write: (bytes) => {
    publisher?.onStroke(bytes);
    keyboard.type(bytes);
  },
  holdKeys: keyboard.hold,
  typedCount: keyboard.typedCount,
  outputBytes: output.writtenBytes,
});

const logActivity = (log: WrapSession['log'], { activity, witnesses, asks }: ActivityReport): void => {
  log.info([`activity ${activity}`, ...witnesses].join(', '));
  const asked = askedText(activity, asks);
  if (asked !== undefined) log.text?.(`asks: ${asked}`); // it may contain text of the conversation
};

type AgentPlace = Omit<ChildPlace, 'now'>;

interface FileListener {
  readonly onFile: (path: string | undefined) => void;
  readonly handle: (event: Event) => void;
  /** the agent switched to another conversation */
  readonly switchTo: (sessionId: string) => void;
}

const followFile = (
  { terminal: { session }, keyboard }: TrackerParts,
  place: AgentPlace,
  { handle, switchTo, onFile }: FileListener,
): Subscription => {
  const { agent, log } = session;
  const notifyVersion = makeVersionNotifier(agent, stateFolder(place.env, place.home), (text) => {
    log.info(text);
    handle(noticeEvent(text));
  });
  return followSession({
    ...place,
    agent: agent,
    now: Date.now,
    enteredAt: keyboard.enteredAt,
    onFile,
    onFact: (event) => {
      if (event.type === 'session-changed') log.info(`the agent's session is ${event.sessionId}`);
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
  { session: { agent, env, log }, screen }: TerminalSession,
  place: AgentPlace,
  take: (event: Event) => void,
): Observer => {
  const { status, reader, prompt } = agent.screen ?? {};
  const port = makeFilePort();
  return makeObserver({
    model: screen,
    read: reader?.(env),
    prompt,
    trustFilter: makeTrustFilter(() => terminalReaders(place.childPid)),
    status: status && (() => status(port, { ...place, now: Date.now() })),
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
