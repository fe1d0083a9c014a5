import type { Result, WayBack } from '../core/compaction/requests.js';
import type { Initiator } from '../core/compaction/outcome.js';
import type { GivenBack } from '../core/compaction/protocol.js';
import { itemsBlock, type Around, type ItemsBlock } from '../core/conversation/brief.js';
import { byImportance, itemKey } from '../core/conversation/conversation-evidence.js';
import {
  forgottenRules,
  gaveBackText,
  recapOf,
  type Given,
  type RecapLine,
} from '../core/conversation/recap.js';
import { beforeCounts, type Receipt } from '../core/conversation/receipt.js';
import type { Event } from '../core/event.js';
import { counted } from '../core/format.js';
import { estimateTokens, type Millis } from '../core/reading.js';
import { answerEvent } from '../core/session-flow.js';
import { OTHER, type ContextWay, type SentContext } from './context-way.js';
import type { DraftWait, PutDraft } from './prompt-draft.js';

// Gives the agent back what a compaction has forgotten: as context where the agent has a way for that, else as a draft in the prompt.

export interface GiveBackOptions {
  /** gives the model context without the prompt; absent where the agent has no way for that: then it is a draft */
  readonly context?: ContextWay | undefined;
  /** puts the text into the prompt, unless it is withdrawn or refused before, and says in the footer what came of it */
  readonly putDraft: PutDraft;
  readonly onEvent: (event: Event) => void;
  /** lines went to the agent without its prompt */
  readonly onGiven?: (given: GivenBack) => void;
  /** as the agent must get a text in its prompt */
  readonly escape?: ((text: string) => string) | undefined;
}

/** `unknown`: the text was pasted, and the prompt does not show it. */
export type BriefResult = Result<'brief'>;

export interface GiveBack {
  /** how the lines reach the agent */
  readonly way: () => string;
  /** what was given back in this conversation, since its last compaction */
  readonly given: ReadonlyMap<string, Given>;
  /** `into`: only so; else in the best way that the agent has */
  readonly lines: (
    lines: readonly RecapLine[],
    around: Around,
    wait: DraftWait,
    into?: WayBack,
  ) => Promise<BriefResult>;
  /**
   * gives back the forgotten rules and open plan items of the compaction of this time, unless that was done before or needs the prompt; says
   * what was given, or undefined
   */
  readonly byItself: (receipt: Receipt, at: Millis) => Promise<string | undefined>;
  readonly refuse: (reason: string) => BriefResult;
  /** the conversation was compacted again: what waits still goes with the next message */
  readonly compacted: () => void;
  /** the conversation is another one: what waits is withdrawn */
  readonly reset: () => void;
  readonly stop: () => void;
}

export const NOTHING = 'nothing is known to be lost';
const NO_WAY = 'this agent takes it only as a draft: ctxwrap recall --into draft';
const WAITING = 'it goes with your next message already';
const DRAFT = 'as a draft in your prompt';
const MOST_BY_ITSELF = 1_000; // tokens

type LinesBlock = ItemsBlock<RecapLine>;

/** As many lines as have room: those that matter most, the latest of each kind. */
const withRoom = (lines: readonly RecapLine[]): LinesBlock | undefined => {
  const leaving = byImportance.toReversed().flatMap((kind) => lines.filter((line) => line.kind === kind));
  for (let gone = 0; gone < leaving.length; gone += 1) {
    const left = lines.filter((line) => !leaving.slice(0, gone).includes(line));
    const block = itemsBlock(left, { isUnreadable: false, notUnderstood: [] }, { most: Infinity });
    if (block && estimateTokens(block.text) <= MOST_BY_ITSELF) return block;
  }
  return undefined;
};

/** Sends lines by a way that is no prompt, and keeps what became of them. */
const makeSender = (onGiven: GiveBackOptions['onGiven']) => {
  const given = new Map<string, Given>();
  let conversations = 0;

  const note = (lines: readonly RecapLine[], fate: Given): void => {
    for (const line of lines) given.set(itemKey(line), fate);
  };
  return {
    given,
    note,
    conversation: () => conversations,
    send: async (
      way: ContextWay,
      { items: lines, text }: LinesBlock,
      { wait, initiator }: { readonly wait: DraftWait; readonly initiator: Initiator },
    ): Promise<SentContext> => {
      const before = conversations;
      const sent = await way.send(text, wait);
      if (sent.kind === 'refused' || sent.kind === 'closed') return sent;
      if (conversations !== before) {
        way.withdraw();
        return { kind: 'refused', reason: OTHER };
      }
      if (sent.kind !== 'unknown') note(lines, sent.kind); // the session file tells, if anything
      const areThere = (): readonly RecapLine[] => lines.filter((line) => given.has(itemKey(line)));
      if (sent.kind === 'waiting') void sent.read.then(() => note(areThere(), 'sent'));
      if (sent.kind !== 'unknown')
        onGiven?.({ initiator, outcome: sent.kind, counts: beforeCounts({ items: lines }) });
      return sent;
    },
    /** `keepsWaiting`: the conversation was compacted, and what waits still goes with the next message. True where something waited */
    reset: (keepsWaiting: boolean): boolean => {
      const waiting = [...given].filter(([, fate]) => fate === 'waiting');
      conversations += 1;
      given.clear();
      if (keepsWaiting) for (const [key, fate] of waiting) given.set(key, fate);
      return waiting.length > 0;
    },
  };
};

interface Sending extends Pick<GiveBack, 'refuse'> {
  readonly sender: ReturnType<typeof makeSender>;
  readonly around: Around;
  readonly wait: DraftWait;
  readonly say: (words: string) => void;
}

type Closed = SentContext & { readonly kind: 'closed' };

/** What the user has chosen, without what goes with the next message already; undefined where there is nothing. */
const sendChosen = async (
  way: ContextWay,
  lines: readonly RecapLine[],
  { sender, around, wait, say, refuse }: Sending,
): Promise<BriefResult | Closed | undefined> => {
  const isNew = (line: RecapLine): boolean =>
    sender.given.get(itemKey(line)) !== 'waiting' || !way.isWaiting();
  const chosen = lines.filter(isNew);
  if (lines.length > 0 && chosen.length === 0) return refuse(WAITING);
  const block = itemsBlock(chosen, around);
  if (!block) return undefined;
  const sent = await sender.send(way, block, { wait, initiator: 'user' });
  if (sent.kind === 'closed') return { kind: 'closed', reason: sent.reason };
  if (sent.kind === 'refused')
    return wait.signal?.aborted ? { kind: 'refused', reason: sent.reason } : refuse(sent.reason);
  const how = sent.kind === 'unknown' ? 'but not confirmed' : way.words;
  const left = chosen.length - block.items.length;
  const rest = left === 0 ? '' : `; ${left} had no room`;
  const words = `${counted(block.items.length, 'line')} given back ${how}${rest}`;
  say(words);
  return sent.kind === 'unknown' ? { kind: 'unknown', reason: sent.reason } : { kind: 'given', words };
};

export const makeGiveBack = ({ context, putDraft, onEvent, onGiven, escape }: GiveBackOptions): GiveBack => {
  const sender = makeSender(onGiven);
  let givenFor: Millis | undefined; // the compaction after which lines went back by themselves
  let isClosed = false; // the way, when it was tried last
  let isStopped = false;

  const say = (words: string): void => {
    if (!isStopped) onEvent(answerEvent(words));
  };
  const refuse = (reason: string): BriefResult => {
    say(`recall: ${reason}`);
    return { kind: 'refused', reason };
  };
  const draft = async (block: LinesBlock | undefined, wait: DraftWait): Promise<BriefResult> => {
    if (!block) return refuse(NOTHING);
    const before = sender.conversation();
    const refusal = (): string | undefined => (sender.conversation() === before ? undefined : OTHER);
    const result = await putDraft(block.text, { ...wait, refusal });
    if (result.kind === 'drafted') sender.note(block.items, 'drafted'); // the user may delete it
    return result;
  };
  return {
    way: () => (isClosed ? DRAFT : (context?.words ?? DRAFT)),
    given: sender.given,
    lines: async (lines, around, wait, into) => {
      const way = into === 'draft' ? undefined : context;
      if (into === 'context' && !way) return refuse(NO_WAY);
      const sent = way && (await sendChosen(way, lines, { sender, around, wait, say, refuse }));
      if (way) isClosed = sent?.kind === 'closed';
      if (sent && sent.kind !== 'closed') return sent;
      if (into === 'context') return refuse(sent?.reason ?? NOTHING);
      if (sent) say(`recall: not ${way?.words}, ${sent.reason}: ${DRAFT} instead`);
      return draft(itemsBlock(lines, around, escape ? { escape } : {}), wait);
    },
    byItself: async (receipt, at) => {
      const rules = withRoom(forgottenRules(recapOf(receipt, sender.given)));
      if (!context || !rules || givenFor === at || isStopped) return undefined;
      givenFor = at;
      const sent = await sender.send(context, rules, { wait: {}, initiator: 'ctxwrap' });
      return sent.kind === 'sent' || sent.kind === 'waiting' ? gaveBackText(rules.items) : undefined;
    },
    refuse,
    compacted: () => void sender.reset(true),
    reset: () => {
      isClosed = false;
      context?.withdraw();
      if (sender.reset(false)) givenFor = undefined; // the agent has not read them
    },
    stop: () => {
      isStopped = true;
      context?.withdraw();
    },
  };
};
