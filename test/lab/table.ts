// The results of all sessions as rows: one for each agent, version and scenario.
import type { Verdict } from './play.js';
import { scenarios } from './scenarios/all.js';

/** A session that was played. */
export interface Played {
  readonly agent: string;
  readonly version: string;
  /** its name */
  readonly scenario: string;
  readonly verdict: Verdict;
}

export interface Row {
  readonly agent: string;
  readonly version: string;
  readonly scenario: string;
  /** passed sessions, and all of them */
  readonly good: number;
  readonly all: number;
  readonly evidence: string;
  /** of the day on which it was played */
  readonly date: string;
}

const MOST_EVIDENCE = 180; // characters in a cell

const keyOf = ({ agent, version, scenario }: Pick<Row, 'agent' | 'version' | 'scenario'>): string =>
  `${agent} ${version} ${scenario}`;

/** One row for all runs of a scenario; it shows a failed run if there is one. */
export const rowsOf = (played: readonly Played[], at: Date): readonly Row[] =>
  [...new Set(played.map(keyOf))].flatMap((key) => {
    const group = played.filter((each) => keyOf(each) === key);
    const told = group.find(({ verdict }) => !verdict.isGood) ?? group[0];
    if (!told) return [];
    const { agent, version, scenario, verdict } = told;
    const good = group.filter((each) => each.verdict.isGood).length;
    const date = at.toISOString().slice(0, 10);
    return [
      { agent, version, scenario, good, all: group.length, evidence: shortened(verdict.evidence), date },
    ];
  });

/** The old rows, replaced by those that were run again. */
export const merged = (before: readonly Row[], rows: readonly Row[]): readonly Row[] => [
  ...before.filter((row) => !rows.some((each) => keyOf(each) === keyOf(row))),
  ...rows,
];

const shortened = (text: string): string => {
  const words = text.replace(/\s+/g, ' ').trim();
  return words.length > MOST_EVIDENCE ? `${words.slice(0, MOST_EVIDENCE - 1)}…` : words;
};

/** By agent, the newest version first, and as `--list` shows the scenarios. */
export const inOrder = (rows: readonly Row[]): readonly Row[] => {
  const place = ({ scenario }: Row): number => scenarios.findIndex(({ name }) => name === scenario);
  return rows.toSorted(
    (a, b) =>
      a.agent.localeCompare(b.agent) ||
      b.version.localeCompare(a.version, 'en', { numeric: true }) ||
      place(a) - place(b),
  );
};

export const resultOf = ({ good, all }: Row): string => `${good === all ? 'ok' : 'FAILED'} ${good}/${all}`;

/** A row of a table in Markdown. */
export const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;

export const heading = (columns: readonly string[]): readonly string[] => [
  line(columns),
  line(columns.map(() => '---')),
];

/** All results as Markdown. */
export const tableOf = (played: readonly Played[], at: Date): string =>
  [
    ...heading(['agent', 'version', 'scenario', 'result', 'evidence', 'date']),
    ...inOrder(rowsOf(played, at)).map((row) =>
      line([row.agent, row.version, row.scenario, resultOf(row), row.evidence, row.date]),
    ),
    '',
  ].join('\n');
