// docs/internals/requirements.md, from the tables.
import { type Requirement, type Source, verdicts } from './requirement.js';
import { namesOf } from './test-names.js';

const head = `# Requirements

ctxwrap began from five public designs and a list of what the command itself had to be. This page has every item of
them in our own words, what became of it, and a test that shows it. A test fails when an item has no row, a row has no
test, or a difference has no reason; \`npm run docs:requirements\` writes this page anew from the tables in
\`test/requirements\`.

Files of tests are below \`test\`. To run one: \`npx vitest run FILE -t "PART OF ITS NAME"\`.`;

const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('_', '\\_');

const countOf = (items: readonly Requirement[], verdict: string): string =>
  `${items.filter((item) => item.verdict === verdict).length}`;

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** How many items of each source have which verdict; a verdict that none has is left out. */
const counts = (sources: readonly Source[]): string => {
  const all = sources.flatMap(({ items }) => items);
  const columns = Object.keys(verdicts).filter((verdict) => countOf(all, verdict) !== '0');
  const line = (name: string, items: readonly Requirement[]): string =>
    row([name, ...columns.map((verdict) => countOf(items, verdict)), `${items.length}`]);
  return [
    row(['', ...columns, 'all']),
    row(Array.from({ length: columns.length + 2 }, () => '---')),
    ...sources.map(({ prefix, title, items }) => line(`${prefix} · ${title}`, items)),
    line('all', all),
  ].join('\n');
};

const meanings = Object.entries(verdicts)
  .map(([verdict, meaning]) => `- **${verdict}**: ${meaning}`)
  .join('\n');

const requirementRow = ({ id, asks, verdict, why, shownBy }: Requirement): string =>
  row([
    id,
    asks.replaceAll('|', '\\|'),
    why === undefined ? verdict : `**${verdict}.** ${why.replaceAll('|', '\\|')}`,
    shownBy.map((evidence) => `\`${evidence[0]}\` ${cell(namesOf(evidence)[0] ?? evidence[1])}`).join('<br>'),
  ]);

const section = ({ prefix, title, about, items }: Source): string =>
  [
    `## ${prefix} · ${title}`,
    '',
    about,
    '',
    row(['', 'asks', 'verdict', 'shown by']),
    row(['---', '---', '---', '---']),
    ...items.map(requirementRow),
  ].join('\n');

/** The whole page. */
export const requirementsPage = (sources: readonly Source[]): string =>
  `${[head, counts(sources), meanings, ...sources.map(section)].join('\n\n')}\n`;
