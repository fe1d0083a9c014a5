import { evidenceIn, type EvidenceItem, type EvidenceKind } from '../conversation/conversation-evidence.js';
import type { Conversation } from '../conversation/conversation.js';
import { estimateTokens } from '../reading.js';
import { divide, type Division, type KeepLimits } from './keep.js';

// The evidence of what a strategy takes out of a conversation, word for word: what the user demanded, the open items of the plan, the files
// that were changed. The block is part of the text that replaces the rest, and is read back from it when that text is replaced.

/** The longest block, in tokens as `estimateTokens` counts them. */
export const MOST_BLOCK_TOKENS = 2_000;

const HEAD = 'On record, word for word:';

/** The most important first: room is limited. */
const titles = {
  constraint: 'The user demanded:',
  plan: 'Open items of the plan:',
  path: 'Files that were changed:',
} as const satisfies Partial<Record<EvidenceKind, string>>;

type BlockKind = keyof typeof titles;

const kinds = Object.keys(titles) as readonly BlockKind[];

type BlockItems = Readonly<Record<BlockKind, readonly string[]>>;

/** The evidence of what goes that what stays does not show; '' if there is none. The latest items of each kind stay first. */
const evidenceBlock = (
  { entries, head: { cwd } }: Conversation,
  { dropped, kept, isUnattended }: Division,
): string => {
  const gone = itemsOf(evidenceIn(dropped, cwd, entries));
  const shown = itemsOf(evidenceIn(kept, cwd, entries));
  const earlier = dropped.map((entry) => (entry.kind === 'summary' ? blockIn(entry.text) : noItems));
  // a plan of calls since the last block replaces the plan in it, also one from before a compaction of the agent's
  const isPlanned = entries.some((entry) => entry.kind === 'call' && entry.plan !== undefined);
  const uses = entries.filter(({ kind }) => kind === 'call' || kind === 'result');
  const openNow = itemsOf(evidenceIn(uses, cwd)).plan;
  // work without a message of the user is done by what the user demanded before
  const sources = isUnattended ? entries.filter(({ kind }) => kind === 'prompt') : dropped;
  const demanded = itemsOf(evidenceIn(sources, cwd, entries)).constraint;
  return blockText({
    constraint: missing([...earlier.flatMap(({ constraint }) => constraint), ...demanded], shown.constraint),
    plan: missing(isPlanned ? openNow : earlier.flatMap(({ plan }) => plan), shown.plan),
    path: missing([...earlier.flatMap(({ path }) => path), ...gone.path], shown.path),
  });
};

/** The division of the conversation with its block, both together within the budget if possible. */
export const divideWithBlock = (
  conversation: Conversation,
  { keepRecent, budgetTokens }: KeepLimits,
): { readonly division: Division; readonly block: string } => {
  for (let reserve = 0; ;) {
    const division = divide(conversation, { keepRecent, budgetTokens: budgetTokens - reserve });
    const block = evidenceBlock(conversation, division);
    const needed = estimateTokens(block);
    if (needed <= reserve || reserve >= MOST_BLOCK_TOKENS) return { division, block };
    reserve = reserve === 0 ? needed : MOST_BLOCK_TOKENS; // with less room more is dropped, and the block grows
  }
};

const noItems: BlockItems = { constraint: [], plan: [], path: [] };

const itemsOf = (evidence: readonly EvidenceItem[]): BlockItems => {
  const of = (kind: BlockKind): readonly string[] =>
    evidence.filter((item) => item.kind === kind).map(({ text }) => text);
  return { constraint: of('constraint'), plan: of('plan'), path: of('path') };
};

/** Each once, at its last place, without those that are shown anyway. */
const missing = (items: readonly string[], shown: readonly string[]): readonly string[] => {
  const isShown = new Set(shown);
  return [...new Set(items.toReversed())].toReversed().filter((item) => !isShown.has(item));
};

const blockText = (items: BlockItems): string => {
  let room = MOST_BLOCK_TOKENS - estimateTokens(`${HEAD}\n`);
  const sections = kinds.flatMap((kind) => {
    const section = sectionText(kind, items[kind], room);
    if (section === undefined) return [];
    room -= estimateTokens(section);
    return [section];
  });
  return sections.length === 0 ? '' : [HEAD, ...sections].join('\n');
};

const moreText = (count: number): string => `(and ${count} more)`;

const sectionText = (kind: BlockKind, items: readonly string[], room: number): string | undefined => {
  let left = room - estimateTokens(`${titles[kind]}\n${moreText(items.length)}\n`);
  let first = items.length;
  while (first > 0) {
    left -= estimateTokens(`- ${items[first - 1] ?? ''}\n`);
    if (left < 0) break;
    first -= 1;
  }
  if (first === items.length) return undefined;
  return [
    titles[kind],
    ...items.slice(first).map((item) => `- ${item}`),
    ...(first > 0 ? [moreText(first)] : []),
  ].join('\n');
};

/** The items of the block in this text; none if there is no block. */
const blockIn = (text: string): BlockItems => {
  const lines = linesOfBlock(text);
  const found: Record<BlockKind, string[]> = { constraint: [], plan: [], path: [] };
  let kind: BlockKind | undefined;
  for (const line of lines) {
    const titled = kinds.find((each) => titles[each] === line);
    if (titled) kind = titled;
    else if (kind && line.startsWith('- ')) found[kind].push(line.slice(2));
  }
  return found;
};

const linesOfBlock = (text: string): readonly string[] => {
  const lines = text.split('\n');
  const start = lines.lastIndexOf(HEAD);
  return start < 0 ? [] : lines.slice(start + 1);
};

// what Gemini and Qwen put around a summary
const SNAPSHOT_TAG = /^<\/?state_snapshot>$/;

/** The text without its block. */
export const withoutBlock = (text: string): string => {
  const lines = text.split('\n').filter((line) => !SNAPSHOT_TAG.test(line));
  const start = lines.lastIndexOf(HEAD);
  return (start < 0 ? lines : lines.slice(0, start)).join('\n').trim();
};
