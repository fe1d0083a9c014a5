import { counted } from '../format.js';
import {
  planIn,
  toolUsesIn,
  type Entry,
  type Prompt,
  type ToolUse,
  type TouchedFile,
} from './conversation.js';
import { commandsThatMatter, commandTextsIn } from './command-evidence.js';
import { FAILED, givenKey, readSentDraft, type GivenLine } from './given-block.js';
import { demandsIn, identifiersIn } from './message-evidence.js';
import { present } from '../present.js';
import { toOneLine } from '../text.js';

// What a part of a conversation holds that a summary should keep: what the user demanded, which files were changed, which commands matter,
// what the plan still holds, which names the user gave. It is copied from the records; nothing is concluded from it.

export const evidenceKinds = ['path', 'command', 'constraint', 'plan', 'decision', 'identifier'] as const;

export type EvidenceKind = (typeof evidenceKinds)[number];

/** The same for the same item in another compaction. */
export const itemKey = ({ kind, text }: Pick<EvidenceItem, 'kind' | 'text'>): string => `${kind} ${text}`;

/** What the agent misses most comes first. */
export const byImportance = [
  'constraint',
  'plan',
  'decision',
  'path',
  'command',
  'identifier',
] as const satisfies readonly EvidenceKind[];

export interface EvidenceItem {
  readonly kind: EvidenceKind;
  /**
   * one line: a sentence of the user, word for word; a file, relative to the session's folder if it is in it; a shell command that matters; an
   * open item of the agent's plan; a question of the agent's own tool for questions, with the user's answer; a name, an id, a version or a number with a unit from the user's messages
   */
  readonly text: string;
  /** line of the session file in which it was last found, from 0 */
  readonly line: number;
  /** of a command: its last run failed */
  readonly hasFailed?: true;
}

// Bounds, in items of a kind and in characters: a session file can hold anything.
const MOST_ITEMS = 500;
const LONGEST_ITEM = 500;
const LONGEST_PROMPT = 8_000; // the rest of a longer message is a pasted file, where the agent does not mark it

/**
 * The evidence in these entries by kind, the oldest first; each text once. `cwd` is the folder of the session, and `whole` the conversation that
 * they are a part of.
 */
export const evidenceIn = (
  entries: readonly Entry[],
  cwd: string | undefined,
  whole: readonly Entry[] = entries,
): readonly EvidenceItem[] => {
  const own = entries.map(asOriginal);
  const recall = own.some((entry) => givenIn(entry).length > 0) ? makeMemory(whole, cwd) : () => undefined;
  const prompts = own.flatMap((entry) => (entry.kind === 'prompt' ? [asWritten(entry, recall)] : []));
  const uses = toolUsesIn(own);
  const once = (kind: EvidenceKind, found: readonly Found[]): readonly EvidenceItem[] =>
    eachOnce(kind, [...givenOf(kind, own, recall), ...found]);
  return [
    ...once('path', pathsIn(uses, cwd)),
    ...once('command', commandsThatMatter(uses)),
    ...once('constraint', prompts.flatMap(constraintsIn)),
    ...once(
      'plan',
      planIn(own)
        .filter(({ status }) => status === 'open' || status === 'active')
        .map(({ text }) => ({ text, line: lastPlanLine(own) })),
    ),
    ...once('decision', uses.flatMap(decisionsIn)),
    ...once('identifier', prompts.flatMap(namesIn)),
  ];
};

const pathsIn = (uses: readonly ToolUse[], cwd: string | undefined): readonly Found[] =>
  uses.flatMap((use) =>
    changedBy(use).map(({ path }) => ({ text: relativeTo(cwd, path), line: use.call.source.line })),
  );

const LONGEST_QUESTION = 160; // characters

const decisionsIn = ({ call, result }: ToolUse): readonly Found[] =>
  (call.questions ?? []).flatMap(({ id, text }) => {
    const answer = result?.answers?.find((each) => each.id === id)?.text;
    if (answer === undefined || answer.trim() === '' || result?.isError) return [];
    return [{ text: `${toOneLine(text, LONGEST_QUESTION)} → ${answer}`, line: call.source.line }];
  });

const hasWorked = ({ result }: ToolUse): boolean => result?.isError !== true;

/** A call that failed may have changed some of its files, where the agent tells which. */
const changedBy = (use: ToolUse): readonly TouchedFile[] =>
  (use.result?.files ?? (hasWorked(use) ? use.call.files : [])).filter(({ access }) => access === 'edit');

/** Calls of a tool of which ctxwrap cannot tell which files they changed or what they ran. */
export interface NotUnderstood {
  /** in one line */
  readonly tool: string;
  readonly calls: number;
}

const LONGEST_NAME = 60; // characters
const MOST_TOOLS = 50;

/** The tools in these entries that ctxwrap does not understand, the most used ones first. */
export const notUnderstoodIn = (entries: readonly Entry[]): readonly NotUnderstood[] => {
  const counts = new Map<string, number>();
  for (const { call } of toolUsesIn(entries.map(asOriginal)).filter(hasWorked))
    for (const name of call.notUnderstood ?? []) {
      const tool = toOneLine(name.slice(0, LONGEST_NAME * 2), LONGEST_NAME);
      counts.set(tool, (counts.get(tool) ?? 0) + 1);
    }
  return [...counts]
    .map(([tool, calls]) => ({ tool, calls }))
    .toSorted((a, b) => b.calls - a.calls)
    .slice(0, MOST_TOOLS);
};

const MOST_NAMED = 3;

/** `12 calls of a tool that ctxwrap does not understand: frobnicate`; undefined if there are none. */
export const notUnderstoodText = (tools: readonly NotUnderstood[]): string | undefined => {
  if (tools.length === 0) return undefined;
  const calls = tools.reduce((sum, each) => sum + each.calls, 0);
  const named = tools.slice(0, MOST_NAMED).map(({ tool }) => tool);
  return [
    `${counted(calls, 'call')} of ${tools.length === 1 ? 'a tool' : `${tools.length} tools`}`,
    `that ctxwrap does not understand: ${named.join(', ')}${tools.length > MOST_NAMED ? ', …' : ''}`,
  ].join(' ');
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
  readonly hasFailed?: true;
}

// What ctxwrap has given back after an earlier compaction is in the window again. Whoever imitates its words brings nothing new: a line counts
// only if the same line was evidence of this conversation on its own.

/** The line as it was said or recorded; undefined where it was not. */
type Recall = (line: GivenLine) => GivenLine | undefined;

const makeMemory = (whole: readonly Entry[], cwd: string | undefined): Recall => {
  const own = whole.map(asOriginal);
  const uses = toolUsesIn(own);
  const prompts = own.flatMap((entry) =>
    entry.kind === 'prompt' ? [asWritten(entry, () => undefined)] : [],
  );
  const texts: Readonly<Record<EvidenceKind, readonly string[]>> = {
    path: pathsIn(uses, cwd).map(({ text }) => text),
    command: commandTextsIn(uses),
    constraint: prompts.flatMap(constraintsIn).map(({ text }) => text),
    plan: uses.flatMap(({ call }) => plannedIn(call)),
    decision: uses.flatMap(decisionsIn).map(({ text }) => text),
    identifier: prompts.flatMap(namesIn).map(({ text }) => text),
  };
  const said = new Map<string, string>();
  for (const kind of evidenceKinds)
    for (const each of texts[kind]) {
      const text = toOneLine(each, LONGEST_ITEM);
      const key = givenKey({ kind, text });
      if (!said.has(key)) said.set(key, text); // a draft that was sent has it later, as it was written there
    }
  return ({ kind, text, hasFailed }) => {
    const own = said.get(givenKey({ kind, text: toOneLine(text, LONGEST_ITEM) }));
    // the mark of a failure may be a part of the command
    return own === undefined
      ? undefined
      : { kind, text: own, ...(hasFailed && own !== text + FAILED ? { hasFailed } : {}) };
  };
};

const plannedIn = ({ plan }: ToolUse['call']): readonly string[] =>
  plan?.kind === 'whole' ? plan.items.map(({ text }) => text) : [plan?.item.text ?? []].flat();

/** What is given back in this entry: by ctxwrap's own block, or in a draft that the user has sent. */
export const givenIn = (entry: Entry): readonly GivenLine[] => {
  if (entry.kind === 'context') return entry.given ?? [];
  return entry.kind === 'prompt' ? (readSentDraft(typedIn(entry))?.lines ?? []) : [];
};

/**
 * What the user has written: behind such a draft, or in place of a line of it, whose other lines are no new demands and names. What was
 * pasted is from elsewhere.
 */
const asWritten = (prompt: Prompt, recall: Recall): Prompt => {
  const typed = typedIn(prompt);
  const block = readSentDraft(typed);
  if (!block) return { ...prompt, text: typed };
  const changed = block.lines.filter((line) => line.kind === 'constraint' && !recall(line));
  return { ...prompt, text: [...changed.map(({ text }) => text), block.rest].join('\n') };
};

const typedIn = ({ text, typed }: Prompt): string => typed ?? text;

const givenOf = (kind: EvidenceKind, entries: readonly Entry[], recall: Recall): readonly Found[] => {
  // what has become of a plan item since then is not known where the plan was changed
  const from = kind === 'plan' ? entries.findLastIndex(changesPlan) : -1;
  return entries.slice(from + 1).flatMap((entry) =>
    givenIn(entry)
      .filter((line) => line.kind === kind)
      .flatMap((line) => recall(line) ?? [])
      .map(({ text, hasFailed }) => ({
        text,
        line: entry.source.line,
        ...present({ hasFailed }),
      })),
  );
};

const changesPlan = (entry: Entry): boolean =>
  entry.kind === 'call' && entry.plan !== undefined && entry.plan.kind !== 'added';

const eachOnce = (kind: EvidenceKind, found: readonly Found[]): readonly EvidenceItem[] => {
  const items = new Map<string, EvidenceItem>();
  for (const { text, ...rest } of found) {
    const shown = toOneLine(text, LONGEST_ITEM);
    if (shown !== '') items.set(shown, { kind, text: shown, ...rest });
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
