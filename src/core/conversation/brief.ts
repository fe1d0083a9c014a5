import {
  byImportance,
  notUnderstoodText,
  type EvidenceItem,
  type EvidenceKind,
} from './conversation-evidence.js';
import { FAILED, GIVEN_TAIL, givenHeads, givenTitles, NOT_LOOKED_AT } from './given-block.js';
import { lostItems, nounOf, unknownItems, type Receipt, type ReceiptItem } from './receipt.js';

// What a compaction has lost, or may have lost in a summary that nobody can read, as a message to the agent. The user reads it, changes it and
// sends it, or not.

/** The longest brief, in characters: about a thousand tokens. */
const MOST_BRIEF = 4_000;

const TAIL = `\n\n${GIVEN_TAIL}`;
const titles: Readonly<Record<EvidenceKind, string>> = givenTitles;

/** What is lost, or may be lost in a summary that nobody can read. */
export const missingItems = (receipt: Receipt): readonly ReceiptItem[] =>
  receipt.isUnreadable ? unknownItems(receipt) : lostItems(receipt);

/**
 * The brief in at most `most` characters, the latest items of each kind first to stay; undefined if nothing was lost. Its lines have no control
 * characters. What does not fit is counted, and what could not be looked at is said. `escape` is how the agent must get an item.
 */
export const briefText = (
  receipt: Receipt,
  { most = MOST_BRIEF, escape = (text: string): string => text } = {},
): string | undefined => itemsBlock(missingItems(receipt), receipt, { most, escape })?.text;

/** What is said around items: nothing of what could not be looked at where that is left out. */
export type Around = Pick<Receipt, 'isUnreadable'> & Partial<Pick<Receipt, 'notUnderstood'>>;

export interface ItemsBlock<Item> {
  readonly text: string;
  /** those that have room in it */
  readonly items: readonly Item[];
}

/** The same of any items of a receipt. */
export const itemsBlock = <Item extends ReceiptItem>(
  items: readonly Item[],
  { isUnreadable, notUnderstood = [] }: Around,
  { most = MOST_BRIEF, escape = (text: string): string => text } = {},
): ItemsBlock<Item> | undefined => {
  const mixed = items.some(({ isKept }) => isKept) ? givenHeads.mixed : givenHeads.lost;
  const head = isUnreadable ? givenHeads.unreadable : mixed;
  const rest = notUnderstoodText(notUnderstood);
  const unread = rest === undefined ? '' : `\n\n${NOT_LOOKED_AT}${escape(rest)}.`;
  let room = most - head.length - unread.length - TAIL.length;
  const sections = byImportance.flatMap((kind) => {
    const own = items.filter((item) => item.kind === kind);
    const section = sectionOf(kind, own, { room, escape });
    room -= section.text.length;
    return section.text === '' ? [] : [section];
  });
  if (sections.length === 0) return undefined;
  const text = head + sections.map((section) => section.text).join('') + unread + TAIL;
  return { text, items: sections.flatMap((section) => section.items) };
};

const MOST_MORE = 40; // characters of the line that counts the rest

interface SectionForm {
  readonly room: number;
  readonly escape: (text: string) => string;
}

/** With a newline before it; '' if not even one item has room. */
const sectionOf = <Item extends ReceiptItem>(
  kind: EvidenceKind,
  items: readonly Item[],
  { room, escape }: SectionForm,
): ItemsBlock<Item> => {
  let section = `\n\n${titles[kind]}:`;
  const kept: string[] = [];
  for (const { text, hasFailed } of items.toReversed()) {
    const line = `\n- ${escape(text)}${hasFailed ? FAILED : ''}`;
    const isLast = kept.length === items.length - 1;
    if (section.length + line.length + (isLast ? 0 : MOST_MORE) > room) break;
    section += line;
    kept.unshift(line);
  }
  if (kept.length === 0) return { text: '', items: [] };
  const more = items.length - kept.length;
  const rest = more > 0 ? `\n- and ${more} more ${nounOf(kind, more)}` : '';
  return { text: `\n\n${titles[kind]}:${kept.join('')}${rest}`, items: items.slice(more) };
};

// What an agent must keep, as the text behind its compact command: it is one line, because a line break would send it.

/** The longest such text, in characters. Claude folds a longer one than 800 into a mark of a paste (docs/facts/claude.md). */
export const MOST_FOCUS = 600;

/**
 * The user's rules, word for word, and the open items of the plan, in at most `most` characters: the latest first to stay, and none in part.
 * Undefined where there are none. `escape` is how the agent must get an item.
 */
export const focusText = (
  items: readonly EvidenceItem[],
  { most = MOST_FOCUS, escape = (text: string): string => text } = {},
): string | undefined => {
  const textsOf = (kind: EvidenceKind): readonly string[] =>
    // composed (NFC), so that the text in the prompt can be compared with the typed text
    items.filter((item) => item.kind === kind).map(({ text }) => escape(text.normalize('NFC')));
  const rules = listIn(
    textsOf('constraint').map((text) => `"${text}"`),
    RULES,
    most,
  );
  const plan = listIn(textsOf('plan'), PLAN, most - rules.length - 1);
  return [rules, plan].filter((list) => list !== '').join(' ') || undefined;
};

const [RULES, PLAN, BETWEEN, END] = ['Keep word for word: ', 'Open plan items: ', '; ', '.'];

/** As many of the last texts as have room behind the head; '' where none has. */
const listIn = (texts: readonly string[], head: string, room: number): string => {
  const kept: string[] = [];
  let length = [...head].length + END.length - BETWEEN.length;
  for (const text of texts.toReversed()) {
    const more = [...text].length + BETWEEN.length;
    if (length + more > room) continue;
    length += more;
    kept.unshift(text);
  }
  return kept.length === 0 ? '' : head + kept.join(BETWEEN) + END;
};
