import { resolve } from 'node:path';
import { type Printable, toPrintableLines } from '../../core/printable.js';
import type { OutcomeKind } from '../../core/compaction/outcome.js';
import { type AuditedAttempt, parseAuditLine } from '../../core/compaction/protocol.js';
import { counted } from '../../core/format.js';
import { type Millis, windowPercent } from '../../core/reading.js';
import { parseReceiptLine } from '../../core/conversation/receipt.js';
import { systemReason } from '../../storage/errors.js';
import { readAudit } from '../../storage/log-file.js';
import { type ListedSession, listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder, writeAtomic } from '../../storage/state-folder.js';
import {
  type OutcomeGroup,
  type PageCompaction,
  type PageSession,
  renderReportPage,
} from '../../ui/report-page.js';
import { toPlainText } from '../../ui/text.js';
import { unwritableReport } from '../messages.js';
import { workingFolder } from '../print.js';
import { isThere } from '../session-argument.js';
import { folderText } from '../sessions-text.js';

// `ctxwrap report`: what ctxwrap itself has recorded of all sessions, as a page for a browser.

/** Writes the page, and returns what to print. */
export const report = async (html: string, version: string): Promise<Printable> => {
  const { env } = process;
  const home = homeFolder(env);
  const folder = stateFolder(env, home);
  const now = Date.now();
  const sessions = (await listSessions(folder, now))
    .filter(({ record }) => isPlausible(record, now))
    .map((each) => pageSession(each, home));
  const lines = await readAudit(folder);
  const receipts = lines.flatMap((line) => parseReceiptLine(line) ?? []);
  const compactions = lines
    .flatMap((line) => parseAuditLine(line) ?? [])
    .filter(({ attempt }) => isPlausible(attempt, now))
    .map((each) => pageCompaction(each, receipts))
    .toSorted((a, b) => a.endedAt - b.endedAt);
  const path = resolve(workingFolder(), html);
  const page = renderReportPage({ now, version, sessions, compactions });
  await writeAtomic(path, page).catch((error: unknown) => {
    throw unwritableReport(html, systemReason(error));
  });
  const counts = `${counted(sessions.length, 'session')}, ${counted(compactions.length, 'compaction')}`;
  return toPrintableLines([`Wrote ${toPlainText(html)}: ${counts}.`]);
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

const pageCompaction = (
  { session, runtime: agent, attempt }: AuditedAttempt,
  receipts: readonly NonNullable<ReturnType<typeof parseReceiptLine>>[],
): PageCompaction => {
  const { startedAt, endedAt, before, after, outcome, words, initiator, isManual } = attempt;
  const by = initiator === 'ctxwrap' && isManual ? 'ctxwrap (asked)' : initiator;
  const group = groupOf(outcome);
  const near = receipts
    .filter((each) => each.session === session && Math.abs(each.at - endedAt) < RECEIPT_MS)
    .toSorted((a, b) => Math.abs(a.at - endedAt) - Math.abs(b.at - endedAt));
  const kept = group === 'verified' ? (near[0]?.counts ?? []) : [];
  return { session, agent, startedAt, endedAt, by, before, after, group, words, kept };
};

const groupOf = (outcome: OutcomeKind): OutcomeGroup => {
  if (outcome === 'verified') return 'verified';
  return outcome === 'noop' || outcome === 'interrupted' || outcome === 'skipped-busy' ? 'other' : 'failed';
};
