import type { ScreenReader, Seen, PromptReader, AgentStatus } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import type { Millis, Activity, ActivityReport } from '../core/reading.js';
import type { Screen } from '../terminal/screen.js';
import type { Look } from './typing-steps.js';

/** Output that nobody has looked at yet. */
export interface Unseen {
  /** when the first of it came */
  readonly since: Millis;
  /** when the last of it came */
  readonly last: Millis;
  /** when it was looked at in the middle of a frame, and left alone */
  readonly postponedAt?: Millis;
}

const REST_MS = 50; // without output for so long, a screen is finished: agents write a frame in pieces at most some milliseconds apart
const LATEST_MS = 250; // an agent that draws without a pause is looked at all the same
const FRAME_REST_MS = 10; // after a frame that was waited for, which says itself where it ends
const FRAME_LATEST_MS = 1_000; // a frame that never ends is a mistake of the child's; terminals wait as long

/** More output has come, or the screen has changed in another way. */
export const noteUnseen = (unseen: Unseen | undefined, now: Millis): Unseen =>
  unseen ? { ...unseen, last: now } : { since: now, last: now };

/** When the screen has to be looked at. */
export const scanDue = ({ since, last, postponedAt }: Unseen): Millis => {
  if (postponedAt === undefined) return Math.min(last + REST_MS, since + LATEST_MS);
  const latest = since + FRAME_LATEST_MS;
  return last > postponedAt ? Math.min(last + FRAME_REST_MS, latest) : latest;
};

/** The moment is inside a frame of the child's: later, but not for ever. Undefined when it has been waited for long enough. */
export const postponed = (unseen: Unseen, now: Millis): Unseen | undefined =>
  now < unseen.since + FRAME_LATEST_MS ? { ...unseen, postponedAt: now } : undefined;

/** That the child writes is told at most so often: the core only wants to know whether it does. */
export const OUTPUT_EVERY_MS = 1_000;

/** What the screens up to now have said. */
export interface ScreenWatch {
  readonly read: ScreenReader;
  readonly activity?: Activity;
  readonly asks?: string | undefined;
  readonly showsNumber: boolean;
}

export interface Watched {
  readonly watch: ScreenWatch;
  readonly activity: Activity;
  /** what the screen says of the agent's activity is not believed */
  readonly isDoubted?: boolean;
  readonly events: readonly Event[];
}

export const startWatch = (read: ScreenReader): ScreenWatch => ({ read, showsNumber: false });

/**
 * Makes events of what a reader says of a screen. A number is told at each look, which tells how fresh it is; that it went away, and
 * what the agent does, only when it happens. `doubtAbout`: why what the screen says of the agent's activity is not to be believed.
 */
export const watchScreen = (
  watch: ScreenWatch,
  seen: Seen,
  now: Millis,
  doubtAbout: (activity: Activity) => string | undefined = () => undefined,
): Watched => {
  const { activity: read, facts, next } = watch.read(seen, now);
  const said: ActivityReport = hasOwnWord(seen) ? { ...read, isTold: true } : read;
  const doubt = doubtAbout(said.activity);
  const report: ActivityReport =
    doubt === undefined ? said : { activity: 'unknown', witnesses: [...said.witnesses, doubt] };
  const { activity, asks } = report;
  const showsNumber = facts.some(({ type }) => type === 'reading');
  const blank: readonly Event[] = watch.showsNumber && !showsNumber ? [{ type: 'screen-blank' }] : [];
  const isSame = activity === watch.activity && asks === watch.asks;
  const change: readonly Event[] = isSame ? [] : [{ type: 'activity', report }];
  // the window first, so that a number is measured against the one it belongs to
  const windows = facts.filter(({ type }) => type === 'window');
  const others = facts.filter(({ type }) => type !== 'window');
  return {
    watch: { read: next, activity, asks, showsNumber },
    activity,
    isDoubted: doubt !== undefined,
    events: [...windows, ...others, ...blank, ...change],
  };
};

const hasOwnWord = ({ signals, status }: Seen): boolean =>
  status !== undefined || signals.agentState !== undefined;

/** There is nothing to read, as when the terminal is too large for a model: what was read before does not hold any more. */
export const blankScreen = ({
  read,
  activity,
  showsNumber,
}: ScreenWatch): Pick<Watched, 'watch' | 'events'> => {
  const report = { activity: 'unknown', witnesses: ['the screen is not followed'] } as const;
  return {
    watch: { read, activity: 'unknown', showsNumber: false },
    events: [
      ...(showsNumber ? [{ type: 'screen-blank' } as const] : []),
      ...(activity === undefined || activity === 'unknown' ? [] : [{ type: 'activity', report } as const]),
    ],
  };
};

export interface ObserverOptions {
  readonly model: Pick<Screen, 'isBehind' | 'isMidFrame' | 'seen'>;
  /** undefined for a runtime whose screen nobody can read */
  readonly read: ScreenReader | undefined;
  /** what stands in the agent's prompt, where that can be read */
  readonly prompt?: PromptReader | undefined;
  /** the agent's own status file, where it has one */
  readonly status: (() => Promise<AgentStatus | undefined>) | undefined;
  /** whether the agent is still there; nothing is doubted without it */
  readonly doubt?: Doubt | undefined;
  readonly onEvent: (event: Event) => void;
  /** each screen that was read, with what was read from it */
  readonly onRead?: ((seen: Seen, watched: Watched) => void) | undefined;
  /** the reader has failed: the screen is not read any more */
  readonly onFailure: (error: unknown) => void;
}

/** The agent's own word on its state, as last heard. */
type LastStatus = () => AgentStatus | undefined;

const BEHIND_MS = 50; // the model is asked again whether it has caught up

/** Reads the screen when it has come to rest, or now. */
const makeLooker = (options: ObserverOptions, reader: ScreenReader, status: LastStatus) => {
  const { model } = options;
  const look = lookWith(options, { watch: startWatch(reader), status, stop: () => stop() });
  let unseen: Unseen | undefined;
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
    if (!unseen || isStopped) return;
    const now = performance.now();
    const due = scanDue(unseen);
    if (now < due) return wait(due - now);
    if (model.isBehind()) return wait(BEHIND_MS);
    const later = model.isMidFrame() ? postponed(unseen, now) : undefined;
    unseen = later;
    if (later) return wait(scanDue(later) - now);
    look(undefined);
  };
  return {
    stop,
    /** undefined while the screen is not drawn to its end, or cannot be read */
    now: (): Look | undefined =>
      isStopped || model.isBehind() || model.isMidFrame() ? undefined : look(options.prompt),
    /** the child has written; by the clock of `performance.now()` */
    note: (now: number): void => {
      const isFrameAwaited = unseen?.postponedAt !== undefined;
      unseen = noteUnseen(unseen, now);
      if (isStopped || (timer && !isFrameAwaited)) return;
      clearTimeout(timer);
      wait(scanDue(unseen) - now);
    },
  };
};

/** One look at the screen, told as events; the prompt is read only for whoever asks for it. */
const lookWith = (
  { model, doubt, onEvent, onRead, onFailure }: ObserverOptions,
  start: { readonly watch: ScreenWatch; readonly status: LastStatus; readonly stop: () => void },
) => {
  const { status, stop } = start;
  let { watch } = start;
  return (prompt: PromptReader | undefined): Look | undefined => {
    const drawn = model.seen();
    if (!drawn) {
      const blank = blankScreen(watch);
      ({ watch } = blank);
      for (const event of blank.events) onEvent(event);
      return undefined;
    }
    try {
      const state = status();
      const seen = { ...drawn, ...(state ? { status: state } : {}) };
      const isFresh = prompt === undefined; // looked at because the child has written
      const watched = watchScreen(watch, seen, Date.now(), (activity) =>
        doubt?.about(activity, seen, isFresh),
      );
      ({ watch } = watched);
      onRead?.(seen, watched);
      const { activity, events, isDoubted = false } = watched;
      const found = { activity, prompt: prompt?.(seen), isDoubted };
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
const LINGER_MS = 2_000; // agents write their status around the moment when they write to the screen, not only before it

/** Asks the agent's status file while the agent does something. */
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
    const said = await read().catch(() => undefined);
    isAsking = false;
    if (isStopped) return;
    const isNew = said?.state !== last?.state || said?.waitingFor !== last?.waitingFor;
    last = said;
    if (performance.now() - outputAt < LINGER_MS) again();
    if (isNew) onChange();
  };
  const again = (): void => {
    if (isAsking || isStopped) return;
    timer ??= setTimeout(() => void ask(), Math.max(0, pollAt + POLL_MS - performance.now())).unref();
  };
  return {
    /** what it said last */
    last: () => last,
    noteOutput: (): void => {
      outputAt = performance.now();
      again();
    },
    /** resolves when it has been asked anew */
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

/** Looks at the child's screen when it has come to rest. Nothing runs while the child writes nothing. */
export interface Observer {
  /** the child has written; called after its bytes are on their way, so it only notes the time */
  readonly noteOutput: () => void;
  /** looks now; undefined while the screen is not drawn to its end, or cannot be read */
  readonly look: () => Look | undefined;
  /** resolves when the agent's status file has been read anew: the next look is not at an old word of its own */
  readonly refresh: () => Promise<void>;
  readonly stop: () => void;
}

export const makeObserver = (options: ObserverOptions): Observer => {
  const { read, status, onEvent } = options;
  const clock = (): number => performance.now();
  let outputAt = -Infinity;
  const poll = status && read && pollStatus(status, () => looker?.note(clock()));
  const looker = read && makeLooker(options, read, () => poll?.last());
  return {
    noteOutput: () => {
      const now = clock();
      looker?.note(now);
      poll?.noteOutput();
      if (now - outputAt < OUTPUT_EVERY_MS) return;
      outputAt = now;
      setTimeout(() => onEvent({ type: 'output' }), 0).unref(); // the next bytes do not wait for it
    },
    look: () => looker?.now(),
    refresh: async () => poll?.refresh(),
    stop: () => {
      poll?.stop();
      looker?.stop();
    },
  };
};

// For `debug.text`: the screens on which something new was read, row by row, so that the fault behind a wrong number can be found.

/** Tells `write` the screen whenever its number or the agent's activity is another one than before. */
export const screenText = (write: (line: string) => void) => {
  let told: string | undefined;
  return ({ screen, signals }: Seen, { activity, events }: Watched): void => {
    const numbers = events.flatMap((event) => (event.type === 'reading' ? [event.reading] : []));
    const news = JSON.stringify([activity, ...numbers.map((each) => ({ ...each, at: 0 }))]);
    if (news === told) return;
    told = news;
    if (signals.title !== undefined) write(`title ${signals.title}`);
    for (let row = 0; row < screen.rows; row += 1) {
      const text = screen.text(row);
      if (text.trim() !== '') write(`row ${row} ${row === screen.cursorRow ? '>' : '|'} ${text}`);
    }
  };
};

// Whether the agent that has drawn the screen is still there. One that was killed leaves its last frame, and what another program reads
// next must not be typed on it.

/** Asked at each look. */
export interface Doubt {
  /**
   * Why the screen may not be believed, though the agent's own rows are on it. `isFresh`: the child has written since the last look, so
   * that whoever reads its terminal now was there when it did.
   */
  readonly about: (activity: Activity, seen: Seen, isFresh: boolean) => string | undefined;
}

const witnesses = [
  ['its status file', ({ status }: Seen) => status !== undefined],
  ['its title', ({ signals }: Seen) => (signals.title ?? '') !== ''],
  ['its state (OSC 7501)', ({ signals }: Seen) => /^state=(?!clear)/.test(signals.agentState ?? '')],
] as const;

/** `readers`: who reads the child's terminal, as `terminalReaders` tells. */
export const makeDoubt = (readers: () => readonly string[] | undefined): Doubt => {
  let spoken = new Set<string>();
  let agents: readonly string[] | undefined;
  let helpers: readonly string[] = [];
  let before: readonly string[] | undefined; // at the look before
  let young: readonly string[] = []; // first seen when the agents were found

  /** A source that has spoken once and does not any more. */
  const silent = (activity: Activity, seen: Seen): string | undefined => {
    const speaking = witnesses.filter(([, speaks]) => speaks(seen)).map(([name]) => name);
    const missing = [...spoken].find((name) => !speaking.some((each) => each === name));
    if (missing === undefined && activity !== 'unknown') spoken = new Set([...spoken, ...speaking]);
    return missing === undefined ? undefined : `${missing} has gone`;
  };
  /**
   * A dead agent draws nothing more: whoever is there when one begins to work is the agent. Those that come later and are there while it
   * draws are its helpers, and may go. So may a process that is there at one look only: each that an agent starts has its terminal for a
   * moment, before it is given a pipe.
   */
  const replaced = (activity: Activity, isFresh: boolean): string | undefined => {
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
    about: (activity, seen, isFresh) => {
      const reasons = [silent(activity, seen), replaced(activity, isFresh)];
      return reasons.find((reason) => reason !== undefined);
    },
  };
};
