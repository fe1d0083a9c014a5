import type { Boundary } from '../event.js';
import type { Millis } from '../reading.js';
import { present } from '../present.js';
import type { GivenLine } from './given-block.js';

// A conversation as the agent's session file tells it. Readers in `agents/NAME/session.ts` turn lines into steps, one line at a time;
// `buildConversation` puts the steps of a whole file together. Whoever needs only a few of the entries (the compactions of a huge file)
// looks at the steps while they stream and keeps none of them.

/** The record of the session file that an entry comes from. */
export interface SourceRecord {
  /** number of its line in the file, from 0; for a file that is one document, of the message in it */
  readonly line: number;
  /** the agent's id of the record; absent where its records have none */
  readonly id?: string;
  /**
   * the record before it, for agents whose files are not in order or hold branches; null for the first one. Absent for agents whose
   * conversation is in the order of the file
   */
  readonly parentId?: string | null;
  /** when it was written, if the record says so */
  readonly at?: Millis;
  /** of the model's answer that the record is a part of, for agents that write one answer as several records */
  readonly answerId?: string;
}

interface Part {
  readonly source: SourceRecord;
  /** estimated from the text, as `estimateTokens` does */
  readonly tokens: number;
  /**
   * this part exactly as the agent recorded it, so that the same agent can be given it again; absent for what ctxwrap has written. Only
   * the agent's own reader and writer know its form
   */
  readonly native?: unknown;
  /** a compaction has repeated it from before, word for word: it counts in the window, but was not said again */
  readonly isCopy?: true;
}

/** What the user sent. */
export interface Prompt extends Part {
  readonly kind: 'prompt';
  readonly text: string;
  /** without what was pasted; only where the agent has marked a part of it as pasted */
  readonly typed?: string;
}

/**
 * What the agent itself adds for the model: environment, instructions, reminders, its own commands and their output. '' for a record with
 * settings that only the agent reads, which a new session needs, too.
 */
export interface Context extends Part {
  readonly kind: 'context';
  readonly text: string;
  /** what ctxwrap has given back in it; only for a record that no tool's output can be in */
  readonly given?: readonly GivenLine[];
  /** it came with the message before it, and goes with it where the user takes that back before the agent begins to answer */
  readonly isBeside?: true;
}

/** What the model said to the user. */
export interface Answer extends Part {
  readonly kind: 'answer';
  readonly text: string;
  readonly model?: string;
}

/** What the model thought; '' where it is encrypted. */
export interface Reasoning extends Part {
  readonly kind: 'reasoning';
  readonly text: string;
}

/** A tool call. */
export interface Call extends Part {
  readonly kind: 'call';
  /** links the result to its call */
  readonly callId: string;
  /** the agent's name for the tool */
  readonly name: string;
  readonly input: unknown;
  /** files that the call names, where the agent's tools tell; as they are written there, mostly absolute */
  readonly files: readonly TouchedFile[];
  /** the shell commands that it runs, in their order */
  readonly commands?: readonly string[];
  /** tools in it of which ctxwrap cannot tell which files they change or what they run, one name for each call of one */
  readonly notUnderstood?: readonly string[];
  /** what it changes in the agent's own plan */
  readonly plan?: PlanChange;
  /** what it asks the user, where it is the agent's own tool for that */
  readonly questions?: readonly Question[];
}

export interface Question {
  readonly id: string;
  readonly text: string;
}

/** The user's answer to the question of this id. */
export interface Answered {
  readonly id: string;
  readonly text: string;
}

export interface TouchedFile {
  readonly path: string;
  /** `edit` also for created, moved and deleted files */
  readonly access: 'read' | 'edit';
}

/** The result of a tool call. */
export interface Result extends Part {
  readonly kind: 'result';
  readonly callId: string;
  /** the tool's name, where the result repeats it */
  readonly name?: string;
  /** its text; pictures and other data have none */
  readonly output: string;
  readonly isError?: true;
  /** the files that the call has changed, where the agent tells; they count in place of those that the call names */
  readonly files?: readonly TouchedFile[];
  /** what the user has answered to the questions of the call */
  readonly answers?: readonly Answered[];
}

/** The summary that a compaction left for the model. */
export interface Summary extends Part {
  readonly kind: 'summary';
  /** '' where it is encrypted or empty */
  readonly text: string;
  /** the agent keeps it in a form that only the model's server can read */
  readonly isEncrypted?: true;
}

/** A notice on the screen that the model never gets: an error, the agent's own words. */
export interface Notice extends Part {
  readonly kind: 'notice';
  readonly text: string;
}

/** A compaction, at its place in the conversation. What it left for the model comes after it. */
export interface Compaction extends Part {
  readonly kind: 'compaction';
  /** sizes, duration and who asked for it, where the agent records them */
  readonly boundary: Boundary;
  /**
   * first line of the file that belongs to the compaction: the lines before it are the conversation as it was before. In a file that keeps
   * no such lines (one document, rewritten) it is absent
   */
  readonly startLine?: number;
  /** ids of earlier records that are still in the window */
  readonly keptIds: readonly string[];
  /** the same as the first and the last of them, for an agent that names no more; `buildConversation` turns it into ids */
  readonly keptSpan?: { readonly firstId: string; readonly lastId: string };
  /** id of the record that they now follow: the compaction's own or that of its summary, which is meant if absent */
  readonly keptAfterId?: string;
  /** everything that the user has said before is still in the window, without being repeated */
  readonly keepsPrompts?: true;
  /** last record before it, for agents whose records name the one before (`SourceRecord.parentId`) */
  readonly previousId?: string;
  /** the user has gone back to the conversation before it, in the same file */
  readonly isUndone?: true;
  /**
   * what the request for the summary used, in tokens, for an agent that counts it like any other: a number just before may be its own and
   * not the conversation's; 0 where not recorded
   */
  readonly requestTokens?: number;
}

export type Entry = Prompt | Context | Answer | Reasoning | Call | Result | Summary | Notice | Compaction;

// The agent's own plan (todo list).

export interface PlanItem {
  /** the agent's id of the item, where it has ids */
  readonly id?: string;
  readonly text: string;
  readonly status: 'open' | 'active' | 'done' | 'cancelled';
}

export type PlanChange =
  /** the whole plan, replacing the one before */
  | { readonly kind: 'whole'; readonly items: readonly PlanItem[] }
  /** one more item; its id is in the result of the call, if anywhere */
  | { readonly kind: 'added'; readonly item: PlanItem }
  /** other text or status of an item that is known by its id */
  | { readonly kind: 'changed'; readonly id: string; readonly item: Partial<PlanItem> };

/** What a session file says about the session itself. Absent where it does not. */
export interface SessionHead {
  readonly id?: string;
  readonly cwd?: string;
  /** of the agent that wrote it */
  readonly version?: string;
  readonly model?: string;
  /** the service that the model is used through, for an agent that must be told */
  readonly provider?: string;
  /** the first one counts */
  readonly startedAt?: Millis;
  /** a subagent's, not the user's conversation */
  readonly isOther?: boolean;
}

/** What one line changes. */
export type Step =
  /** facts about the session; later ones win, field by field */
  | { readonly kind: 'head'; readonly head: SessionHead }
  /**
   * a record and its entries, which may be none. A record with the id of an earlier one takes its place: some agents write a record again
   * when it has changed
   */
  | { readonly kind: 'record'; readonly source: SourceRecord; readonly entries: readonly Entry[] }
  /** everything since the last compaction is now this: the agent has written its conversation anew */
  | {
      readonly kind: 'rewritten';
      readonly entries: readonly Entry[];
      /** ids of its records, also of those without entries; those of the entries if absent */
      readonly ids?: readonly string[];
      /** how many of the compactions so far still count, from the first on; all if absent: the user may have gone back */
      readonly inEffect?: number;
    }
  /** the user has gone back: the record of this id and everything after it is no longer part of the conversation */
  | { readonly kind: 'rewound'; readonly toId: string }
  /** the same for that many of the user's last turns */
  | { readonly kind: 'rewound-turns'; readonly turns: number }
  /** more about the last compaction, in a later record */
  | { readonly kind: 'amended'; readonly boundary: Pick<Boundary, 'initiator' | 'uuid' | 'durationMs'> }
  /** the file holds only a part of the conversation; the reason is a sentence without a full stop */
  | { readonly kind: 'incomplete'; readonly reason: string };

/** A whole conversation. */
export interface Conversation {
  readonly head: SessionHead;
  /** in the order of the conversation, compactions at their places; without what the user went back from */
  readonly entries: readonly Entry[];
  /** entries that are in the file but on a branch that the user has left */
  readonly abandoned: number;
  /** lines that match no known format, or are cut off */
  readonly damaged: number;
  /** the last line is one of them: what was written last is missing, and nothing in between */
  readonly isCutOff?: true;
  /** why it is only a part of the conversation; absent when it is all of it */
  readonly incomplete?: string;
}

/**
 * What is in the window, in the order of the next request: everything since the last compaction, and what that compaction kept. Notices and
 * the compaction itself are not part of it.
 */
export const windowOf = ({ entries }: Pick<Conversation, 'entries'>): readonly Entry[] => {
  const place = entries.findLastIndex(({ kind }) => kind === 'compaction');
  const last = entries[place];
  const later = entries.slice(place + 1).filter(isSent);
  if (last?.kind !== 'compaction') return later;
  const ids = new Set(last.keptIds);
  const isKept = (entry: Entry): boolean =>
    (isSent(entry) && ids.has(entry.source.id ?? '')) ||
    (last.keepsPrompts === true && entry.kind === 'prompt' && !entry.isCopy);
  const kept = entries.slice(0, place).filter(isKept);
  return kept.length === 0 ? later : later.toSpliced(keptPlace(last, later), 0, ...kept);
};

const isSent = ({ kind }: Entry): boolean => kind !== 'notice' && kind !== 'compaction';

const keptPlace = ({ keptAfterId, keepsPrompts, source }: Compaction, later: readonly Entry[]): number => {
  if (keepsPrompts) return 0;
  if (keptAfterId !== undefined && keptAfterId === source.id) return 0;
  const anchor = later.findLastIndex((entry) => entry.source.id === keptAfterId);
  if (keptAfterId !== undefined && anchor >= 0) return anchor + 1;
  const rest = later.findIndex(({ kind }) => kind !== 'summary');
  return rest < 0 ? later.length : rest;
};

/** The entries before a compaction as a conversation of its own; undefined if the compaction is not in it. */
export const beforeCompaction = (
  conversation: Conversation,
  { source }: Compaction,
): Conversation | undefined => {
  const place = conversation.entries.findIndex(
    (entry) =>
      entry.kind === 'compaction' && entry.source.line === source.line && entry.source.id === source.id,
  );
  return place < 0 ? undefined : { ...conversation, entries: conversation.entries.slice(0, place) };
};

export const compactionsOf = ({ entries }: Pick<Conversation, 'entries'>): readonly Compaction[] =>
  entries.filter((entry) => entry.kind === 'compaction');

export const tokensOf = (entries: readonly Entry[]): number =>
  entries.reduce((total, { tokens }) => total + tokens, 0);

/** The messages of the user among these entries, each with its parts: text, pictures. Parts of one message share their source. */
export const userMessagesIn = (entries: readonly Entry[]): readonly (readonly Prompt[])[] => {
  const messages = new Map<SourceRecord, Prompt[]>();
  for (const entry of entries) {
    if (entry.kind !== 'prompt') continue;
    const known = messages.get(entry.source);
    if (known) known.push(entry);
    else messages.set(entry.source, [entry]);
  }
  return [...messages.values()];
};

export interface ToolUse {
  readonly call: Call;
  /** absent while the tool runs, and for a turn that was aborted */
  readonly result?: Result;
}

/** The tool calls among these entries with their results, in the order of the calls; copies are left out. */
export const toolUsesIn = (entries: readonly Entry[]): readonly ToolUse[] => {
  const results = new Map<string, Result>();
  for (const entry of entries) if (entry.kind === 'result' && !entry.isCopy) results.set(entry.callId, entry);
  return entries.flatMap((call): readonly ToolUse[] => {
    if (call.kind !== 'call' || call.isCopy) return [];
    const result = results.get(call.callId);
    return [{ call, ...present({ result }) }];
  });
};

/** The agent's plan after these entries; empty if it made none. */
export const planIn = (entries: readonly Entry[]): readonly PlanItem[] =>
  toolUsesIn(entries).reduce<readonly PlanItem[]>(planAfter, []);

/** The agent's plan after this call. */
export const planAfter = (plan: readonly PlanItem[], { call, result }: ToolUse): readonly PlanItem[] => {
  if (!call.plan || result?.isError) return plan;
  switch (call.plan.kind) {
    case 'whole':
      return call.plan.items;
    case 'added': {
      const id = call.plan.item.id ?? NUMBERED.exec(result?.output ?? '')?.[1];
      return [...plan, { ...call.plan.item, ...present({ id }) }];
    }
    case 'changed': {
      const { id, item } = call.plan;
      return plan.map((each) => (each.id === id ? { ...each, ...item } : each));
    }
  }
};

// `Task #3 created successfully: …`
const NUMBERED = /#(\d+)/;

/** How a new session is written. */
export interface NewSession {
  /** [A-Za-z0-9_-]{1,64} */
  readonly id: string;
  /** folder that the agent runs in */
  readonly cwd: string;
  readonly now: Millis;
  /** a new UUID at every call */
  readonly newUuid: () => string;
  /**
   * of a shortened conversation: its size, in the agent's tokens, for agents that read the size of the window from their own answers. Without
   * it the answers keep the sizes that they had in the whole conversation
   */
  readonly usedTokens?: number;
  /** what the agent reported for the window before it was shortened */
  readonly preTokens?: number;
}

/**
 * A conversation as the lines of a new session file, without line ends: what is in the window (`windowOf`), with compactions before it left
 * out. Parts in the agent's own form are written as they are. `undefined` for a conversation that the agent would not take.
 */
export type ConversationWriter = (
  conversation: Conversation,
  as: NewSession,
) => readonly string[] | undefined;
