import type { Agent } from '../agents/agent.js';
import { missingItems } from '../core/conversation/brief.js';
import { itemKey } from '../core/conversation/conversation-evidence.js';
import { forgotText, isChosen, recapOf, type Given, type Recap } from '../core/conversation/recap.js';
import type { RecapChoice } from '../core/conversation/recap-selection.js';
import type { WayBack } from '../core/compaction/requests.js';
import type { Values } from '../core/config/keys.js';
import { errorText, UserError } from '../core/errors.js';
import { leavesConversation, type Boundary, type Event } from '../core/event.js';
import { counted, formatBytes } from '../core/format.js';
import {
  beforeText,
  keptCounts,
  receiptText,
  unknownItems,
  type KeptCount,
  type Receipt,
} from '../core/conversation/receipt.js';
import type { Millis } from '../core/reading.js';
import { recapNoticeEvent } from '../core/session-flow.js';
import { escapeMentions } from '../core/text.js';
import { systemReason } from '../storage/errors.js';
import type { Log } from '../storage/log-file.js';
import { OTHER } from './context-way.js';
import { makeGiveBack, type BriefResult, type GiveBack, type GiveBackOptions } from './give-back.js';
import type { DraftWait } from './prompt-draft.js';
import type { SessionSource } from '../session-files/read-history.js';
import type { LongerSession } from '../session-files/shortened-from.js';
import { MOST_BYTES } from '../session-files/read-conversation.js';
import { isCompacted, readReceipt, type ReadReceipt } from '../session-files/read-receipt.js';

// The receipt of the last compaction of a running session: read from the session file after the compaction, told in the footer, shown in the
// overview, and put into the prompt when the user asks for it.

const AFTER_MS = 2_000; // the agents write the summary after the record of the compaction
const REST_MS = 1_000; // and the records of a turn about when it ends
const FOOTER_KINDS = 2; // as many as a footer has room for

export interface ReceiptsOptions extends Omit<GiveBackOptions, 'escape' | 'sentLines'> {
  readonly agent: Agent;
  /** the agent's session; undefined while it is not known. Rejects where it cannot be read */
  readonly source: () => Promise<SessionSource | undefined>;
  /** what ctxwrap has shortened it from */
  readonly longer?: (source: SessionSource) => Promise<LongerSession | undefined>;
  /** how the user opens the overview: `Ctrl-]`; undefined where no key does */
  readonly hotkey: string | undefined;
  /** what is said and given back after a compaction without being asked */
  readonly recall: Values['recall'];
  readonly log: Log;
  /** how much a compaction of this time has kept */
  readonly onCounts?: (at: Millis, counts: readonly KeptCount[]) => void;
}

export interface Receipts {
  readonly noteEvent: (event: Event) => void;
  /** of the last compaction: `forgot 2 of 3 rules; 2 lines given back`, what it has kept where nothing is forgotten, or what was there before; undefined where it is not known */
  readonly keptText: () => string | undefined;
  /** of the last compaction, as it was read last */
  readonly recap: () => RecapState;
  /** how what is chosen reaches the agent */
  readonly way: () => string;
  /** reads it again */
  readonly look: () => void;
  /** gives back what is chosen in a recap; never rejects */
  readonly giveBack: (choice: RecapChoice, wait: DraftWait) => Promise<BriefResult>;
  /** gives back what the last compaction has lost, or may have lost, as a draft if not said otherwise; never rejects */
  readonly brief: (wait?: DraftWait, into?: WayBack) => Promise<BriefResult>;
  /** lines that go with the next message */
  readonly isWaiting: () => boolean;
  /** takes these back; the answer is how many there were */
  readonly takeBack: () => number;
  readonly stop: () => void;
}

export const NOTHING_CHOSEN = 'nothing is chosen';
const NOT_YET = 'nothing was compacted yet';
const NOT_THERE = 'the file of this session does not hold what was before the compaction';

/** A receipt, or why there is none. */
type Read = Pick<ReadReceipt, 'receipt' | 'at' | 'given'> | { readonly reason: string };

/** A recap and the time of its compaction, or why there is none. */
export type RecapState = { readonly recap: Recap; readonly at: Millis } | { readonly reason: string };

const readLast = async ({ agent, source, longer }: ReceiptsOptions): Promise<Read> => {
  if (!agent.log?.conversation) return { reason: `ctxwrap cannot read conversations of ${agent.name}` };
  const found = await source();
  if (!found) return { reason: 'the session is not known yet' };
  if (found.size > MOST_BYTES) return { reason: `the session is too large (${formatBytes(found.size)})` };
  const read = await readReceipt(found, 'last', await longer?.(found));
  return read ?? { reason: (await isCompacted(found)) ? NOT_THERE : NOT_YET };
};

const readOrReason = (options: ReceiptsOptions): Promise<Read> =>
  readLast(options).catch((error: unknown) => {
    options.log.info(`the receipt of the compaction cannot be read: ${errorText(error)}`);
    if (error instanceof UserError) return { reason: error.message };
    return { reason: `the session cannot be read (${systemReason(error)})` };
  });

/** undefined where nothing is lost, or can be */
const footerText = (receipt: Receipt): string | undefined => {
  if (unknownItems(receipt).length > 0)
    return `summary encrypted · ${beforeText(receipt, FOOTER_KINDS) ?? ''}`;
  return forgotText(receipt, FOOTER_KINDS);
};

const keptTextOf = (last: Read, given: ReadonlyMap<string, Given>): string | undefined => {
  if ('reason' in last) return undefined;
  const kept = forgotText(last.receipt) ?? receiptText(last.receipt);
  const back = recapOf(last.receipt, given, Infinity).lines.filter((line) => line.given !== undefined).length;
  return kept === undefined || back === 0 ? kept : `${kept}; ${counted(back, 'line')} given back`;
};

const sentIn = (read: Read): ReadonlySet<string> => ('reason' in read ? new Set() : read.given);

/** What waits since an earlier compaction belongs to the choice, too. */
const recapNow = (receipt: Receipt, { texts }: Pick<GiveBack, 'texts'>): Recap => {
  const keys = new Set(receipt.items.map(itemKey));
  const earlier = texts.waiting().filter((line) => !keys.has(itemKey(line)));
  return recapOf({ ...receipt, items: [...receipt.items, ...earlier] }, texts.fates());
};

/** Calls `look` when the session file may tell what became of a text: after an answer, and when the agent rests. */
const makeMoments = (isWanted: () => boolean, look: (isStillResting: () => boolean) => void) => {
  let timer: NodeJS.Timeout | undefined;
  let rests = 0;
  let isResting = false;

  const wait = (): void => {
    clearTimeout(timer);
    const [own, wasResting] = [rests, isResting];
    timer = setTimeout(() => {
      timer = undefined;
      look(() => wasResting && isResting && rests === own);
    }, REST_MS).unref();
  };
  return {
    noteEvent: (event: Event): void => {
      if (event.type === 'activity') {
        const { activity } = event.report;
        const hasRested = isResting;
        isResting = activity === 'ready' || activity === 'draft';
        if (!isResting || hasRested) return;
        rests += 1;
        if (isWanted()) wait();
      }
      const tells =
        event.type === 'context-added' || (event.type === 'reading' && event.reading.source === 'log');
      if (tells && isWanted() && !timer) wait();
    },
    stop: () => clearTimeout(timer),
  };
};

const isCompaction = (event: Event): event is Extract<Event, { type: 'boundary' }> =>
  event.type === 'boundary' && event.boundary.source !== 'screen';

/** What the user asks for. */
const makeAsked = (
  giving: GiveBack,
  refresh: () => Promise<Read>,
): Pick<Receipts, 'brief' | 'giveBack' | 'isWaiting' | 'takeBack'> => ({
  isWaiting: () => giving.texts.waiting().length > 0,
  takeBack: giving.takeBack,
  brief: async (wait = {}, into = 'draft') => {
    const read = await refresh();
    if ('reason' in read) return giving.refuse(read.reason);
    return giving.lines(missingItems(read.receipt), read.receipt, wait, into);
  },
  giveBack: async ({ at, keys }, wait) => {
    const read = await refresh();
    if ('reason' in read) return giving.refuse(read.reason);
    if (read.at !== at) return giving.refuse(OTHER);
    const lines = recapNow(read.receipt, giving).lines.filter((line) => isChosen(line, keys));
    if (lines.length === 0) return giving.refuse(NOTHING_CHOSEN);
    return giving.lines(lines, { isUnreadable: read.receipt.isUnreadable }, wait);
  },
});

/** What is done without being asked. */
const makeUnasked = ({ hotkey, recall, onEvent }: ReceiptsOptions, giving: GiveBack) => ({
  /** the words about it; undefined where nothing went back */
  rulesBack: async ({ receipt, at }: Exclude<Read, { reason: string }>): Promise<string | undefined> => {
    const gave = recall === 'rules' ? await giving.byItself(receipt, at) : undefined;
    return gave === undefined ? undefined : `${gave} ${giving.way()}`;
  },
  offer: (words: string | undefined): void => {
    if (words !== undefined)
      onEvent(recapNoticeEvent(`${words} · ${hotkey ? `${hotkey} b` : 'ctxwrap recall'}`));
  },
});

interface Reading {
  readonly last: () => Read;
  readonly refresh: () => Promise<Read>;
}

const makeGiving = (options: ReceiptsOptions, { last, refresh }: Reading): GiveBack =>
  makeGiveBack({
    ...options,
    escape: options.agent.readsMentions ? escapeMentions : undefined,
    sentLines: { known: () => sentIn(last()), read: async () => sentIn(await refresh()) },
  });

export const makeReceipts = (options: ReceiptsOptions): Receipts => {
  const { recall } = options;
  let last: Read = { reason: NOT_YET };
  const giving = makeGiving(options, { last: () => last, refresh: () => refresh() });
  const { rulesBack, offer } = makeUnasked(options, giving);
  let timer: NodeJS.Timeout | undefined;
  let compactions = 0; // and other changes of the conversation
  let isStopped = false;

  const refresh = async (): Promise<Read> => {
    last = await readOrReason(options);
    return last;
  };
  const tell = async ({ at }: Boundary): Promise<void> => {
    const own = timer;
    const read = await refresh();
    if (isStopped || timer !== own || 'reason' in read) return;
    const counts = keptCounts(read.receipt);
    if (counts.length > 0) options.onCounts?.(at, counts);
    const gave = await rulesBack(read);
    if (isStopped || timer !== own || recall === 'off') return;
    offer(gave ?? footerText(read.receipt));
  };
  const settle = async (isStillResting: () => boolean): Promise<void> => {
    const own = compactions;
    const read = await refresh();
    if (isStopped || compactions !== own || 'reason' in read) return;
    const isForAgain = giving.settle(read.given, isStillResting());
    const gave = isForAgain ? await rulesBack(read) : undefined;
    if (!isStopped && compactions === own) offer(gave);
  };
  const moments = makeMoments(giving.texts.isOpen, (isStillResting) => void settle(isStillResting));
  return {
    noteEvent: (event) => {
      options.context?.noteEvent(event);
      if (event.type === 'activity') giving.texts.noteWork(event.report.activity === 'busy');
      moments.noteEvent(event);
      if (!leavesConversation(event) && event.type !== 'undone' && !isCompaction(event)) return;
      last = { reason: NOT_YET };
      compactions += 1;
      (isCompaction(event) ? giving.compacted : giving.reset)();
      clearTimeout(timer);
      timer = undefined;
      if (!isCompaction(event)) return;
      timer = setTimeout(() => void tell(event.boundary), AFTER_MS).unref();
    },
    keptText: () => keptTextOf(last, giving.texts.given),
    way: giving.way,
    recap: () => ('receipt' in last ? { recap: recapNow(last.receipt, giving), at: last.at } : last),
    look: () => void refresh(),
    ...makeAsked(giving, refresh),
    stop: () => {
      isStopped = true;
      giving.stop();
      moments.stop();
      clearTimeout(timer);
    },
  };
};
