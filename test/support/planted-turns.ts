// 200 turns with facts in them, and how many of these are left: the table in docs/internals/strategies.md.
import {
  compactionsOf,
  type Compaction,
  type Conversation,
  type Entry,
} from '../../src/core/conversation/conversation.js';
import { keptCounts, receiptOf } from '../../src/core/conversation/receipt.js';
import { conversationOf, type Turn } from './generated-conversation.js';

const PROSE =
  'The module reads its input in blocks, checks each of them, and hands on what is left; an error ends the block and not the run. ';

/** In every tenth turn a demand and a file, in turn 150 a plan of ten items; in every turn a name. */
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

export const plantedConversation = (): Conversation => conversationOf(turns);

/** The cells `20 of 20 | …` for demands, plan items, changed files and names: what these entries still name, as a receipt counts it. */
export const plantedFactsIn = (window: readonly Entry[]): string => {
  const before = plantedConversation();
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
  return ['constraint', 'plan', 'path', 'identifier'].map(of).join(' | ');
};
