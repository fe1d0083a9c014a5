import { planIn, toolUsesIn, type Entry, type Prompt } from './conversation.js';
import { demandsIn, identifiersIn } from './message-evidence.js';
import { toOneLine } from '../text.js';

// What a part of a conversation holds that a summary should keep: what the user demanded, which files were changed, which commands ran, what
// the plan still holds, which names and numbers the user gave. It is copied from the records; nothing is concluded from it.

export const evidenceKinds = ['path', 'command', 'constraint', 'plan', 'identifier'] as const;

export type EvidenceKind = (typeof evidenceKinds)[number];

export interface EvidenceItem {
  readonly kind: EvidenceKind;
  /**
   * one line: a sentence of the user, word for word; a file, relative to the session's folder if it is in it; a shell command; an open item
   * of the agent's plan; a name, an id, a version or a number from the user's messages
   */
  readonly text: string;
  /** line of the session file in which it was last found, from 0 */
  readonly line: number;
}

// Bounds, in items of a kind and in characters: a session file can hold anything.
const MOST_ITEMS = 500;
const LONGEST_ITEM = 500;
const LONGEST_PROMPT = 8_000; // the rest of a longer message is a pasted file, not what the user demands

/** The evidence in these entries by kind, the oldest first; each text once. `cwd` is the folder of the session. */
export const evidenceIn = (entries: readonly Entry[], cwd: string | undefined): readonly EvidenceItem[] => {
  const own = entries.map(asOriginal);
  const prompts = own.filter((entry): entry is Prompt => entry.kind === 'prompt');
  const uses = toolUsesIn(own).filter(({ result }) => result?.isError !== true);
  return [
    ...once(
      'path',
      uses.flatMap(({ call: { files, source } }) =>
        files
          .filter(({ access }) => access === 'edit')
          .map(({ path }) => ({ text: relativeTo(cwd, path), line: source.line })),
      ),
    ),
    ...once(
      'command',
      uses.flatMap(({ call: { command, source } }) =>
        command === undefined ? [] : [{ text: command, line: source.line }],
      ),
    ),
    ...once('constraint', prompts.flatMap(constraintsIn)),
    ...once(
      'plan',
      planIn(own)
        .filter(({ status }) => status === 'open' || status === 'active')
        .map(({ text }) => ({ text, line: lastPlanLine(own) })),
    ),
    ...once('identifier', prompts.flatMap(namesIn)),
  ];
};

/** What an earlier compaction has repeated is in the window like anything else. */
const asOriginal = (entry: Entry): Entry => {
  if (!entry.isCopy) return entry;
  const { isCopy: _, ...original } = entry;
  return original;
};

interface Found {
  readonly text: string;
  readonly line: number;
}

const once = (kind: EvidenceKind, found: readonly Found[]): readonly EvidenceItem[] => {
  const items = new Map<string, EvidenceItem>();
  for (const { text, line } of found) {
    const shown = toOneLine(text, LONGEST_ITEM);
    if (shown !== '') items.set(shown, { kind, text: shown, line });
  }
  return [...items.values()].slice(-MOST_ITEMS);
};

/** A path as the user would name it. */
const relativeTo = (folder: string | undefined, path: string): string => {
  const start = folder === undefined || folder === '' ? undefined : folder.replace(/\/*$/, '/');
  const inner = start !== undefined && path.startsWith(start) ? path.slice(start.length) : path;
  return inner.replace(/^(?:\.\/+)+/, '');
};

const lastPlanLine = (entries: readonly Entry[]): number =>
  entries.findLast((entry) => entry.kind === 'call' && entry.plan !== undefined)?.source.line ?? 0;

const constraintsIn = ({ text, source }: Prompt): readonly Found[] =>
  demandsIn(text.slice(0, LONGEST_PROMPT)).map((sentence) => ({ text: sentence, line: source.line }));

const namesIn = ({ text, source }: Prompt): readonly Found[] =>
  identifiersIn(text.slice(0, LONGEST_PROMPT)).map((name) => ({ text: name, line: source.line }));
