import type { Event } from '../core/event.js';
import type { Log } from '../storage/log-file.js';
import {
  lookWhenRested,
  resting,
  startClock,
  bare,
  textOf,
  type Look,
  type TypeOrder,
  type TypistPort,
} from './typing-steps.js';

// A draft of the user's that was put aside is given back, whatever became of the command: with the key that put it aside, which does so
// on an empty prompt.

const BACK_MS = 10_000; // for an agent that is slow, or busy for a while
const HELD_MS = 500; // while the user's keys wait
const BACKSPACE = '\x7f';

// In vim's normal mode a draft goes away, too, but text behind it would be commands; there the agent is not ready.
const isRoomFor = ({ activity, prompt }: Look): boolean => activity === 'ready' && prompt?.text === '';

/** The draft was put aside, and the agent says so. */
export const isAside = (look: Look): boolean => isRoomFor(look) && look.prompt?.isStashed === true;

export interface PutAside {
  readonly draft: string;
  readonly stroke: (keys: string, name: string) => void;
  /** the user's keys wait: what they have pressed meanwhile does not reach the prompt */
  readonly isHeld?: () => boolean;
  /** the key was pressed a moment ago, and may not have been read yet: a draft that is still there may go away */
  readonly isFresh?: boolean;
  /** the agent may have given the command back where the draft should be, and nobody else takes it out */
  readonly mayHoldCommand?: boolean;
}

/**
 * Gives it back, and resolves with whether it stands in the prompt again; false when the user goes on typing before. The key is pressed
 * once, and only where the prompt is empty.
 */
const giveBack = async (order: TypeOrder, aside: PutAside): Promise<boolean> => {
  const { port, recipe, signal } = order;
  const { draft, stroke, isHeld = () => false, isFresh = false, mayHoldCommand = false } = aside;
  const clock = startClock();
  const pressed = { stash: false, backspace: !mayHoldCommand };
  let typedBefore = port.typed();
  while (!signal.aborted && recipe.stash && clock.ms < BACK_MS) {
    const look = await lookWhenRested(port, signal, clock);
    if (isHeld()) typedBefore = port.typed();
    else if (port.typed() !== typedBefore) return isThere(port.look(), draft);
    const text = look?.prompt?.text;
    if (look === undefined || text === undefined) continue;
    if (isThere(look, draft) && (pressed.stash || !isFresh)) return true;
    if (isRoomFor(look) && !pressed.stash) {
      pressed.stash = true;
      stroke(recipe.stash.keys, 'stash');
    } else if (look.activity === 'draft' && bare(text) === bare(textOf(order)) && !pressed.backspace) {
      pressed.backspace = true;
      stroke(BACKSPACE.repeat(text.length), `Backspace ${text.length}×`);
    }
  }
  return isThere(port.look(), draft);
};

/** The same, as far as it comes while the user's keys wait; the rest of it goes on behind. Resolves with whether it is back by then. */
export const giveBackWhileHeld = async (order: TypeOrder, aside: PutAside): Promise<boolean> => {
  const back = giveBack(order, aside).catch(() => false);
  order.onGivingBack?.(back);
  return Promise.race([back, resting(HELD_MS, order.signal).then(() => false)]);
};

const isThere = (look: Look | undefined, draft: string): boolean =>
  bare(look?.prompt?.text ?? '').includes(bare(draft));

// Looks after the draft of an attempt: when the command has run, or could not, it must stand in the prompt again.

const DRAFT_BACK_MS = 1_000; // after a compaction, for an agent to put a draft back
const NOT_BACK = 'draft put aside: the agent has not given it back';

interface About {
  /** the agent may have given the command back where the draft should be, and nobody else takes it out */
  readonly mayHoldCommand: boolean;
}

export interface DraftWatch {
  /** an attempt begins; what stands in the prompt is the user's */
  readonly begin: () => void;
  /** nothing was touched */
  readonly forget: () => void;
  /** the typist gives it back: nobody else must */
  readonly onGivingBack: (back: Promise<boolean>) => void;
  /** the attempt has ended: the agent gives the draft back by itself; where it does not, we do, and tell where even that fails */
  readonly end: (order: TypeOrder | undefined, about: About) => void;
  readonly stop: () => void;
}

export interface DraftWatchOptions {
  readonly port: TypistPort;
  readonly log: Log;
  readonly onEvent: (event: Event) => void;
}

export const makeDraftWatch = ({ port, log, onEvent }: DraftWatchOptions): DraftWatch => {
  let draft: string | undefined;
  let givingBack: Promise<boolean> | undefined;
  let checking: NodeJS.Timeout | undefined;
  let isOver = false;

  const check = async (order: TypeOrder | undefined, about: About): Promise<void> => {
    const mine = draft;
    if (mine === undefined || mine === '' || !order) return;
    draft = undefined;
    const stroke = (keys: string): void => port.write(Buffer.from(keys));
    const isBack = await (givingBack ?? giveBack(order, { draft: mine, stroke, ...about })).catch(
      () => false,
    );
    if (isBack || isOver) return;
    log.warn(`${NOT_BACK}: it does with the key that put it aside`);
    onEvent({ type: 'notice', text: NOT_BACK, priority: 200 });
  };
  return {
    begin: () => {
      givingBack = undefined;
      draft = port.look()?.prompt?.text;
    },
    forget: () => (draft = undefined),
    onGivingBack: (back) => (givingBack = back),
    end: (order, about) => {
      checking = setTimeout(() => void check(order, about), DRAFT_BACK_MS).unref();
    },
    stop: () => {
      isOver = true;
      clearTimeout(checking);
    },
  };
};
