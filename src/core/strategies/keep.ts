import type { Context, Conversation, Entry, Prompt, Summary } from '../conversation/conversation.js';
import { tokensOf, userMessagesIn, windowOf } from '../conversation/conversation.js';
import { estimateTokens } from '../reading.js';
import { partsOf, type Part } from './parts.js';

// Which part of a conversation stays word for word: the last messages of the user, always, and of what the agent did since then, from the
// newest back, as much as there is room for. Where the agent compacted in the middle of its work, no message of the user is left: then the
// summary says what it works at.

/** What stays, and what goes. Both in the order of the window. */
export interface Division {
  /** instructions and settings at the beginning, which every session of the agent has */
  readonly opening: readonly Entry[];
  /** summaries of earlier compactions that only the model's server can read: nothing can stand in for them */
  readonly sealed: readonly Entry[];
  readonly kept: readonly Entry[];
  readonly dropped: readonly Entry[];
  /** the user has sent nothing since the last compaction, so its summary must be kept */
  readonly isUnattended: boolean;
}

/** How much stays. */
export interface KeepLimits {
  /** this many of the user's last messages */
  readonly keepRecent: number;
  /** for all that stays but the opening and sealed summaries, estimated as `estimateTokens` does */
  readonly budgetTokens: number;
}

/** The size of what a budget is for: all that is in the window, without what must stay in any case. */
export const sizeForBudget = (conversation: Conversation): number => {
  const window = windowOf(conversation);
  const opening = new Set(openingOf(conversation, window));
  return tokensOf(window.filter((entry) => !opening.has(entry) && !isSealed(entry)));
};

const isSealed = (entry: Entry): boolean => entry.kind === 'summary' && entry.isEncrypted === true;

/** Divides the window. The user's messages that stay may need more than the budget; nothing else does. */
export const divide = (conversation: Conversation, { keepRecent, budgetTokens }: KeepLimits): Division => {
  const window = windowOf(conversation);
  const opening = openingOf(conversation, window);
  const sealed = window.filter(isSealed);
  const isFixed = new Set([...opening, ...sealed]);
  // an earlier summary is no separate part: the text that replaces the rest includes it, or it is dropped
  const summaries = window.filter((entry) => entry.kind === 'summary' && !isFixed.has(entry));
  const parts = partsOf(window.filter((entry) => !isFixed.has(entry) && entry.kind !== 'summary'));
  const prompts = lastPrompts(parts, keepRecent);
  const wanted = new Set<Entry>(prompts);
  let room = budgetTokens - tokensOf(prompts);
  for (const part of sinceFirst(parts, prompts).toReversed()) {
    const others = part.entries.filter((entry) => !wanted.has(entry));
    room -= tokensOf(others);
    if (room < 0) break;
    for (const entry of others) wanted.add(entry);
  }
  const paired = new Set([...summaries, ...parts.flatMap(({ entries }) => entries)]);
  return {
    opening,
    sealed,
    kept: window.filter((entry) => wanted.has(entry)),
    dropped: window.filter((entry) => !wanted.has(entry) && paired.has(entry)),
    isUnattended: prompts.length === 0,
  };
};

const lastPrompts = (parts: readonly Part[], keepRecent: number): readonly Prompt[] => {
  const messages = userMessagesIn(parts.flatMap((part) => part.prompts));
  return messages.slice(Math.max(0, messages.length - Math.max(1, keepRecent))).flat();
};

/** The parts from the first of these messages on; all of them if there is none. */
const sinceFirst = (parts: readonly Part[], [first]: readonly Prompt[]): readonly Part[] =>
  first === undefined ? parts : parts.slice(parts.findIndex(({ prompts }) => prompts.includes(first)));

/**
 * What the agent itself says before the first message, and the settings that it needs to read the session. After a compaction the settings
 * are before it, and not in the window.
 */
const openingOf = (conversation: Conversation, window: readonly Entry[]): readonly Entry[] => {
  const start = window.findIndex(({ kind }) => kind !== 'context' && kind !== 'summary');
  const first = (start < 0 ? window : window.slice(0, start)).filter(isContext);
  const isHere = new Set<Entry>(first);
  const settings = leadingSettings(conversation.entries).filter((entry) => !isHere.has(entry));
  return [...settings, ...first];
};

const isContext = (entry: Entry): entry is Context => entry.kind === 'context';

const leadingSettings = (entries: readonly Entry[]): readonly Context[] => {
  const start = entries.findIndex(({ kind }) => kind !== 'context');
  return (start < 0 ? entries : entries.slice(0, start)).filter(isContext).filter(({ text }) => text === '');
};

/** A new conversation: the text that replaces the rest, the opening, and the kept parts. */
export const joined = (conversation: Conversation, division: Division, text: string): Conversation => {
  const { opening, sealed, kept } = division;
  const whole = [text, answeredText(kept)].filter((part) => part !== '').join('\n\n');
  const summary: Summary = {
    kind: 'summary',
    text: whole,
    tokens: estimateTokens(whole),
    source: { line: 0 },
  };
  const { incomplete: _, ...rest } = conversation;
  return { ...rest, abandoned: 0, entries: [...sealed, summary, ...opening, ...kept] };
};

/** Without this the model would take the first messages for unanswered ones, and begin again. */
const answeredText = (kept: readonly Entry[]): string => {
  const next = kept.findIndex(({ kind }) => kind !== 'prompt' && kind !== 'context');
  const first = next < 0 ? kept : kept.slice(0, next);
  const prompts = first.filter(({ kind }) => kind === 'prompt').length - (next < 0 ? 0 : 1);
  if (prompts <= 0) return '';
  return `What was said and done in answer to the first ${prompts === 1 ? 'message' : `${prompts} messages`} below was removed, too.`;
};
