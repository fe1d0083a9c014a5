import type { Result, WayBack } from '../core/compaction/requests.js';
import { itemsText, type Around } from '../core/conversation/brief.js';
import { recapKey, type Given, type RecapLine } from '../core/conversation/recap.js';
import type { Event } from '../core/event.js';
import { counted } from '../core/format.js';
import { answerEvent } from '../core/session-flow.js';
import type { ContextWay, SentContext } from './context-way.js';
import type { DraftWait } from './prompt-draft.js';
import type { DraftResult } from './typist.js';

// Gives the agent back what a compaction has forgotten: as context where the agent has a way for that, else as a draft in the prompt.

export interface GiveBackOptions {
  /** gives the model context without the prompt; absent where the agent has no way for that: then it is a draft */
  readonly context?: ContextWay | undefined;
  /** puts the text into the prompt, unless it is withdrawn or refused before, and says in the footer what came of it */
  readonly putDraft: (text: string, wait: DraftWait) => Promise<DraftResult>;
  readonly onEvent: (event: Event) => void;
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
  readonly refuse: (reason: string) => BriefResult;
  /** the conversation is another one, or was compacted again: what waits is withdrawn */
  readonly reset: () => void;
  readonly stop: () => void;
}

const NOTHING = 'nothing is known to be lost';
const OTHER = 'the conversation has changed meanwhile';
const NO_WAY = 'this agent takes it only as a draft: ctxwrap recall --into draft';
const DRAFT = 'as a draft in your prompt';

interface Giving {
  readonly lines: readonly RecapLine[];
  readonly wait: DraftWait;
}

const draftedResult = (result: DraftResult): BriefResult => {
  if (result.kind === 'there') return { kind: 'drafted' };
  return result.kind === 'skipped'
    ? { kind: 'refused', reason: result.reason }
    : { kind: 'unknown', reason: 'pasted, but not seen in the prompt' };
};

const sentResult = (sent: SentContext, words: string): BriefResult => {
  if (sent.kind === 'sent' || sent.kind === 'waiting') return { kind: 'given', words };
  return { kind: sent.kind === 'unknown' ? 'unknown' : 'refused', reason: sent.reason };
};

interface Sending extends Giving, Pick<GiveBack, 'refuse'> {
  /** as long as the conversation is the same */
  readonly noteHere: (fate: Given) => void;
  readonly say: (words: string) => void;
}

/** undefined where the agent has no such way now */
const sendBy = async (
  way: ContextWay,
  text: string,
  { lines, wait, noteHere, say, refuse }: Sending,
): Promise<BriefResult | undefined> => {
  const sent = await way.send(text, wait);
  if (sent.kind === 'closed') return undefined;
  if (sent.kind === 'refused') return wait.signal?.aborted ? sentResult(sent, '') : refuse(sent.reason);
  noteHere(sent.kind === 'waiting' ? 'waiting' : 'sent');
  if (sent.kind === 'waiting') void sent.read.then(() => noteHere('sent'));
  const how = sent.kind === 'unknown' ? 'but not confirmed' : way.words;
  const words = `${counted(lines.length, 'line')} given back ${how}`;
  say(words);
  return sentResult(sent, words);
};

export const makeGiveBack = ({ context, putDraft, onEvent, escape }: GiveBackOptions): GiveBack => {
  const given = new Map<string, Given>();
  let conversations = 0; // a draft for an earlier one is not put any more
  let isStopped = false;

  const say = (words: string): void => {
    if (!isStopped) onEvent(answerEvent(words));
  };
  const refuse = (reason: string): BriefResult => {
    say(`recall: ${reason}`);
    return { kind: 'refused', reason };
  };
  const note = (lines: readonly RecapLine[], fate: Given): void =>
    lines.forEach((line) => given.set(recapKey(line), fate));
  const draft = async (text: string | undefined, wait: DraftWait): Promise<BriefResult> => {
    if (text === undefined) return refuse(NOTHING);
    const before = conversations;
    const refusal = (): string | undefined => (conversations === before ? undefined : OTHER);
    return draftedResult(await putDraft(text, { ...wait, refusal }));
  };
  const send = (way: ContextWay, text: string, giving: Giving): Promise<BriefResult | undefined> => {
    const before = conversations;
    const noteHere = (fate: Given) => conversations === before && note(giving.lines, fate);
    return sendBy(way, text, { ...giving, noteHere, say, refuse });
  };
  return {
    way: () => context?.words ?? DRAFT,
    given,
    lines: async (lines, around, wait, into) => {
      const way = into === 'draft' ? undefined : context;
      if (into === 'context' && !way) return refuse(NO_WAY);
      const text = itemsText(lines, around);
      const sent = way && text !== undefined ? await send(way, text, { lines, wait }) : undefined;
      if (sent) return sent;
      if (into === 'context') return refuse(NO_WAY);
      const result = await draft(itemsText(lines, around, escape ? { escape } : {}), wait);
      if (result.kind === 'drafted') note(lines, 'sent');
      return result;
    },
    refuse,
    reset: () => {
      conversations += 1;
      context?.withdraw();
      given.clear();
    },
    stop: () => {
      isStopped = true;
      context?.withdraw();
    },
  };
};
