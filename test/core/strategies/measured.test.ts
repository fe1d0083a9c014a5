// How much strategies keep of facts that were planted in 200 turns: the table in docs/strategies.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compactionsOf, tokensOf, windowOf, type Compaction } from '../../../src/core/conversation.js';
import { formatTokens } from '../../../src/core/format.js';
import { keptCounts, receiptOf } from '../../../src/core/receipt.js';
import { strategies } from '../../../src/core/strategies/strategy.js';
import { conversationOf, type Turn } from '../../support/generated-conversation.js';

const PROSE =
  'The module reads its input in blocks, checks each of them, and hands on what is left; an error ends the block and not the run. ';

/** In every tenth turn a demand, a file, an item of the plan; in every turn a name. */
const turns: readonly Turn[] = Array.from({ length: 200 }, (_, index) => ({
  prompt: [
    `Look at part ${index} of the work and at setting_${index}.`,
    ...(index % 10 === 0 ? [`Never rename column_${index} of the table.`] : []),
  ].join(' '),
  actions: [
    { does: 'answers' as const, text: `Part ${index}: ${PROSE.repeat(12)}` },
    ...(index % 10 === 0 ? [{ does: 'edits' as const, path: `/proj/src/part-${index}.ts` }] : []),
    ...(index === 150
      ? [
          {
            does: 'plans' as const,
            items: Array.from({ length: 10 }, (__, item) => ({
              text: `finish subject ${item} of the plan`,
              status: 'open' as const,
            })),
          },
        ]
      : []),
  ],
}));

const rowFor = async (name: 'truncate' | 'clustering', budgetTokens: number): Promise<string> => {
  const before = conversationOf(turns);
  const { signal } = new AbortController();
  const after = await strategies[name](before, { keepRecent: 20, budgetTokens, signal });
  const window = windowOf(after);
  const compaction: Compaction = {
    kind: 'compaction',
    source: { line: 1_000_000 },
    tokens: 0,
    boundary: { at: 1 },
    keptIds: window.flatMap((entry) => (entry.kind === 'summary' ? [] : (entry.source.id ?? []))),
  };
  const summaries = window.filter(({ kind }) => kind === 'summary');
  const whole = { ...before, entries: [...before.entries, compaction, ...summaries] };
  const receipt = compactionsOf(whole)[0] && receiptOf(whole, compaction);
  const counts = receipt ? keptCounts(receipt) : [];
  const of = (kind: string): string => {
    const found = counts.find((each) => each.kind === kind);
    return found ? `${found.kept} of ${found.of}` : '–';
  };
  const sizes = [before, after].map((each) => formatTokens(tokensOf(windowOf(each))));
  const kinds = ['constraint', 'plan', 'path', 'identifier'].map(of);
  return `| ${name} | ${formatTokens(budgetTokens)} | ${sizes.join(' → ')} | ${kinds.join(' | ')} |`;
};

it('is what the documentation says', async () => {
  const rows = [
    await rowFor('truncate', 40_000),
    await rowFor('clustering', 40_000),
    await rowFor('clustering', 10_000),
  ];
  const page = readFileSync(join(import.meta.dirname, '../../../docs/strategies.md'), 'utf8');
  for (const row of rows) expect(page).toContain(row);
});
