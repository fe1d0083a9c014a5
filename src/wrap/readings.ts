import { errorStack } from '../core/json.js';
import type { Place } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import { UserError } from '../core/json.js';
import { askedIn, type ActivityReport } from '../core/reading.js';
import { noticeEvent } from '../core/session-flow.js';
import { sessionFiles } from '../storage/agent-files.js';
import { terminalReaders } from '../storage/processes.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import { compactSettings, makeCompactor } from './compactor.js';
import { makeEstimateSource } from './estimate.js';
import { makeSight, type Footer, type SightParts } from './footer.js';
import type { Keys } from './keyboard.js';
import type { Notifier } from './notifier.js';
import type { WrapSession } from './options.js';
import type { Output } from './output.js';
import type { Outside } from './publish.js';
import type { Resize } from './resize.js';
import { makeDoubt, makeObserver, type Observer, screenText } from './screen-reader.js';
import { followSession, type Following } from './session-file.js';
import { followSettings, makeSessionLoop, type SessionLoop } from './session.js';
import { followOfficial, followOwnCompaction } from './status-line.js';
import type { Stage } from './terminal-session.js';
import type { TypistPort } from './typing-steps.js';
import { makeClock } from './timing.js';
import { makeVersionNotice } from './version-notice.js';

/** What carries out what the session decides. */
export interface ReadingsParts extends SightParts {
  readonly footer: Footer;
  readonly resize: Pick<Resize, 'check'>;
  readonly keys: Pick<Keys, 'enteredAt' | 'hold' | 'type' | 'typed'>;
  readonly output: Pick<Output, 'isHolding' | 'written'>;
  readonly notifier: Pick<Notifier, 'notify'>;
  /** other programs */
  readonly outside: Outside | undefined;
}

export interface Readings {
  /** the child has written */
  readonly noteOutput: () => void;
  /** something that the user or another program did */
  readonly take: (event: Event) => void;
  readonly flow: SessionLoop['flow'];
  /** the agent's session file, once it is known */
  readonly file: () => string | undefined;
  /** the screen model gets nothing any more: what it shows is not what the child shows */
  readonly goBlind: () => void;
  /** the child has ended */
  readonly stop: () => void;
}

/**
 * Follows what the agent records of itself and what it shows; each event is a step of the session, which shows itself in the footer and
 * to other programs, and types.
 */
export const followReadings = (parts: ReadingsParts, childPid: number): Readings => {
  const { stage, outside } = parts;
  const { session, screen } = stage;
  const { runtime, env, cwd, log } = session;
  const recipe = runtime.recipe?.(env);
  const take = (event: Event): void => {
    if (event.type === 'activity') logActivity(log, event.report);
    loop.take(event);
  };
  const place = { childPid, cwd, home: homeFolder(env), env, startedAt: Date.now() };
  const observer = observe(stage, place, take);
  const estimate = runtime.isEstimated && makeEstimateSource({ screen, now: makeClock(), onFact: take });
  const loop = startLoop(parts, observer, take);
  const official = followOfficial(session, { onFact: take, now: Date.now });
  let file: string | undefined;
  const following = followFile(parts, place, {
    take,
    goTo: official.goTo,
    onFile: (path) => {
      file = path;
      outside?.onFile(path);
    },
  });
  const ownCompaction = followOwnCompaction(session, take);
  const stopSettings = followSettings(session, recipe, take);
  const noteOutput = (): void => {
    observer.noteOutput();
    if (estimate) estimate.noteOutput();
  };
  noteOutput(); // what came before
  const stopReading = (): void => {
    observer.stop();
    if (estimate) estimate.stop();
  };
  return {
    noteOutput,
    take,
    flow: loop.flow,
    file: () => file,
    goBlind: () => {
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

/** Runs the session, and carries out what each step decides. */
const startLoop = (parts: ReadingsParts, observer: Observer, take: (event: Event) => void): SessionLoop => {
  const { stage, footer, resize, notifier, outside } = parts;
  const { session } = stage;
  const recipe = session.runtime.recipe?.(session.env);
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
      if (view.due !== 'asked') stage.rowWanted = view.due !== undefined; // no change of size while a request is carried out
      resize.check();
      footer.show(view);
    },
    unseen: makeSight(parts),
    onNotification: notifier.notify,
    onState: outside?.onState,
    onEffect: (effect, state) => {
      outside?.onEffect(effect, state);
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

/** The child as the typist sees it and writes to it. */
const typistPort = ({ keys, output, outside }: ReadingsParts, observer: Observer): TypistPort => ({
  look: () => (output.isHolding() ? undefined : observer.look()),
  refresh: observer.refresh,
  write: (bytes) => {
    outside?.onStroke(bytes);
    keys.type(bytes);
  },
  holdKeys: keys.hold,
  typed: keys.typed,
  drawn: output.written,
});

const logActivity = (log: WrapSession['log'], { activity, witnesses, asks }: ActivityReport): void => {
  log.info([`activity ${activity}`, ...witnesses].join(', '));
  const asked = askedIn(activity, asks);
  if (asked !== undefined) log.text?.(`asks: ${asked}`); // it may hold what was said
};

type AgentPlace = Omit<Place, 'now'>;

interface FileListener {
  readonly onFile: (path: string | undefined) => void;
  readonly take: (event: Event) => void;
  /** the conversation is another one */
  readonly goTo: (sessionId: string) => void;
}

const followFile = (
  { stage: { session }, keys }: ReadingsParts,
  place: AgentPlace,
  { take, goTo, onFile }: FileListener,
): Following => {
  const { runtime, log } = session;
  const tellVersion = makeVersionNotice(runtime, stateFolder(place.env, place.home), (text) => {
    log.info(text);
    take(noticeEvent(text));
  });
  return followSession({
    ...place,
    runtime,
    now: Date.now,
    enteredAt: keys.enteredAt,
    onFile,
    onFact: (event) => {
      if (event.type === 'session-changed') log.info(`the agent's session is ${event.sessionId}`);
      if (event.type === 'boundary') log.info('the agent has compacted');
      take(event);
      if (event.type === 'agent-version') void tellVersion(event.version);
      if (event.type === 'session-changed') goTo(event.sessionId);
    },
    onProblem: (reason) => {
      log.warn(reason);
      take({ type: 'source-problem', reason });
    },
  });
};

const observe = (
  { session: { runtime, env, log }, screen }: Stage,
  place: AgentPlace,
  take: (event: Event) => void,
): Observer => {
  const { status, reader, prompt } = runtime.screen ?? {};
  const port = sessionFiles();
  return makeObserver({
    model: screen,
    read: reader?.(env),
    prompt,
    doubt: makeDoubt(() => terminalReaders(place.childPid)),
    status: status && (() => status(port, { ...place, now: Date.now() })),
    onEvent: take,
    onRead: log.text && screenText(log.text),
    onFailure: (error) => {
      log.error(`reading the screen failed: ${errorStack(error)}`);
      take({ type: 'screen-blank' });
      take({ type: 'activity', report: { activity: 'unknown', witnesses: ['the screen cannot be read'] } });
      if (error instanceof UserError) take(noticeEvent(`the screen is not read any more: ${error.message}`));
    },
  });
};
