import { isChosen, type Given, type Recap, type RecapLine } from '../conversation/recap.js';
import { byImportance, type EvidenceKind } from '../conversation/conversation-evidence.js';
import { FAILED } from '../conversation/given-block.js';
import type { MarkedRow, Row, Section } from './report-sections.js';

// The page of the overview with the recap of the last compaction: what the summary has kept and what it has forgotten, and what the user gives
// back to the agent.

/** Its keys, the most useful first. */
export const recapKeys = (page: RecapPage | undefined): readonly (readonly [key: string, does: string])[] => [
  ['Enter', page?.isWaiting ? 'give' : 'give back'], // all of them fit into 40 columns
  ['Space', 'choose'],
  ...(page?.isWaiting ? [['x', 'take back'] as const] : []),
  ['u', 'undo'],
  ['Esc', 'leave'],
];

export interface RecapPage {
  /** undefined where there is none */
  readonly recap: Recap | undefined;
  /** the place of the line with the cursor */
  readonly line: number;
  /** the keys of the chosen lines */
  readonly chosen: readonly string[];
  /** why there is no recap */
  readonly reason: string;
  /** how what is chosen reaches the agent */
  readonly way: string;
  /** something that was given back has not reached the agent yet */
  readonly isWaiting?: boolean;
  /** what came of the key that was pressed last */
  readonly answer?: string | undefined;
}

const titles: Readonly<Record<EvidenceKind, string>> = {
  constraint: 'Your rules',
  plan: 'Open plan items',
  decision: 'Your decisions',
  path: 'Changed files',
  command: 'Commands',
  identifier: 'Names and numbers',
};

export const recapSections = (page: RecapPage): readonly Section[] => {
  const { recap, reason, answer } = page;
  const answers = answer === undefined ? [] : [{ text: answer, emphasis: 'accent' } as const];
  if (!recap || recap.lines.length === 0)
    return [{ title: 'Recap', rows: [{ text: recap ? emptyRecap : reason }, ...answers] }];
  const valueColumns = Math.max(...recap.lines.map((line) => fateOf(line, recap).length));
  const sections = recapGroups(recap).map(({ title, lines, first }): Section => {
    const rows = lines.map((line, index) =>
      rowOf(page, recap, { line, isMarked: first + index === page.line }),
    );
    return { title, rows, valueColumns };
  });
  return [{ rows: [{ text: headOf(recap, page), emphasis: 'quiet' }, ...answers] }, ...sections];
};

/** The row with the cursor, among those sections; undefined where there is none. */
export const markedRow = ({ recap, line }: RecapPage): MarkedRow | undefined => {
  const groups = recap ? recapGroups(recap) : [];
  const index = groups.findLastIndex(({ first }) => first <= line);
  const group = groups[index];
  return group && { section: index + 1, row: line - group.first };
};

/** The lines of one kind. */
export interface RecapGroup {
  readonly title: string;
  readonly lines: readonly RecapLine[];
  /** the place of the first one among all lines */
  readonly first: number;
}

export const recapGroups = (recap: Recap): readonly RecapGroup[] =>
  byImportance.flatMap((kind) => {
    const lines = recap.lines.filter((line) => line.kind === kind);
    const first = recap.lines.findIndex((line) => line.kind === kind);
    return lines.length === 0 ? [] : [{ title: titleOf(kind, lines, recap), lines, first }];
  });

export const emptyRecap =
  'The conversation before the compaction holds no rules, plan items, decisions, files, commands or names.';

export const unreadableRecap = 'The summary is encrypted: what it kept is unknown.';

const headOf = (recap: Recap, { chosen, way }: RecapPage): string => {
  const count = recap.lines.filter((line) => isChosen(line, chosen)).length;
  const unknown = recap.isUnreadable ? `${unreadableRecap} ` : '';
  return `${unknown}${count} chosen; Enter gives ${count === 1 ? 'it' : 'them'} back ${way}.`;
};

const titleOf = (
  kind: EvidenceKind,
  lines: readonly RecapLine[],
  { isUnreadable, leftOut }: Recap,
): string => {
  const earlier = leftOut.filter((item) => item.kind === kind);
  const all = [...earlier, ...lines];
  const kept = isUnreadable ? '' : `: ${all.filter(({ isKept }) => isKept).length} of ${all.length} kept`;
  return `${titles[kind]}${kept}${earlier.length === 0 ? '' : `; the first ${earlier.length} are not listed`}`;
};

const givenWords = {
  sent: 'sent',
  waiting: 'goes next',
  drafted: 'as draft',
  asked: 'waits',
} as const satisfies Record<Given, string>;

/** What has become of a line. */
export const fateOf = ({ isKept, given }: RecapLine, { isUnreadable }: Recap): string =>
  given === undefined ? (isKept ? 'kept' : isUnreadable ? 'unknown' : 'forgotten') : givenWords[given];

export const recapText = ({ text, hasFailed }: RecapLine): string => (hasFailed ? text + FAILED : text);

const rowOf = (
  { chosen }: RecapPage,
  recap: Recap,
  { line, isMarked }: { readonly line: RecapLine; readonly isMarked: boolean },
): Row => {
  const { isKept, given } = line;
  return {
    sign: isMarked ? 'reached' : 'none',
    label: isChosen(line, chosen) ? '[x]' : '[ ]',
    values: [fateOf(line, recap)],
    text: recapText(line),
    emphasis: isMarked ? 'strong' : isKept || given !== undefined ? 'quiet' : 'plain',
  };
};
