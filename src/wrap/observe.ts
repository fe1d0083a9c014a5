import type { Event } from '../core/event.js';
import type { PromptReader } from '../runtimes/recipe.js';
import type { AgentStatus, ScreenReader, Seen } from '../runtimes/runtime.js';
import type { Screen } from '../terminal/screen.js';
import { noteUnseen, OUTPUT_EVERY_MS, postponed, scanDue, type Unseen } from './scan-timing.js';
import { startWatch, watchScreen, type Watched } from './screen-watch.js';
import { pollStatus, type StatusPoll } from './status-poll.js';
import type { Look } from './typist.js';

/** Looks at the child's screen when it has come to rest. Nothing runs while the child writes nothing. */
export interface Observer {
  /** the child has written; called after its bytes are on their way, so it only notes the time */
  readonly noteOutput: () => void;
  /** looks now; undefined while the screen is not drawn to its end, or cannot be read */
  readonly look: () => Look | undefined;
  readonly stop: () => void;
}

export interface ObserverOptions {
  readonly model: Pick<Screen, 'isBehind' | 'isMidFrame' | 'seen'>;
  /** undefined for a runtime whose screen nobody can read */
  readonly read: ScreenReader | undefined;
  /** what stands in the agent's prompt, where that can be read */
  readonly prompt?: PromptReader | undefined;
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
    look: () => looker?.now(),
    stop: () => {
      poll?.stop();
      looker?.stop();
    },
  };
};

type Drawn = Pick<Seen, 'screen' | 'signals'>;

const makeLooker = (
  reader: ScreenReader,
  poll: StatusPoll | undefined,
  { model, prompt, onEvent, onFailure }: ObserverOptions,
) => {
  let watch = startWatch(reader);
  let unseen: Unseen | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const stop = (): void => {
    isStopped = true;
    clearTimeout(timer);
  };
  const read = (drawn: Drawn): Watched & { readonly look: Look } => {
    const status = poll?.last();
    const seen = { ...drawn, ...(status ? { status } : {}) };
    const watched = watchScreen(watch, seen, Date.now());
    return { ...watched, look: { activity: watched.activity, prompt: prompt?.(seen) } };
  };
  const look = (): Look | undefined => {
    const drawn = model.seen();
    if (!drawn) return undefined;
    try {
      const seen = read(drawn);
      ({ watch } = seen);
      for (const event of seen.events) onEvent(event);
      return seen.look;
    } catch (error) {
      stop();
      onFailure(error);
      return undefined;
    }
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
    look();
  };
  return {
    stop,
    now: (): Look | undefined => (isStopped || model.isBehind() || model.isMidFrame() ? undefined : look()),
    note: (now: number): void => {
      const isFrameAwaited = unseen?.postponedAt !== undefined;
      unseen = noteUnseen(unseen, now);
      if (isStopped || (timer && !isFrameAwaited)) return;
      clearTimeout(timer);
      wait(scanDue(unseen) - now);
    },
  };
};
