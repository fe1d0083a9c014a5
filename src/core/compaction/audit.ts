// One line of the audit log: what was known before a key was typed, what was typed, and what came of it.
import type { Activity } from '../activity.js';
import { oneLine } from '../one-line.js';
import type { ReadingRecord } from '../reading-record.js';
import type { Millis } from '../reading.js';
import { attemptRecord, boundedLines } from './attempt-record.js';
import type { Ended } from './outcome.js';

/** What only the shell knows of an attempt. */
export interface AuditContext {
  /** of the wrapper */
  readonly session: string;
  /** of the wrapper */
  readonly version: string;
  readonly runtime: string;
  /** the agent's own id of the conversation */
  readonly conversation?: string | undefined;
  /** whose answer this is, when somebody asked */
  readonly request?: string | undefined;
  /** the number when the attempt began */
  readonly reading?: ReadingRecord | undefined;
  /** what opened the gate; absent for a compaction that was not ours */
  readonly gate?: AuditGate | undefined;
  /** what was written to the agent, in order; a control character as JavaScript writes it */
  readonly strokes?: readonly AuditStroke[] | undefined;
}

export interface AuditGate {
  readonly activity: Activity;
  readonly witnesses: readonly string[];
}

export interface AuditStroke {
  readonly at: Millis;
  readonly keys: string;
}

const LONGEST_NAME = 100; // characters
const MOST_STROKES = 40;
const LONGEST_STROKE = 300; // a command with its focus text

/** The line for keys that were typed after the end of an attempt: what was left of it was taken back. */
export const lateLine = (session: string, { at, keys }: AuditStroke): string =>
  `${JSON.stringify({ schema: 'ctxwrap.late-stroke/1', session: oneLine(session, LONGEST_NAME), at, keys: visible(keys) })}\n`;

/** The line for an attempt, with its newline: its record, and all that was known of it. No control character of whatever origin is in it. */
export const auditLine = (ended: Ended, context: AuditContext): string => {
  const { session, version, runtime, conversation, request, reading, gate, strokes } = context;
  const name = (text: string): string => oneLine(text, LONGEST_NAME);
  const line = {
    ...attemptRecord(ended),
    session: name(session),
    version: name(version),
    runtime: name(runtime),
    ...(conversation === undefined ? {} : { conversation: name(conversation) }),
    ...(request === undefined ? {} : { request: name(request) }),
    ...(reading ? { reading: withPlainModel(reading, name) } : {}),
    ...(gate ? { gate: { activity: gate.activity, witnesses: boundedLines(gate.witnesses) } } : {}),
    ...(strokes
      ? { strokes: strokes.slice(0, MOST_STROKES).map(({ at, keys }) => ({ at, keys: visible(keys) })) }
      : {}),
  };
  return `${JSON.stringify(line)}\n`;
};

const withPlainModel = (reading: ReadingRecord, name: (text: string) => string): ReadingRecord => ({
  ...reading,
  runtime: name(reading.runtime),
  ...(reading.model === undefined ? {} : { model: name(reading.model) }),
});

/** Keys as they can be read: `/compact\r` ends with a backslash and an r. */
const visible = (keys: string): string =>
  oneLine(
    keys.replace(/\p{Cc}/gu, (key) => JSON.stringify(key).slice(1, -1).replace('\u007f', '\\u007f')),
    LONGEST_STROKE,
  );
