import type { Boundary, Fact } from '../core/event.js';
import { parseRecord, type JsonRecord } from '../core/json.js';
import type { Step } from '../core/conversation/conversation.js';
import type { Outline, OutlineWish } from '../core/conversation/outline.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';
import type { Env } from './agent.js';

// What the records of an agent's session files mean. For each record an agent's reader gives the facts about the window and the steps
// of the conversation; the readings of a running session, the history of compactions, the conversation and what fills the window are made
// of them in `session-files/`.

/**
 * Reads one complete line of a session file and returns what it means and the reader for the next line. Pure; never throws. `now` is used
 * where a record has no timestamp; `lineNumber` counts from 0. Side conversations (subagents) mean nothing.
 */
export type SessionReader = (line: string, now: Millis, lineNumber?: number) => SessionResult;

export interface SessionResult {
  readonly facts: readonly Fact[];
  /**
   * what the line changes in the conversation, made when it is asked for; absent for a line that is no record of this agent's, and for one
   * without facts where only those are read
   */
  readonly steps?: (() => readonly Step[]) | undefined;
  readonly next: SessionReader;
  /** why the line does not match the known format; undefined when it does */
  readonly misfit?: string | undefined;
  /** the line records a compaction whose fact comes with a later line; this, if none follows */
  readonly pendingBoundary?: Boundary | undefined;
}

/** What is wanted of a session file. */
export interface Wanted {
  /** the session is not followed, but read as it is */
  readonly hasEnded?: boolean;
  /** the whole conversation; otherwise lines without facts are passed over */
  readonly conversation?: boolean;
  /** only lines are given that `SessionFormat.classify` has chosen, so none is passed over */
  readonly chosen?: boolean;
}

/** The reader for the first line of a session file; `env` is the environment of the agent. */
export type StartReader = (env: Env, wanted?: Wanted) => SessionReader;

/** The place of a record. */
export interface RecordPlace {
  /** from 0 */
  readonly line: number;
  readonly now: Millis;
  /** of its line, in characters */
  readonly length: number;
}

/** What one record means to a reader with state S. */
export interface RecordMeaning<S> extends Omit<SessionResult, 'facts' | 'next'> {
  readonly state: S;
  readonly facts?: readonly Fact[] | undefined;
}

/** How the lines of one agent are read, each a record. */
export interface RecordForm<S> {
  /** in messages about a line that is not one: `Claude` */
  readonly name: string;
  /** true for the line of every record; any JSON object may be one when absent */
  readonly isOwn?: RegExp;
  /** false for a line that holds no facts for sure, by its text: most of a file, which is then not parsed; all are when absent */
  readonly hasFacts?: (line: string) => boolean;
  readonly read: (state: S, record: JsonRecord, place: RecordPlace) => RecordMeaning<S>;
}

/** A reader that remembers a state from one record to the next. */
export const makeSessionReader = <S>(form: RecordForm<S>, state: S, wanted: Wanted = {}): SessionReader => {
  const reader: SessionReader = (line, now, lineNumber = 0) => {
    if (!wanted.chosen) {
      if (!form.isOwn && line.trim() === '') return { facts: [], next: reader };
      if (form.isOwn?.test(line) === false)
        return { facts: [], next: reader, misfit: `not a ${form.name} record` };
      if (!wanted.conversation && form.hasFacts?.(line) === false) return { facts: [], next: reader };
    }
    const record = parseRecord(line);
    if (!record) return { facts: [], next: reader, misfit: 'not JSON' };
    const meaning = form.read(state, record, { line: lineNumber, now, length: line.length });
    const { state: after, facts = [], steps, misfit, pendingBoundary } = meaning;
    const next = after === state ? reader : makeSessionReader(form, after, wanted);
    return { facts, next, steps, misfit, pendingBoundary }; // fields of one shape: a rest of others costs memory for every line
  };
  return reader;
};

/**
 * How to classify the lines of an agent's session files without parsing them. A file can have 500 MB, so only the outline of each line is
 * read, and a line goes to the reader only where it matters.
 */
export interface SessionFormat {
  /** what to read of every line */
  readonly fields: OutlineWish;
  /** what a line is, by its outline; called for every line, so it must be cheap */
  readonly classify: (outline: Outline) => LineClass;
  /** the session, where every record names it; asked until a record names its folder */
  readonly session?: (outline: Outline) => SessionDetail;
  /** the session's id in the path of its file, also of a copy whose records name another one; undefined where there is none */
  readonly idInPath?: (path: string) => string | undefined;
  /** where the agent may keep notes of the session in this file, which it goes on writing */
  readonly memoryOf?: (path: string) => string | undefined;
  /** the model's words in a summary, without the agent's own sentences around them; all of it when absent */
  readonly summaryWords?: (text: string) => string;
  /**
   * how to tell its messages apart: `by-id`, in a file that is only appended to; `by-text`, where what a compaction keeps is written again
   * with other ids; `rewritable`, where a record with a known id replaces the earlier one and the conversation can be rewritten;
   * `unnamed`, where it is not known which ones a compaction keeps
   */
  readonly messages: 'by-id' | 'by-text' | 'rewritable' | 'unnamed';
  /** how records name one another, for a file that is only appended to: of records with one id the first counts; absent for others */
  readonly chain?: RecordChain;
  /** reads files that are one JSON document; undefined where there are none */
  readonly document?: DocumentFormat;
}

/** How the records of a file name one another. */
export interface RecordChain {
  /** undefined for a record that no other one names; called for every line, so it must be cheap */
  readonly link: (outline: Outline) => RecordLink | undefined;
  /** the id of the record before it */
  readonly parentId: (outline: Outline) => string | undefined;
  /** the records that a compaction's record says were there before it and stay in the window */
  readonly keptIds: (record: JsonRecord) => readonly string[];
  /** the record as it would be after this one */
  readonly after: (record: JsonRecord, parentId: string) => JsonRecord;
}

/** A record among others. */
export interface RecordLink {
  readonly id: string;
  /** it says that the conversation was compacted; the same for every record of one compaction, whatever its id */
  readonly compaction?: string | undefined;
  /** it is the summary of the compaction that it comes after */
  readonly isSummary?: boolean;
}

/** A file that is one JSON document, indented so that each text is on one line. */
export interface DocumentFormat {
  /** lines that are indented by more blanks than this say nothing and are not given to the reader */
  readonly mostIndent: number;
  /** a reader that remembers what it has read */
  readonly reader: () => DocumentReader;
}

/** Reads a document line by line. */
export interface DocumentReader {
  readonly read: (line: string, now: Millis) => DocumentResult;
  /** what the end of the file makes certain */
  readonly end: () => DocumentResult;
}

export interface DocumentResult {
  /** the line ends a message of the conversation */
  readonly message?: string;
  /** the line ends a record of a compaction, if a boundary of this time follows */
  readonly mark?: { readonly at: Millis; readonly uuid: string | undefined };
  readonly facts: readonly Fact[];
  readonly session?: SessionDetail;
}

export interface LineClass {
  /** it is a message of the conversation, with this key; '' if nobody needs it, or the reader gives it */
  readonly message?: string;
  /** a turn begins or ends here */
  readonly turn?: 'begins' | 'ends';
  /** how long the turn took, in milliseconds, if its end records it */
  readonly turnMs?: number;
  /** the line goes to the agent's reader, without or with its bulky values */
  readonly read?: 'reduced' | 'whole';
  /** its steps matter, too: a compaction, a summary, the head of the session */
  readonly hasSteps?: true;
}

/** Nothing is needed of this line. */
export const SKIPPED: LineClass = {};

/** The session of a file; what is not known is absent. */
export interface SessionDetail {
  readonly id?: string | undefined;
  /** the folder it was started in */
  readonly project?: string | undefined;
  readonly version?: string | undefined;
  /** a subagent's, not the user's conversation */
  readonly isOther?: boolean;
}

/** The step about a session, with the facts that are known. */
export const headStep = (found: FoundHead): Step => ({ kind: 'head', head: present(found) });

type Head = Extract<Step, { kind: 'head' }>['head'];

/** Facts about a session in one record. */
export type FoundHead = { readonly [K in keyof Head]?: Head[K] | undefined };
