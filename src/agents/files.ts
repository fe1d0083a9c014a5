import { posix } from 'node:path';
import { parseRecord, getText, type JsonRecord } from '../core/json.js';
import { parseIsoTime } from '../core/time.js';
import type { Millis } from '../core/reading.js';
import type { FileEntry, FilePort, Located, ChildPlace } from './agent.js';

// Which session file belongs to this terminal, where the agent does not tell: the one that records what the user sent with Enter here.
// Other terminals in the same folder write theirs at any time, but their users do not press Enter within the same two seconds. Where Enter is
// pressed again within this time, as for a command behind a message, the first of these counts, too.

const SENT_MS = 2_000; // an agent records a sent message within this time
export const FILE_CLOCK_LAG_MS = 100; // file times come from a coarser kernel clock than the times in the records

/**
 * A child writes the files that name it itself: one that is older than the child by more than this belongs to an earlier process with the
 * same pid, whose locks can outlive it.
 */
export const CLOCK_SLACK_MS = 60_000;

interface AskedFile {
  readonly file: FileEntry;
  /** when the user's message was recorded in it */
  readonly askedAt: Millis;
}

/** How to recognise the user's messages in these files. */
interface AskedRecords {
  readonly isPrompt: (record: JsonRecord) => boolean;
  /** when a record was written; its `timestamp` when absent */
  readonly timeOf?: (record: JsonRecord) => Millis | undefined;
  /**
   * when the session began, by the first record of its file, for an agent that makes the file when the user sends a message or a command;
   * what is written after the message may be longer than the end of the file that is read
   */
  readonly begunAt?: (first: JsonRecord) => Millis | undefined;
}

const isoTimeOf = (record: JsonRecord): Millis | undefined =>
  parseIsoTime(getText(record, 'timestamp') ?? '');

/**
 * From when to when a message that was sent with Enter in this terminal is recorded. Undefined before that, and while a slower message, in
 * another terminal or here, is waited for: two that are sent at once prove nothing.
 */
export const sentBetween = ({
  enteredAt,
  enteredSince = enteredAt,
  now,
}: ChildPlace): readonly [Millis, Millis] | undefined =>
  enteredAt === undefined || enteredSince === undefined || now < enteredAt + SENT_MS
    ? undefined
    : [enteredSince, enteredAt + SENT_MS];

/** Only what is sent in this view of the terminal names its session: a message from before is of the one that was in view then. */
export const inThisView = (place: ChildPlace): ChildPlace => {
  const { enteredAt, enteredSince = enteredAt, viewSince } = place;
  return enteredSince === undefined || viewSince === undefined
    ? place
    : { ...place, enteredSince: Math.max(enteredSince, viewSince) };
};

const askedFiles = async (
  port: FilePort,
  place: ChildPlace,
  files: readonly FileEntry[],
  records: AskedRecords,
): Promise<readonly AskedFile[]> => {
  const between = sentBetween(place);
  if (!between) return [];
  const written = files.filter(({ modifiedAt }) => modifiedAt >= between[0] - FILE_CLOCK_LAG_MS);
  const asked = written.map(async (file): Promise<readonly AskedFile[]> => {
    const text = (await port.lastPart(file.path)) ?? '';
    const askedAt =
      promptBetween(text, between, records) ?? (await beginningBetween(port, file, between, records));
    return askedAt === undefined ? [] : [{ file, askedAt }];
  });
  return (await Promise.all(asked)).flat();
};

const promptBetween = (
  text: string,
  [from, to]: readonly [Millis, Millis],
  { isPrompt, timeOf = isoTimeOf }: AskedRecords,
): Millis | undefined => {
  for (const line of text.split('\n').toReversed()) {
    const record = parseRecord(line);
    const at = record && timeOf(record);
    if (!record || at === undefined) continue; // a snapshot, or the middle of a line
    if (at < from) return undefined;
    if (at <= to && isPrompt(record)) return at;
  }
  return undefined;
};

const beginningBetween = async (
  port: FilePort,
  { path }: FileEntry,
  [from, to]: readonly [Millis, Millis],
  { begunAt }: AskedRecords,
): Promise<Millis | undefined> => {
  if (!begunAt) return undefined;
  const first = parseRecord((await port.firstLine(path)) ?? '');
  const at = first && begunAt(first);
  return at !== undefined && at >= from && at <= to ? at : undefined;
};

/** The only file with the user's message; else the currently followed one, if it is among them. `idOf` returns a file's session. */
export const chooseAskedFile = async (
  port: FilePort,
  place: ChildPlace,
  files: readonly FileEntry[],
  { idOf, ...records }: AskedRecords & { readonly idOf: (file: FileEntry) => string },
): Promise<Located | undefined> => {
  const asked = await askedFiles(port, place, files, records);
  const [one, ...others] = asked;
  if (one && others.length === 0)
    return { sessionId: idOf(one.file), path: one.file.path, certain: false, writtenAt: one.askedAt };
  const current = files.find(({ path }) => path === place.currentPath);
  return current && { sessionId: idOf(current), path: current.path, certain: false };
};

/** The only one of several candidates: where the evidence fits more, it proves nothing. */
export const onlyOne = <T>([one, ...others]: readonly T[]): T | undefined =>
  others.length === 0 ? one : undefined;

/** A session file that has the session's id for its name, as Claude Code and Qwen Code write it. */
export const UUID_FILE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/;

/** The session's id in the path of such a file; undefined for any other path. */
export const uuidInPath = (path: string): string | undefined => {
  const name = posix.basename(path);
  return UUID_FILE.test(name) ? name.slice(0, -'.jsonl'.length) : undefined;
};
