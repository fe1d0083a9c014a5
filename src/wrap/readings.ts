import type { Place } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import { UserError } from '../core/json.js';
import { askedIn, type ActivityReport, type Millis } from '../core/reading.js';
import { noticeEvent } from '../core/session-flow.js';
import { sessionFiles } from '../storage/agent-files.js';
import { terminalReaders } from '../storage/processes.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import type { Screen } from '../terminal/screen.js';
import { compactSettings, makeCompactor } from './compactor.js';
import { makeEstimateSource } from './estimate.js';
import type { WrapSession } from './options.js';
import { makeDoubt, makeObserver, type Observer, screenText } from './screen-reader.js';
import { followSession, type Following } from './session-file.js';
import { followSettings, makeSessionLoop, type LoopListener, type SessionLoop } from './session.js';
import { followOfficial, type OfficialFollowing, followOwnCompaction } from './status-line.js';
import { typistPort, untouched, type TypistHands } from './typist.js';
import { makeVersionNotice } from './version-notice.js';

export interface ReadingsListener extends LoopListener {
  /** how keys of ours reach the child; without it nothing is ever typed */
  readonly typist?: TypistHands | undefined;
  /** the agent's session file is another one */
  readonly onFile?: ((path: string | undefined) => void) | undefined;
  /** when the user pressed Enter last; undefined while never */
  readonly enteredAt: () => Millis | undefined;
}

/** The child as its readings need it. */
export interface Observed {
  readonly pid: number;
  readonly screen: Screen;
}

export interface Readings {
  /** the child has written */
  readonly noteOutput: () => void;
  /** something that the user or another program did */
  readonly take: (event: Event) => void;
  readonly overview: SessionLoop['overview'];
  /** the agent's session file, once it is known */
  readonly file: () => string | undefined;
  /** the screen model gets nothing any more: what it shows is not what the child shows */
  readonly goBlind: () => void;
  /** the child has ended */
  readonly stop: () => void;
}

/** Follows what the agent records of itself and what it shows, and shows each new view of it. */
export const followReadings = (
  session: WrapSession,
  child: Observed,
  listener: ReadingsListener,
): Readings => {
  const { runtime, env, cwd, log } = session;
  const now = Date.now;
  let observer: Observer | undefined;
  const hands = listener.typist ?? untouched;
  const recipe = runtime.recipe?.(env);
  const settings = compactSettings(session, recipe);
  const compactor = makeCompactor({
    recipe: listener.typist && recipe,
    mayStash: settings.mayStash === true,
    port: typistPort(hands, () => observer),
    log,
    onEvent: (event) => take(event),
  });
  const loop = makeSessionLoop(session, settings, {
    ...listener,
    onEffect: (effect, state) => {
      listener.onEffect?.(effect, state);
      compactor.run(effect);
    },
  });
  const take = (event: Event): void => {
    if (event.type === 'activity') logActivity(log, event.report);
    loop.take(event);
  };
  const place = { childPid: child.pid, cwd, home: homeFolder(env), env, startedAt: now() };
  const official = followOfficial(session, { onFact: take, now });
  let file: string | undefined;
  const onFile = (path: string | undefined): void => {
    file = path;
    listener.onFile?.(path);
  };
  const following = followFile(session, { place, take, official, listener: { ...listener, onFile } });
  const observing = observe(session, child, { place, take });
  const ownCompaction = followOwnCompaction(session, take);
  const stopSettings = followSettings(session, recipe, take);
  observer = observing;
  return {
    noteOutput: observing.noteOutput,
    take,
    overview: loop.overview,
    file: () => file,
    goBlind: () => {
      observing.stop();
      take({ type: 'screen-blank' });
      take({ type: 'activity', report: { activity: 'unknown', witnesses: ['the screen is not followed'] } });
    },
    stop: () => {
      stopSettings();
      for (const part of [observing, following, official, ownCompaction]) part.stop();
      take({ type: 'activity', report: { activity: 'dead', witnesses: ['the child has ended'] } });
      compactor.stop();
      loop.stop();
    },
  };
};

const logActivity = (log: WrapSession['log'], { activity, witnesses, asks }: ActivityReport): void => {
  log.info([`activity ${activity}`, ...witnesses].join(', '));
  const asked = askedIn(activity, asks);
  if (asked !== undefined) log.text?.(`asks: ${asked}`); // it may hold what was said
};

interface FileParts extends Observing {
  readonly official: OfficialFollowing;
  readonly listener: Pick<ReadingsListener, 'enteredAt' | 'onFile'>;
}

const followFile = (
  { runtime, log }: WrapSession,
  { place, take, official, listener }: FileParts,
): Following => {
  const tellVersion = makeVersionNotice(runtime, stateFolder(place.env, place.home), (text) => {
    log.info(text);
    take(noticeEvent(text));
  });
  return followSession({
    runtime,
    ...place,
    now: Date.now,
    enteredAt: listener.enteredAt,
    onFile: (path) => listener.onFile?.(path),
    onFact: (event) => {
      if (event.type === 'session-changed') log.info(`the agent's session is ${event.sessionId}`);
      if (event.type === 'boundary') log.info('the agent has compacted');
      take(event);
      if (event.type === 'agent-version') void tellVersion(event.version);
      if (event.type === 'session-changed') official.goTo(event.sessionId);
    },
    onProblem: (reason) => {
      log.warn(reason);
      take({ type: 'source-problem', reason });
    },
  });
};

interface Observing {
  readonly place: Omit<Place, 'now'>;
  readonly take: (event: Event) => void;
}

const observe = (
  { runtime, env, log }: WrapSession,
  { screen }: Observed,
  { place, take }: Observing,
): Observer => {
  const { status, reader, prompt } = runtime.screen ?? {};
  const port = sessionFiles();
  const observer = makeObserver({
    model: screen,
    read: reader?.(env),
    prompt,
    doubt: makeDoubt({ readers: () => terminalReaders(place.childPid) }),
    status: status && (() => status(port, { ...place, now: Date.now() })),
    onEvent: take,
    onRead: log.text && screenText(log.text),
    onFailure: (error) => {
      log.error(`reading the screen failed: ${error instanceof Error ? (error.stack ?? '') : String(error)}`);
      take({ type: 'screen-blank' });
      take({ type: 'activity', report: { activity: 'unknown', witnesses: ['the screen cannot be read'] } });
      if (error instanceof UserError) take(noticeEvent(`the screen is not read any more: ${error.message}`));
    },
  });
  const estimate = runtime.isEstimated && makeEstimateSource({ screen, now: Date.now, onFact: take });
  const all = {
    look: observer.look,
    refresh: observer.refresh,
    noteOutput: (): void => {
      observer.noteOutput();
      estimate?.noteOutput();
    },
    stop: (): void => {
      observer.stop();
      estimate?.stop();
    },
  };
  all.noteOutput(); // what came before
  return all;
};
