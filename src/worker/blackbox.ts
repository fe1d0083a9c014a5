import { join } from 'node:path';
import type { CopyResult } from '../core/compaction/copy.js';
import type { Compaction } from '../core/compaction/state.js';
import {
  checkpointLine,
  fateOf,
  type CheckpointBoundary,
  type CheckpointReason,
  type FileEvent,
  type FileFate,
  type FileMark,
} from '../core/conversation/checkpoint.js';
import { isBlackBoxOn } from '../core/config/keys.js';
import { errorCode } from '../core/errors.js';
import type { Boundary, Event } from '../core/event.js';
import type { Tier } from '../core/ladder.js';
import { present } from '../core/present.js';
import { readingRecord, type ReadingRecord } from '../core/report/report.js';
import type { Session } from '../core/session.js';
import type { FoundConversation } from '../core/shown-conversation.js';
import { blackBoxFolder, FILE_ENDING, findKept, keptKey } from '../storage/blackbox/blackbox.js';
import {
  dropFile,
  isBeginningOf,
  keepCopy,
  linkFile,
  markFile,
  noteFate,
  type KeepPlace,
} from '../storage/blackbox/keep.js';
import { pruneBlackBox } from '../storage/blackbox/prune.js';
import { systemReason } from '../storage/errors.js';
import { readGit } from '../storage/git.js';
import { openAudit, type Audit } from '../storage/log-file.js';
import { homeFolder, stateFolder as stateFolderOf } from '../storage/state-folder.js';
import { RESTING_PAUSE_MS, type Rest } from '../storage/watch.js';
import type { WrapSession } from '../session/options.js';

// The black box of a session: from the moment its file is known, keeps the file, copies it when that matters, and notices when it is
// replaced or rewritten. One thing after the other, in the worker, a piece of a file at a time.

const LOOK_MS = 5_000; // between two looks at the file
const FIRST_COPY_MS = 10_000; // after the file was first seen: the agent is busy with its own start
const COPY_MS = 60_000; // between two copies of a file that grows, once the window is at warn
const CALM_COPY_MS = 300_000; // and before
const SHARE = 100; // and at least so many times as long as the last copy took: one percent of the time
const PRUNE_MS = 300_000; // between two looks at all that is kept

export interface BlackBoxListener {
  /** what the user should know, in one line for the footer */
  readonly onNotice: (text: string) => void;
  readonly onFailure: (reason: string) => void;
  /** nothing happens in the session; it never rests when absent */
  readonly isResting?: Rest['isResting'];
}

export interface BlackBox {
  /** called before each event, with the state before it */
  readonly onEvent: (event: Event, compaction: Compaction) => void;
  readonly onState: (state: Session) => void;
  /** the copy before a compaction of ctxwrap's; never rejects */
  readonly copy: () => Promise<CopyResult>;
  readonly stop: () => void;
}

/** What is known of the file that is followed. */
interface Followed {
  readonly place: KeepPlace;
  readonly since: number;
  mark?: FileMark | undefined;
  /** id of the link; undefined where none can be made */
  link?: string | undefined;
  /** it was removed, and that was told */
  isGone: boolean;
  /** the file was linked, or cannot be */
  isBegun: boolean;
  /** the last copy: its id, and how much of the file it has */
  last?: { readonly id: string; readonly bytes: number };
  /** the last copy that was tried: when that ended and how long it took */
  tried?: { readonly at: number; readonly tookMs: number };
  /** that the contents before are no longer in it was told, and no copy was made since */
  isChangeReported?: boolean;
}

const startFollowing = (place: KeepPlace): Followed => ({
  place,
  since: performance.now(),
  isGone: false,
  isBegun: false,
});

const noBlackBox: BlackBox = {
  onEvent: () => undefined,
  onState: () => undefined,
  copy: async () => ({ kind: 'nothing' }),
  stop: () => undefined,
};

/** Opens the black box of a session; one that began with it switched off stays without. */
export const openBlackBox = (session: WrapSession, listener: BlackBoxListener): BlackBox => {
  const { wrapper, agent, values } = session;
  return wrapper && agent.log && isBlackBoxOn(values) ? open(session, listener) : noBlackBox;
};

const open = (session: WrapSession, listener: BlackBoxListener): BlackBox => {
  const { agent, cwd, env, log, values } = session;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  let [isOn, limitBytes] = [true, values['blackbox.limit']];
  let followed: Followed | undefined;
  let reading: ReadingRecord | undefined;
  let tier: Tier | undefined;
  const failures = makeFailures(listener);
  const enqueue = makeQueue(failures.add);
  const copier = makeCopier(
    session,
    { stateFolder, limit: () => limitBytes, reading: () => reading },
    { onNotice: listener.onNotice, onKept: failures.end },
  );

  const look = async (): Promise<void> => {
    if (!isOn || !followed) return;
    await watchFate(followed, { log, onNotice: listener.onNotice, copier });
    if (isDue(followed, tier)) await copier.make(followed, 'growing');
  };
  const follow = ({ sessionId: session, path }: FoundConversation): void => {
    const place = { stateFolder, runtime: agent.name, session, cwd, path: path ?? '' };
    followed = path === undefined ? undefined : startFollowing(place);
    void enqueue.add(look);
  };
  const timer = setInterval(rarelyAtRest(listener, enqueue, look), LOOK_MS).unref();
  return {
    onEvent: (event, compaction) => {
      if (event.type === 'view' && !event.isSame) followed = undefined;
      if (event.type === 'session-changed') follow(event);
      if (event.type === 'settings') {
        const { keepsCopy, copyLimitBytes = limitBytes } = event.settings.compact;
        [isOn, limitBytes] = [keepsCopy === true, copyLimitBytes];
      }
      if (event.type !== 'boundary' || event.boundary.offset === undefined || !isOn) return;
      const [target, end] = [followed, event.boundary.offset];
      // the number after the compaction may have come when the copy is made
      const more = { end, boundary: boundaryOf(event.boundary, compaction), reading };
      if (target) void enqueue.add(() => copier.make(target, 'compaction', more));
    },
    onState: (state) => {
      reading = readingRecord(state, Date.now()) ?? reading;
      tier = state.fused?.tier ?? tier;
    },
    copy: async () => {
      const target = followed;
      let result: CopyResult = { kind: 'nothing' };
      if (isOn && target)
        await enqueue.add(async () => {
          result = await copier.before(target, look);
        });
      return result;
    },
    stop: () => {
      clearInterval(timer);
      // a file without a link is copied a last time; what is not finished when this process ends leaves no trace
      if (followed && followed.link === undefined) void enqueue.add(look);
    },
  };
};

/** A look that is left out while the session rests, unless the last one is long ago. */
const rarelyAtRest = (
  { isResting }: BlackBoxListener,
  { whenIdle }: ReturnType<typeof makeQueue>,
  look: () => Promise<void>,
): (() => void) => {
  let lookedAt = -Infinity;
  return () => {
    const now = performance.now();
    if (isResting?.() && now - lookedAt < RESTING_PAUSE_MS) return;
    lookedAt = now;
    whenIdle(look);
  };
};

/** Runs one thing after the other. A failure is reported, not thrown. */
const makeQueue = (onFailure: (error: unknown) => void) => {
  let running: Promise<void> = Promise.resolve();
  let waiting = 0;
  const add = (work: () => Promise<void>): Promise<void> => {
    waiting += 1;
    running = running
      .then(work)
      .catch(onFailure)
      .finally(() => {
        waiting -= 1;
      });
    return running;
  };
  return { add, whenIdle: (work: () => Promise<void>): void => void (waiting === 0 && add(work)) };
};

/** A failure is reported once, until something could be kept again: it is met at every look. */
const makeFailures = ({ onNotice, onFailure }: BlackBoxListener) => {
  let lastReason: string | undefined;
  return {
    add: (error: unknown): void => {
      const reason = failureText(error);
      if (reason === lastReason) return;
      lastReason = reason;
      onFailure(reason);
      onNotice(`black box: nothing kept (${reason})`);
    },
    end: (): void => {
      lastReason = undefined;
    },
  };
};

const boundaryOf = (
  { at, initiator, preTokens, postTokens, uuid }: Boundary,
  { phase }: Compaction,
): CheckpointBoundary => {
  const isOurs = phase.kind === 'sent' && initiator !== 'agent';
  const by = isOurs ? 'ctxwrap' : initiator;
  return {
    at,
    ...present({ initiator: by, preTokens, postTokens, uuid }),
  };
};

/** Documents of old versions are written anew at every change; records are only added to. */
const isDocument = (path: string): boolean => path.endsWith('.json');

/**
 * True if there is something new to copy, and the last try is long enough ago. A link does not survive that the file is rewritten in place,
 * so it is copied also where it is linked; more often once the window fills, since some agents rewrite it when they compact.
 */
const isDue = ({ mark, last, tried, since, isGone, link }: Followed, tier: Tier | undefined): boolean => {
  if (!mark || isGone || mark.bytes === 0 || mark.bytes === last?.bytes) return false;
  const isUrgent = link === undefined || tier === 'warn' || tier === 'auto' || tier === 'hard';
  const now = performance.now();
  if (!tried) return isUrgent || now >= since + FIRST_COPY_MS;
  return now >= tried.at + Math.max(isUrgent ? COPY_MS : CALM_COPY_MS, SHARE * tried.tookMs);
};

interface CopierOptions {
  readonly stateFolder: string;
  readonly limit: () => number;
  /** the last number of the session */
  readonly reading: () => ReadingRecord | undefined;
}

interface CopierListener extends Pick<BlackBoxListener, 'onNotice'> {
  /** something could be kept */
  readonly onKept: () => void;
}

/** What is known about a copy beside its reason. */
interface CopyFacts {
  /** bytes from the beginning of the file; all when absent */
  readonly end?: number;
  readonly boundary?: CheckpointBoundary;
  /** the last one when absent */
  readonly reading?: ReadingRecord | undefined;
}

/** Keeps the black box within its limits after a copy: the session each time, everything now and then. */
const makePruner = ({ stateFolder, limit }: CopierOptions, audit: Audit) => {
  let prunedAt = -Infinity;
  return async (liveKey: string): Promise<void> => {
    const now = performance.now();
    const isWhole = now >= prunedAt + PRUNE_MS;
    if (isWhole) prunedAt = now;
    const only = isWhole ? {} : { only: liveKey };
    const request = { stateFolder, now: Date.now(), limitBytes: limit(), liveKey, ...only };
    for (const { session, copy } of (await pruneBlackBox(request)).removed)
      audit.append(checkpointLine({ ...session, action: 'removed', id: copy.id, at: Date.now() }));
  };
};

const makeCopier = (session: WrapSession, options: CopierOptions, { onNotice, onKept }: CopierListener) => {
  const { cwd, env, log } = session;
  const { stateFolder, limit, reading: lastReading } = options;
  const audit = openAudit({
    stateFolder,
    onFailure: (reason) => log.warn(`the audit log cannot be written: ${reason}`),
  });
  const pruneAll = makePruner(options, audit);
  /** What is too much stays until the next time: the copy itself was made. */
  const prune = (key: string): Promise<void> =>
    pruneAll(key).catch((error: unknown) =>
      log.warn(`the black box: too much is kept, and cannot be removed: ${failureText(error)}`),
    );

  const make = async (
    target: Followed,
    why: CheckpointReason,
    { end, boundary, reading = lastReading() }: CopyFacts = {},
  ): Promise<void> => {
    const { place, link } = target;
    const isFromLink = target.isGone && link !== undefined;
    const source = isFromLink
      ? join(blackBoxFolder(stateFolder), keptKey(place), link + FILE_ENDING)
      : place.path;
    const began = performance.now();
    const git = why === 'growing' ? undefined : await readGit(cwd, env);
    const request = { ...place, why, source, end, boundary, git, reading, mostBytes: limit() };
    const { checkpoint, isNew, changed } = await keepCopy({ ...request, now: Date.now() }).finally(() => {
      const at = performance.now();
      target.tried = { at, tookMs: at - began };
    });
    onKept();
    target.last = { id: checkpoint.id, bytes: checkpoint.bytes };
    if (!isNew) return;
    const about = `${why}, ${checkpoint.bytes} bytes in ${Math.round(performance.now() - began)} ms`;
    log.info(`the black box: copy ${checkpoint.id} (${about})`);
    // only the copy reads all of the file: a look at it compares its beginning
    const isNews = changed !== undefined && !target.isChangeReported && !isDocument(place.path);
    if (isNews) await reportFate(target, 'rewritten', { log, onNotice, kept: changed });
    target.isChangeReported = false;
    audit.append(checkpointLine({ ...place, action: 'created', id: checkpoint.id, why, at: Date.now() }));
    await prune(keptKey(place));
  };
  return {
    make,
    /** the copy before a compaction */
    before: async (target: Followed, look: () => Promise<void>): Promise<CopyResult> => {
      try {
        await look();
        if (!target.mark) return { kind: 'nothing' };
        await make(target, 'before');
        return { kind: 'kept' };
      } catch (error) {
        const reason = failureText(error);
        log.warn(`the black box: no copy before a compaction: ${reason}`);
        return { kind: 'failed', reason };
      }
    },
  };
};

/** In the words of the footer: `disk full`. */
const failureText = (error: unknown): string => {
  switch (errorCode(error)) {
    case 'ENOSPC':
      return 'disk full';
    case 'EDQUOT':
      return 'disk quota used up';
    case 'ENOENT':
      return 'the session file is gone';
    default:
      return systemReason(error);
  }
};

// Whether the file is still the one that it was.

interface FateOptions {
  readonly log: WrapSession['log'];
  readonly onNotice: BlackBoxListener['onNotice'];
  readonly copier: ReturnType<typeof makeCopier>;
}

const watchFate = async (followed: Followed, options: FateOptions): Promise<void> => {
  const { mark: before, place } = followed;
  const now = await markFile(place.path, before?.headBytes);
  const fate = before && fateOf(before, now);
  if (fate === 'removed') return toldOnce(followed, options);
  if (!now) return;
  if (fate !== undefined && before) await handleChange(followed, { fate, before, now }, options);
  followed.isGone = false;
  // the head of a short file grows with it
  followed.mark =
    before && now.headBytes === before.headBytes && now.bytes > now.headBytes
      ? await markFile(place.path)
      : now;
  if (followed.isBegun && fate !== 'replaced') return;
  followed.isBegun = false; // tried again if it fails
  await keepFile(followed, options);
};

/** Links the file, or copies it where that is not possible. */
const keepFile = async (followed: Followed, { log, copier }: FateOptions): Promise<void> => {
  const { place } = followed;
  const linked = await linkFile(place, Date.now());
  followed.isBegun = true;
  followed.link = linked.kind === 'linked' ? linked.file.id : undefined;
  if (linked.kind === 'linked') return;
  log.info(
    `the black box: the session file cannot be linked (${linked.reason}), so it is copied as it grows`,
  );
  if (followed.mark && followed.mark.bytes > 0) await copier.make(followed, 'first');
};

const toldOnce = async (followed: Followed, options: FateOptions): Promise<void> => {
  if (followed.isGone) return;
  followed.isGone = true;
  await reportFate(followed, 'removed', options);
};

interface Change {
  readonly fate: FileFate;
  readonly before: FileMark;
  readonly now: FileMark;
}

const handleChange = async (
  followed: Followed,
  { fate, before, now }: Change,
  options: FateOptions,
): Promise<void> => {
  const { place, link } = followed;
  if (fate !== 'replaced') {
    const isOrdinary = isDocument(place.path) && now.bytes * 2 >= before.bytes;
    return isOrdinary ? undefined : reportFate(followed, fate, options);
  }
  if (link === undefined) return followed.isGone ? undefined : reportFate(followed, fate, options);
  const older = join(blackBoxFolder(place.stateFolder), keptKey(place), link + FILE_ENDING);
  const isContained = isDocument(place.path)
    ? now.bytes * 2 >= before.bytes
    : await isBeginningOf(older, place.path).catch(() => false);
  if (isContained) {
    options.log.info('the black box: the session file was written anew with all that was in it');
    await dropFile(place, link);
    return undefined;
  }
  return reportFate(followed, fate, options);
};

const fateWords: Readonly<Record<FileFate, string>> = {
  replaced: 'replaced by another one',
  rewritten: 'rewritten in place',
  shortened: 'shortened in place',
  removed: 'removed',
};

interface ReportOptions extends Pick<FateOptions, 'log' | 'onNotice'> {
  /** what has the contents before, where that is known */
  readonly kept?: string;
}

/** Notes what has happened to the file, and tells the user what there is of its contents. */
const reportFate = async (
  followed: Followed,
  fate: FileFate,
  { log, onNotice, kept: known }: ReportOptions,
): Promise<void> => {
  const { place, link, last } = followed;
  const isInLink = fate === 'replaced' || fate === 'removed';
  const kept = known ?? (isInLink ? link : undefined) ?? last?.id ?? (await newestCheckpoint(place));
  const has = kept === undefined ? 'no copy of it was made before' : `kept: ctxwrap checkpoint show ${kept}`;
  log.warn(`the session file was ${fateWords[fate]}; ${has}: ${place.path}`);
  onNotice(`session file ${fateWords[fate]} · ${has}`);
  followed.isChangeReported = fate !== 'removed';
  const event: Omit<FileEvent, 'path'> = { at: Date.now(), fate, ...present({ kept }) };
  await noteFate(place, event).catch((error: unknown) =>
    log.warn(`the black box: that cannot be noted: ${failureText(error)}`),
  );
};

/** Of an earlier run: this one may not have made a copy yet. */
const newestCheckpoint = async ({ stateFolder, ...of }: KeepPlace): Promise<string | undefined> =>
  (await findKept(stateFolder, of).catch(() => undefined))?.copies.findLast(
    ({ kind }) => kind === 'checkpoint',
  )?.id;
