import { formatFill, formatTokens } from '../../core/format.js';
import type { Millis } from '../../core/reading.js';
import { type SessionRecord, countPassed } from '../../core/records.js';
import { type ListedSession, listSessions, readVerified } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { toPlainText, shorten, wrapText } from '../../ui/text.js';
import * as messages from '../messages.js';
import { toAsciiIfNeeded } from '../print.js';
import type { PsRequest } from '../request.js';
import { table, type Column, jsonText, widthOfOutput } from '../text.js';

// Resolves a `[session]` argument: an id or its beginning, a pid, or an agent's name; without one, the session this process runs in, or the
// only one.

/** The wrapper runs, even if it is stale: stopped or hanging. */
const isThere = ({ liveness }: ListedSession): boolean => liveness === 'live' || liveness === 'stale';

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
  if (found.length > 1) throw messages.severalSessions(argument, found.map(nameOf));
  return found[0];
};

/**
 * The live session this process runs in, or else the only one; throws `none` when there is none. A process left over from a session that
 * has ended, such as a hook, never means another session.
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
  if (own !== '') throw messages.sessionOver(toPlainText(own), nameOf(first));
  return first;
};

const nameOf = ({ record }: ListedSession): string =>
  `${record.id} (${toPlainText(record.runtime)}, pid ${record.pid}, ${toPlainText(record.cwd)})`;

export const sessionNames = (sessions: readonly ListedSession[]): readonly string[] =>
  sessions.filter(isThere).map(nameOf);

// `ctxwrap ps` for people: one row per session.

const columns: readonly Column[] = [
  { title: 'AGENT', rank: 0 },
  { title: 'SESSION', rank: 4 },
  { title: 'PID', rank: 0, align: 'right' },
  { title: 'TIER', rank: 2 },
  { title: 'USED', rank: 0, align: 'right' },
  { title: 'ACTIVITY', rank: 1 },
  { title: 'SEEN', rank: 3, align: 'right' },
  { title: 'FOLDER', rank: 5, leastWidth: 12 },
];

export interface SessionsTextOptions {
  readonly now: Millis;
  readonly width: number;
  readonly home: string;
}

export const sessionsText = (
  sessions: readonly ListedSession[],
  { now, width, home }: SessionsTextOptions,
): readonly string[] =>
  sessions.length === 0
    ? wrapText('No session is running. Start one with: ctxwrap claude', width)
    : table(
        columns,
        sessions.map((each) => rowOf(each, now, home)),
        width,
      );

const rowOf = ({ record, liveness }: ListedSession, now: Millis, home: string): readonly string[] => [
  shorten(toPlainText(record.runtime), 16),
  record.id,
  String(record.pid),
  record.tier ?? '-',
  fillText(record),
  liveness === 'live' ? activityText(record) : liveness,
  ageText(now - record.heartbeatAt),
  folderText(record.cwd, home),
];

const ASKED_WIDTH = 40; // columns

/** A session that waits for the user shows what it asks. */
const activityText = ({ activity, asks }: SessionRecord): string =>
  asks === undefined ? activity : shorten(`${activity}: ${toPlainText(asks)}`, ASKED_WIDTH);

/** `~` marks an estimate, `?` an assumed window, as in the footer. */
const fillText = ({ reading }: SessionRecord): string => {
  if (!reading) return '-';
  const { usedTokens, usedPercent, windowTokens, windowSource, source, over } = reading;
  const mark = source === 'estimate' ? '~' : '';
  const window = windowTokens === undefined ? '' : `/${formatTokens(windowTokens)}`;
  const asked = windowSource === 'default' ? '?' : '';
  const share = usedPercent === undefined ? '-' : `${formatFill(usedPercent, over, mark)}${asked}`;
  if (usedTokens === undefined) return share;
  return `${mark}${formatTokens(usedTokens)}${window}${asked}${over ? ` ${share}` : ''}`;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const ageText = (ms: number): string => {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.floor(ms / 1_000))}s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m`;
  return ms < DAY_MS ? `${Math.floor(ms / HOUR_MS)}h` : `${Math.floor(ms / DAY_MS)}d`;
};

/** A folder below the home folder as `~/x`. */
export const folderText = (cwd: string, home: string): string => {
  const text = toPlainText(cwd);
  if (text === home) return '~';
  return home !== '/' && text.startsWith(`${home}/`) ? `~${text.slice(home.length)}` : text;
};

/** `ctxwrap ps`: lists running sessions, with --all also those that have ended. */
export const ps = async ({ all, json }: Pick<PsRequest, 'all' | 'json'>): Promise<string> => {
  const now = Date.now();
  const { env } = process;
  const home = homeFolder(env);
  const every = await listSessions(stateFolder(env, home), now);
  const sessions = every.filter((each) => all || isThere(each));
  if (json) {
    const records = await Promise.all(
      sessions.map(async ({ record, liveness }) => ({ ...record, liveness, ...(await verifiedOf(record)) })),
    );
    return jsonText({ schema: 'ctxwrap.sessions/1', sessions: records }, 2);
  }
  const lines = sessionsText(sessions, { now, width: widthOfOutput(), home });
  return toAsciiIfNeeded(`${lines.join('\n')}\n`, env);
};

/** The result of `ctxwrap verify` for the agent's version; nothing where it was not run or the version is not known yet. */
const verifiedOf = async ({ runtime: agent, agentVersion = '' }: SessionRecord): Promise<object> => {
  const { env } = process;
  const record = await readVerified(stateFolder(env, homeFolder(env)), agent, agentVersion);
  if (!record) return {};
  return { verified: { at: record.at, good: countPassed(record), checks: record.checks.length } };
};
