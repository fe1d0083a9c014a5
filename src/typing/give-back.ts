import type { Result, WayBack } from '../core/compaction/requests.js';
import type { Initiator } from '../core/compaction/outcome.js';
import type { GivenBack } from '../core/compaction/protocol.js';
import { itemsBlock, type Around, type ItemsBlock } from '../core/conversation/brief.js';
import { byImportance, itemKey } from '../core/conversation/conversation-evidence.js';
import { givenKey } from '../core/conversation/given-block.js';
import { forgottenRules, gaveBackText, recapOf, type RecapLine } from '../core/conversation/recap.js';
import type { Receipt } from '../core/conversation/receipt.js';
import type { Event } from '../core/event.js';
import { counted } from '../core/format.js';
import { estimateTokens, type Millis } from '../core/reading.js';
import { answerEvent, recapEndEvent } from '../core/session-flow.js';
import { OTHER, type ContextWay, type SentContext } from './context-way.js';
import { makeGivenTexts, type GivenText, type GivenTexts } from './given-texts.js';
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
  /** the lines (`givenKey`) that the session file has as given back, as it was read last and now */
  readonly sentLines?: {
    readonly known: () => ReadonlySet<string>;
    readonly read: () => Promise<ReadonlySet<string>>;
  };
  /** as the agent must get a text in its prompt */
  readonly escape?: ((text: string) => string) | undefined;
}

/** `unknown`: the text was pasted, and the prompt does not show it. */
export type BriefResult = Result<'brief'>;

export interface GiveBack {
  /** how the lines reach the agent */
  readonly way: () => string;
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
  /** what was given back in this conversation since its last compaction and is not in the session file yet */
  readonly texts: GivenTexts;
  /**
   * `keys`: the lines that the session file has. A line that it lacks when the agent rests was not delivered, and may be given back again;
   * true where ctxwrap does that by itself
   */
  readonly settle: (keys: ReadonlySet<string>, isResting: boolean) => boolean;
  /** the user wants what waits no more; the answer is how many lines there were */
  readonly takeBack: () => number;
  /** the conversation was compacted again: what waits still goes with the next message */
  readonly compacted: () => void;
  /** the conversation is another one: what waits is withdrawn */
  readonly reset: () => void;
  readonly stop: () => void;
}

const NOTHING = 'nothing is known to be lost';
const NO_WAY = 'this agent takes it only as a draft: ctxwrap recall --into draft';
const WAITING = 'it is already waiting for your next message';
const DRAFT = 'as a draft in your prompt';
const UNREAD = 'the message was taken back';
const SENT = 'it was sent meanwhile';
const MOST_BY_ITSELF = 1_000; // tokens
const MOST_AGAIN = 3; // an agent that records nothing of it may have it all the same

const isOwn = ({ initiator }: GivenText): boolean => initiator === 'ctxwrap';
const notGivenText = (texts: readonly GivenText[], reason: string): string =>
  `${counted(texts.flatMap(({ lines }) => lines).length, 'line')} not given back: ${reason}`;

type LinesBlock = ItemsBlock<RecapLine>;

/** As many lines as have room: those that matter most, the latest of each kind. */
const withRoom = (lines: readonly RecapLine[]): LinesBlock | undefined => {
  const leaving = byImportance.toReversed().flatMap((kind) => lines.filter((line) => line.kind === kind));
  const without = (gone: number): LinesBlock | undefined => {
    const left = new Set(leaving.slice(gone));
    const around = { isUnreadable: false, notUnderstood: [] };
    return itemsBlock(
      lines.filter((line) => left.has(line)),
      around,
      { most: Infinity },
    );
  };
  const fits = (block: LinesBlock | undefined): boolean =>
    block === undefined || estimateTokens(block.text) <= MOST_BY_ITSELF;
  // halved, because there may be hundreds, and each try writes all that are left
  let [tooFew, enough] = [-1, leaving.length];
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (fits(without(middle))) enough = middle;
    else tooFew = middle;
  }
  return without(enough);
};

/** Sends lines by a way that is no prompt. */
const send = async (
  texts: GivenTexts,
  way: ContextWay,
  { block: { items: lines, text }, wait, initiator }: Asked,
): Promise<SentContext> => {
  const before = texts.conversation();
  const sent = await way.send(text, wait);
  if (sent.kind === 'refused' || sent.kind === 'closed') return sent;
  if (texts.conversation() !== before) {
    way.withdraw();
    return { kind: 'refused', reason: OTHER };
  }
  if (sent.kind !== 'unknown') texts.add({ way, text, lines, initiator, fate: sent.kind }); // else the session file tells, if anything
  return sent;
};

interface Asked {
  readonly block: LinesBlock;
  readonly wait: DraftWait;
  readonly initiator: Initiator;
}

interface Sending extends Pick<GiveBack, 'refuse'> {
  readonly texts: GivenTexts;
  readonly around: Around;
  readonly wait: DraftWait;
  readonly say: (words: string) => void;
}

type Closed = SentContext & { readonly kind: 'closed' };

interface LatestDraft {
  /** without what was sent meanwhile */
  readonly block: () => LinesBlock;
  readonly wait: DraftWait;
}

/** Leaves out at the last moment what the user has sent while it waited, as with an earlier draft; refuses where that is all of it. */
const unlessSent = (
  lines: readonly RecapLine[],
  write: (lines: readonly RecapLine[]) => LinesBlock | undefined,
  { sentLines, wait }: Pick<GiveBackOptions, 'sentLines'> & { readonly wait: DraftWait },
): LatestDraft | undefined => {
  const whole = write(lines);
  if (!whole || !sentLines) return whole && { block: () => whole, wait };
  const before = sentLines.known();
  let block = whole;
  const begin = async (): Promise<string | undefined> => {
    const now = await sentLines.read();
    const isOpen = (line: RecapLine): boolean => !now.has(givenKey(line)) || before.has(givenKey(line));
    const left = whole.items.some(isOpen) ? write(lines.filter(isOpen)) : undefined;
    if (!left) return SENT;
    block = left;
    return wait.gate?.begin();
  };
  return { block: () => block, wait: { ...wait, gate: { begin, rest: () => wait.gate?.rest() } } };
};

/** Undefined where there is nothing. */
const sendChosen = async (
  way: ContextWay,
  lines: readonly RecapLine[],
  { texts, around, wait, say, refuse }: Sending,
): Promise<BriefResult | Closed | undefined> => {
  const block = itemsBlock(lines, around);
  if (!block) return undefined;
  const sent = await texts.asking(block.items, send(texts, way, { block, wait, initiator: 'user' }));
  if (sent.kind === 'closed') return { kind: 'closed', reason: sent.reason };
  if (sent.kind === 'refused')
    return wait.signal?.aborted ? { kind: 'refused', reason: sent.reason } : refuse(sent.reason);
  const how = sent.kind === 'unknown' ? 'but not confirmed' : way.words;
  const left = lines.length - block.items.length;
  const rest = left === 0 ? '' : `; ${left} had no room`;
  const words = `${counted(block.items.length, 'line')} given back ${how}${rest}`;
  say(words);
  return sent.kind === 'unknown' ? { kind: 'unknown', reason: sent.reason } : { kind: 'given', words };
};

/** Gives back without being asked, and what came of all that was given. `sayEnd` says it in place of the notice that lines go back. */
const makeOwnGiving = (
  context: ContextWay | undefined,
  texts: GivenTexts,
  sayEnd: (words: string) => void,
): Pick<GiveBack, 'settle' | 'compacted' | 'reset'> & { readonly give: GiveBack['byItself'] } => {
  let givenFor: Millis | undefined; // the compaction after which lines went back by themselves
  let again = 0; // times that the message with them was taken back

  return {
    give: async (receipt, at) => {
      const forgotten = forgottenRules(recapOf(receipt, texts.given, Infinity));
      const rules = withRoom(forgotten);
      if (!context || !rules || givenFor === at) return undefined;
      givenFor = at;
      const sent = await send(texts, context, { block: rules, wait: {}, initiator: 'ctxwrap' });
      if (sent.kind !== 'sent' && sent.kind !== 'waiting') return undefined;
      const left = forgotten.length - rules.items.length;
      return gaveBackText(rules.items) + (left === 0 ? '' : ` (${left} had no room)`);
    },
    settle: (keys, isResting) => {
      const { sent, lost } = texts.settle(keys, isResting);
      const own = sent.filter(isOwn).flatMap(({ lines }) => lines);
      if (own.length > 0) sayEnd(gaveBackText(own));
      const isForAgain = lost.some(isOwn) && again < MOST_AGAIN;
      const rest = isForAgain ? lost.filter((text) => !isOwn(text)) : lost;
      if (rest.length > 0) sayEnd(notGivenText(rest, UNREAD));
      if (isForAgain) [givenFor, again] = [undefined, again + 1];
      return isForAgain;
    },
    compacted: () => {
      again = 0;
      texts.compacted();
    },
    reset: () => {
      again = 0;
      const withdrawn = texts.reset();
      if (withdrawn.length === 0) return;
      givenFor = undefined; // the agent has not read them
      sayEnd(notGivenText(withdrawn, OTHER));
    },
  };
};

/** Gives back as a draft, which the user may delete. */
const makeDraftGiving =
  (options: GiveBackOptions, texts: GivenTexts, refuse: GiveBack['refuse']) =>
  async (lines: readonly RecapLine[], around: Around, wait: DraftWait): Promise<BriefResult> => {
    const { escape, putDraft } = options;
    const write = (left: readonly RecapLine[]) => itemsBlock(left, around, escape ? { escape } : {});
    const latest = unlessSent(lines, write, { ...options, wait });
    if (!latest) return refuse(NOTHING);
    const { block } = latest;
    const before = texts.conversation();
    const refusal = (): string | undefined => (texts.conversation() === before ? undefined : OTHER);
    const put = putDraft(() => block().text, { ...latest.wait, refusal });
    const result = await texts.asking(block().items, put);
    if (result.kind === 'drafted') texts.note(block().items, 'drafted');
    return result;
  };

export const makeGiveBack = (options: GiveBackOptions): GiveBack => {
  const { context, onEvent } = options;
  const texts = makeGivenTexts(options.onGiven);
  let isClosed = false; // the way, when it was tried last
  let isStopped = false;

  const say = (words: string): void => {
    if (!isStopped) onEvent(answerEvent(words));
  };
  const own = makeOwnGiving(context, texts, (words) => {
    if (!isStopped) onEvent(recapEndEvent(words));
  });
  const refuse = (reason: string): BriefResult => {
    say(`recall: ${reason}`);
    return { kind: 'refused', reason };
  };
  const draft = makeDraftGiving(options, texts, refuse);
  return {
    way: () => (isClosed ? DRAFT : (context?.words ?? DRAFT)),
    lines: async (wanted, around, wait, into) => {
      const way = into === 'draft' ? undefined : context;
      if (into === 'context' && !way) return refuse(NO_WAY);
      const waiting = texts.waiting().map(itemKey);
      const lines = wanted.filter((line) => !waiting.includes(itemKey(line)));
      if (wanted.length > 0 && lines.length === 0) return refuse(WAITING);
      const sent = way && (await sendChosen(way, lines, { texts, around, wait, say, refuse }));
      if (way) isClosed = sent?.kind === 'closed';
      if (sent && sent.kind !== 'closed') return sent;
      if (into === 'context') return refuse(sent?.reason ?? NOTHING);
      if (sent) say(`recall: not ${way?.words}, ${sent.reason}: ${DRAFT} instead`);
      return draft(lines, around, wait);
    },
    byItself: own.give,
    refuse,
    texts,
    settle: own.settle,
    takeBack: () => {
      const waiting = texts.takeBack();
      if (waiting.length > 0) context?.takeBack();
      return waiting.flatMap(({ lines }) => lines).length;
    },
    compacted: own.compacted,
    reset: () => {
      isClosed = false;
      own.reset();
      context?.withdraw();
    },
    stop: () => {
      isStopped = true;
      context?.withdraw();
    },
  };
};
