import { isRunningAs } from '../core/report/records.js';
import type { ListedSession } from '../storage/sessions.js';
import { toPlainText } from '../ui/text.js';
import { noSession } from './messages.js';
import { listed, usageError } from './usage-error.js';

// Resolves a `[session]` argument: an id or its beginning, a pid, or an agent's name; without one, the session this process runs in, or the
// only one.

/** The wrapper runs, even if it is stopped or hanging, or has failed. */
export const isThere = ({ liveness }: ListedSession): boolean => isRunningAs(liveness);

/** The session that matches; undefined when none does. Throws when several do. */
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
  if (found.length > 1)
    throw usageError(
      `"${argument}" matches ${found.length} sessions`,
      `${NAME_ONE}${listed(found.map(nameOf))}`,
    );
  return found[0];
};

/**
 * The live session this process runs in, or else the only one; throws `none` when there is none. A process left over from a session that
 * has ended, such as a hook, never means another session.
 */
export const onlySession = (
  sessions: readonly ListedSession[],
  none: () => Error = noSession,
): ListedSession => {
  const there = sessions.filter(isThere);
  const own = process.env['CTXWRAP_SESSION'] ?? '';
  const around = there.find(({ record }) => record.id === own);
  if (around) return around;
  const [first, ...others] = there;
  if (!first) throw none();
  if (others.length > 0)
    throw usageError(`${there.length} sessions are running`, `${NAME_ONE}${listed(there.map(nameOf))}`);
  if (own !== '')
    throw usageError(
      `this runs in session ${toPlainText(own)}, which has ended`,
      `another one is running:${listed([nameOf(first)])}`,
    );
  return first;
};

const NAME_ONE = 'name one by its id or pid:';

const nameOf = ({ record }: ListedSession): string =>
  `${record.id} (${toPlainText(record.runtime)}, pid ${record.pid}, ${toPlainText(record.cwd)})`;

export const sessionNames = (sessions: readonly ListedSession[]): readonly string[] =>
  sessions.filter(isThere).map(nameOf);

const LEAST_LENGTH = 4; // of an id without a pid in it

/** The shortest beginning of a session's id, from its pid on, that means this session and no other of the list as an argument. */
export const shortIdOf = (sessions: readonly ListedSession[], { record: { id } }: ListedSession): string => {
  const dash = id.indexOf('-');
  for (let length = dash > 0 ? dash : LEAST_LENGTH; length < id.length; length += 1)
    if (isMeant(sessions, id.slice(0, length), id)) return id.slice(0, length);
  return id;
};

const isMeant = (sessions: readonly ListedSession[], argument: string, id: string): boolean => {
  try {
    return findSession(sessions, argument)?.record.id === id;
  } catch {
    return false;
  }
};
