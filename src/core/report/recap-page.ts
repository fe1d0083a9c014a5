import {
  isChosen,
  type Given,
  type Recap,
  type RecapLine,
  type RecapSelection,
} from '../conversation/recap.js';
import { byImportance, type EvidenceKind } from '../conversation/conversation-evidence.js';
import type { MarkedRow, Row, Section } from './report-sections.js';

// The page of the overlay with the recap of the last compaction: what the summary has kept and what it has forgotten, and what the user gives
// back to the agent.

/** Its keys, the most useful first. */
export const recapKeys = [
  ['Space', 'choose'],
  ['Enter', 'give back'],
  ['u', 'undo'],
  ['Esc', 'leave'],
] as const;

export interface RecapPage {
  /** undefined where there is none */
  readonly recap: Recap | undefined;
  readonly selection: RecapSelection;
  /** why there is no recap */
  readonly reason: string;
  /** how what is chosen reaches the agent */
  readonly way: string;
}

const titles: Readonly<Record<EvidenceKind, string>> = {
  constraint: 'Your rules',
  plan: 'Open plan items',
  decision: 'Your decisions',
  path: 'Changed files',
  command: 'Commands',
  identifier: 'Names and numbers',
};

export const recapSections = ({ recap, selection, reason, way }: RecapPage): readonly Section[] => {
  if (!recap || recap.lines.length === 0)
    return [{ title: 'Recap', rows: [{ text: recap ? EMPTY : reason }] }];
  const groups = groupsOf(recap);
  const sections = groups.map(({ kind, lines, first }): Section => {
    const rows = lines.map((line, index) => rowOf(recap, selection, { line, place: first + index }));
    return { title: titleOf(kind, lines, recap), rows };
  });
  return [{ rows: [{ text: headOf(recap, selection, way), emphasis: 'quiet' }] }, ...sections];
};

/** The row with the cursor, among those sections; undefined where there is none. */
export const markedRow = ({ recap, selection: { line } }: RecapPage): MarkedRow | undefined => {
  const groups = recap ? groupsOf(recap) : [];
  const index = groups.findLastIndex(({ first }) => first <= line);
  const group = groups[index];
  return group && { section: index + 1, row: line - group.first };
};

interface Group {
  readonly kind: EvidenceKind;
  readonly lines: readonly RecapLine[];
  /** the place of the first one among all lines */
  readonly first: number;
}

const groupsOf = ({ lines }: Recap): readonly Group[] =>
  byImportance.flatMap((kind) => {
    const own = lines.filter((line) => line.kind === kind);
    return own.length === 0
      ? []
      : [{ kind, lines: own, first: lines.findIndex((line) => line.kind === kind) }];
  });

const EMPTY = 'The conversation before the compaction holds no rules, plan items, files, commands or names.';

const headOf = (recap: Recap, selection: RecapSelection, way: string): string => {
  const chosen = recap.lines.filter((_, place) => isChosen(recap, selection, place)).length;
  const unknown = recap.isUnreadable ? 'The summary is encrypted: what it has kept is not known. ' : '';
  return `${unknown}${chosen} chosen; Enter gives ${chosen === 1 ? 'it' : 'them'} back ${way}.`;
};

const titleOf = (kind: EvidenceKind, lines: readonly RecapLine[], { isUnreadable }: Recap): string => {
  const kept = lines.filter(({ isKept }) => isKept).length;
  return isUnreadable ? titles[kind] : `${titles[kind]}: ${kept} of ${lines.length} kept`;
};

const givenWords = { sent: 'sent', waiting: 'goes next' } as const satisfies Record<Given, string>;

const rowOf = (
  recap: Recap,
  selection: RecapSelection,
  { line, place }: { readonly line: RecapLine; readonly place: number },
): Row => {
  const { text, hasFailed, isKept, given } = line;
  const isMarked = place === selection.line;
  const lost = recap.isUnreadable ? 'unknown' : 'forgotten';
  const fate = given === undefined ? (isKept ? 'kept' : lost) : givenWords[given];
  const widest = givenWords.waiting.length; // the same in every row, so that the rows above the cursor are drawn alone as in the whole
  return {
    sign: isMarked ? 'reached' : 'none',
    label: isChosen(recap, selection, place) ? '[x]' : '[ ]',
    values: [fate.padEnd(widest)],
    text: hasFailed ? `${text} (it failed)` : text,
    emphasis: isMarked ? 'strong' : isKept || given !== undefined ? 'quiet' : 'plain',
  };
};
