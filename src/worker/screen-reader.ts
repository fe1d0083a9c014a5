import type { ScreenReader, ScreenEvidence, PromptReader, AgentStatus } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import { present } from '../core/present.js';
import type { Millis, Activity, ActivityReport, Place } from '../core/reading.js';
import type { ScreenModel } from '../terminal/screen-model.js';
import type { ScreenObservation } from '../session/ports.js';

// Reads the agent's screen when the child pauses its output, and makes events of what it shows.

/** Output after which the screen has not been read yet. */
export interface PendingOutput {
  /** time of the first output */
  readonly since: Millis;
  /** time of the last output */
  readonly last: Millis;
  /** when reading was postponed because a frame was incomplete */
  readonly postponedAt?: Millis;
}

const REST_MS = 50; // after so long without output a screen is complete: agents write the pieces of a frame at most some milliseconds apart
const LATEST_MS = 250; // the screen of an agent that draws without a pause is read after this time
const FRAME_REST_MS = 10; // after a postponed frame, whose end the synchronized update marks
const FRAME_LATEST_MS = 1_000; // a synchronized update that never ends is a fault of the child; terminals wait as long

/** Records new output, or another change of the screen. */
export const addPendingOutput = (pending: PendingOutput | undefined, now: Millis): PendingOutput =>
  pending ? { ...pending, last: now } : { since: now, last: now };

/** When the screen has to be read. */
export const readDue = ({ since, last, postponedAt }: PendingOutput): Millis => {
  if (postponedAt === undefined) return Math.min(last + REST_MS, since + LATEST_MS);
  const latest = since + FRAME_LATEST_MS;
  return last > postponedAt ? Math.min(last + FRAME_REST_MS, latest) : latest;
};

/** The child is inside a synchronized update: postpones reading. Undefined when it has been postponed for long enough. */
export const postponeRead = (pending: PendingOutput, now: Millis): PendingOutput | undefined =>
  now < pending.since + FRAME_LATEST_MS ? { ...pending, postponedAt: now } : undefined;

/** Output events are reported at most this often: the core only needs to know that there is output. */
export const OUTPUT_EVERY_MS = 1_000;

/** What the screens so far have shown. */
export interface ScreenState {
  readonly read: ScreenReader;
  readonly activity?: Activity;
  readonly asks?: string | undefined;
  readonly place?: Place | undefined;
  readonly isCommand?: boolean | undefined;
  readonly showsNumber: boolean;
}

export interface ScreenReport {
  readonly state: ScreenState;
  readonly activity: Activity;
  /** the screen's activity is not trusted */
  readonly isUntrusted?: boolean;
  readonly events: readonly Event[];
}

export const startScreenState = (read: ScreenReader): ScreenState => ({ read, showsNumber: false });

/**
 * Makes events of what a screen shows. A number is reported each time, so that its time is current; a number that disappears and the
 * agent's activity are reported when they change. `distrustReason`: why the screen's activity is not trusted.
 */
export const readScreen = (
  state: ScreenState,
  seen: ScreenEvidence,
  now: Millis,
  distrustReason: (activity: Activity) => string | undefined = () => undefined,
): ScreenReport => {
  const { activity: read, facts, next } = state.read(seen, now);
  const ownReport: ActivityReport = hasStatus(seen) ? { ...read, isReported: true } : read;
  const reason = distrustReason(ownReport.activity);
  const activityReport: ActivityReport =
    reason === undefined ? ownReport : { activity: 'unknown', witnesses: [...ownReport.witnesses, reason] };
  const { activity, asks, place, isCommand } = activityReport;
  const showsNumber = facts.some(({ type }) => type === 'reading');
  const blank: readonly Event[] = state.showsNumber && !showsNumber ? [{ type: 'screen-blank' }] : [];
  const isSame =
    activity === state.activity &&
    asks === state.asks &&
    place === state.place &&
    isCommand === state.isCommand;
  const change: readonly Event[] = isSame ? [] : [{ type: 'activity', report: activityReport }];
  // the view first, to which all else belongs; then the window, so that the number is measured against it
  const views = facts.filter(({ type }) => type === 'view');
  const windows = facts.filter(({ type }) => type === 'window');
  const others = facts.filter(({ type }) => type !== 'window' && type !== 'view');
  return {
    state: { read: next, activity, asks, place, isCommand, showsNumber },
    activity,
    isUntrusted: reason !== undefined,
    events: [...views, ...windows, ...others, ...blank, ...change],
  };
};

/** Reads the prompt of every screen with a draft, too, to tell a command from a message. */
export const tellingCommands =
  (read: ScreenReader, prompt: PromptReader): ScreenReader =>
  (seen, now) => {
    const { activity: report, next, ...rest } = read(seen, now);
    const isCommand = report.activity === 'draft' && prompt(seen)?.text.startsWith('/') === true;
    const activity = isCommand ? { ...report, isCommand } : report;
    return { ...rest, activity, next: tellingCommands(next, prompt) };
  };

const hasStatus = ({ signals, status }: ScreenEvidence): boolean =>
  status !== undefined || signals.agentState !== undefined;

/** There is no screen to read, for example because the terminal is too large for a model: what was read before no longer holds. */
export const blankScreen = ({
  read,
  activity,
  showsNumber,
}: ScreenState): Pick<ScreenReport, 'state' | 'events'> => {
  const activityReport = { activity: 'unknown', witnesses: ['the screen is not followed'] } as const;
  return {
    state: { read, activity: 'unknown', showsNumber: false },
    events: [
      ...(showsNumber ? [{ type: 'screen-blank' } as const] : []),
      ...(activity === undefined || activity === 'unknown'
        ? []
        : [{ type: 'activity', report: activityReport } as const]),
    ],
  };
};

export interface ObserverOptions {
  readonly model: Pick<ScreenModel, 'isBehind' | 'isMidFrame' | 'snapshot'>;
  /** undefined for an agent whose screen cannot be read */
  readonly read: ScreenReader | undefined;
  /** reads the text of the agent's prompt, where that is possible */
  readonly prompt?: PromptReader | undefined;
  /** reads the agent's own status file, where it has one */
  readonly status: (() => Promise<AgentStatus | undefined>) | undefined;
  /** checks that the agent still owns the screen; without it every screen is trusted */
  readonly trustFilter?: TrustFilter | undefined;
  readonly onEvent: (event: Event) => void;
  /** called with each screen that was read and the result */
  readonly onRead?: ((seen: ScreenEvidence, report: ScreenReport) => void) | undefined;
  /** reading has failed: the screen is not read any more */
  readonly onFailure: (error: unknown) => void;
}

/** The agent's status file as last read. */
type LastStatus = () => AgentStatus | undefined;

const BEHIND_MS = 50; // how often to check whether the screen model has caught up

/** Reads the screen when the output pauses, or on request. */
const makeReadScheduler = (options: ObserverOptions, reader: ScreenReader, status: LastStatus) => {
  const { model } = options;
  const observe = makeScreenRead(options, { state: startScreenState(reader), status, stop: () => stop() });
  let pending: PendingOutput | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const stop = (): void => {
    isStopped = true;
    clearTimeout(timer);
  };
  const wait = (milliseconds: number): void => {
    timer = setTimeout(attempt, Math.ceil(Math.max(0, milliseconds))).unref();
  };
  const attempt = (): void => {
    timer = undefined;
    if (!pending || isStopped) return;
    const now = performance.now();
    const due = readDue(pending);
    if (now < due) return wait(due - now);
    if (model.isBehind()) return wait(BEHIND_MS);
    const later = model.isMidFrame() ? postponeRead(pending, now) : undefined;
    pending = later;
    if (later) return wait(readDue(later) - now);
    observe(undefined);
  };
  return {
    stop,
    /** undefined while the screen is incomplete or cannot be read */
    readNow: (): ScreenObservation | undefined =>
      isStopped || model.isBehind() || model.isMidFrame() ? undefined : observe(options.prompt),
    /** the child has written; time of `performance.now()` */
    noteOutput: (now: number): void => {
      const isFrameAwaited = pending?.postponedAt !== undefined;
      pending = addPendingOutput(pending, now);
      if (isStopped || (timer && !isFrameAwaited)) return;
      clearTimeout(timer);
      wait(readDue(pending) - now);
    },
  };
};

/** Reads the screen once and emits its events; the prompt is read only on request. */
const makeScreenRead = (
  { model, trustFilter, onEvent, onRead, onFailure }: ObserverOptions,
  start: { readonly state: ScreenState; readonly status: LastStatus; readonly stop: () => void },
) => {
  const { status, stop } = start;
  let { state } = start;
  return (prompt: PromptReader | undefined): ScreenObservation | undefined => {
    const drawn = model.snapshot();
    if (!drawn) {
      const blank = blankScreen(state);
      ({ state } = blank);
      for (const event of blank.events) onEvent(event);
      return undefined;
    }
    try {
      const current = status();
      const seen = { ...drawn, ...present({ status: current }) };
      const isFresh = prompt === undefined; // this read was caused by output of the child
      const report = readScreen(state, seen, Date.now(), (activity) =>
        trustFilter?.distrustReason(activity, seen, isFresh),
      );
      ({ state } = report);
      onRead?.(seen, report);
      const { activity, events, isUntrusted = false } = report;
      const found = { activity, prompt: prompt?.(seen), isUntrusted };
      for (const event of events) onEvent(event);
      return found;
    } catch (error) {
      stop();
      onFailure(error);
      return undefined;
    }
  };
};

const POLL_MS = 500;
const LINGER_MS = 2_000; // agents write their status shortly before or after they write to the screen

/** Reads the agent's status file while the agent is active, or says that it may change without a sign on the screen. */
const pollStatus = (read: () => Promise<AgentStatus | undefined>, onChange: () => void) => {
  let last: AgentStatus | undefined;
  let outputAt = -Infinity;
  let pollAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;
  let isStopped = false;

  const ask = async (): Promise<void> => {
    timer = undefined;
    isAsking = true;
    pollAt = performance.now();
    const current = await read().catch(() => undefined);
    isAsking = false;
    if (isStopped) return;
    const isNew = current?.state !== last?.state || current?.waitingFor !== last?.waitingFor;
    last = current;
    if (last?.isSilent || performance.now() - outputAt < LINGER_MS) again();
    if (isNew) onChange();
  };
  const again = (): void => {
    if (isAsking || isStopped) return;
    timer ??= setTimeout(() => void ask(), Math.max(0, pollAt + POLL_MS - performance.now())).unref();
  };
  return {
    /** the last status */
    last: () => last,
    noteOutput: (): void => {
      outputAt = performance.now();
      again();
    },
    /** resolves when the file has been read again */
    refresh: async (): Promise<void> => {
      clearTimeout(timer);
      timer = undefined;
      if (!isAsking && !isStopped) await ask();
    },
    stop: (): void => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};

/** Reads the child's screen when its output pauses. No timer runs while the child writes nothing, unless its status may change then. */
export interface Observer {
  /** the child has written; only records the time, because its bytes go first */
  readonly noteOutput: () => void;
  /** reads the screen now; undefined while it is incomplete or cannot be read */
  readonly observe: () => ScreenObservation | undefined;
  /** resolves when the agent's status file has been read again, so that the next read does not use an old status */
  readonly refresh: () => Promise<void>;
  readonly stop: () => void;
}

export const makeObserver = (options: ObserverOptions): Observer => {
  const { read, status, onEvent } = options;
  const clock = (): number => performance.now();
  let outputAt = -Infinity;
  const poll = status && read && pollStatus(status, () => scheduler?.noteOutput(clock()));
  const scheduler = read && makeReadScheduler(options, read, () => poll?.last());
  return {
    noteOutput: () => {
      const now = clock();
      scheduler?.noteOutput(now);
      poll?.noteOutput();
      if (now - outputAt < OUTPUT_EVERY_MS) return;
      outputAt = now;
      setTimeout(() => onEvent({ type: 'output' }), 0).unref(); // a timer, so that the child's next bytes do not wait for it
    },
    observe: () => scheduler?.readNow(),
    refresh: async () => poll?.refresh(),
    stop: () => {
      poll?.stop();
      scheduler?.stop();
    },
  };
};

// For `debug.text`: logs the screens on which something new was read, row by row, to find the cause of a wrong number.

/** Writes the screen whenever its number or the agent's activity has changed. */
export const makeScreenLog = (write: (line: string) => void) => {
  let logged: string | undefined;
  return ({ screen, signals }: ScreenEvidence, { activity, events }: ScreenReport): void => {
    const numbers = events.flatMap((event) => (event.type === 'reading' ? [event.reading] : []));
    const news = JSON.stringify([activity, ...numbers.map((each) => ({ ...each, at: 0 }))]);
    if (news === logged) return;
    logged = news;
    if (signals.title !== undefined) write(`title ${signals.title}`);
    for (let row = 0; row < screen.rows; row += 1) {
      const text = screen.text(row);
      if (text.trim() !== '') write(`row ${row} ${row === screen.cursorRow ? '>' : '|'} ${text}`);
    }
  };
};

// Checks whether the agent that drew the screen is still running. An agent that was killed leaves its last frame, and nothing may be typed
// into the program that reads the terminal next.

/** Called at each read of the screen. */
export interface TrustFilter {
  /**
   * Why the screen must not be trusted although it shows the agent's rows; undefined where it is trusted. `isFresh`: the child has written
   * since the last read, so whoever reads its terminal now was running then.
   */
  readonly distrustReason: (activity: Activity, seen: ScreenEvidence, isFresh: boolean) => string | undefined;
}

const statusSources = [
  ['its status file', ({ status }: ScreenEvidence) => status !== undefined],
  ['its title', ({ signals }: ScreenEvidence) => (signals.title ?? '') !== ''],
  [
    'its state (OSC 7501)',
    ({ signals }: ScreenEvidence) => /^state=(?!clear)/.test(signals.agentState ?? ''),
  ],
] as const;

/** `readers`: the processes that read the child's terminal, from `terminalReaders`. */
export const makeTrustFilter = (readers: () => readonly string[] | undefined): TrustFilter => {
  let usedSources = new Set<string>();
  let agents: readonly string[] | undefined;
  let helpers: readonly string[] = [];
  let before: readonly string[] | undefined; // readers at the previous check
  let young: readonly string[] = []; // readers first seen when the agents were determined

  /** A source that the agent has used before and that is missing now. */
  const missingSource = (activity: Activity, seen: ScreenEvidence): string | undefined => {
    const presentSources = statusSources.filter(([, isPresent]) => isPresent(seen)).map(([name]) => name);
    const missing = [...usedSources].find((name) => !presentSources.some((each) => each === name));
    if (missing === undefined && activity !== 'unknown')
      usedSources = new Set([...usedSources, ...presentSources]);
    return missing === undefined ? undefined : `${missing} has gone`;
  };
  /**
   * A dead agent draws nothing: the readers that are present when an agent begins to work are the agent. Readers that appear later while it
   * draws are its stty processes and may end. So may a reader that is present at one check only: every process that an agent starts has
   * the agent's terminal for a moment, before it is given a pipe.
   */
  const foreignReader = (activity: Activity, isFresh: boolean): string | undefined => {
    const now = readers();
    if (now === undefined) return undefined;
    const steady = before ? now.filter((each) => before?.includes(each)) : now;
    if (agents) agents = [...agents, ...young.filter((each) => now.includes(each))];
    [before, young] = [now, []];
    const isWhole = (): boolean => agents?.every((each) => now.includes(each)) === true;
    const begins = activity === 'busy' || (agents === undefined && activity !== 'unknown');
    if (isFresh && !isWhole() && begins && steady.length > 0) {
      [agents, helpers] = [steady, now];
      young = now.filter((each) => !steady.includes(each));
    }
    if (agents === undefined) return undefined;
    if (isFresh && isWhole()) helpers = now;
    const isKnown = isWhole() && now.every((each) => agents?.includes(each) || helpers.includes(each));
    return isKnown ? undefined : 'another program reads its terminal';
  };
  return {
    distrustReason: (activity, seen, isFresh) => {
      const reasons = [missingSource(activity, seen), foreignReader(activity, isFresh)];
      return reasons.find((reason) => reason !== undefined);
    },
  };
};
