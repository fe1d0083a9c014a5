// What came of all sessions, as a table; also for docs/agents.md.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Verdict } from './play.js';
import type { Scenario } from './scenarios/scenario.js';

/** A session that was played. */
export interface Played {
  readonly agent: string;
  readonly version: string;
  readonly scenario: Scenario;
  readonly verdict: Verdict;
  readonly folder: string;
}

interface Row {
  readonly agent: string;
  readonly version: string;
  readonly scenario: Scenario;
  readonly good: number;
  readonly all: number;
  /** of the first one that failed, or of the first one */
  readonly evidence: string;
}

const MOST_EVIDENCE = 160; // characters in a cell

const rowsOf = (played: readonly Played[]): readonly Row[] => {
  const groups = new Map<string, Played[]>();
  for (const each of played) {
    const key = `${each.agent} ${each.version} ${each.scenario.name}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const told = group.find(({ verdict }) => !verdict.isGood) ?? first;
    const good = group.filter(({ verdict }) => verdict.isGood).length;
    return [{ ...first, good, all: group.length, evidence: told.verdict.evidence }];
  });
};

const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replace(/\s+/g, ' ').trim().slice(0, MOST_EVIDENCE);

const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

/** Markdown: a row for each agent and scenario. */
export const tableOf = (played: readonly Played[]): string =>
  [
    line(['agent', 'version', 'scenario', 'result', 'evidence']),
    line(['---', '---', '---', '---', '---']),
    ...rowsOf(played).map(({ agent, version, scenario, good, all, evidence }) =>
      line([agent, version, scenario.name, `${good === all ? 'ok' : 'FAILED'} ${good}/${all}`, evidence]),
    ),
    '',
  ].join('\n');

const head = (played: readonly Played[], at: Date): string => {
  const versions = [...new Set(played.map(({ agent, version }) => `${agent} ${version}`))].toSorted();
  const scenarios = [...new Set(played.map(({ scenario }) => scenario))];
  return `# The agents, and what was seen of them

Written by \`npm run lab -- --write\` on ${at.toISOString().slice(0, 10)}, with ${versions.join(', ')}.

Each agent runs under ctxwrap in a network namespace in which nothing but a made-up model server can be reached. Every byte that is
written to it is recorded; a key that neither the user of the scenario pressed nor the scenario expects makes it fail.

${scenarios.map(({ name, expects }) => `- **${name}**: ${expects}.`).join('\n')}

`;
};

export const writeTable = (path: string, played: readonly Played[], at: Date): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, head(played, at) + tableOf(played));
};
