import { jsonText } from '../printable.js';
import {
  beforeCompaction,
  windowOf,
  type Compaction,
  type Conversation,
  type Entry,
} from './conversation.js';
import {
  evidenceIn,
  evidenceKinds,
  givenIn,
  notUnderstoodIn,
  notUnderstoodText,
  type EvidenceItem,
  type EvidenceKind,
  type NotUnderstood,
} from './conversation-evidence.js';
import { givenKey } from './given-block.js';
import { getCount, getList, getText, parseRecord } from '../json.js';
import type { Millis } from '../reading.js';
import { toOneLine } from '../text.js';

// What a compaction has kept of the evidence that was in the window before it. An item counts as kept if what is left still names it, in the
// summary or in messages that stayed. Only texts are compared: nobody is asked what they mean.

export interface ReceiptItem extends EvidenceItem {
  readonly isKept: boolean;
  /** ctxwrap has given it back since, so that it is in the window behind the summary */
  readonly isGiven?: true;
}

export interface Receipt {
  /** what was in the window before, by kind and in order */
  readonly items: readonly ReceiptItem[];
  /** how many different commands ran; those that matter are among the items */
  readonly commandsRun: number;
  /** the summary is encrypted: whether it names an item that is nowhere else is unknown */
  readonly isUnreadable: boolean;
  /** what was in the window before and could not be looked at */
  readonly notUnderstood: readonly NotUnderstood[];
}

/** The receipt of a compaction in this conversation; undefined if it is not in it, or if nothing is left of what was before. */
export const receiptOf = (conversation: Conversation, compaction: Compaction): Receipt | undefined => {
  const before = beforeCompaction(conversation, compaction);
  const window = before && windowOf(before);
  // a session that goes on from another one can begin with its compaction, and then has only what stayed in the window
  if (!window?.some(({ source: { line } }) => line < compaction.source.line)) return undefined;
  return compared(conversation, window, {
    left: leftBy(conversation, compaction),
    given: givenSince(conversation, compaction),
  });
};

/** A conversation that ctxwrap has shortened into a session of its own, at this time. */
export interface LongerConversation {
  readonly whole: Conversation;
  readonly at: Millis;
}

/** The receipt of a shortening: the session begins with what was left of the longer one. */
export const shortenedReceipt = (
  session: Conversation,
  { whole, at }: LongerConversation,
): { readonly receipt: Receipt; readonly given: ReadonlySet<string> } => {
  const isLeft = ({ source }: Entry): boolean => (source.at ?? at) <= at;
  const given = givenAmong(session.entries.filter((entry) => !isLeft(entry)));
  const left = windowOf({ entries: session.entries.filter(isLeft) });
  return { receipt: compared(whole, windowOf(whole), { left, given }), given };
};

interface After {
  readonly left: readonly Entry[];
  readonly given: ReadonlySet<string>;
}

/** What is left of this window of the conversation. */
const compared = (
  { entries, head: { cwd } }: Conversation,
  window: readonly Entry[],
  { left, given }: After,
): Receipt => {
  const items = evidenceIn(window, cwd, entries);
  const isNamed = makeNameSearch(left, items, cwd);
  return {
    items: items.map((item) => ({
      ...item,
      isKept: isNamed(item),
      ...(given.has(givenKey(item)) ? { isGiven: true as const } : {}),
    })),
    commandsRun: new Set(window.flatMap((entry) => (entry.kind === 'call' ? (entry.commands ?? []) : [])))
      .size,
    isUnreadable: left.some((entry) => entry.kind === 'summary' && entry.isEncrypted === true),
    notUnderstood: notUnderstoodIn(window),
  };
};

/** What is in the window right after the compaction: the summary, and what it repeats or keeps. */
const leftBy = ({ entries }: Conversation, { source: { line } }: Compaction): readonly Entry[] => {
  const place = entries.findIndex((entry) => entry.kind === 'compaction' && entry.source.line === line);
  const rest = entries.slice(place + 1);
  const isOwn = (entry: Entry): boolean =>
    entry.isCopy === true ||
    entry.kind === 'summary' ||
    (entry.kind === 'context' && !entry.given) ||
    entry.source.line === line;
  const next = rest.findIndex((entry) => !isOwn(entry));
  const own = next < 0 ? rest.length : next;
  return windowOf({ entries: entries.slice(0, place + 1 + own) });
};

/**
 * What ctxwrap has given back after the compaction, until the next one, by the keys of lines that were given back (`givenKey`). What came with a message counts when the agent
 * has begun to answer that: until then the user may take the message back.
 */
export const givenSince = (
  { entries }: Conversation,
  { source: { line } }: Compaction,
): ReadonlySet<string> => {
  const place = entries.findIndex((entry) => entry.kind === 'compaction' && entry.source.line === line);
  return givenAmong(entries.slice(place + 1), line);
};

/** `ownLine`: of the record that the entries come after. */
const givenAmong = (rest: readonly Entry[], ownLine?: number): ReadonlySet<string> => {
  const next = rest.findIndex((entry) => entry.kind === 'compaction' && entry.isUndone !== true);
  const own = rest.slice(0, next < 0 ? rest.length : next);
  const answered = next < 0 ? own.findLastIndex((entry) => !isBeside(entry)) : own.length;
  return new Set(
    own
      .filter((entry, index) => !isBeside(entry) || index < answered)
      .filter((entry) => entry.isCopy !== true && entry.source.line !== ownLine)
      .flatMap(givenIn)
      .map(givenKey),
  );
};

const isBeside = (entry: Entry): boolean => entry.kind === 'context' && entry.isBeside === true;

// Whether a text names an item.

const LEAST_NAME = 4; // characters of a file's name that can stand for its path
const ENOUGH_WORDS = 0.8; // of the words of a sentence, in one line

const makeNameSearch = (
  left: readonly Entry[],
  items: readonly EvidenceItem[],
  cwd: string | undefined,
): ((item: EvidenceItem) => boolean) => {
  const text = left.map(textForModel).join('\n');
  const plain = collapsed(text);
  const loose = plain.toLowerCase();
  const figures = withPlainNumbers(plain);
  const lines = text
    .split(/\n|(?<=[.!?;])\s/)
    .map((line) => ({ words: wordsOf(line), isNegative: NEGATION.test(line) }))
    .filter(({ words }) => words.length > 0);
  const names = namesOf(items);
  return ({ kind, text: wanted }) => {
    switch (kind) {
      case 'path':
        return hasPath(text, wanted, cwd) || isNamedShort(plain, wanted, names);
      case 'command':
        return hasCommand(text, plain, wanted) || hasCommand(text, plain, wanted.replace(CHANGED_FOLDER, ''));
      case 'identifier':
        return hasName(plain, wanted) || hasName(figures, withPlainNumbers(wanted));
      case 'decision': {
        const answer = bare(wanted.slice(wanted.lastIndexOf(' → ') + 3));
        return loose.includes(answer) || isRetold(lines, wanted);
      }
      case 'constraint':
      case 'plan':
        return loose.includes(bare(wanted)) || isRetold(lines, wanted);
    }
  };
};

/** What the model reads of an entry; what a tool has printed names nothing on purpose. */
const textForModel = (entry: Entry): string => {
  if (entry.kind === 'call')
    return [...(entry.commands ?? []), ...entry.files.map(({ path }) => path), planText(entry)].join('\n');
  if (entry.kind === 'context') return (entry.given ?? []).map(({ text }) => text).join('\n');
  return 'text' in entry ? entry.text : '';
};

const planText = ({ plan }: Extract<Entry, { kind: 'call' }>): string =>
  plan?.kind === 'whole' ? plan.items.map(({ text }) => text).join('\n') : (plan?.item.text ?? '');

const collapsed = (text: string): string => text.replace(/\s+/g, ' ');

const bare = (sentence: string): string =>
  collapsed(sentence)
    .toLowerCase()
    .replace(/^[\s"'`]+|[\s"'`.!?]+$/g, '');

const WORD = /[\p{L}\p{N}_]{2,}/gu;
// the words of almost every sentence, and those that make it a demand, which the other sentence may put otherwise
const COMMON = new Set(
  [
    'the and for are was were with that this these those from into have has had but not you your our its all any can will would should',
    'an as at be by do if in is it no of on or so to we never always must don mustn please make sure ensure',
  ]
    .join(' ')
    .split(' '),
);

const wordsOf = (text: string): readonly string[] =>
  (text.toLowerCase().match(WORD) ?? []).filter((word) => !COMMON.has(word));

const NEGATION = /\b(?:never|not|no|none|without|avoid|forbidden|cannot|\w{2,8}n['’]t)\b/i;

interface Line {
  readonly words: readonly string[];
  readonly isNegative: boolean;
}

const FEW_WORDS = 3; // so few must all be there, in their order

/**
 * One of the lines has enough of the words of this sentence. Those with digits or underscores tell similar sentences apart and must all be
 * there, and a sentence that forbids something is not kept by a line that does not.
 */
const isRetold = (lines: readonly Line[], sentence: string): boolean => {
  const wanted = wordsOf(sentence);
  const names = wanted.filter((word) => /[\p{N}_]/u.test(word));
  const mustForbid = NEGATION.test(sentence);
  return (
    wanted.length > 1 &&
    lines.some(
      ({ words, isNegative }) =>
        (isNegative || !mustForbid) &&
        names.every((name) => words.includes(name)) &&
        (wanted.length > FEW_WORDS
          ? wanted.filter((word) => words.includes(word)).length >= ENOUGH_WORDS * wanted.length
          : isInOrder(wanted, words)),
    )
  );
};

const isInOrder = (wanted: readonly string[], words: readonly string[]): boolean => {
  let at = -1;
  return wanted.every((word) => (at = words.indexOf(word, at + 1)) >= 0);
};

/** The text has this name as a whole: `a.ts` is not in `data.ts`. `mayFollow`: what else must be true of the text before it. */
const hasName = (
  text: string,
  name: string,
  mayFollow: (before: string) => boolean = () => true,
): boolean => {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before, after] = [text.slice(Math.max(0, at - LONGEST_PATH), at), text.charAt(at + name.length)];
    if (!/[\w.-]$/.test(before) && !/[\w-]/.test(after) && mayFollow(before)) return true;
  }
  return false;
};

const LONGEST_PATH = 4096;

/** A path as it is, or after the folder that it is in; one that ends like it, in another folder, is another file. */
const hasPath = (text: string, path: string, cwd: string | undefined): boolean => {
  if (isWord(path)) return isMarked(text, path);
  const folder = cwd === undefined ? undefined : baseOf(cwd);
  return hasName(text, path, (before) => {
    if (!before.endsWith('/') || path.startsWith('/')) return true;
    const start = folderBefore(before);
    return start === '' || start === `${cwd}/` || start === `${folder}/`;
  });
};

/** The folders in front of a name, without `./` and dots that stand for some of them. */
const folderBefore = (before: string): string =>
  (/[^\s"'`(<[]*$/.exec(before)?.[0] ?? '').replace(/^(?:\.{1,3}\/|…\/)+/, '');

/** It could be a word of the language as well. */
const isWord = (name: string): boolean => /^[a-z]+$/.test(name);

/** It stands there as code: in backquotes, after a prompt, or alone in a line. */
const isMarked = (text: string, word: string): boolean =>
  new RegExp(`\`${word}\`|^[ \\t]*(?:[-*$>]|\\d+[.)])?[ \\t]*${word}[ \\t]*$`, 'm').test(text);

/** `cd` before a command says where it ran. */
const CHANGED_FOLDER = /^cd ("[^"]*"|'[^']*'|[^\s;&|]+) && /;

const hasCommand = (text: string, plain: string, command: string): boolean =>
  isWord(command) ? isMarked(text, command) : hasName(plain, collapsed(command));

/** `1,000` and `1000` are the same, and `250 ms` and `250ms`. */
const withPlainNumbers = (text: string): string =>
  text
    .replace(/(\d),(?=\d{3}(?!\d))/g, '$1')
    .replace(/(\d) (?=(?:ms|s|min|h|px|kB|MB|GB|MiB|GiB|%)(?!\w))/g, '$1');

const baseOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** How many paths end with each name. */
const namesOf = (items: readonly EvidenceItem[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { kind, text } of items)
    if (kind === 'path') counts.set(baseOf(text), (counts.get(baseOf(text)) ?? 0) + 1);
  return counts;
};

/** A file's name stands for its path if it has an ending, no other path has the same name, and it is not in another folder there. */
const isNamedShort = (text: string, path: string, names: ReadonlyMap<string, number>): boolean => {
  const name = baseOf(path);
  const isClear = name.length >= LEAST_NAME && name.includes('.', 1) && names.get(name) === 1;
  return isClear && hasName(text, name, (before) => `/${path}`.endsWith(`/${folderBefore(before)}${name}`));
};

// In words and as a record.

const plurals: Readonly<Record<EvidenceKind, readonly [one: string, many: string]>> = {
  constraint: ['rule', 'rules'],
  path: ['path', 'paths'],
  command: ['command', 'commands'],
  plan: ['plan item', 'plan items'],
  decision: ['decision', 'decisions'],
  identifier: ['name or number', 'names and numbers'],
};

export interface KeptCount {
  readonly kind: EvidenceKind;
  readonly kept: number;
  readonly of: number;
}

/** How much of each kind was kept; without kinds of which there was nothing, and empty where the summary cannot be read. */
export const keptCounts = ({ items, isUnreadable }: Receipt): readonly KeptCount[] =>
  evidenceKinds.flatMap((kind) => {
    const own = items.filter((item) => item.kind === kind);
    return own.length === 0 || isUnreadable
      ? []
      : [{ kind, kept: own.filter(({ isKept }) => isKept).length, of: own.length }];
  });

/** `3 of 41 paths, 0 of 12 commands`; undefined if there was no evidence. At most `most` kinds. */
export const keptText = (
  counts: readonly KeptCount[],
  most: number = evidenceKinds.length,
): string | undefined => {
  const parts = counts.slice(0, most).map(({ kind, kept, of }) => `${kept} of ${of} ${nounOf(kind, of)}`);
  return parts.length === 0 ? undefined : parts.join(', ');
};

export const nounOf = (kind: EvidenceKind, count: number): string => plurals[kind][count === 1 ? 0 : 1];

/** What is known to be lost and was not given back: nothing where the summary cannot be read. */
export const lostItems = ({ items, isUnreadable }: Receipt): readonly ReceiptItem[] =>
  isUnreadable ? [] : items.filter(isMissing);

const isMissing = ({ isKept, isGiven }: ReceiptItem): boolean => !isKept && !isGiven;

// Where the summary is encrypted, what it has kept is unknown. What was in the window before is known from the records all the same.

export interface BeforeCount {
  readonly kind: EvidenceKind;
  readonly count: number;
}

/** How much of each kind was in the window before the compaction; without kinds of which there was nothing. */
export const beforeCounts = ({ items }: Pick<Receipt, 'items'>): readonly BeforeCount[] =>
  evidenceKinds.flatMap((kind) => {
    const count = items.filter((item) => item.kind === kind).length;
    return count === 0 ? [] : [{ kind, count }];
  });

/** What is nowhere but in the summary, if there: nothing where the summary can be read, for then that is known. */
export const unknownItems = ({ items, isUnreadable }: Receipt): readonly ReceiptItem[] =>
  isUnreadable ? items.filter(isMissing) : [];

/** `in the window before: 12 paths, 31 commands`; undefined if there was no evidence. At most `most` kinds. */
export const beforeText = (receipt: Receipt, most: number = evidenceKinds.length): string | undefined => {
  const parts = beforeCounts(receipt)
    .slice(0, most)
    .map(({ kind, count }) => `${count} ${nounOf(kind, count)}`);
  return parts.length === 0 ? undefined : `in the window before: ${parts.join(', ')}`;
};

/**
 * What a receipt says in one line: `3 of 41 paths`, or what was there before an encrypted summary, with what could not be looked at;
 * `unknown: 12 calls of a tool that ctxwrap does not understand: exec` where there is nothing else.
 */
export const receiptText = (receipt: Receipt): string | undefined => {
  const before = receipt.isUnreadable ? beforeText(receipt) : undefined;
  return before === undefined
    ? keptOrUnknownText(receipt, keptCounts(receipt))
    : [`unknown, summary encrypted · ${before}`, notUnderstoodText(receipt.notUnderstood) ?? []]
        .flat()
        .join('; ');
};

/** The same from counts, where the items are not at hand. */
export const keptOrUnknownText = (
  { notUnderstood }: Pick<Receipt, 'notUnderstood'>,
  counts: readonly KeptCount[],
): string | undefined => {
  const [kept, rest] = [keptText(counts), notUnderstoodText(notUnderstood)];
  return rest === undefined ? kept : `${kept === undefined ? 'unknown: ' : `${kept}; `}${rest}`;
};

// The counts as a line of the audit log, which holds nothing of the conversation.

export interface ReceiptCounts {
  /** when the agent had compacted */
  readonly at: Millis;
  readonly counts: readonly KeptCount[];
}

/** The wrapper's session and the agent's id of the conversation. */
interface ReceiptOrigin {
  readonly session: string;
  readonly version: string;
  readonly runtime: string;
  readonly conversation?: string | undefined;
}

const RECEIPT_COUNTS = 'ctxwrap.receipt-counts/1';
const LONGEST_NAME = 100; // characters

/** With a newline. */
export const receiptLine = ({ at, counts }: ReceiptCounts, origin: ReceiptOrigin): string => {
  const name = (text: string): string => toOneLine(text, LONGEST_NAME);
  const { session, version, runtime: agent, conversation } = origin;
  return jsonText({
    schema: RECEIPT_COUNTS,
    at,
    counts,
    session: name(session),
    version: name(version),
    runtime: name(agent),
    conversation: conversation && name(conversation),
  });
};

/** undefined for a line that is none */
export const parseReceiptLine = (
  line: string,
): (ReceiptCounts & Pick<ReceiptOrigin, 'session'>) | undefined => {
  const found = parseRecord(line);
  const [at, session] = [getCount(found, 'at'), getText(found, 'session')];
  if (found?.['schema'] !== RECEIPT_COUNTS || at === undefined || session === undefined) return undefined;
  const counts = evidenceKinds.flatMap((kind) => {
    const own = getList(found, 'counts').find((each) => getText(each, 'kind') === kind);
    const [kept, of] = [getCount(own, 'kept'), getCount(own, 'of')];
    return kept === undefined || of === undefined || kept > of || of === 0 ? [] : [{ kind, kept, of }];
  });
  return { at, session: toOneLine(session, LONGEST_NAME), counts };
};
