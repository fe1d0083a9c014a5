// `ctxwrap ps` for people: one row a session.
import type { Millis } from '../core/reading.js';
import type { SessionRecord } from '../core/session-record.js';
import type { ListedSession } from '../storage/session-records.js';
import { shareText, tokensText } from '../core/figures.js';
import { plain, shortened, wrapped } from '../ui/plain-text.js';
import { table } from './table.js';
import type { Column } from './table.js';

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

export interface SessionsLook {
  readonly now: Millis;
  readonly width: number;
  readonly home: string;
}

export const sessionsText = (
  sessions: readonly ListedSession[],
  { now, width, home }: SessionsLook,
): readonly string[] =>
  sessions.length === 0
    ? wrapped('No session is running. Start one with: ctxwrap claude', width)
    : table(
        columns,
        sessions.map((each) => rowOf(each, now, home)),
        width,
      );

const rowOf = ({ record, liveness }: ListedSession, now: Millis, home: string): readonly string[] => [
  shortened(plain(record.runtime), 16),
  record.id,
  String(record.pid),
  record.tier ?? '-',
  fillText(record),
  liveness === 'live' ? activityText(record) : liveness,
  ageText(now - record.heartbeatAt),
  folderText(record.cwd, home),
];

const ASKED_WIDTH = 40; // columns

/** What is asked says more than that something is. */
const activityText = ({ activity, asks }: SessionRecord): string =>
  asks === undefined ? activity : shortened(`${activity}: ${plain(asks)}`, ASKED_WIDTH);

/** `~` for an estimate, `?` for a window that is only assumed, as in the footer. */
const fillText = ({ reading }: SessionRecord): string => {
  if (!reading) return '-';
  const { usedTokens, usedPercent, windowTokens, windowSource, source, over } = reading;
  const mark = source === 'estimate' ? '~' : '';
  const window = windowTokens === undefined ? '' : `/${tokensText(windowTokens)}`;
  const asked = windowSource === 'default' ? '?' : '';
  const share = usedPercent === undefined ? '-' : `${mark}${shareText(usedPercent, over)}${asked}`;
  if (usedTokens === undefined) return share;
  return `${mark}${tokensText(usedTokens)}${window}${asked}${over ? ` ${share}` : ''}`;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const ageText = (ms: number): string => {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.floor(ms / 1_000))}s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m`;
  return ms < DAY_MS ? `${Math.floor(ms / HOUR_MS)}h` : `${Math.floor(ms / DAY_MS)}d`;
};

const folderText = (cwd: string, home: string): string => {
  const text = plain(cwd);
  if (text === home) return '~';
  return home !== '/' && text.startsWith(`${home}/`) ? `~${text.slice(home.length)}` : text;
};
