// What other programs see of a session and ask of it: its published record, requests to compact, the audit log.
import type { Effect } from '../core/compaction/state.js';
import type { Event } from '../core/event.js';
import type { CompactionRecord } from '../core/session-record.js';
import { openAudit } from '../storage/audit.js';
import { homeFolder } from '../storage/home-folder.js';
import { stateFolder as stateFolderOf } from '../storage/state-folder.js';
import { makeAttemptJournal } from './compacting/attempt-journal.js';
import { atMost } from './in-turn.js';
import { exitOf, publishWrap } from './publish.js';
import { watchRequests } from './compacting/requests.js';
import type { ExitStatus, WrapSession } from './wrap-session.js';
import type { Session } from '../core/session-state.js';

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
  const { wrapper, env, log, cwd } = session;
  const publisher = publishWrap(session, childPid);
  if (!wrapper || !publisher) return undefined;
  const stateFolder = stateFolderOf(env, homeFolder(env));
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
  const about = { session: wrapper.id, version: wrapper.version, runtime: session.runtime.name };
  const journal = makeAttemptJournal(audit, about);
  return {
    onState: (state, compaction) => {
      publisher.show(state);
      publisher.showCompaction(compaction);
    },
    onFile: publisher.showFile,
    onEffect: (effect, state) => {
      requests.perform(effect);
      journal.note(effect, state);
    },
    onStroke: journal.stroke,
    end: async (status) => {
      await Promise.all([
        requests.stop(),
        atMost(AUDIT_END_MS, audit.flushed()),
        publisher.end(exitOf(status)),
      ]);
    },
  };
};
