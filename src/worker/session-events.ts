import { shownId } from '../core/shown-conversation.js';
import type { Effect } from '../core/compaction/state.js';
import { attemptRecord } from '../core/compaction/protocol.js';
import { errorText } from '../core/errors.js';
import type { EventContent } from '../core/report/published-event.js';
import type { Millis } from '../core/reading.js';
import type { CompactionRecord, Exit, SessionRecord } from '../core/report/records.js';
import { publishedTier, readingRecord } from '../core/report/report.js';
import type { Session } from '../core/session.js';
import { openEventJournal } from '../storage/event-journal.js';
import { openControl, type ControlOptions } from './control.js';
import { endsWithin } from '../storage/timing.js';

// What happens in a session, as events for other programs.

const READING_MS = 1_000; // between two readings: an estimate grows with every line of output

export interface SessionEventsOptions {
  /** the state before anything is known */
  readonly state: Session;
  readonly compaction: CompactionRecord;
  /** all that is known now, for other programs */
  readonly snapshot: () => SessionRecord;
  /** a worker before this one has begun the session and failed */
  readonly isReplacement: boolean;
  readonly now: () => Millis;
  readonly emit: (content: EventContent, at: Millis) => void;
}

export interface SessionEvents {
  readonly onState: (state: Session, compaction: CompactionRecord) => void;
  readonly onEffect: (effect: Effect) => void;
  readonly onHandoff: (path: string) => void;
  readonly end: (exit: Exit) => void;
}

/** Emits every change of tier, activity, mode and conversation, every attempt and outcome, and at most one reading a second. */
export const sessionEvents = (options: SessionEventsOptions): SessionEvents => {
  const { snapshot, isReplacement, now } = options;
  let { state, compaction } = options;
  let lastReading = ''; // the reading, without its time
  let readAt = -Infinity;
  let later: NodeJS.Timeout | undefined;
  const emit = (content: EventContent): void => options.emit(content, now());

  const tellReading = (): void => {
    clearTimeout(later);
    later = undefined;
    const reading = readingRecord(state, now());
    const text = reading ? JSON.stringify({ ...reading, at: 0 }) : '';
    if (text === lastReading) return;
    lastReading = text;
    readAt = performance.now();
    emit({ type: 'reading', reading });
  };
  const tellReadingSoon = (): void => {
    if (later) return;
    const rest = readAt + READING_MS - performance.now();
    if (rest <= 0) tellReading();
    else later = setTimeout(tellReading, rest).unref();
  };
  emit({ type: isReplacement ? 'state' : 'session-start', state: snapshot() });

  return {
    onState: (next, nextCompaction) => {
      const [before, mode] = [state, compaction.mode];
      [state, compaction] = [next, nextCompaction];
      const agentSessionId = shownId(next.conversation);
      if (agentSessionId !== shownId(before.conversation)) emit({ type: 'conversation', agentSessionId });
      const [tier, tierBefore] = [publishedTier(next.fused), publishedTier(before.fused)];
      if (tier !== tierBefore) {
        tellReading();
        emit({ type: 'tier', tier, before: tierBefore });
      } else if (next.fused !== before.fused) tellReadingSoon();
      const { activity, asks } = next;
      const isNew = activity !== before.activity || asks !== before.asks;
      // the end of the agent is the end of the session
      if (isNew && activity !== 'dead') emit({ type: 'activity', activity, before: before.activity, asks });
      if (nextCompaction.mode !== mode) emit({ type: 'mode', mode: nextCompaction.mode, before: mode });
    },
    onEffect: (effect) => {
      const { request } = compaction;
      if (effect.type === 'type-compact') emit({ type: 'attempt', request, strategy: effect.strategy });
      if (effect.type === 'ended') {
        tellReading();
        emit({ type: 'outcome', attempt: attemptRecord(effect.ended), request: effect.requestId });
      }
      if (effect.type === 'refused')
        emit({ type: 'refused', request: effect.requestId, reason: effect.reason });
    },
    onHandoff: (path) => emit({ type: 'handoff_ready', path }),
    end: (exit) => {
      tellReading();
      emit({ type: 'session-end', exit });
    },
  };
};

export interface EventPublisherOptions extends Omit<SessionEventsOptions, 'emit'> {
  readonly stateFolder: string;
  readonly session: string;
  /** called at most once; other programs then miss events of the session */
  readonly onFailure: (reason: string) => void;
  /** the channel of a parent that owns the session */
  readonly control?: Pick<ControlOptions, 'place' | 'strategies' | 'onEvent' | 'onFailure'> | undefined;
}

export interface EventPublisher extends Omit<SessionEvents, 'end'> {
  /** emits all that is known now */
  readonly tellState: () => void;
  /** resolves when the last event is written or has failed */
  readonly end: (exit: Exit) => Promise<void>;
}

const END_MS = 500; // for the last events; a disk that hangs must not keep the user's shell waiting

/** Writes a session's events into its journal, and to the parent that owns it. Never throws and never rejects. */
export const publishEvents = (options: EventPublisherOptions): EventPublisher => {
  const { snapshot, onFailure, isReplacement } = options;
  let hasFailed = false;
  const fail = (reason: string): void => {
    if (!hasFailed) onFailure(reason);
    hasFailed = true;
  };
  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      fail(errorText(error));
    }
  };
  const stateNow = (): EventContent => ({ type: 'state', state: snapshot() });
  const journal = openEventJournal({
    ...options,
    isContinued: isReplacement,
    snapshot: stateNow,
    onFailure: fail,
  });
  const control = options.control && openControl({ ...options, ...options.control, snapshot: stateNow });
  let events: SessionEvents | undefined;
  guarded(() => {
    events = sessionEvents({
      ...options,
      emit: (content, at) => {
        journal.append(content, at);
        if (content.type !== 'session-start') control?.emit(content);
      },
    });
  });
  return {
    onState: (state, compaction) => guarded(() => events?.onState(state, compaction)),
    onEffect: (effect) => guarded(() => events?.onEffect(effect)),
    onHandoff: (path) => guarded(() => events?.onHandoff(path)),
    tellState: () =>
      guarded(() => {
        journal.append(stateNow(), options.now());
        control?.emit(stateNow());
      }),
    end: async (exit) => {
      guarded(() => events?.end(exit));
      await Promise.all([endsWithin(END_MS, journal.close()), control?.close()]);
    },
  };
};
