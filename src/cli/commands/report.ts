import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { agents } from '../../agents/index.js';
import { type Printable, toPrintableLines } from '../../core/printable.js';
import { isDuring, isIn } from '../../core/compaction/own-compactions.js';
import { outcomes } from '../../core/compaction/outcome.js';
import { type AuditedAttempt, auditedAttempts } from '../../core/compaction/protocol.js';
import type { RecordedCompaction, SessionHistory } from '../../core/conversation/boundary-record.js';
import { leftTokens } from '../../core/evidence.js';
import { present } from '../../core/present.js';
import { counted } from '../../core/format.js';
import { type Millis, windowPercent } from '../../core/reading.js';
import { parseReceiptLine } from '../../core/conversation/receipt.js';
import { systemReason } from '../../storage/errors.js';
import { readHead } from '../../storage/files.js';
import { readAudit } from '../../storage/log-file.js';
import { type ListedSession, listSessions } from '../../storage/sessions.js';
import { ensureFolder, homeFolder, stateFolder, writeAtomic } from '../../storage/state-folder.js';
import {
  type PageCompaction,
  type PageData,
  PAGE_TITLE,
  type PageSession,
  renderReportPage,
} from '../../ui/report-page.js';
import { toPlainText } from '../../ui/text.js';
import type { ReportRequest } from '../define/report.js';
import { findTargets } from '../history-targets.js';
import { namesCompaction, outputExists, unwritableReport } from '../messages.js';
import { workingFolder } from '../print.js';
import { findSession, isThere, shortIdOf } from '../session-argument.js';
import { shortenHome } from '../config/path.js';
import { folderText } from '../ps-columns.js';
import { shortId } from '../../core/shown-conversation.js';
import { openSearch, readTargets } from './history.js';
import { sessionsNamed } from './history-show.js';

// `ctxwrap report`: what ctxwrap itself has recorded of all sessions, and the compactions that `ctxwrap history` finds in the agents' files,
// as a page for a browser.

const PAGE = 'report.html'; // in the state folder, where no file is named

/** Another file than an earlier page, or one that cannot be read. What is no file is refused when it is written. */
const isPrecious = (path: string): boolean => {
  if (!existsSync(path) || !statSync(path).isFile()) return false;
  try {
    return !readHead(path, 1024).toString('latin1').includes(PAGE_TITLE);
  } catch {
    return true;
  }
};

/** Writes the page, shows it where no file was named, and returns what to print. Throws where another file would be overwritten. */
export const report = async (
  { target, html, options }: ReportRequest,
  version: string,
): Promise<Printable> => {
  const { env } = process;
  const home = homeFolder(env);
  const folder = stateFolder(env, home);
  const now = Date.now();
  const { counts, ...recorded } = await recordsOf(target, options, { folder, home, now });
  const path = html === undefined ? join(folder, PAGE) : resolve(workingFolder(), html);
  if (html !== undefined && isPrecious(path)) throw outputExists(html);
  const page = renderReportPage({ now, version, ...recorded });
  if (html === undefined) await ensureFolder(folder);
  await writeAtomic(path, page).catch((error: unknown) => {
    throw unwritableReport(html ?? path, systemReason(error));
  });
  const isOpened = html === undefined && (await openInBrowser(path));
  const name = toPlainText(html ?? shortenHome(path, home));
  const place = html === undefined && !isOpened ? [`Open ${name} in a browser.`] : [];
  return toPrintableLines([`${isOpened ? 'Opened' : 'Wrote'} ${name}: ${counts.join(', ')}.`, ...place]);
};

interface Place {
  /** with ctxwrap's own records */
  readonly folder: string;
  readonly home: string;
  readonly now: Millis;
}

interface Recorded extends Pick<PageData, 'sessions' | 'compactions'> {
  /** what is on the page, in words */
  readonly counts: readonly string[];
}

/** Of the session that is named, or of all. */
const recordsOf = async (
  target: string | undefined,
  options: ReportRequest['options'],
  { folder, home, now }: Place,
): Promise<Recorded> => {
  const all = await listSessions(folder, now);
  const asked = target === undefined ? undefined : findSession(all, target);
  const histories = await (target === undefined ? everyHistory(options) : oneHistory(target, options, asked));
  const running = new Set(all.filter(isThere).map(({ record }) => record.id));
  // the simulator's sessions are no work, and `ctxwrap history` has none of them once they have ended
  const isMeant = (id: string, agent: string, conversation: string | undefined): boolean =>
    (target === undefined && (agent !== agents.demo.name || running.has(id))) ||
    id === asked?.record.id ||
    histories.some((each) => isOf(each, agent, conversation));
  const listed = all.filter(
    ({ record }) => isMeant(record.id, record.runtime, record.agentSessionId) && isPlausible(record, now),
  );
  const names = new Map(all.map((each) => [each.record.id, shortIdOf(all, each)]));
  const nameOf = (id: string): string => names.get(id) ?? id;
  const lines = await readAudit(folder);
  const receipts = lines.flatMap((line) => parseReceiptLine(line) ?? []);
  const attempts = auditedAttempts(lines)
    .filter(({ attempt }) => isPlausible(attempt, now))
    .filter(({ session, runtime, conversation }) => isMeant(session, runtime, conversation));
  const every = histories.flatMap(foundIn);
  const found = every.filter(({ compaction: { at } }) => isPlausible({ startedAt: at }, now));
  const compactions = joined(found, attempts, {
    ofFile: (each) => pageFound(each, listed, nameOf),
    ofAttempt: (each) => pageAttempt(each, receipts, nameOf(each.session)),
  }).toSorted((a, b) => a.endedAt - b.endedAt);
  const isListed = (each: SessionHistory): boolean =>
    listed.some(({ record }) => isOf(each, record.runtime, record.agentSessionId));
  const others = new Set(found.map(({ session }) => session).filter((each) => !isListed(each)));
  return {
    sessions: listed.map((each) => pageSession(each, nameOf(each.record.id), home)),
    compactions,
    counts: countsOf(listed.length + others.size, compactions, every.length - found.length),
  };
};

const countsOf = (
  sessions: number,
  compactions: readonly PageCompaction[],
  leftOut: number,
): readonly string[] => {
  const without = compactions.filter(({ isAttempt }) => isAttempt).length;
  return [
    counted(sessions, 'session'),
    counted(compactions.length - without, 'compaction'),
    ...(without === 0 ? [] : [`${counted(without, 'attempt')} without one`]),
    ...(leftOut === 0 ? [] : [`without ${counted(leftOut, 'compaction')} from more than a year ago`]),
  ];
};

const OPENED_MS = 1_000; // an opener that has found no browser has ended by then

/** Whether the desktop's browser was asked for; false without a desktop, and where the output is not for a person. */
const openInBrowser = async (path: string): Promise<boolean> => {
  const { env, platform, stdout } = process;
  const isDesktop = platform === 'darwin' || (env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? '') !== '';
  if (!stdout.isTTY || !isDesktop) return false;
  const opener = spawn(platform === 'darwin' ? 'open' : 'xdg-open', [path], {
    detached: true,
    stdio: 'ignore',
  });
  opener.unref();
  const ended = new Promise<boolean>((resolved) => {
    opener.once('error', () => resolved(false));
    opener.once('exit', (code) => resolved(code === 0));
  });
  return Promise.race([ended, wait(OPENED_MS, true, { ref: false })]);
};

/** A compaction in a session file. */
interface Found {
  readonly session: SessionHistory;
  readonly compaction: RecordedCompaction;
}

/** As `ctxwrap history` without arguments finds them, which also says what cannot be read. */
const everyHistory = async (options: ReportRequest['options']): Promise<readonly SessionHistory[]> => {
  const search = await openSearch(options);
  const { targets } = await findTargets([], search);
  const histories: SessionHistory[] = [];
  const request = { full: false, chart: false, onProblem: () => undefined };
  for await (const { history } of readTargets(targets, search, request)) histories.push(history);
  return histories;
};

/** Of the session that is named. One that ctxwrap has recorded may have no file that can be read: its own records are enough. */
const oneHistory = async (
  target: string,
  options: ReportRequest['options'],
  asked: ListedSession | undefined,
): Promise<readonly SessionHistory[]> => {
  try {
    const { number, sessions, only } = await sessionsNamed(target, options);
    if (number !== undefined) throw namesCompaction(target, 'report');
    return [only(sessions).session];
  } catch (error) {
    if (asked) return [];
    throw error;
  }
};

const foundIn = (session: SessionHistory): readonly Found[] =>
  session.compactions.map((compaction) => ({ session, compaction }));

/** Whether it is the conversation with this id of the agent. */
const isOf = ({ runtime, sessionId }: SessionHistory, agent: string, id: string | undefined): boolean =>
  id !== undefined && runtime === agent && sessionId === id;

/** What the page says of a compaction that a file contains, and of one that ctxwrap has seen. */
interface PageRows {
  readonly ofFile: (found: Found) => PageCompaction;
  readonly ofAttempt: (attempt: AuditedAttempt) => PageCompaction;
}

/** Each compaction once: what was recorded while ctxwrap watched is joined with what its file contains. */
const joined = (
  found: readonly Found[],
  attempts: readonly AuditedAttempt[],
  { ofFile, ofAttempt }: PageRows,
): readonly PageCompaction[] => {
  const ofFiles = new Set<AuditedAttempt>();
  const rows = found.map((each): PageCompaction => {
    const seen = attempts.find((attempt) => !ofFiles.has(attempt) && isSame(attempt, each));
    if (!seen) return ofFile(each);
    ofFiles.add(seen);
    const row = ofAttempt(seen);
    const { before = row.before, after = row.after } = sizesOf(each.compaction);
    return { ...row, before: row.before ?? before, after: row.after ?? after };
  });
  return [...rows, ...attempts.filter((each) => !ofFiles.has(each)).map(ofAttempt)];
};

const isSame = (
  { runtime, conversation, attempt: { startedAt, endedAt, outcome } }: AuditedAttempt,
  { session, compaction }: Found,
): boolean => {
  const attempt = { runtime, conversation, startedAt, endedAt };
  const isOf = conversation === undefined ? runtime === session.runtime : isIn(attempt, session);
  return outcome === 'verified' && isOf && isDuring(attempt, compaction.at);
};

const sizesOf = (compaction: RecordedCompaction): Pick<PageCompaction, 'before' | 'after'> => {
  const after = leftTokens(compaction) ?? compaction.nextTokens;
  return present({
    before: compaction.preTokens === undefined ? undefined : { usedTokens: compaction.preTokens },
    after: after === undefined ? undefined : { usedTokens: after },
  });
};

/** Nobody watched it. */
const pageFound = (
  { session, compaction }: Found,
  listed: readonly ListedSession[],
  nameOf: (id: string) => string,
): PageCompaction => {
  const { runtime: agent, sessionId, path } = session;
  const { at, durationMs, initiator = 'unknown', isVerified } = compaction;
  const wrapped = listed.find(({ record }) => isOf(session, record.runtime, record.agentSessionId));
  return {
    session: wrapped ? nameOf(wrapped.record.id) : sessionId === undefined ? path : shortId(sessionId),
    agent,
    endedAt: at,
    took: durationMs,
    by: initiator,
    ...sizesOf(compaction),
    group: isVerified ? 'verified' : 'other',
    words: 'in the session file',
    kept: [],
  };
};

const YEAR_MS = 366 * 86_400_000;
const AHEAD_MS = 86_400_000; // of a clock that was wrong

/** A time that is far off, of a broken record or a wrong clock, would leave the charts no room for the others. */
const isPlausible = (
  { startedAt, endedAt = startedAt }: { readonly startedAt: Millis; readonly endedAt?: Millis },
  now: Millis,
): boolean =>
  [startedAt, endedAt].every((at) => at > now - YEAR_MS && at < now + AHEAD_MS) && endedAt >= startedAt;

const pageSession = (session: ListedSession, name: string, home: string): PageSession => {
  const { runtime: agent, cwd, startedAt, endedAt, heartbeatAt, reading, compactions } = session.record;
  return {
    id: name,
    agent,
    folder: folderText(cwd, home),
    startedAt,
    endedAt: isThere(session) ? undefined : (endedAt ?? heartbeatAt),
    usedPercent: reading && windowPercent(reading),
    compactions,
  };
};

const RECEIPT_MS = 60_000; // between the agent's record of a compaction and its end as ctxwrap saw it

const pageAttempt = (
  { session, runtime: agent, attempt }: AuditedAttempt,
  receipts: readonly NonNullable<ReturnType<typeof parseReceiptLine>>[],
  name: string,
): PageCompaction => {
  const { startedAt, endedAt, before, after, outcome, words, initiator, isManual } = attempt;
  const by = initiator === 'ctxwrap' && isManual ? 'ctxwrap (asked)' : initiator;
  const { group } = outcomes[outcome];
  const near = receipts
    .filter((each) => each.session === session && Math.abs(each.at - endedAt) < RECEIPT_MS)
    .toSorted((a, b) => Math.abs(a.at - endedAt) - Math.abs(b.at - endedAt));
  const kept = group === 'verified' ? (near[0]?.counts ?? []) : [];
  const isAttempt = group !== 'verified';
  return {
    session: name,
    agent,
    endedAt,
    took: endedAt - startedAt,
    isAttempt,
    by,
    before,
    after,
    group,
    words,
    kept,
  };
};
