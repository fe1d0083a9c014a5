// A draft of the user's that was put aside is given back, whatever became of the command: with the key that put it aside, which does so
// on an empty prompt.
import { lookWhenRested, resting, startClock } from './seeing.js';
import { bare, textOf, type Look, type TypeOrder } from './type-order.js';

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
export const giveBack = async (order: TypeOrder, aside: PutAside): Promise<boolean> => {
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
