import type { Event } from '../core/event.js';
import { BACKSPACE } from '../core/terminal-input.js';
import type { Log } from '../storage/log-file.js';
import {
  observeAfterPause,
  sleep,
  startAwakeClock,
  withoutWhitespace,
  commandText,
  type TypeRequest,
  type TypistPort,
} from './typing-steps.js';
import type { ScreenObservation } from '../session/ports.js';

// Restores a draft that was stashed before the command was typed, whether or not the command ran. The stash key also restores a draft when
// the prompt is empty.

const BACK_MS = 10_000; // enough for an agent that is slow, or busy for a while
const HELD_MS = 500; // at most this long while the user's keys are held

// In vim's normal mode the stash key works too, but text typed afterwards would be vim commands; the activity is not `ready` there.
const isPromptEmpty = ({ activity, prompt }: ScreenObservation): boolean =>
  activity === 'ready' && prompt?.text === '';

/** The draft was stashed, and the agent's screen confirms it. */
export const isDraftStashed = (observed: ScreenObservation): boolean =>
  isPromptEmpty(observed) && observed.prompt?.isStashed === true;

export interface StashedDraft {
  readonly draft: string;
  readonly stroke: (keys: string, name: string) => void;
  /** true while the user's keys are held: what the user has pressed since then has not reached the prompt */
  readonly isHeld?: () => boolean;
  /** the stash key was pressed just now and may not have been read yet, so a draft that is still visible may still disappear */
  readonly isFresh?: boolean;
  /** the agent may have put the command back into the prompt, and nothing else removes it */
  readonly mayHoldCommand?: boolean;
}

/**
 * Restores the draft; resolves with whether it is in the prompt again, or with false when the user types first. Presses the stash key once,
 * and only on an empty prompt.
 */
const restoreDraft = async (request: TypeRequest, stashed: StashedDraft): Promise<boolean> => {
  const { port, recipe, signal } = request;
  const { draft, stroke, isHeld = () => false, isFresh = false, mayHoldCommand = false } = stashed;
  const clock = startAwakeClock();
  const pressed = { stash: false, backspace: !mayHoldCommand };
  let typedBefore = port.typedCount();
  while (!signal.aborted && recipe.stash && clock.ms < BACK_MS) {
    const observed = await observeAfterPause(port, signal, clock);
    if (isHeld()) typedBefore = port.typedCount();
    else if (port.typedCount() !== typedBefore) return isDraftInPrompt(port.observe(), draft);
    const text = observed?.prompt?.text;
    if (observed === undefined || text === undefined) continue;
    if (isDraftInPrompt(observed, draft) && (pressed.stash || !isFresh)) return true;
    if (isPromptEmpty(observed) && !pressed.stash) {
      pressed.stash = true;
      stroke(recipe.stash.keys, 'stash');
    } else if (
      observed.activity === 'draft' &&
      withoutWhitespace(text) === withoutWhitespace(commandText(request)) &&
      !pressed.backspace
    ) {
      pressed.backspace = true;
      stroke(BACKSPACE.repeat(text.length), `Backspace ${text.length}×`);
    }
  }
  return isDraftInPrompt(port.observe(), draft);
};

/**
 * Restores the draft, but waits for at most HELD_MS so that the user's keys are not held longer; the rest continues in the background.
 * Resolves with whether the draft is back by then.
 */
export const restoreDraftWhileHeld = async (
  request: TypeRequest,
  stashed: StashedDraft,
): Promise<boolean> => {
  const back = restoreDraft(request, stashed).catch(() => false);
  request.onRestoring?.(back);
  return Promise.race([back, sleep(HELD_MS, request.signal).then(() => false)]);
};

const isDraftInPrompt = (observed: ScreenObservation | undefined, draft: string): boolean =>
  withoutWhitespace(observed?.prompt?.text ?? '').includes(withoutWhitespace(draft));

// Watches the draft during an attempt: it must be in the prompt again after the command has run or failed.

const DRAFT_BACK_MS = 1_000; // after a compaction, the time for the agent to restore the draft itself
const NOT_BACK = 'draft put aside: the agent has not given it back';

interface RestoreOptions {
  /** the agent may have put the command back into the prompt, and nothing else removes it */
  readonly mayHoldCommand: boolean;
}

export interface DraftWatch {
  /** an attempt begins; the current text of the prompt is the user's */
  readonly begin: () => void;
  /** the attempt was skipped and changed nothing */
  readonly forget: () => void;
  /** the typist is restoring the draft already, so the watch must not */
  readonly onRestoring: (back: Promise<boolean>) => void;
  /** the attempt has ended: the agent restores the draft itself; if it does not, the wrapper does, and reports a failure */
  readonly end: (request: TypeRequest | undefined, options: RestoreOptions) => void;
  readonly stop: () => void;
}

export interface DraftWatchOptions {
  readonly port: TypistPort;
  readonly log: Log;
  readonly onEvent: (event: Event) => void;
}

export const makeDraftWatch = ({ port, log, onEvent }: DraftWatchOptions): DraftWatch => {
  let draft: string | undefined;
  let restoring: Promise<boolean> | undefined;
  let checking: NodeJS.Timeout | undefined;
  let isOver = false;

  const check = async (request: TypeRequest | undefined, options: RestoreOptions): Promise<void> => {
    const mine = draft;
    if (mine === undefined || mine === '' || !request) return;
    draft = undefined;
    const stroke = (keys: string): void => port.write(Buffer.from(keys));
    const isBack = await (restoring ?? restoreDraft(request, { draft: mine, stroke, ...options })).catch(
      () => false,
    );
    if (isBack || isOver) return;
    log.warn(`${NOT_BACK}: it does with the key that put it aside`);
    onEvent({ type: 'notice', text: NOT_BACK, priority: 200 });
  };
  return {
    begin: () => {
      restoring = undefined;
      draft = port.observe()?.prompt?.text;
    },
    forget: () => (draft = undefined),
    onRestoring: (back) => (restoring = back),
    end: (request, options) => {
      checking = setTimeout(() => void check(request, options), DRAFT_BACK_MS).unref();
    },
    stop: () => {
      isOver = true;
      clearTimeout(checking);
    },
  };
};
