// Looks after the draft of an attempt: when the command has run, or could not, it must stand in the prompt again.
import type { Event } from '../../core/event.js';
import type { Log } from '../../storage/log.js';
import { giveBack } from './put-aside.js';
import type { TypeOrder, TypistPort } from './type-order.js';

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
