// Which session a `[session]` argument means: an id or the beginning of one, a pid, an agent's name; when absent the one that this process runs in, or the only one.
import type { ListedSession } from '../storage/session-records.js';
import * as messages from './messages.js';
import { plain } from '../ui/plain-text.js';

/** Its wrapper runs; a stale one is stopped, or hangs. */
export const isThere = ({ liveness }: ListedSession): boolean => liveness === 'live' || liveness === 'stale';

/** The session that is meant; undefined when nothing fits. Throws when several do. */
export const findSession = (
  sessions: readonly ListedSession[],
  argument: string,
): ListedSession | undefined => {
  const exact = sessions.find(({ record }) => record.id === argument);
  if (exact) return exact;
  const there = sessions.filter(isThere);
  const byPid = there.filter(({ record }) => [record.pid, record.childPid].map(String).includes(argument));
  const byName = there.filter(({ record }) => record.runtime === argument);
  const byPrefix = sessions.filter(({ record }) => argument !== '' && record.id.startsWith(argument));
  const livePrefix = byPrefix.filter(isThere);
  const found = [byPid, byName, livePrefix, byPrefix].find((each) => each.length > 0) ?? [];
  if (found.length > 1) throw messages.severalSessions(argument, found.map(nameOf));
  return found[0];
};

/**
 * The live session that this process runs in, or else the only one; `none` is thrown where there is none. What a session that is over
 * has left behind, such as a hook, means no other.
 */
export const onlySession = (
  sessions: readonly ListedSession[],
  none: () => Error = messages.noSession,
): ListedSession => {
  const there = sessions.filter(isThere);
  const own = process.env['CTXWRAP_SESSION'] ?? '';
  const around = there.find(({ record }) => record.id === own);
  if (around) return around;
  const [first, ...others] = there;
  if (!first) throw none();
  if (others.length > 0) throw messages.whichSession(there.map(nameOf));
  if (own !== '') throw messages.sessionOver(plain(own), nameOf(first));
  return first;
};

const nameOf = ({ record }: ListedSession): string =>
  `${record.id} (${plain(record.runtime)}, pid ${record.pid}, ${plain(record.cwd)})`;

export const namesOf = (sessions: readonly ListedSession[]): readonly string[] =>
  sessions.filter(isThere).map(nameOf);
