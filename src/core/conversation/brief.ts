import {
  byImportance,
  notUnderstoodText,
  type EvidenceItem,
  type EvidenceKind,
} from './conversation-evidence.js';
import { lostItems, nounOf, unknownItems, type Receipt, type ReceiptItem } from './receipt.js';

// What a compaction has lost, or may have lost in a summary that nobody can read, as a message to the agent. The user reads it, changes it and
// sends it, or not.

/** The longest brief, in characters: about a thousand tokens. */
const MOST_BRIEF = 4_000;

// It begins and ends with words of its own: what stands first or last in a prompt can be a command, open a list of files, or escape Enter.
const HEAD = 'The summary of our conversation left this out:';
const MIXED_HEAD = 'This was in our conversation before it was summarised:';
const UNREADABLE_HEAD = 'I cannot read the summary of our conversation. This was in it before:';
const TAIL = '\n\nAll of this still holds.'; // no demand, or it would count as one of the user's

const titles: Readonly<Record<EvidenceKind, string>> = {
  constraint: 'What I asked for',
  plan: 'Open items of your plan',
  decision: 'What I answered to your questions',
  path: 'Files you changed',
  command: 'Commands you ran',
  identifier: 'Names and numbers I gave you',
};

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
): string | undefined => itemsText(missingItems(receipt), receipt, { most, escape });

/** What is said around items: nothing of what could not be looked at where that is left out. */
export type Around = Pick<Receipt, 'isUnreadable'> & Partial<Pick<Receipt, 'notUnderstood'>>;

/** The same of any items of a receipt. */
export const itemsText = (
  items: readonly ReceiptItem[],
  { isUnreadable, notUnderstood = [] }: Around,
  { most = MOST_BRIEF, escape = (text: string): string => text } = {},
): string | undefined => {
  const mixed = items.some(({ isKept }) => isKept) ? MIXED_HEAD : HEAD;
  const head = isUnreadable ? UNREADABLE_HEAD : mixed;
  const lost = items.map((item) => ({ ...item, text: escape(item.text) }));
  if (lost.length === 0) return undefined;
  const rest = notUnderstoodText(notUnderstood);
  const unread = rest === undefined ? '' : `\n\nNot looked at: ${escape(rest)}.`;
  let room = most - head.length - unread.length - TAIL.length;
  const sections = byImportance.flatMap((kind) => {
    const section = sectionOf(
      kind,
      lost.filter((item) => item.kind === kind),
      room,
    );
    room -= section.length;
    return section === '' ? [] : [section];
  });
  return sections.length === 0 ? undefined : head + sections.join('') + unread + TAIL;
};

const MOST_MORE = 40; // characters of the line that counts the rest

/** With a newline before it; '' if not even one item has room. */
const sectionOf = (kind: EvidenceKind, items: readonly ReceiptItem[], room: number): string => {
  let section = `\n\n${titles[kind]}:`;
  const kept: string[] = [];
  for (const { text, hasFailed } of items.toReversed()) {
    const line = `\n- ${text}${hasFailed ? ' (it failed)' : ''}`;
    const isLast = kept.length === items.length - 1;
    if (section.length + line.length + (isLast ? 0 : MOST_MORE) > room) break;
    section += line;
    kept.unshift(line);
  }
  if (kept.length === 0) return '';
  const more = items.length - kept.length;
  const rest = more > 0 ? `\n- and ${more} more ${nounOf(kind, more)}` : '';
  return `\n\n${titles[kind]}:${kept.join('')}${rest}`;
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
