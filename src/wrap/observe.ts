import type { Event } from '../core/event.js';
import type { AgentStatus, ScreenReader } from '../runtimes/runtime.js';
import type { Screen } from '../terminal/screen.js';
import { noteUnseen, OUTPUT_EVERY_MS, postponed, scanDue, type Unseen } from './scan-timing.js';
import { startWatch, watchScreen } from './screen-watch.js';
import { pollStatus, type StatusPoll } from './status-poll.js';

/** Looks at the child's screen when it has come to rest. Nothing runs while the child writes nothing. */
export interface Observer {
  /** the child has written; called after its bytes are on their way, so it only notes the time */
  readonly noteOutput: () => void;
  readonly stop: () => void;
}

export interface ObserverOptions {
  readonly model: Pick<Screen, 'isBehind' | 'isMidFrame' | 'seen'>;
  /** undefined for a runtime whose screen nobody can read */
  readonly read: ScreenReader | undefined;
  /** the agent's own status file, where it has one */
  readonly status: (() => Promise<AgentStatus | undefined>) | undefined;
  readonly onEvent: (event: Event) => void;
  /** the reader has failed: the screen is not read any more */
  readonly onFailure: (error: unknown) => void;
}

const BEHIND_MS = 50; // the model is asked again whether it has caught up

export const makeObserver = (options: ObserverOptions): Observer => {
  const { read, status, onEvent } = options;
  const clock = (): number => performance.now();
  let outputAt = -Infinity;
  const poll = status && read && pollStatus(status, () => looker?.note(clock()));
  const looker = read && makeLooker(read, poll, options);
  return {
    noteOutput: () => {
      const now = clock();
      looker?.note(now);
      poll?.noteOutput();
      if (now - outputAt < OUTPUT_EVERY_MS) return;
      outputAt = now;
      setTimeout(() => onEvent({ type: 'output' }), 0).unref(); // the next bytes do not wait for it
    },
    stop: () => {
      poll?.stop();
      looker?.stop();
    },
  };
};

const makeLooker = (
  read: ScreenReader,
  poll: StatusPoll | undefined,
  { model, onEvent, onFailure }: ObserverOptions,
) => {
  let watch = startWatch(read);
  let unseen: Unseen | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const stop = (): void => {
    isStopped = true;
    clearTimeout(timer);
  };
  const look = (): readonly Event[] => {
    const seen = model.seen();
    if (!seen) return [];
    const status = poll?.last();
    const watched = watchScreen(watch, { ...seen, ...(status ? { status } : {}) }, Date.now());
    ({ watch } = watched);
    return watched.events;
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
    let events: readonly Event[] = [];
    try {
      events = look();
    } catch (error) {
      stop();
      onFailure(error);
    }
    for (const event of events) onEvent(event);
  };
  return {
    stop,
    note: (now: number): void => {
      const isFrameAwaited = unseen?.postponedAt !== undefined;
      unseen = noteUnseen(unseen, now);
      if (isStopped || (timer && !isFrameAwaited)) return;
      clearTimeout(timer);
      wait(scanDue(unseen) - now);
    },
  };
};
