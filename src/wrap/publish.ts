import { errorText } from '../core/json.js';
import { auditLine, lateLine, type AuditContext, type AuditStroke } from '../core/compaction/protocol.js';
import type { Effect } from '../core/compaction/state.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import {
  sessionRecord,
  type CompactionRecord,
  type Exit,
  type Published,
  type SessionIdentity,
  type SessionRecord,
} from '../core/records.js';
import { readingRecord } from '../core/report.js';
import { startSession, type Session } from '../core/session.js';
import { type Audit, openAudit } from '../storage/log-file.js';
import { processStart } from '../storage/processes.js';
import { cleanSessions, sessionsFolder, writeSession } from '../storage/sessions.js';
import { homeFolder, stateFolder as stateFolderOf } from '../storage/state-folder.js';
import type { ExitStatus, WrapSession } from './options.js';
import { watchRequests } from './requests.js';
import { atMost, inTurn } from './timing.js';

// Tells other processes of this session, in a file that never holds the session up and that a broken disk cannot disturb.

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
  readonly show: (state: Session, compaction?: CompactionRecord) => void;
  /** the agent's session file is another one */
  readonly showFile: (path: string | undefined) => void;
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
    writtenAt = performance.now();
    return writeNow();
  };
  const change = (): void => {
    if (published.end || later) return;
    const rest = writtenAt + CHANGE_MS - performance.now();
    if (rest <= 0) void write();
    else later = setTimeout(write, rest).unref();
  };

  void write().then(() => cleanSessions(stateFolder, now()).catch(() => undefined));
  const heartbeat = setInterval(write, HEARTBEAT_MS).unref();

  return {
    show: (next, compaction = published.compaction) => {
      const [before, after] = [state.fused?.tier, next.fused?.tier];
      state = next;
      published = { ...published, compaction };
      const look = lookOf(next, compaction);
      if (before && after && before !== after && !published.end) void write();
      else if (look !== shown) change();
      shown = look;
    },
    showFile: (logPath) => {
      published = { ...published, logPath };
      change();
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
      if (!hasFailed) onFailure(errorText(error));
      hasFailed = true;
    }
  };
};

const exitOf = (status: ExitStatus): Exit =>
  status.kind === 'code' ? { code: status.code } : { signal: status.signal };

/** What others would want to know at once; the rest comes with the next heartbeat. */
const lookOf = (
  { fused, blank, activity, asks, compactions, sessionId }: Session,
  compaction: CompactionRecord | undefined,
): string =>
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
    compaction,
  ]);

// Writes the audit log: each attempt with what was known before the first key, every key of ours, and what came of it.

const makeAttemptLog = (audit: Audit, about: Pick<AuditContext, 'session' | 'version' | 'runtime'>) => {
  let attempt: Partial<AuditContext> = {};
  let strokes: AuditStroke[] | undefined; // while an attempt is under way

  const begin = (state: Session): void => {
    const { activity, witnesses } = state;
    const reading = readingRecord(state, Date.now());
    strokes = [];
    attempt = { gate: { activity, witnesses }, ...(reading ? { reading } : {}) };
  };
  const end = ({ ended, requestId }: Extract<Effect, { readonly type: 'ended' }>, state: Session): void => {
    const isOurs = ended.initiator === 'ctxwrap';
    const known = { ...about, conversation: state.sessionId, request: requestId };
    audit.append(auditLine(ended, isOurs ? { ...known, ...attempt, strokes } : known));
    if (isOurs) strokes = undefined;
  };
  return {
    /** each effect of the core, with the state it came from */
    note: (effect: Effect, state: Session): void => {
      if (effect.type === 'type-compact') begin(state);
      if (effect.type === 'ended') end(effect, state);
    },
    /** keys of ours on their way to the agent */
    stroke: (bytes: Uint8Array): void => {
      const stroke = { at: Date.now(), keys: Buffer.from(bytes).toString() };
      if (strokes) strokes.push(stroke);
      else audit.append(lateLine(about.session, stroke));
    },
  };
};

// What other programs see of a session and ask of it: its published record, requests to compact, the audit log.

export interface Outside {
  readonly onState: (state: Session, compaction: CompactionRecord) => void;
  readonly onFile: (path: string | undefined) => void;
  /** each effect of the core, with the state it came from */
  readonly onEffect: (effect: Effect, state: Session) => void;
  /** keys of ours on their way to the agent */
  readonly onStroke: (bytes: Uint8Array) => void;
  /** everything is closed; resolves when what is to be known of the end is written, or cannot be */
  readonly end: (status: ExitStatus) => Promise<void>;
}

const AUDIT_END_MS = 500; // for the last lines: a disk that hangs does not keep the user's shell waiting

/** Opens a session to other programs; undefined when nobody has said who we are. */
export const openOutside = (
  session: WrapSession,
  childPid: number,
  onEvent: (event: Event) => void,
): Outside | undefined => {
  const { wrapper, runtime, env, log, cwd, ladder, mode } = session;
  if (!wrapper) return undefined;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const start = processStart(wrapper.pid);
  const identity = { ...wrapper, childPid, runtime: runtime.name, cwd, startedAt: Date.now() };
  const publisher = publishSession({
    stateFolder,
    identity: start === undefined ? identity : { ...identity, processStart: start },
    state: startSession({ runtime: runtime.name, native: runtime.nativeTrigger(env), ladder }, Date.now()),
    compaction: { mode },
    now: Date.now,
    onFailure: (reason) => log.warn(`other programs do not see this session: ${reason}`),
  });
  const requests = watchRequests({
    stateFolder,
    sessionId: wrapper.id,
    omcFolder: session.watchOmc ? cwd : undefined,
    now: Date.now,
    onEvent,
    onFailure: (reason) => log.warn(`others cannot ask this session to compact: ${reason}`),
  });
  const audit = openAudit({
    stateFolder,
    onFailure: (reason) => log.warn(`the audit log cannot be written: ${reason}`),
  });
  const about = { session: wrapper.id, version: wrapper.version, runtime: runtime.name };
  const attempts = makeAttemptLog(audit, about);
  return {
    onState: publisher.show,
    onFile: publisher.showFile,
    onEffect: (effect, state) => {
      requests.perform(effect);
      attempts.note(effect, state);
    },
    onStroke: attempts.stroke,
    end: async (status) => {
      await Promise.all([
        requests.stop(),
        atMost(AUDIT_END_MS, audit.flushed()),
        publisher.end(exitOf(status)),
      ]);
    },
  };
};
