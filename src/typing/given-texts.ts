import type { Initiator } from '../core/compaction/outcome.js';
import type { GivenBack } from '../core/compaction/protocol.js';
import { itemKey } from '../core/conversation/conversation-evidence.js';
import { givenKey } from '../core/conversation/given-block.js';
import type { Given, RecapLine } from '../core/conversation/recap.js';
import { beforeCounts } from '../core/conversation/receipt.js';
import type { ContextWay } from './context-way.js';

// The texts that ctxwrap has sent to the agent without its prompt, until the session file shows whether they arrived: a message that took a
// text may have been taken back, and its record may be on a branch that the user has left.

/** A text that went to the agent. */
export interface GivenText {
  readonly way: ContextWay;
  readonly text: string;
  readonly lines: readonly RecapLine[];
  readonly initiator: Initiator;
  /** before the session file has it */
  readonly fate: 'sent' | 'waiting';
}

interface Open extends GivenText {
  /** the agent has worked since: a message may have taken it */
  readonly hasWorked: boolean;
}

/** The texts whose fate the user does not know yet: of one that needs no message it is known at once. */
export interface Settled {
  readonly sent: readonly GivenText[];
  readonly lost: readonly GivenText[];
}

export interface GivenTexts {
  /** by the keys of the lines that the session file does not have yet */
  readonly given: ReadonlyMap<string, Given>;
  /** the same, with the lines that wait for a safe moment */
  readonly fates: () => ReadonlyMap<string, Given>;
  readonly note: (lines: readonly RecapLine[], fate: Given) => void;
  /** these lines wait for a safe moment until this has ended */
  readonly asking: <T>(lines: readonly RecapLine[], task: Promise<T>) => Promise<T>;
  readonly add: (text: GivenText) => void;
  readonly isOpen: () => boolean;
  /** lines that go with the next message */
  readonly waiting: () => readonly RecapLine[];
  /** whether the agent works now */
  readonly noteWork: (isWorking: boolean) => void;
  /** `keys`: the lines that the session file has, by `givenKey`; a line that it lacks is lost where the agent rests */
  readonly settle: (keys: ReadonlySet<string>, isResting: boolean) => Settled;
  /** what waits goes no more; the answer is what it was */
  readonly takeBack: () => readonly GivenText[];
  /** another number after each change of the conversation */
  readonly conversation: () => number;
  /** the conversation was compacted: what waits still goes with the next message */
  readonly compacted: () => void;
  /** another conversation; the answer is what is withdrawn */
  readonly reset: () => readonly GivenText[];
}

const keysOf = (texts: readonly GivenText[]): readonly string[] =>
  texts.flatMap(({ lines }) => lines.map(itemKey));
const isWaiting = ({ way, text }: GivenText): boolean => way.isWaiting(text);
const isIn =
  (keys: ReadonlySet<string>) =>
  ({ lines }: GivenText): boolean =>
    lines.some((line) => keys.has(givenKey(line)));
const isNews = ({ fate }: GivenText): boolean => fate === 'waiting';

const tellWith =
  (onGiven: ((given: GivenBack) => void) | undefined) =>
  (texts: readonly GivenText[], outcome: GivenBack['outcome']): void => {
    for (const { lines, initiator } of texts)
      onGiven?.({ initiator, outcome, counts: beforeCounts({ items: lines }) });
  };

/** What waits for a safe moment. */
const makeAsking = (given: ReadonlyMap<string, Given>): Pick<GivenTexts, 'asking' | 'fates'> => {
  let lines: readonly RecapLine[] = [];
  return {
    asking: (more, task) => {
      lines = [...lines, ...more];
      return task.finally(() => (lines = lines.filter((line) => !more.includes(line))));
    },
    fates: () => new Map([...given, ...lines.map((line) => [itemKey(line), 'asked'] as const)]),
  };
};

/** `onGiven` is called with each text and each change of its fate. */
export const makeGivenTexts = (onGiven: ((given: GivenBack) => void) | undefined): GivenTexts => {
  const given = new Map<string, Given>();
  let open: readonly Open[] = [];
  let conversations = 0;
  let isWorking = false;

  const note: GivenTexts['note'] = (lines, fate) => {
    for (const line of lines) given.set(itemKey(line), fate);
  };
  const tell = tellWith(onGiven);
  const close = (ended: readonly Open[]): void => {
    open = open.filter((each) => !ended.includes(each));
    const rest = keysOf(open);
    for (const key of keysOf(ended)) if (!rest.includes(key)) given.delete(key);
  };
  const begin = (rest: readonly Open[]): void => {
    conversations += 1;
    open = rest;
    given.clear();
    for (const { lines, fate } of rest) note(lines, fate);
  };
  const withdraw = (end: (waiting: readonly Open[]) => void): readonly GivenText[] => {
    const waiting = open.filter(isWaiting);
    end(waiting);
    tell(waiting, 'withdrawn');
    return waiting;
  };
  return {
    given,
    note,
    ...makeAsking(given),
    add: (text) => {
      open = [...open, { ...text, hasWorked: isWorking }];
      note(text.lines, text.fate);
      tell([text], text.fate);
    },
    isOpen: () => open.length > 0,
    waiting: () => open.filter(isWaiting).flatMap(({ lines }) => lines),
    noteWork: (isNow) => {
      isWorking = isNow;
      if (isNow) open = open.map((each) => ({ ...each, hasWorked: true }));
    },
    settle: (keys, isResting) => {
      const taken = open.filter((each) => !isWaiting(each));
      const sent = taken.filter(isIn(keys));
      const missing = taken.filter((each) => !sent.includes(each));
      const lost = missing.filter(({ hasWorked }) => isResting && hasWorked);
      close([...sent, ...lost]);
      for (const { way, text } of lost) way.forget(text);
      tell(sent.filter(isNews), 'sent');
      tell(lost.filter(isNews), 'lost');
      return { sent: sent.filter(isNews), lost: lost.filter(isNews) };
    },
    takeBack: () => withdraw(close),
    conversation: () => conversations,
    compacted: () => begin(open.filter(isWaiting)),
    reset: () => withdraw(() => begin([])),
  };
};
