import type { Result, WayBack } from '../core/compaction/requests.js';
import type { Initiator } from '../core/compaction/outcome.js';
import type { GivenBack } from '../core/compaction/protocol.js';
import { itemsText, type Around } from '../core/conversation/brief.js';
import { byImportance } from '../core/conversation/conversation-evidence.js';
import {
  forgottenRules,
  gaveBackText,
  recapKey,
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
import type { DraftWait } from './prompt-draft.js';
import type { DraftResult } from './typist.js';

// Gives the agent back what a compaction has forgotten: as context where the agent has a way for that, else as a draft in the prompt.

export interface GiveBackOptions {
  /** gives the model context without the prompt; absent where the agent has no way for that: then it is a draft */
  readonly context?: ContextWay | undefined;
  /** puts the text into the prompt, unless it is withdrawn or refused before, and says in the footer what came of it */
  readonly putDraft: (text: string, wait: DraftWait) => Promise<DraftResult>;
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

const draftedResult = (result: DraftResult): BriefResult => {
  if (result.kind === 'there') return { kind: 'drafted' };
  return result.kind === 'skipped'
    ? { kind: 'refused', reason: result.reason }
    : { kind: 'unknown', reason: 'pasted, but not seen in the prompt' };
};

interface LinesText {
  readonly lines: readonly RecapLine[];
  readonly text: string;
}

/** As many lines as have room: those that matter most, the latest of each kind. */
const withRoom = (lines: readonly RecapLine[]): LinesText | undefined => {
  const leaving = byImportance.toReversed().flatMap((kind) => lines.filter((line) => line.kind === kind));
  for (let gone = 0; gone < leaving.length; gone += 1) {
    const left = lines.filter((line) => !leaving.slice(0, gone).includes(line));
    const text = itemsText(left, { isUnreadable: false, notUnderstood: [] }, { most: Infinity });
    if (text !== undefined && estimateTokens(text) <= MOST_BY_ITSELF) return { lines: left, text };
  }
  return undefined;
};

/** Sends lines by a way that is no prompt, and keeps what became of them. */
const makeSender = (onGiven: GiveBackOptions['onGiven']) => {
  const given = new Map<string, Given>();
  let conversations = 0;

  const note = (lines: readonly RecapLine[], fate: Given): void => {
    for (const line of lines) given.set(recapKey(line), fate);
  };
  return {
    given,
    note,
    conversation: () => conversations,
    send: async (
      way: ContextWay,
      { lines, text }: LinesText,
      { wait, initiator }: { readonly wait: DraftWait; readonly initiator: Initiator },
    ): Promise<SentContext> => {
      const before = conversations;
      const sent = await way.send(text, wait);
      if (sent.kind === 'refused' || sent.kind === 'closed') return sent;
      if (conversations !== before) {
        way.withdraw();
        return { kind: 'refused', reason: OTHER };
      }
      note(lines, sent.kind === 'waiting' ? 'waiting' : 'sent');
      if (sent.kind === 'waiting')
        void sent.read.then(() =>
          note(
            lines.filter((line) => given.has(recapKey(line))),
            'sent',
          ),
        );
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
  readonly wait: DraftWait;
  readonly say: (words: string) => void;
}

/** What the user has chosen; undefined where the agent has no such way now. */
const sendChosen = async (
  way: ContextWay,
  chosen: LinesText,
  { sender, wait, say, refuse }: Sending,
): Promise<BriefResult | undefined> => {
  const sent = await sender.send(way, chosen, { wait, initiator: 'user' });
  if (sent.kind === 'closed') return undefined;
  if (sent.kind === 'refused')
    return wait.signal?.aborted ? { kind: 'refused', reason: sent.reason } : refuse(sent.reason);
  const how = sent.kind === 'unknown' ? 'but not confirmed' : way.words;
  const words = `${counted(chosen.lines.length, 'line')} given back ${how}`;
  say(words);
  return sent.kind === 'unknown' ? { kind: 'unknown', reason: sent.reason } : { kind: 'given', words };
};

export const makeGiveBack = ({ context, putDraft, onEvent, onGiven, escape }: GiveBackOptions): GiveBack => {
  const sender = makeSender(onGiven);
  let givenFor: Millis | undefined; // the compaction after which lines went back by themselves
  let isStopped = false;

  const say = (words: string): void => {
    if (!isStopped) onEvent(answerEvent(words));
  };
  const refuse = (reason: string): BriefResult => {
    say(`recall: ${reason}`);
    return { kind: 'refused', reason };
  };
  const draft = async (text: string | undefined, wait: DraftWait): Promise<BriefResult> => {
    if (text === undefined) return refuse(NOTHING);
    const before = sender.conversation();
    const refusal = (): string | undefined => (sender.conversation() === before ? undefined : OTHER);
    return draftedResult(await putDraft(text, { ...wait, refusal }));
  };
  const send = (way: ContextWay, chosen: LinesText, wait: DraftWait): Promise<BriefResult | undefined> =>
    sendChosen(way, chosen, { sender, wait, say, refuse });
  return {
    way: () => context?.words ?? DRAFT,
    given: sender.given,
    lines: async (lines, around, wait, into) => {
      const way = into === 'draft' ? undefined : context;
      if (into === 'context' && !way) return refuse(NO_WAY);
      const isNew = (line: RecapLine): boolean => sender.given.get(recapKey(line)) !== 'waiting';
      const fresh = lines.filter(isNew);
      if (way && lines.length > 0 && fresh.length === 0) return refuse(WAITING);
      const text = itemsText(fresh, around);
      const sent = way && text !== undefined ? await send(way, { lines: fresh, text }, wait) : undefined;
      if (sent) return sent;
      if (into === 'context') return refuse(NO_WAY);
      const result = await draft(itemsText(lines, around, escape ? { escape } : {}), wait);
      if (result.kind === 'drafted') sender.note(lines, 'drafted'); // the user may delete it
      return result;
    },
    byItself: async (receipt, at) => {
      const rules = withRoom(forgottenRules(recapOf(receipt, sender.given)));
      if (!context || !rules || givenFor === at || isStopped) return undefined;
      givenFor = at;
      const sent = await sender.send(context, rules, { wait: {}, initiator: 'ctxwrap' });
      return sent.kind === 'sent' || sent.kind === 'waiting' ? gaveBackText(rules.lines) : undefined;
    },
    refuse,
    compacted: () => void sender.reset(true),
    reset: () => {
      context?.withdraw();
      if (sender.reset(false)) givenFor = undefined; // the agent has not read them
    },
    stop: () => {
      isStopped = true;
      context?.withdraw();
    },
  };
};
