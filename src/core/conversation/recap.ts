import { byImportance, itemKey, type EvidenceKind } from './conversation-evidence.js';
import { present } from '../present.js';
import { beforeCounts, nounOf, type Receipt, type ReceiptItem } from './receipt.js';

// The recap of a compaction: line by line what was in the window before it, and whether the summary has kept it. The user chooses among the
// lines what the agent is given back.

export interface Recap {
  /** in the order of their importance, the latest of each kind last */
  readonly lines: readonly RecapLine[];
  /** earlier ones of a kind with more than can be listed */
  readonly leftOut: readonly ReceiptItem[];
  /** the summary is encrypted: what it has kept is not known */
  readonly isUnreadable: boolean;
}

export interface RecapLine extends ReceiptItem {
  /** given back: the agent has it, or gets it with the next message, or it was put into the prompt, or waits for a safe moment */
  readonly given?: Given;
}

export type Given = 'sent' | 'waiting' | 'drafted' | 'asked';

const MOST_OF_KIND = 60; // more are no choice

/** `given`: lines that were given back and are not in the session file yet, by their keys. At most `most` lines of each kind, the latest ones. */
export const recapOf = (
  { items, isUnreadable }: Receipt,
  given: ReadonlyMap<string, Given>,
  most: number = MOST_OF_KIND,
): Recap => {
  const kinds = byImportance.map((kind) => items.filter((item) => item.kind === kind));
  return {
    lines: kinds.flatMap((own) =>
      own.slice(-most).map((item) => ({
        ...item,
        ...present({ given: item.isGiven ? 'sent' : given.get(itemKey(item)) }),
      })),
    ),
    leftOut: kinds.flatMap((own) => own.slice(0, Math.max(0, own.length - most))),
    isUnreadable,
  };
};

/** What is chosen at first: what matters most, was forgotten and was not given back yet. */
const MATTERING: readonly EvidenceKind[] = ['constraint', 'plan', 'decision'];

const isAtFirst = ({ kind, isKept, given }: RecapLine): boolean =>
  MATTERING.includes(kind) && !isKept && given === undefined;

/** The keys of what is chosen at first: a line that is given back or found kept later stays chosen. */
export const chosenAtFirst = ({ lines }: Recap, declined: readonly string[] = []): readonly string[] =>
  lines
    .filter(isAtFirst)
    .map(itemKey)
    .filter((key) => !declined.includes(key));

export const isChosen = (line: RecapLine, chosen: readonly string[]): boolean =>
  chosen.includes(itemKey(line));

/** Rules and open plan items that are known to be forgotten: what an encrypted summary has kept is not known. */
export const forgottenRules = (recap: Recap): readonly RecapLine[] =>
  recap.isUnreadable
    ? []
    : recap.lines.filter((line) => isAtFirst(line) && (line.kind === 'constraint' || line.kind === 'plan'));

// In words.

/** `gave back 2 rules, 1 plan item` */
export const gaveBackText = (lines: readonly RecapLine[]): string =>
  `gave back ${beforeCounts({ items: lines })
    .map(({ kind, count }) => `${count} ${nounOf(kind, count)}`)
    .join(', ')}`;

/** `forgot 2 of 3 rules, 1 of 4 open plan items`; undefined where nothing that matters is known to be forgotten. At most `most` kinds. */
export const forgotText = ({ items, isUnreadable }: Receipt, most = Infinity): string | undefined => {
  if (isUnreadable) return undefined;
  const parts = byImportance.flatMap((kind) => {
    const own = items.filter((item) => item.kind === kind);
    const forgotten = own.filter(({ isKept }) => !isKept).length;
    return forgotten === 0 ? [] : [`${forgotten} of ${own.length} ${nounOf(kind, own.length)}`];
  });
  return parts.length === 0 ? undefined : `forgot ${parts.slice(0, most).join(', ')}`;
};
