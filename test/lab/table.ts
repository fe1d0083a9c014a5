// What came of all sessions, as a table; also in docs/agents.md, where the rows of what was not played this time stay.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
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

interface Row {
  readonly agent: string;
  readonly version: string;
  readonly scenario: string;
  /** `ok 3/3` */
  readonly result: string;
  readonly evidence: string;
  /** of the day on which it was played */
  readonly date: string;
}

const MOST_EVIDENCE = 180; // characters in a cell
const COLUMNS = ['agent', 'version', 'scenario', 'result', 'evidence', 'date'] as const;

const keyOf = ({ agent, scenario }: Pick<Row, 'agent' | 'scenario'>): string => `${agent} ${scenario}`;

const rowsOf = (played: readonly Played[], date: string): readonly Row[] =>
  [...new Set(played.map(keyOf))].flatMap((key) => {
    const group = played.filter((each) => keyOf(each) === key);
    const told = group.find(({ verdict }) => !verdict.isGood) ?? group[0];
    if (!told) return [];
    const good = group.filter(({ verdict }) => verdict.isGood).length;
    const result = `${good === group.length ? 'ok' : 'FAILED'} ${good}/${group.length}`;
    const { agent, version, scenario, verdict } = told;
    return [{ agent, version, scenario, result, evidence: shortened(verdict.evidence), date }];
  });

const shortened = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MOST_EVIDENCE ? `${line.slice(0, MOST_EVIDENCE - 1)}…` : line;
};

const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;

const markdown = (rows: readonly Row[]): string =>
  [
    line(COLUMNS),
    line(COLUMNS.map(() => '---')),
    ...inOrder(rows).map((row) => line(COLUMNS.map((column) => row[column]))),
    '',
  ].join('\n');

/** As `--list` shows the scenarios, and the agents by name. */
const inOrder = (rows: readonly Row[]): readonly Row[] => {
  const place = ({ scenario }: Row): number => scenarios.findIndex(({ name }) => name === scenario);
  return rows.toSorted((a, b) => place(a) - place(b) || a.agent.localeCompare(b.agent));
};

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Markdown: a row for each agent and scenario. */
export const tableOf = (played: readonly Played[], at: Date): string => markdown(rowsOf(played, dayOf(at)));

/** The rows of a table that was written before; scenarios that are no more are left out. */
const rowsIn = (text: string): readonly Row[] =>
  text.split('\n').flatMap((each) => {
    const cells = each.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
    const [, agent = '', version = '', scenario = '', result = '', evidence = '', date = ''] = cells;
    const isRow = scenarios.some(({ name }) => name === scenario);
    return isRow ? [{ agent, version, scenario, result, evidence, date }] : [];
  });

const head = `# The agents, and what was seen of them

Written by \`npm run lab -- --write\`. Each agent runs under ctxwrap in a network namespace in which nothing but a made-up model server
can be reached. Every byte that is written to it is recorded: a key that neither the user of the scenario pressed nor the scenario
expects makes it fail, and so does a key of the user that did not arrive.

${scenarios.map(({ name, expects }) => `- **${name}**: ${expects}.`).join('\n')}

`;

/** The text of docs/agents.md after these sessions. */
export const withPlayed = (before: string, played: readonly Played[], at: Date): string => {
  const rows = rowsOf(played, dayOf(at));
  const kept = rowsIn(before).filter((row) => !rows.some((each) => keyOf(each) === keyOf(row)));
  return head + markdown([...kept, ...rows]);
};

export const writeTable = (path: string, played: readonly Played[], at: Date): void => {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, withPlayed(before, played, at));
};
