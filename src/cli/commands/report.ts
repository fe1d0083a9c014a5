import { resolve } from 'node:path';
import type { OutcomeKind } from '../../core/compaction/outcome.js';
import { type AuditedAttempt, parseAuditLine } from '../../core/compaction/protocol.js';
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
import type { ReportRequest } from '../request.js';
import { isThere } from '../session-argument.js';
import { folderText } from '../sessions-text.js';

// `ctxwrap report`: what ctxwrap itself has recorded of all sessions, as a page for a browser.

/** Writes the page, and returns what to print. */
export const report = async ({ html }: ReportRequest, version: string): Promise<string> => {
  const { env } = process;
  const home = homeFolder(env);
  const folder = stateFolder(env, home);
  const now = Date.now();
  const sessions = (await listSessions(folder, now)).map((each) => pageSession(each, home));
  const attempts = (await readAudit(folder)).flatMap((line) => parseAuditLine(line) ?? []);
  const compactions = attempts.map(pageCompaction).toSorted((a, b) => a.endedAt - b.endedAt);
  const path = resolve(workingFolder(), html);
  const page = renderReportPage({ now, version, sessions, compactions });
  await writeAtomic(path, page).catch((error: unknown) => {
    throw unwritableReport(html, systemReason(error));
  });
  return `Wrote ${toPlainText(html)}: ${sessions.length} sessions, ${compactions.length} compactions.\n`;
};

const pageSession = (session: ListedSession, home: string): PageSession => {
  const { id, runtime: agent, cwd, startedAt, endedAt, heartbeatAt, reading, compactions } = session.record;
  return {
    id,
    agent,
    folder: folderText(cwd, home),
    startedAt,
    endedAt: isThere(session) ? undefined : (endedAt ?? heartbeatAt),
    usedPercent: reading?.usedPercent,
    compactions,
  };
};

const pageCompaction = ({ session, runtime: agent, attempt }: AuditedAttempt): PageCompaction => {
  const { startedAt, endedAt, before, after, outcome, words, initiator, isManual } = attempt;
  const by = initiator === 'ctxwrap' && isManual ? 'ctxwrap, as asked' : initiator;
  return { session, agent, startedAt, endedAt, by, before, after, group: groupOf(outcome), words };
};

const groupOf = (outcome: OutcomeKind): OutcomeGroup => {
  if (outcome === 'verified') return 'verified';
  return outcome === 'noop' || outcome === 'interrupted' || outcome === 'skipped-busy' ? 'other' : 'failed';
};
