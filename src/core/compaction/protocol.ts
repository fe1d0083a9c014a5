import { jsonText } from '../printable.js';
import { getCount, getList, getRecord, getText, type JsonRecord, parseRecord } from '../json.js';
import { toOneLine } from '../text.js';
import { parseIsoTime } from '../time.js';
import type { Millis, Activity } from '../reading.js';
import type { ReadingRecord } from '../report/report.js';
import { REQUEST_MS } from './machine.js';
import {
  outcomeKinds,
  type EndedCompaction,
  type Failure,
  type Fill,
  type Initiator,
  type OutcomeKind,
  type Via,
} from './outcome.js';
import { endedText } from './texts.js';
import { present } from '../present.js';

// A finished compaction as JSON, for the audit log and for the process that requested it. Contains nothing of the conversation.

export interface AttemptRecord {
  readonly schema: 'ctxwrap.attempt/1';
  readonly initiator: Initiator;
  /** how ctxwrap asked the agent without keys; absent where it typed the command */
  readonly via?: Via | undefined;
  /** by ctxwrap: what shortened the conversation; `auto` is the agent's own command */
  readonly strategy?: string | undefined;
  /** the user requested it */
  readonly isManual: boolean;
  /** it worked after it had been recorded as failed: this record takes the place of the one with the same session and `startedAt` */
  readonly isLate?: true | undefined;
  readonly outcome: OutcomeKind;
  /** the outcome in the words of the footer */
  readonly words: string;
  readonly failure?: Failure | undefined;
  readonly before?: Fill | undefined;
  readonly after?: Fill | undefined;
  readonly startedAt: Millis;
  readonly endedAt: Millis;
  readonly evidence: readonly string[];
}

const LONGEST_TEXT = 300; // characters: an agent's error message can be a page long
const MOST_EVIDENCE = 40;

export const attemptRecord = (ended: EndedCompaction): AttemptRecord => {
  const { initiator, via, strategy, isManual = false, outcome, before, startedAt, endedAt, evidence } = ended;
  return {
    schema: 'ctxwrap.attempt/1',
    initiator,
    via,
    strategy: initiator === 'ctxwrap' ? (strategy ?? 'auto') : undefined,
    isManual,
    ...present({ isLate: ended.isLate }),
    outcome: outcome.kind,
    words: toOneLine(endedText(ended), LONGEST_TEXT),
    failure: outcome.kind === 'failed' ? outcome.failure : undefined,
    before,
    after: outcome.kind === 'verified' ? outcome.after : undefined,
    startedAt,
    endedAt,
    evidence: boundedLines(evidence),
  };
};

/** The facts as lines of limited length and number; if there are too many, the last ones, which decided the outcome. */
const boundedLines = (facts: readonly string[]): readonly string[] =>
  facts.slice(-MOST_EVIDENCE).map((fact) => toOneLine(fact, LONGEST_TEXT));

/** The record as another process reads it; undefined if a required field is missing. */
export const parseAttempt = (found: JsonRecord | undefined): AttemptRecord | undefined => {
  const outcome = outcomeKinds.find((each) => each === found?.['outcome']);
  const initiator = initiators.find((each) => each === found?.['initiator']);
  const [startedAt, endedAt] = [getCount(found, 'startedAt'), getCount(found, 'endedAt')];
  if (!outcome || !initiator || startedAt === undefined || endedAt === undefined) return undefined;
  return {
    schema: 'ctxwrap.attempt/1',
    initiator,
    via: vias.find((each) => each === found?.['via']),
    strategy: getText(found, 'strategy') && toOneLine(getText(found, 'strategy') ?? '', LONGEST_NAME),
    isManual: found?.['isManual'] === true,
    ...(found?.['isLate'] === true ? { isLate: true } : {}),
    outcome,
    words: toOneLine(getText(found, 'words') ?? outcome, LONGEST_TEXT),
    failure: failures.find((each) => each === found?.['failure']),
    before: fillIn(getRecord(found, 'before')),
    after: fillIn(getRecord(found, 'after')),
    startedAt,
    endedAt,
    evidence: boundedLines(getList(found, 'evidence').filter((each) => typeof each === 'string')),
  };
};

const fillIn = (found: JsonRecord | undefined): Fill | undefined => {
  const [usedTokens, usedPercent] = [getCount(found, 'usedTokens'), getCount(found, 'usedPercent')];
  return usedTokens === undefined && usedPercent === undefined ? undefined : { usedTokens, usedPercent };
};

const vias: readonly Via[] = ['server', 'daemon'];
const initiators: readonly Initiator[] = ['ctxwrap', 'user', 'agent'];
const failures: readonly Failure[] = ['inflated', 'empty', 'truncated', 'error'];

// A line of the audit log: what was known before a key was typed, what was typed, and the outcome.

/** Facts about an attempt that the core does not know. */
export interface AuditContext {
  /** of the wrapper */
  readonly session: string;
  /** of the wrapper */
  readonly version: string;
  readonly runtime: string;
  /** the agent's id of the conversation */
  readonly conversation?: string | undefined;
  /** id of the request that this answers, if there was one */
  readonly request?: string | undefined;
  /** the number when the attempt began */
  readonly reading?: ReadingRecord | undefined;
  /** why the gate was open; absent for a compaction that ctxwrap did not start */
  readonly gate?: AuditGate | undefined;
  /** what was written to the agent, in order, with control characters as JavaScript escapes */
  readonly strokes?: readonly AuditKeys[] | undefined;
}

export interface AuditGate {
  readonly activity: Activity;
  readonly witnesses: readonly string[];
}

export interface AuditKeys {
  readonly at: Millis;
  readonly keys: string;
}

const LONGEST_NAME = 100; // characters
const MOST_STROKES = 40;
const LONGEST_STROKE = 300; // a command with its focus text

/** The line for keys typed after the end of an attempt, which removed the rest of it from the prompt. */
export const lateKeysLine = (session: string, { at, keys }: AuditKeys): string =>
  jsonText({
    schema: 'ctxwrap.late-stroke/1',
    session: toOneLine(session, LONGEST_NAME),
    at,
    keys: visible(keys),
  });

/** The line for an attempt, with a newline: its record and everything known about it. Contains no control characters. */
export const auditLine = (ended: EndedCompaction, context: AuditContext): string => {
  const { session, version, runtime: agent, conversation, request, reading, gate, strokes } = context;
  const name = (text: string): string => toOneLine(text, LONGEST_NAME);
  const model = reading?.model === undefined ? {} : { model: name(reading.model) };
  const line = {
    ...attemptRecord(ended),
    session: name(session),
    version: name(version),
    runtime: name(agent),
    conversation: conversation && name(conversation),
    request: request && name(request),
    reading: reading && { ...reading, runtime: name(reading.runtime), ...model },
    gate: gate && { activity: gate.activity, witnesses: boundedLines(gate.witnesses) },
    strokes: strokes?.slice(0, MOST_STROKES).map(({ at, keys }) => ({ at, keys: visible(keys) })),
  };
  return jsonText(line);
};

/** The line for a switch of the running agent to another session. */
export const switchLine = (
  ended: {
    readonly name: string;
    readonly outcome: string;
    readonly reason?: string | undefined;
    readonly via?: Via | undefined;
  },
  { session, version, runtime: agent, conversation, gate, strokes = [] }: AuditContext,
  at: Millis,
): string => {
  const name = (text: string): string => toOneLine(text, LONGEST_NAME);
  const line = {
    schema: 'ctxwrap.switched/1',
    initiator: 'ctxwrap',
    via: ended.via,
    at,
    name: name(ended.name),
    outcome: ended.outcome,
    reason: ended.reason && toOneLine(ended.reason, LONGEST_TEXT),
    session: name(session),
    version: name(version),
    runtime: name(agent),
    conversation: conversation && name(conversation),
    gate: gate && { activity: gate.activity, witnesses: boundedLines(gate.witnesses) },
    strokes: strokes.slice(0, MOST_STROKES).map((stroke) => ({ ...stroke, keys: visible(stroke.keys) })),
  };
  return jsonText(line);
};

/** The line for a text that was put into the prompt, which does not hold the text: it is the user's conversation. */
export const draftLine = (
  ended: { readonly outcome: string; readonly reason?: string | undefined; readonly characters: number },
  { session, version, runtime: agent, conversation, gate }: AuditContext,
  at: Millis,
): string =>
  jsonText({
    schema: 'ctxwrap.drafted/1',
    initiator: 'ctxwrap',
    at,
    outcome: ended.outcome,
    reason: ended.reason && toOneLine(ended.reason, LONGEST_TEXT),
    characters: ended.characters,
    session: toOneLine(session, LONGEST_NAME),
    version: toOneLine(version, LONGEST_NAME),
    runtime: toOneLine(agent, LONGEST_NAME),
    conversation: conversation && toOneLine(conversation, LONGEST_NAME),
    gate: gate && { activity: gate.activity, witnesses: boundedLines(gate.witnesses) },
  });

/** Lines of a recap that went to the agent without its prompt: none of their words. */
export interface GivenBack {
  readonly initiator: Initiator;
  /** `waiting`: with the user's next message; then another line says whether that was sent, `lost` or withdrawn before */
  readonly outcome: 'sent' | 'waiting' | 'lost' | 'withdrawn';
  readonly counts: readonly { readonly kind: string; readonly count: number }[];
}

/** The line for what was given back. */
export const givenBackLine = (
  { initiator, outcome, counts }: GivenBack,
  { session, version, runtime: agent, conversation }: AuditContext,
  at: Millis,
): string =>
  jsonText({
    schema: 'ctxwrap.given-back/1',
    initiator,
    at,
    outcome,
    counts,
    session: toOneLine(session, LONGEST_NAME),
    version: toOneLine(version, LONGEST_NAME),
    runtime: toOneLine(agent, LONGEST_NAME),
    conversation: conversation && toOneLine(conversation, LONGEST_NAME),
  });

/** The keys in readable form: `/compact\r` ends with a backslash and an r. */
const visible = (keys: string): string =>
  toOneLine(
    keys.replace(/\p{Cc}/gu, (key) => JSON.stringify(key).slice(1, -1).replace('\u007f', '\\u007f')),
    LONGEST_STROKE,
  );

/** A compaction of any initiator, as read from the audit log. */
export interface AuditedAttempt {
  /** of the wrapper */
  readonly session: string;
  readonly runtime: string;
  /** the agent's id of it; absent if unknown */
  readonly conversation?: string;
  readonly attempt: AttemptRecord;
}

/** undefined for a line that describes none */
export const parseAuditLine = (line: string): AuditedAttempt | undefined => {
  const found = parseRecord(line);
  const attempt = found?.['schema'] === 'ctxwrap.attempt/1' ? parseAttempt(found) : undefined;
  const agent = getText(found, 'runtime');
  if (!attempt || agent === undefined) return undefined;
  const session = toOneLine(getText(found, 'session') ?? '', LONGEST_NAME);
  const conversation = getText(found, 'conversation');
  return { session, runtime: toOneLine(agent, LONGEST_NAME), ...present({ conversation }), attempt };
};

// The file `.omc/state/compact-requested.json` {requestedAt, contextPercent, threshold}: oh-my-claudecode writes it with each drawing of
// its status line while the window is above a threshold. All of these together are one request.

/** What was read from the file so far. */
export interface OmcState {
  /** time in the file at the last check; 0 if there is none */
  readonly writtenAt: Millis;
  /** when it last counted as a request */
  readonly countedAt?: Millis;
}

export interface OmcResult {
  readonly seen: OmcState;
  readonly isRequest: boolean;
}

/** What the file says now. The first check (`before` undefined) only records what was there before the session. */
export const readOmcState = (
  before: OmcState | undefined,
  text: string | undefined,
  now: Millis,
): OmcResult => {
  const requestedAt = parseIsoTime(getText(parseRecord(text ?? ''), 'requestedAt') ?? '');
  const writtenAt = requestedAt ?? before?.writtenAt ?? 0;
  if (before === undefined) return { seen: { writtenAt }, isRequest: false };
  const { countedAt } = before;
  const isNew = writtenAt > before.writtenAt && Math.abs(now - writtenAt) <= REQUEST_MS;
  const isEnough = countedAt === undefined || Math.abs(now - countedAt) > REQUEST_MS;
  if (!isNew || !isEnough) return { seen: { ...before, writtenAt }, isRequest: false };
  return { seen: { writtenAt, countedAt: now }, isRequest: true };
};

/** What changed the configuration: a command, or the session that follows the change. */
export interface ConfigurationChange {
  readonly by: 'config set' | 'config unset' | 'config edit' | 'config init' | 'session';
  /** names of the changed keys; their values may be private */
  readonly keys: readonly string[];
  /** of the session that follows it */
  readonly session?: string | undefined;
}

/** The line for a change of the configuration. */
export const configurationLine = ({ by, keys, session }: ConfigurationChange, at: Millis): string =>
  jsonText({
    schema: 'ctxwrap.configuration/1',
    at,
    by,
    keys,
    session: session && toOneLine(session, LONGEST_NAME),
  });

/** The names under which two records hold different values. */
export const changedKeys = (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );

/** What the lines of the audit log tell of attempts and compactions, in their order, each once: of an attempt that worked late the last line. */
export const auditedAttempts = (lines: readonly string[]): readonly AuditedAttempt[] => {
  const all = lines.flatMap((line) => parseAuditLine(line) ?? []);
  const keyOf = ({ session, attempt }: AuditedAttempt): string =>
    `${session} ${attempt.initiator} ${attempt.startedAt}`;
  const late = new Set(all.filter(({ attempt }) => attempt.isLate).map(keyOf));
  return all.filter((each) => each.attempt.isLate === true || !late.has(keyOf(each)));
};
