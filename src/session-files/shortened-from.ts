import { parseOwnAttempt, writtenAs, type OwnAttempt } from '../core/compaction/own-compactions.js';
import type { Millis } from '../core/reading.js';
import { readAudit } from '../storage/log-file.js';
import type { RecordSource } from './session-records.js';

/** The session that ctxwrap has shortened into another one, and when: it keeps what the shorter one has lost. */
export interface LongerSession {
  readonly source: RecordSource;
  readonly at: Millis;
}

/** undefined for a session that ctxwrap has not written, as far as these attempts tell */
export const longerSession = (
  { agent, path }: Pick<RecordSource, 'agent' | 'path'>,
  attempts: readonly OwnAttempt[],
): LongerSession | undefined => {
  const written = writtenAs(attempts, { runtime: agent.name, path });
  return written && { source: { agent, path: written.from }, at: written.at };
};

/** As the audit log in this folder tells. */
export const findLongerSession = async (
  source: Pick<RecordSource, 'agent' | 'path'>,
  stateFolder: string,
): Promise<LongerSession | undefined> =>
  longerSession(
    source,
    (await readAudit(stateFolder)).flatMap((line) => parseOwnAttempt(line) ?? []),
  );
