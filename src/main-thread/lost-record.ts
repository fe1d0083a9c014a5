import { errorText } from '../core/errors.js';
import { failedRecord, type SessionRecord, HEARTBEAT_MS } from '../core/report/records.js';
import { ensureSessionsFolder, readSession, writeSession } from '../storage/sessions.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import type { ExitStatus, StartedChild, LaunchSession } from '../session/options.js';
import { serialize } from '../storage/timing.js';
import type { EventContent } from '../core/report/published-event.js';
import { openEventJournal } from '../storage/event-journal.js';
import { identityOf, exitOf, type PublishedSession } from '../session/identity.js';

// The record of a session that has no worker any more, written by the main thread: that ctxwrap has failed in it, and how it has ended.

/** Appends to the journal of a session whose worker has failed. */
const appendLost = async (
  stateFolder: string,
  state: SessionRecord,
  content: EventContent,
): Promise<void> => {
  const journal = openEventJournal({
    stateFolder,
    session: state.id,
    isContinued: true,
    snapshot: () => ({ type: 'state', state }),
    onFailure: () => undefined, // its readers see the record, or that the process is gone
  });
  journal.append(content, Date.now());
  await journal.close();
};

/** Writes what is known of a session when its worker has failed. */
const tellLostState = (stateFolder: string, state: SessionRecord): Promise<void> =>
  appendLost(stateFolder, state, { type: 'state', state });

/** Writes the end of a session whose worker has failed. */
const endLostEvents = (stateFolder: string, state: SessionRecord): Promise<void> =>
  appendLost(stateFolder, state, { type: 'session-end', exit: state.exit });

/** Records the end of a session whose worker has failed just then, from what was published last. Never rejects. */
export const endLostRecord = async (
  { wrapper, env, log }: Pick<LaunchSession, 'wrapper' | 'env' | 'log'>,
  status: ExitStatus,
): Promise<void> => {
  try {
    const folder = stateFolder(env, homeFolder(env));
    const now = Date.now();
    const found = wrapper && (await readSession(folder, wrapper.id, now));
    if (!found || found.record.endedAt !== undefined) return;
    const ended = { ...found.record, endedAt: now, exit: exitOf(status) };
    await writeSession(await ensureSessionsFolder(folder), ended);
    await endLostEvents(folder, ended);
  } catch (error) {
    log.warn(`the end of the session is not recorded: ${errorText(error)}`);
  }
};

export interface LostRecord {
  /** resolves when the end is recorded, or that has failed */
  readonly end: (status: ExitStatus) => Promise<void>;
}

/** Publishes from now on, in place of the worker, that ctxwrap has failed in this session. Never throws and never rejects. */
export const publishLostRecord = (session: PublishedSession, child: StartedChild): LostRecord => {
  const { wrapper, env, log } = session;
  const folder = stateFolder(env, homeFolder(env));
  const identity = identityOf(session, child);
  const failedAt = Date.now();
  let before: Promise<SessionRecord | undefined> | undefined;
  let end: Pick<SessionRecord, 'endedAt' | 'exit'> = {};
  let hasFailed = false;

  const readBefore = (): Promise<SessionRecord | undefined> =>
    readSession(folder, wrapper.id, failedAt)
      .then((found) => found?.record)
      .catch(() => undefined);
  const snapshot = async (): Promise<SessionRecord> => ({
    ...failedRecord(identity, await (before ??= readBefore()), { failedAt, now: Date.now() }),
    ...end,
  });
  const write = serialize(async () => {
    try {
      await writeSession(await ensureSessionsFolder(folder), await snapshot());
    } catch (error) {
      if (!hasFailed) log.warn(`other programs do not see that ctxwrap has failed: ${errorText(error)}`);
      hasFailed = true;
    }
  });
  const heartbeat = setInterval(write, HEARTBEAT_MS).unref();
  const telling = write()
    .then(snapshot)
    .then((record) => tellLostState(folder, record))
    .catch((error: unknown) => log.warn(`the failure is no event: ${errorText(error)}`));
  return {
    end: async (status) => {
      clearInterval(heartbeat);
      end = { endedAt: Date.now(), exit: exitOf(status) };
      await Promise.all([write(), telling]);
      await endLostEvents(folder, await snapshot()).catch((error: unknown) =>
        log.warn(`the end of the session is no event: ${errorText(error)}`),
      );
    },
  };
};
