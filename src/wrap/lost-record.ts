import { errorText } from '../core/errors.js';
import { failedRecord, type Exit, type SessionIdentity, type SessionRecord } from '../core/records.js';
import { processStart } from '../storage/processes.js';
import { ensureSessionsFolder, readSession, writeSession } from '../storage/sessions.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import type { ExitStatus, StartedChild, Wrapper, WrapSession } from './options.js';
import { endLostEvents, tellLostState } from './session-events.js';
import { serialize } from './timing.js';

// The record of a session that has no worker any more, written by the main thread: that ctxwrap has failed in it, and how it has ended.

/** A session that other processes see. */
export type PublishedSession = WrapSession & { readonly wrapper: Wrapper };

/** What a record says of a session from its start on. */
export const identityOf = (
  { wrapper, agent, cwd, channel }: Pick<PublishedSession, 'wrapper' | 'agent' | 'cwd' | 'channel'>,
  { pid: childPid, startedAt }: StartedChild,
): SessionIdentity => {
  const start = processStart(wrapper.pid);
  return {
    ...wrapper,
    childPid,
    runtime: agent.name,
    cwd,
    startedAt,
    ...(channel === undefined ? {} : { channel: channel.via }),
    ...(start === undefined ? {} : { processStart: start }),
  };
};

export const exitOf = (status: ExitStatus): Exit =>
  status.kind === 'code' ? { code: status.code } : { signal: status.signal };

/** Records the end of a session whose worker has failed just then, from what was published last. Never rejects. */
export const endLostRecord = async (
  { wrapper, env, log }: Pick<WrapSession, 'wrapper' | 'env' | 'log'>,
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

const HEARTBEAT_MS = 5_000;

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
  const told = write()
    .then(snapshot)
    .then((record) => tellLostState(folder, record))
    .catch((error: unknown) => log.warn(`the failure is no event: ${errorText(error)}`));
  return {
    end: async (status) => {
      clearInterval(heartbeat);
      end = { endedAt: Date.now(), exit: exitOf(status) };
      await Promise.all([write(), told]);
      await endLostEvents(folder, await snapshot()).catch((error: unknown) =>
        log.warn(`the end of the session is no event: ${errorText(error)}`),
      );
    },
  };
};
