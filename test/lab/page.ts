// Writes docs/internals/evidence.md: a matrix of agents, versions and groups of scenarios, and each session's evidence. Rows that were not run this
// time stay. docs/agents.md gets the versions alone.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { groups, scenarios, type Group } from './scenarios/all.js';
import { QUICK_SUMMARY_MS, SUMMARY_MS } from './scenarios/scenario.js';
import { heading, inOrder, line, merged, resultOf, rowsOf, type Played, type Row } from './table.js';

const HEAD = `# What was seen of the agents

Written by \`npm run lab -- --write\`. Each agent runs under ctxwrap in a network namespace in which nothing but a made-up model server
can be reached. Every byte that is written to it is recorded: a key that neither the user of the scenario pressed nor the scenario
expects makes it fail, and so does a key of the user that did not arrive.

The numbers count sessions. A summary takes ${SUMMARY_MS / 1000} s where nothing else is told, and ${QUICK_SUMMARY_MS / 1000} s in the groups "other places", "hooks", "undo", "drafts" and "rescue".
`;

const NEVER = '–';

/** The rows of one version of an agent. */
interface Version {
  readonly agent: string;
  readonly version: string;
  readonly rows: readonly Row[];
}

const versionsOf = (rows: readonly Row[]): readonly Version[] => {
  const name = ({ agent, version }: Row): string => `${agent} ${version}`;
  const ordered = inOrder(rows);
  return [...new Set(ordered.map(name))].map((each) => {
    const [agent = '', version = ''] = each.split(' ');
    return { agent, version, rows: ordered.filter((row) => name(row) === each) };
  });
};

const countsOf = (rows: readonly Row[]): string => {
  const good = rows.reduce((sum, row) => sum + row.good, 0);
  const failed = rows.reduce((sum, row) => sum + row.all - row.good, 0);
  if (good + failed === 0) return NEVER;
  return failed === 0 ? `${good} ok` : `${good} ok, **${failed} failed**`;
};

const lastDateOf = (rows: readonly Row[]): string =>
  rows.map(({ date }) => date).reduce((last, date) => (date > last ? date : last), '');

const isIn = (group: Group, { scenario }: Row): boolean =>
  group.scenarios.some(({ name }) => name === scenario);

const matrix = (versions: readonly Version[]): readonly string[] => [
  ...heading(['agent', 'version', ...groups.map(({ name }) => name), 'played']),
  ...versions.map(({ agent, version, rows }) =>
    line([
      agent,
      version,
      ...groups.map((group) => countsOf(rows.filter((row) => isIn(group, row)))),
      lastDateOf(rows),
    ]),
  ),
];

const expectations = groups.flatMap((group) => [
  `**${group.name}**`,
  '',
  ...group.scenarios.map(({ name, expects }) => `- ${name}: ${expects}.`),
  '',
]);

const details = ({ agent, version, rows }: Version): readonly string[] => [
  `## ${agent} ${version}`,
  '',
  `<details><summary>${countsOf(rows).replaceAll('**', '')}</summary>`,
  '',
  ...heading(['scenario', 'result', 'evidence', 'date']),
  ...rows.map((row) => line([row.scenario, resultOf(row), row.evidence, row.date])),
  '',
  '</details>',
  '',
];

const pageOf = (rows: readonly Row[]): string => {
  const versions = versionsOf(rows);
  return [
    HEAD,
    ...matrix(versions),
    '',
    '## What each scenario expects',
    '',
    ...expectations,
    ...versions.flatMap(details),
  ].join('\n');
};

/** The rows of an existing page; scenarios that no longer exist are left out. */
const rowsIn = (text: string): readonly Row[] => {
  let [agent, version] = ['', ''];
  return text.split('\n').flatMap((each) => {
    const title = /^## (\S+) (\d\S*)$/.exec(each);
    if (title) [, agent = '', version = ''] = title;
    const cells = each.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
    const [, scenario = '', result = '', evidence = '', date = ''] = cells;
    const [, good, all] = /^\w+ (\d+)\/(\d+)$/.exec(result) ?? [];
    const isRow = agent !== '' && all !== undefined && scenarios.some(({ name }) => name === scenario);
    return isRow ? [{ agent, version, scenario, good: Number(good), all: Number(all), evidence, date }] : [];
  });
};

/** The text of docs/internals/evidence.md after these sessions. */
export const withPlayed = (before: string, played: readonly Played[], at: Date): string =>
  pageOf(merged(rowsIn(before), rowsOf(played, at)));

/** The table of versions: how many sessions, in how many of the groups, and when the last one was. */
const versionTable = (evidence: string): readonly string[] => [
  ...heading(['agent', 'version', 'sessions', 'kinds of situation', 'last played']),
  ...versionsOf(rowsIn(evidence)).map(({ agent, version, rows }) =>
    line([
      agent,
      version,
      countsOf(rows),
      `${groups.filter((group) => rows.some((row) => isIn(group, row))).length} of ${groups.length}`,
      lastDateOf(rows),
    ]),
  ),
];

/** The text of docs/agents.md with the table of versions that the evidence has. */
export const withVersions = (page: string, evidence: string): string =>
  page.replace(/<!-- tested -->[^]*<!-- \/tested -->/, () =>
    ['<!-- tested -->', ...versionTable(evidence), '<!-- /tested -->'].join('\n'),
  );

/** Both pages, below the folder `docs`. */
export const writePages = (docs: string, played: readonly Played[], at: Date): void => {
  const [agents, evidence] = [join(docs, 'agents.md'), join(docs, 'internals/evidence.md')];
  const before = existsSync(evidence) ? readFileSync(evidence, 'utf8') : '';
  mkdirSync(dirname(evidence), { recursive: true });
  const after = withPlayed(before, played, at);
  writeFileSync(evidence, after);
  writeFileSync(agents, withVersions(readFileSync(agents, 'utf8'), after));
};
