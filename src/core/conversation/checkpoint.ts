import { jsonText } from '../printable.js';
import type { Initiator } from '../compaction/outcome.js';
import type { Millis } from '../reading.js';
import type { ReadingRecord } from '../report/report.js';
import { toOneLine } from '../text.js';

// What the black box keeps of a session: the agent's file itself, by a second name of it (a hard link), and copies of it at certain
// moments (checkpoints). The texts themselves are in files of their own; this is what is known about them.

/** Why a copy was made. */
export type CheckpointReason =
  /** the file could not be linked, so it is copied as soon as it is seen */
  | 'first'
  /** it has grown, in a window that fills */
  | 'growing'
  /** before ctxwrap asks for a compaction */
  | 'before'
  /** all that was in the file before the agent's record of a compaction */
  | 'compaction'
  /** `ctxwrap checkpoint create` */
  | 'asked';

/** A piece of a copy, kept in a file that is named after its contents, so that equal pieces are kept once. */
export interface Chunk {
  /** of the text, in hexadecimal digits */
  readonly sha256: string;
  /** of the text */
  readonly bytes: number;
  /** of the compressed file */
  readonly storedBytes: number;
  readonly codec: 'zstd' | 'gzip';
}

/** One file of the file system: a file that replaces it has another identity. */
export interface FileIdentity {
  readonly device: string;
  readonly inode: string;
  /** birth time in nanoseconds; `0` where the file system does not tell */
  readonly bornAt: string;
}

/** The state of the repository that the session works in. */
export interface GitState {
  readonly head?: string;
  /** changed and new files, relative to the repository; at most 200 */
  readonly dirty: readonly string[];
  /** there are more of them */
  readonly isCut?: true;
}

/** The compaction that a copy belongs to. */
export interface CheckpointBoundary {
  readonly at: Millis;
  readonly initiator?: Initiator;
  readonly preTokens?: number;
  readonly postTokens?: number;
  readonly uuid?: string;
}

/** The session that a copy belongs to. */
export interface KeptOf {
  readonly runtime: string;
  /** the agent's id of the conversation */
  readonly session: string;
  /** the session's folder */
  readonly cwd: string;
  /** the agent's own file */
  readonly path: string;
}

/** A copy of the beginning of a session file. */
export interface CheckpointRecord extends KeptOf {
  readonly schema: 'ctxwrap.checkpoint/1';
  /** 12 hexadecimal digits */
  readonly id: string;
  readonly why: CheckpointReason;
  readonly at: Millis;
  readonly file: FileIdentity;
  /** so many bytes of the file, from its beginning */
  readonly bytes: number;
  /** of these bytes, in hexadecimal digits */
  readonly sha256: string;
  readonly chunks: readonly Chunk[];
  readonly boundary?: CheckpointBoundary;
  readonly reading?: ReadingRecord;
  readonly git?: GitState;
}

/** The agent's file under a name of the black box; it grows as long as the agent writes into it. */
export interface KeptFile extends FileIdentity {
  /** 12 hexadecimal digits */
  readonly id: string;
  readonly since: Millis;
  readonly path: string;
}

/** What has happened to a session file. */
export type FileFate =
  /** another file has taken its name */
  | 'replaced'
  /** its contents were changed in place */
  | 'rewritten'
  /** it has become shorter */
  | 'shortened'
  /** it was removed */
  | 'removed';

export interface FileEvent {
  readonly at: Millis;
  readonly fate: FileFate;
  readonly path: string;
  /** id of what the black box has of the contents before; absent if there is nothing */
  readonly kept?: string;
}

/** The index of what is kept of a session, beside its checkpoints. */
export interface KeptRecord extends KeptOf {
  readonly schema: 'ctxwrap.kept/1';
  readonly since: Millis;
  readonly files: readonly KeptFile[];
  readonly events: readonly FileEvent[];
}

export const ID = /^[0-9a-f]{12}$/;

const passing: readonly CheckpointReason[] = ['first', 'growing', 'before'];

/** True for a copy that a longer one replaces, because that contains it. */
export const isPassing = ({ why }: Pick<CheckpointRecord, 'why'>): boolean => passing.includes(why);

// What has happened to a file between two looks at it.

/** A file at one moment. */
export interface FileMark extends FileIdentity {
  readonly bytes: number;
  readonly modifiedAt: Millis;
  /** hash of the first `headBytes` bytes */
  readonly head: string;
  readonly headBytes: number;
}

export const isSameFile = (a: FileIdentity, b: FileIdentity): boolean =>
  a.device === b.device &&
  a.inode === b.inode &&
  (a.bornAt === b.bornAt || a.bornAt === UNKNOWN || b.bornAt === UNKNOWN);

const UNKNOWN = '0';

/**
 * What has become of a file. `now`: the file under the same name, with the head of as many bytes as before; undefined if there is none.
 * Undefined if it is as it was, or has only grown.
 */
export const fateOf = (before: FileMark, now: FileMark | undefined): FileFate | undefined => {
  if (!now) return 'removed';
  if (!isSameFile(before, now)) return 'replaced';
  if (now.bytes < before.bytes) return 'shortened';
  return now.head === before.head ? undefined : 'rewritten';
};

// Which copies have to go when there is not enough room.

/** What a session takes that can be removed. */
export interface PrunableSession {
  readonly key: string;
  /** the session still runs */
  readonly isLive: boolean;
  /** on the disk */
  readonly usedBytes: number;
  /** oldest first */
  readonly copies: readonly PrunableCopy[];
}

export interface PrunableCopy {
  readonly id: string;
  readonly at: Millis;
  /** names of what it needs; copies that share all of it free nothing one by one */
  readonly pieces: readonly string[];
}

export interface Removal {
  readonly key: string;
  readonly ids: readonly string[];
}

/**
 * What to remove next; undefined if everything is within its limit, or nothing else may go. A session above its share loses its oldest
 * copies; if all together are too much, the session goes that was written to least recently, and those that still run lose their oldest
 * copies at the end. The last copy of a session goes only with all of it, and never while it runs.
 */
export const nextRemoval = (
  sessions: readonly PrunableSession[],
  limitBytes: number,
): Removal | undefined => {
  const large = sessions.filter(({ usedBytes }) => usedBytes > sessionLimit(limitBytes));
  const ofLarge = oldestOf(large);
  if (ofLarge) return ofLarge;
  const total = sessions.reduce((sum, { usedBytes }) => sum + usedBytes, 0);
  if (total <= limitBytes) return undefined;
  const ended = sessions.filter(({ isLive, copies }) => !isLive && copies.length > 0);
  const [oldest] = ended.toSorted((a, b) => lastAt(a) - lastAt(b));
  if (oldest) return { key: oldest.key, ids: oldest.copies.map(({ id }) => id) };
  return oldestOf(sessions.filter(({ isLive }) => isLive));
};

const lastAt = ({ copies }: PrunableSession): Millis => copies.at(-1)?.at ?? 0;

/** The oldest copy that frees something and is not the last one of its session. */
const oldestOf = (sessions: readonly PrunableSession[]): Removal | undefined => {
  const free = sessions.flatMap(({ key, copies }) =>
    copies
      .slice(0, -1)
      .filter((copy) => !copy.pieces.every((piece) => isShared(piece, copy, copies)))
      .map(({ id, at }) => ({ key, id, at })),
  );
  const [oldest] = free.toSorted((a, b) => a.at - b.at);
  return oldest && { key: oldest.key, ids: [oldest.id] };
};

const isShared = (piece: string, of: PrunableCopy, copies: readonly PrunableCopy[]): boolean =>
  copies.some((copy) => copy !== of && copy.pieces.includes(piece));

/** The copies that are too old; never the last one of a session that still runs. */
export const tooOld = ({ copies, isLive }: PrunableSession, before: Millis): readonly string[] =>
  copies
    .filter((copy, index) => copy.at < before && !(isLive && index === copies.length - 1))
    .map(({ id }) => id);

/** A line of the audit log about a copy, with its newline. Like all its lines it has nothing of what was said. */
export const checkpointLine = (about: {
  readonly action: 'created' | 'removed' | 'restored';
  readonly id: string;
  readonly at: Millis;
  readonly runtime: string;
  readonly session: string;
  readonly why?: CheckpointReason;
}): string => {
  const { action, id, at, runtime, session, why } = about;
  const conversation = toOneLine(session, LONGEST_NAME);
  const line = { action, id, at, runtime: toOneLine(runtime, LONGEST_NAME), conversation, why };
  return jsonText({ schema: 'ctxwrap.checkpoint-action/1', ...line });
};

const LONGEST_NAME = 100;

/** How much of the limit one session may take. */
const sessionLimit = (limitBytes: number): number => Math.floor(limitBytes / 4);
