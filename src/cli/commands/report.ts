import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Printable, toPrintableLines } from '../../core/printable.js';
import { isDuring, isIn } from '../../core/compaction/own-compactions.js';
import { outcomes } from '../../core/compaction/outcome.js';
import { type AuditedAttempt, parseAuditLine } from '../../core/compaction/protocol.js';
import type { RecordedCompaction, SessionHistory } from '../../core/conversation/boundary-record.js';
import { leftTokens } from '../../core/evidence.js';
import { present } from '../../core/present.js';
import { counted } from '../../core/format.js';
import { type Millis, windowPercent } from '../../core/reading.js';
import { parseReceiptLine } from '../../core/conversation/receipt.js';
import { systemReason } from '../../storage/errors.js';
import { readAudit } from '../../storage/log-file.js';
import { type ListedSession, listSessions } from '../../storage/sessions.js';
import { ensureFolder, homeFolder, stateFolder, writeAtomic } from '../../storage/state-folder.js';
import { type PageCompaction, type PageSession, renderReportPage } from '../../ui/report-page.js';
import { toPlainText } from '../../ui/text.js';
import type { ReportRequest } from '../define/report.js';
import { findTargets } from '../history-targets.js';
import { unwritableReport } from '../messages.js';
import { workingFolder } from '../print.js';
import { isThere } from '../session-argument.js';
import { shortenHome } from '../config/path.js';
import { folderText } from '../ps-columns.js';
import { openSearch, readTargets } from './history.js';

// `ctxwrap report`: what ctxwrap itself has recorded of all sessions, and the compactions that `ctxwrap history` finds in the agents' files,
// as a page for a browser.

const PAGE = 'report.html'; // in the state folder, where no file is named

/** Writes the page, shows it where no file was named, and returns what to print. */
export const report = async ({ html, options }: ReportRequest, version: string): Promise<Printable> => {
  const { env } = process;
  const home = homeFolder(env);
  const folder = stateFolder(env, home);
  const now = Date.now();
  const listed = (await listSessions(folder, now)).filter(({ record }) => isPlausible(record, now));
  const sessions = listed.map((each) => pageSession(each, home));
  const lines = await readAudit(folder);
  const receipts = lines.flatMap((line) => parseReceiptLine(line) ?? []);
  const attempts = lines
    .flatMap((line) => parseAuditLine(line) ?? [])
    .filter(({ attempt }) => isPlausible(attempt, now));
  const found = (await foundCompactions(options)).filter(({ compaction: { at } }) =>
    isPlausible({ startedAt: at }, now),
  );
  const compactions = joined(found, attempts, listed, (each) => pageAttempt(each, receipts)).toSorted(
    (a, b) => a.endedAt - b.endedAt,
  );
  const path = html === undefined ? join(folder, PAGE) : resolve(workingFolder(), html);
  const page = renderReportPage({ now, version, sessions, compactions });
  if (html === undefined) await ensureFolder(folder);
  await writeAtomic(path, page).catch((error: unknown) => {
    throw unwritableReport(html ?? path, systemReason(error));
  });
  const without = compactions.filter(({ isAttempt }) => isAttempt).length;
  const counts = [
    counted(sessions.length, 'session'),
    counted(compactions.length - without, 'compaction'),
    ...(without === 0 ? [] : [`${counted(without, 'attempt')} without one`]),
  ];
  const isOpened = html === undefined && (await openInBrowser(path));
  const name = toPlainText(html ?? shortenHome(path, home));
  const place = html === undefined && !isOpened ? [`Open ${name} in a browser.`] : [];
  return toPrintableLines([`${isOpened ? 'Opened' : 'Wrote'} ${name}: ${counts.join(', ')}.`, ...place]);
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
const foundCompactions = async (options: ReportRequest['options']): Promise<readonly Found[]> => {
  const search = await openSearch(options);
  const { targets } = await findTargets([], search);
  const found: Found[] = [];
  const request = { full: false, chart: false, onProblem: () => undefined };
  for await (const { history: session } of readTargets(targets, search, request))
    found.push(...session.compactions.map((compaction) => ({ session, compaction })));
  return found;
};

/** Each compaction once: what was recorded while ctxwrap watched is joined with what its file contains. */
const joined = (
  found: readonly Found[],
  attempts: readonly AuditedAttempt[],
  listed: readonly ListedSession[],
  pageOf: (attempt: AuditedAttempt) => PageCompaction,
): readonly PageCompaction[] => {
  const ofFiles = new Set<AuditedAttempt>();
  const rows = found.map((each): PageCompaction => {
    const seen = attempts.find((attempt) => !ofFiles.has(attempt) && isSame(attempt, each));
    if (!seen) return pageFound(each, listed);
    ofFiles.add(seen);
    const row = pageOf(seen);
    const { before = row.before, after = row.after } = sizesOf(each.compaction);
    return { ...row, before: row.before ?? before, after: row.after ?? after };
  });
  return [...rows, ...attempts.filter((each) => !ofFiles.has(each)).map(pageOf)];
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
const pageFound = ({ session, compaction }: Found, listed: readonly ListedSession[]): PageCompaction => {
  const { runtime: agent, sessionId, path } = session;
  const { at, durationMs, initiator = 'unknown', isVerified } = compaction;
  const wrapped = listed.find(
    ({ record }) =>
      record.runtime === agent && sessionId !== undefined && record.agentSessionId === sessionId,
  );
  return {
    session: wrapped?.record.id ?? sessionId ?? path,
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

const pageSession = (session: ListedSession, home: string): PageSession => {
  const { id, runtime: agent, cwd, startedAt, endedAt, heartbeatAt, reading, compactions } = session.record;
  return {
    id,
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
    session,
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
