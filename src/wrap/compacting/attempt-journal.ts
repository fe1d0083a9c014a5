// Writes the audit log: each attempt with what was known before the first key, every key of ours, and what came of it.
import { auditLine, lateLine } from '../../core/compaction/audit.js';
import type { AuditContext, AuditStroke } from '../../core/compaction/audit.js';
import type { Effect } from '../../core/compaction/state.js';
import { readingRecord } from '../../core/reading-record.js';
import type { Audit } from '../../storage/audit.js';
import type { Session } from '../../core/session-state.js';

export interface AttemptJournal {
  /** each effect of the core, with the state it came from */
  readonly note: (effect: Effect, state: Session) => void;
  /** keys of ours on their way to the agent */
  readonly stroke: (bytes: Uint8Array) => void;
}

export const makeAttemptJournal = (
  audit: Audit,
  about: Pick<AuditContext, 'session' | 'version' | 'runtime'>,
): AttemptJournal => {
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
    note: (effect, state) => {
      if (effect.type === 'type-compact') begin(state);
      if (effect.type === 'ended') end(effect, state);
    },
    stroke: (bytes) => {
      const stroke = { at: Date.now(), keys: Buffer.from(bytes).toString() };
      if (strokes) strokes.push(stroke);
      else audit.append(lateLine(about.session, stroke));
    },
  };
};
