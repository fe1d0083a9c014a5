import type { Fact } from '../core/event.js';
import type { JsonRecord } from '../core/json.js';
import type { Outline, OutlineWish } from '../core/conversation/outline.js';
import type { Millis } from '../core/reading.js';

// How the compactions of an agent are found in its session files for `ctxwrap history`. A file can have 500 MB, so only the outline of each
// line is read, and a line is parsed only where it matters. Its facts (numbers, boundaries) come from the agent's usual line reader.

/** The records of one agent's session files. */
export interface HistoryFormat {
  /** what to read of every line */
  readonly fields: OutlineWish;
  /** what a line is, by its outline; called for every line, so it must be cheap */
  readonly classify: (outline: Outline) => LineClass;
  /** what a record tells besides its facts; `at` is when it was written, asked for where it matters */
  readonly details: (record: JsonRecord, at: () => Millis) => readonly HistoryDetail[];
  /** the session, where every record names it; asked until a record names its folder */
  readonly session?: (outline: Outline) => SessionDetail;
  /** the session's id in the path of its file, also of a copy whose records name another one; undefined where there is none */
  readonly idInPath?: (path: string) => string | undefined;
  /**
   * `appended`: each record is a message, told apart by its key where a compaction names those it keeps; `by-id`: a record with a known key
   * replaces the earlier one, and the conversation can be written anew
   */
  readonly messages: 'appended' | 'by-id';
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
  /** true for the first lines of one */
  readonly isHead: (lines: readonly string[]) => boolean;
  /** lines that are indented by more blanks than this say nothing and are not given to the reader */
  readonly mostIndent: number;
  /** a reader that remembers what it has read */
  readonly reader: () => DocumentReader;
}

export interface LineClass {
  /** it is a message of the conversation, with this key; '' where `details` tells the key or nobody needs it */
  readonly message?: string;
  /** a turn begins or ends here */
  readonly turn?: 'begins' | 'ends';
  /** how long the turn took, in milliseconds, where its end tells */
  readonly turnMs?: number;
  /** the line goes to the agent's line reader, without or with its bulky values */
  readonly facts?: LinePart;
  /** the message may turn out to be the summary of a compaction: its record is remembered until the next message */
  readonly mayBeSummary?: true;
  /** the record goes to `details` */
  readonly details?: LinePart;
}

export type LinePart = 'reduced' | 'whole';

/** Nothing is needed of this line. */
export const SKIPPED: LineClass = {};

/** What a record tells besides its facts. */
export type HistoryDetail =
  | ({ readonly kind: 'session' } & SessionDetail)
  | CompactedDetail
  /** the summary of the compaction before, in a record of its own; without one before, it is a compaction itself */
  | {
      readonly kind: 'summary';
      readonly summary: Summary;
      readonly at: Millis;
      readonly uuid?: string | undefined;
    }
  /** more of the compaction before, in a later record */
  | { readonly kind: 'ended'; readonly uuid?: string | undefined; readonly durationMs: number | undefined }
  /** the key of the message just counted */
  | { readonly kind: 'key'; readonly key: string }
  /** the conversation was written anew, with messages of these keys */
  | { readonly kind: 'rewritten'; readonly keys: readonly string[] }
  /** the conversation was cut back: the message with this key and all after it are gone */
  | { readonly kind: 'cut-back'; readonly key: string };

/** The session of a file; what is not known is absent. */
export interface SessionDetail {
  readonly id?: string | undefined;
  /** the folder it was started in */
  readonly project?: string | undefined;
  readonly version?: string | undefined;
  /** a subagent's, not the user's conversation */
  readonly isOther?: boolean;
}

/** The conversation was replaced here. */
export interface CompactedDetail {
  readonly kind: 'compacted';
  readonly at: Millis;
  /** it counts although the line reader may give no boundary of this time */
  readonly isCertain: boolean;
  readonly uuid?: string | undefined;
  readonly durationMs?: number | undefined;
  /** absent where it follows in a record of its own */
  readonly summary?: Summary;
  /** the messages that stay in the window; absent where that is not known */
  readonly kept?: KeptMessages;
  /** whether the record of the message before holds the summary, which is not part of the conversation */
  readonly isSummary?: (message: JsonRecord) => boolean;
  /** what the request for the summary used: a number just before may be its own and not the conversation's; 0 where not recorded */
  readonly requestTokens?: number;
}

/** Keys of messages, or the first and the last of a row; without `to`, up to the newest message. */
export type KeptMessages =
  | { readonly keys: readonly string[] }
  | { readonly from: string; readonly to?: string };

/** What stands in the place of the conversation that was compacted. */
export type Summary =
  /** the model's words, without the agent's own sentences around them */
  | { readonly kind: 'text'; readonly text: string }
  /** only the model's server can read it */
  | { readonly kind: 'encrypted' }
  /** nothing: the conversation is lost */
  | { readonly kind: 'empty' };

export const summaryOf = (text: string): Summary =>
  text.trim() === '' ? { kind: 'empty' } : { kind: 'text', text: text.trim() };

/** Reads a document line by line. */
export interface DocumentReader {
  readonly read: (line: string, now: Millis) => DocumentResult;
  /** what the end of the file makes certain */
  readonly end: () => DocumentResult;
}

export interface DocumentResult {
  /** the line ends a message of the conversation */
  readonly message?: string;
  readonly facts: readonly Fact[];
  readonly details: readonly HistoryDetail[];
}
