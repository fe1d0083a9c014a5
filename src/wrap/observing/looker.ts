import type { Event } from '../../core/event.js';
import type { PromptReader } from '../../runtimes/recipe.js';
import type { ScreenReader } from '../../runtimes/runtime.js';
import type { AgentStatus, Seen } from '../../runtimes/seen.js';
import type { Screen } from '../../terminal/screen.js';
import type { Doubt } from './doubt.js';
import { noteUnseen, postponed, scanDue, type Unseen } from './scan-timing.js';
import { blankScreen, startWatch, watchScreen, type Watched } from './screen-watch.js';
import type { Look } from '../compacting/type-order.js';

export interface LookerOptions {
  readonly model: Pick<Screen, 'isBehind' | 'isMidFrame' | 'seen'>;
  readonly reader: ScreenReader;
  /** what stands in the agent's prompt, where that can be read */
  readonly prompt?: PromptReader | undefined;
  /** the agent's own word on its state, as last heard */
  readonly status: () => AgentStatus | undefined;
  /** whether the agent is still there; nothing is doubted without it */
  readonly doubt?: Doubt | undefined;
  readonly onEvent: (event: Event) => void;
  /** each screen that was read, with what was read from it */
  readonly onRead?: ((seen: Seen, watched: Watched) => void) | undefined;
  /** the reader has failed: the screen is not read any more */
  readonly onFailure: (error: unknown) => void;
}

/** Reads the screen when it has come to rest, or now. */
export interface Looker {
  /** the child has written; by the clock of `performance.now()` */
  readonly note: (now: number) => void;
  /** undefined while the screen is not drawn to its end, or cannot be read */
  readonly now: () => Look | undefined;
  readonly stop: () => void;
}

const BEHIND_MS = 50; // the model is asked again whether it has caught up

export const makeLooker = (options: LookerOptions): Looker => {
  const { model } = options;
  const look = lookWith(options, () => stop());
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
    now: () => (isStopped || model.isBehind() || model.isMidFrame() ? undefined : look(options.prompt)),
    note: (now) => {
      const isFrameAwaited = unseen?.postponedAt !== undefined;
      unseen = noteUnseen(unseen, now);
      if (isStopped || (timer && !isFrameAwaited)) return;
      clearTimeout(timer);
      wait(scanDue(unseen) - now);
    },
  };
};

/** One look at the screen, told as events; the prompt is read only for whoever asks for it. */
const lookWith = (options: LookerOptions, stop: () => void) => {
  const { model, reader, status, doubt, onEvent, onRead, onFailure } = options;
  let watch = startWatch(reader);
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
