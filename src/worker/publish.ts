import { shownId } from '../core/shown-conversation.js';
import { errorText } from '../core/errors.js';
import {
  auditLine,
  configurationLine,
  draftLine,
  givenBackLine,
  lateKeysLine,
  switchLine,
  type AuditContext,
  type AuditKeys,
  type GivenBack,
} from '../core/compaction/protocol.js';
import { shortenedLine, type ShortenedSession } from '../core/compaction/shortened-session.js';
import type { Effect } from '../core/compaction/state.js';
import { usableStrategies } from '../core/config/strategy.js';
import { ladderChoice } from '../core/config/keys.js';
import type { Event } from '../core/event.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';
import {
  sessionRecord,
  type CompactionRecord,
  type Exit,
  type PublishedFacts,
  type SessionIdentity,
  type SessionRecord,
  HEARTBEAT_MS,
} from '../core/report/records.js';
import { receiptLine, type ReceiptCounts } from '../core/conversation/receipt.js';
import { readingRecord } from '../core/report/report.js';
import { startSession, type Session } from '../core/session.js';
import { type Audit, openAudit } from '../storage/log-file.js';
import { cleanSessions, ensureSessionsFolder, writeSession } from '../storage/sessions.js';
import { homeFolder, stateFolder as stateFolderOf } from '../storage/state-folder.js';
import { openMetrics } from './metrics.js';
import type { StartedChild, WrapSession } from '../session/options.js';
import { watchRequests, type RequestsOptions } from './requests.js';
import { publishEvents } from './session-events.js';
import { endsWithin, serialize } from '../storage/timing.js';
import { identityOf, exitOf, type PublishedSession } from '../session/identity.js';
import type { Replaced, TypedResult, Publisher, EndedDraft, StateFacts } from '../session/ports.js';

// Publishes the session's record in a file for other processes. A slow or broken disk does not affect the session.

const CHANGE_MS = 1_000; // between two writes after changes; a new tier is written at once, because an agent may ask for it
const END_MS = 500; // for the last write; a disk that hangs must not keep the user's shell waiting

export interface RecordPublisherOptions {
  readonly stateFolder: string;
  readonly identity: SessionIdentity;
  /** the state before anything is known */
  readonly state: Session;
  /** the settings for compaction */
  readonly compaction?: CompactionRecord | undefined;
  readonly now: () => Millis;
  /** called once; other processes then cannot see the session */
  readonly onFailure: (reason: string) => void;
}

export interface RecordPublisher {
  readonly update: (state: Session, facts?: Partial<StateFacts>) => void;
  /** the record as of now */
  readonly snapshot: () => SessionRecord;
  /** the agent has a shortened session in place of another */
  readonly updateReplaced: (replaced: Replaced) => void;
  /** a part of ctxwrap has failed, so that nothing is typed any more */
  readonly fail: () => void;
  /** records the end of the session; resolves when that is written or has failed */
  readonly end: (exit: Exit) => Promise<void>;
}

/** Publishes a session until its end. Never throws and never rejects. */
export const publishRecord = (options: RecordPublisherOptions): RecordPublisher => {
  const { stateFolder, identity, now } = options;
  const writeRecord = makeRecordWriter(options);
  let { state } = options;
  let published: PublishedFacts = { compaction: options.compaction };
  let lastFields = '';
  let writtenAt = -Infinity;
  let later: NodeJS.Timeout | undefined;

  const snapshot = (): SessionRecord => sessionRecord(identity, state, published, now());
  const writeNow = serialize(() => writeRecord(snapshot));
  const write = (): Promise<void> => {
    clearTimeout(later);
    later = undefined;
    writtenAt = performance.now();
    return writeNow();
  };
  const scheduleWrite = (): void => {
    if (published.end || later) return;
    const rest = writtenAt + CHANGE_MS - performance.now();
    if (rest <= 0) void write();
    else later = setTimeout(write, rest).unref();
  };

  void write().then(() => cleanSessions(stateFolder, now()).catch(() => undefined));
  const heartbeat = setInterval(write, HEARTBEAT_MS).unref();

  return {
    update: (next, { compaction = published.compaction, handoff } = {}) => {
      const [before, after] = [state.fused?.tier, next.fused?.tier];
      state = next;
      published = { ...published, compaction, handoff };
      const fields = urgentFields(next, published);
      if (before && after && before !== after && !published.end) void write();
      else if (fields !== lastFields) scheduleWrite();
      lastFields = fields;
    },
    snapshot,
    updateReplaced: (replaced) => {
      published = { ...published, replaced };
      scheduleWrite();
    },
    fail: () => {
      published = { ...published, failedAt: published.failedAt ?? now() };
      scheduleWrite();
    },
    end: async (exit) => {
      clearInterval(heartbeat);
      published = { ...published, end: { at: now(), exit } };
      await endsWithin(END_MS, write());
    },
  };
};

/** Writes records into the session's file; only the first failure is reported. */
const makeRecordWriter = ({ stateFolder, onFailure }: RecordPublisherOptions) => {
  let folder: string | undefined;
  let hasFailed = false;
  return async (record: () => SessionRecord): Promise<void> => {
    try {
      folder ??= await ensureSessionsFolder(stateFolder);
      await writeSession(folder, record());
    } catch (error) {
      if (!hasFailed) onFailure(errorText(error));
      hasFailed = true;
    }
  };
};

/** The fields whose changes are published soon; the others are written with the next heartbeat. */
const urgentFields = (
  { fused, blank, activity, asks, compactions, conversation }: Session,
  { compaction, handoff }: Pick<PublishedFacts, 'compaction' | 'handoff'>,
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
    conversation,
    compaction,
    handoff?.at,
  ]);

// Writes the audit log: for each attempt the state before the first key, every key of the wrapper, and the outcome.

type AuditedSession = Pick<AuditContext, 'session' | 'version' | 'runtime'>;

const makeSwitchLog = (audit: Audit, about: AuditedSession) => {
  let unsure: { readonly name: string; readonly begun: Partial<AuditContext> } | undefined;
  const append = (name: string, { kind, reason, via }: TypedResult, context: Partial<AuditContext>): void =>
    audit.append(switchLine({ name, outcome: kind, reason, via }, { ...about, ...context }, Date.now()));
  return {
    end: (name: string, result: TypedResult, begun: Partial<AuditContext>): void => {
      append(name, result, begun);
      unsure = result.kind === 'unknown' ? { name, begun: { ...begun, strokes: undefined } } : undefined;
    },
    /** with what was known when it was typed; an action that is typed meanwhile stays as it is */
    endEarlier: (name: string, result: TypedResult, { conversation }: Session): void =>
      append(name, result, unsure?.name === name ? unsure.begun : { conversation: shownId(conversation) }),
  };
};

const makeAttemptLog = (audit: Audit, about: AuditedSession) => {
  let attempt: Partial<AuditContext> = {};
  let strokes: AuditKeys[] | undefined; // undefined while no attempt is running
  const switches = makeSwitchLog(audit, about);

  const begin = (state: Session): void => {
    const { activity, witnesses } = state;
    const reading = readingRecord(state, Date.now());
    strokes = [];
    const conversation = shownId(state.conversation);
    attempt = { gate: { activity, witnesses }, conversation, ...present({ reading }) };
  };
  const end = ({ ended, requestId }: Extract<Effect, { readonly type: 'ended' }>, state: Session): void => {
    const isOurs = ended.initiator === 'ctxwrap';
    const known = { ...about, conversation: shownId(state.conversation), request: requestId };
    audit.append(auditLine(ended, isOurs ? { ...known, ...attempt, strokes } : known));
    if (isOurs) strokes = undefined;
  };
  return {
    /** each effect of the core, with the state it came from */
    note: (effect: Effect, state: Session): void => {
      if (effect.type === 'type-compact') begin(state);
      if (effect.type === 'ended') end(effect, state);
    },
    onShortened: (session: ShortenedSession): void => audit.append(shortenedLine(session)),
    /** how much a compaction has kept */
    onReceipt: (receipt: ReceiptCounts, { conversation }: Session): void =>
      audit.append(receiptLine(receipt, { ...about, conversation: shownId(conversation) })),
    /** lines of it went to the agent without its prompt */
    onGivenBack: (given: GivenBack, { conversation }: Session): void =>
      audit.append(givenBackLine(given, { ...about, conversation: shownId(conversation) }, Date.now())),
    onSettings: (keys: readonly string[]): void =>
      audit.append(configurationLine({ by: 'session', keys, session: about.session }, Date.now())),
    typing: {
      beginAction: begin,
      /** a switch of the agent to another session has ended; undefined: no key was typed */
      endSwitch: (name: string, result: TypedResult | undefined): void => {
        if (result && strokes) switches.end(name, result, { ...attempt, strokes });
        strokes = undefined;
      },
      endEarlierSwitch: switches.endEarlier,
      /** a draft was put into the prompt; undefined: no key was typed */
      endDraft: (ended: EndedDraft | undefined): void => {
        if (ended) audit.append(draftLine(ended, { ...about, ...attempt }, Date.now()));
        strokes = undefined;
      },
      /** keys of the wrapper on their way to the agent */
      onStroke: (bytes: Uint8Array): void => {
        const stroke = { at: Date.now(), keys: Buffer.from(bytes).toString() };
        if (strokes) strokes.push(stroke);
        else audit.append(lateKeysLine(about.session, stroke));
      },
    },
  };
};

// The session's connection to other programs: its published record, their requests to compact, and the audit log.

const AUDIT_END_MS = 500; // for the last lines; a disk that hangs must not keep the user's shell waiting

type ChildToPublish = StartedChild & { readonly requestsFrom?: Millis | undefined };

/** The session's record and its events. */
const openRecords = (
  session: PublishedSession<WrapSession>,
  {
    pid: childPid,
    startedAt,
    requestsFrom,
    onEvent,
  }: ChildToPublish & { readonly onEvent: (event: Event) => void },
) => {
  const { agent, env, log, values, wrapper, control: place } = session;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const identity = identityOf(session, { pid: childPid, startedAt });
  const ladder = ladderChoice(values);
  const state = startSession({ agent: agent.name, native: agent.nativeTrigger(env), ladder }, Date.now());
  const common = { stateFolder, state, compaction: { mode: values.mode }, now: Date.now };
  const record = publishRecord({
    ...common,
    identity,
    onFailure: (reason) => log.warn(`other programs do not see this session: ${reason}`),
  });
  const events = publishEvents({
    ...common,
    session: wrapper.id,
    snapshot: record.snapshot,
    isReplacement: requestsFrom !== undefined,
    onFailure: (reason) => log.warn(`other programs miss events of this session: ${reason}`),
    control: place && {
      place,
      strategies: agent.newSessions?.switching ? usableStrategies(values) : ['auto'],
      onEvent,
      onFailure: (reason) => log.warn(`the parent cannot steer this session: ${reason}`),
    },
  });
  return { record, events };
};

/** The audit log, and what the session writes to it. */
const openAttempts = ({ wrapper, agent, env, log }: PublishedSession<WrapSession>) => {
  const audit = openAudit({
    stateFolder: stateFolderOf(env, homeFolder(env)),
    onFailure: (reason) => log.warn(`the audit log cannot be written: ${reason}`),
  });
  const about = { session: wrapper.id, version: wrapper.version, runtime: agent.name };
  return { audit, attempts: makeAttemptLog(audit, about) };
};

/** Starts publishing the session; undefined where the session has no wrapper identity. */
export const openPublisher = (
  session: WrapSession,
  child: ChildToPublish,
  { onEvent, actions }: Pick<RequestsOptions, 'actions'> & { readonly onEvent: (event: Event) => void },
): Publisher | undefined => {
  const { wrapper, env, log, cwd } = session;
  if (!wrapper) return undefined;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const { record, events } = openRecords({ ...session, wrapper }, { ...child, onEvent });
  const requests = watchRequests({
    stateFolder,
    sessionId: wrapper.id,
    omcFolder: session.values['watch.omc'] ? cwd : undefined,
    now: Date.now,
    from: child.requestsFrom,
    onEvent,
    actions,
    onFailure: (reason) => log.warn(`others cannot ask this session to compact: ${reason}`),
  });
  const { audit, attempts } = openAttempts({ ...session, wrapper });
  const metrics = openMetrics(session);
  return {
    onState: (state, facts) => {
      record.update(state, facts);
      events.onState(state, facts.compaction);
      metrics?.onState(state);
    },
    onReplaced: record.updateReplaced,
    onHandoff: events.onHandoff,
    onFailed: () => {
      record.fail();
      events.tellState();
    },
    onEffect: (effect, state) => {
      requests.applyEffect(effect);
      attempts.note(effect, state);
      events.onEffect(effect);
      metrics?.onEffect(effect);
    },
    beginTyping: requests.begin,
    onShortened: attempts.onShortened,
    onReceipt: attempts.onReceipt,
    onGivenBack: attempts.onGivenBack,
    onSettings: attempts.onSettings,
    ...attempts.typing,
    end: async (status) => {
      await Promise.all([
        // an asking process takes the end of a session without an answer for a refusal
        requests.stop().then(() => record.end(exitOf(status))),
        metrics?.end(),
        endsWithin(AUDIT_END_MS, audit.flushed()),
        events.end(exitOf(status)),
      ]);
    },
  };
};
