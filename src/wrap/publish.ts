// Tells other processes of this session, in a file that never holds the session up and that a broken disk cannot disturb.
import type { Millis } from '../core/reading.js';
import { sessionRecord } from '../core/session-record.js';
import type {
  CompactionRecord,
  Exit,
  Published,
  SessionIdentity,
  SessionRecord,
} from '../core/session-record.js';
import { startSession } from '../core/session.js';
import { homeFolder } from '../storage/home-folder.js';
import { processStart } from '../storage/processes.js';
import { cleanSessions, sessionsFolder, writeSession } from '../storage/session-records.js';
import { stateFolder as stateFolderOf } from '../storage/state-folder.js';
import { atMost, inTurn } from './in-turn.js';
import type { ExitStatus, WrapSession } from './wrap-session.js';
import type { Session } from '../core/session-state.js';

const HEARTBEAT_MS = 5_000;
const CHANGE_MS = 1_000; // between two writes because something has changed; a new tier, which an agent may ask for, does not wait
const END_MS = 500; // for the last write; a disk that hangs does not keep the user's shell waiting

export interface PublishOptions {
  readonly stateFolder: string;
  readonly identity: SessionIdentity;
  /** how the session stands before anything is known */
  readonly state: Session;
  /** what may be done about a full window */
  readonly compaction?: CompactionRecord | undefined;
  readonly now: () => Millis;
  /** called once; the session is then only not seen by others */
  readonly onFailure: (reason: string) => void;
}

export interface Publisher {
  readonly show: (state: Session) => void;
  /** the agent's session file is another one */
  readonly showFile: (path: string | undefined) => void;
  readonly showCompaction: (compaction: CompactionRecord) => void;
  /** says that the session is over; resolves when that is written, or cannot be */
  readonly end: (exit: Exit) => Promise<void>;
}

/** Publishes a session until its end. Never throws and never rejects. */
export const publishSession = (options: PublishOptions): Publisher => {
  const { stateFolder, identity, now } = options;
  const put = recordFile(options);
  let { state } = options;
  let published: Published = { compaction: options.compaction };
  let shown = '';
  let writtenAt = -Infinity;
  let later: NodeJS.Timeout | undefined;

  const writeNow = inTurn(() => put(() => sessionRecord(identity, state, published, now())));
  const write = (): Promise<void> => {
    clearTimeout(later);
    later = undefined;
    writtenAt = now();
    return writeNow();
  };
  const change = (): void => {
    if (published.end || later) return;
    const rest = Math.min(CHANGE_MS, writtenAt + CHANGE_MS - now());
    if (rest <= 0) void write();
    else later = setTimeout(write, rest).unref();
  };

  void write().then(() => cleanSessions(stateFolder, now()).catch(() => undefined));
  const heartbeat = setInterval(write, HEARTBEAT_MS).unref();

  return {
    show: (next) => {
      const [before, after] = [state.fused?.tier, next.fused?.tier];
      state = next;
      const look = lookOf(next);
      if (before && after && before !== after && !published.end) void write();
      else if (look !== shown) change();
      shown = look;
    },
    showFile: (logPath) => {
      published = { ...published, logPath };
      change();
    },
    showCompaction: (compaction) => {
      const before = published.compaction;
      published = { ...published, compaction };
      if (JSON.stringify(compaction) !== JSON.stringify(before)) change();
    },
    end: async (exit) => {
      clearInterval(heartbeat);
      published = { ...published, end: { at: now(), exit } };
      await atMost(END_MS, write());
    },
  };
};

/** Writes records into the session's file; a failure is told once. */
const recordFile = ({ stateFolder, onFailure }: PublishOptions) => {
  let folder: string | undefined;
  let hasFailed = false;
  return async (record: () => SessionRecord): Promise<void> => {
    try {
      folder ??= await sessionsFolder(stateFolder);
      await writeSession(folder, record());
    } catch (error) {
      if (!hasFailed) onFailure(error instanceof Error ? error.message : String(error));
      hasFailed = true;
    }
  };
};

/** Publishes a run of a child; undefined when nobody has said who we are. */
export const publishWrap = (session: WrapSession, childPid: number): Publisher | undefined => {
  const { wrapper, runtime, cwd, env, log, ladder, mode } = session;
  if (!wrapper) return undefined;
  const start = processStart(wrapper.pid);
  return publishSession({
    stateFolder: stateFolderOf(env, homeFolder(env)),
    identity: {
      ...wrapper,
      ...(start === undefined ? {} : { processStart: start }),
      childPid,
      runtime: runtime.name,
      cwd,
      startedAt: Date.now(),
    },
    state: startSession({ runtime: runtime.name, native: runtime.nativeTrigger(env), ladder }, Date.now()),
    compaction: { mode },
    now: Date.now,
    onFailure: (reason) => log.warn(`other programs do not see this session: ${reason}`),
  });
};

export const exitOf = (status: ExitStatus): Exit =>
  status.kind === 'code' ? { code: status.code } : { signal: status.signal };

/** What others would want to know at once; the rest comes with the next heartbeat. */
const lookOf = ({ fused, blank, activity, asks, compactions, sessionId }: Session): string =>
  JSON.stringify([
    fused?.reading.usedTokens,
    fused?.reading.usedPercent,
    fused?.window,
    fused?.tier,
    fused ? undefined : blank,
    activity,
    asks,
    compactions,
    sessionId,
  ]);
