import { randomUUID } from 'node:crypto';
import type { Agent, SavedSession } from '../../agents/agent.js';
import type { NewSession } from '../../core/conversation.js';
import { UserError } from '../../core/errors.js';
import { formatTokens } from '../../core/format.js';
import { formatIsoTime } from '../../core/time.js';
import { systemReason } from '../../storage/errors.js';
import type { ListedSession } from '../../storage/sessions.js';
import { toPlainText } from '../../ui/text.js';
import { prepareSwitch, type Prepared } from '../../wrap/switcher.js';
import { undoCompaction, UndoError, type UndonePlan, type UndoSource } from '../../wrap/undo.js';
import * as messages from '../messages.js';
import { askSession } from '../ask-session.js';
import { findOneSource, type OneSource } from '../one-source.js';
import { print, toAsciiIfNeeded } from '../print.js';
import type { RunRequest, UndoCommandRequest } from '../request.js';
import { resumeOf, resumeRows, type Resume } from '../resume.js';
import type { Outcome } from '../session.js';
import { jsonText } from '../text.js';
import { openSearch, type Search } from './history.js';

/** Starts an agent under ctxwrap; given by the caller, because only `--run` needs that much code. */
export type Start = (request: RunRequest) => Promise<Outcome>;

/** `ctxwrap undo`: a compaction is undone, in the running agent where that is possible. */
export const undo = async (request: UndoCommandRequest, start: Start): Promise<Outcome> => {
  const search = await openSearch(request.options);
  const found = await findOneSource(request, search, { command: 'undo', none: messages.nothingToUndo });
  const live = request.run ? undefined : switchable(found);
  const report = live ? await undoInAgent(found, live, request, search) : await undoInFile(found, search);
  await print(request.json ? jsonText(report, 2) : `${textOf(report).join('\n')}\n`);
  if (request.run) return runIt(found.source.agent, report, request, start);
  return { status: { kind: 'code', code: report.live?.outcome === 'unknown' ? 1 : 0 }, notices: [] };
};

/** The running session that can be told to go on with another session. */
const switchable = ({ source: { agent }, session }: OneSource): ListedSession | undefined => {
  if (!session || session.liveness !== 'live' || agent.conversations?.switching === undefined)
    return undefined;
  const { compaction } = session.record;
  return compaction === undefined || compaction.mode === 'off' ? undefined : session;
};

const failed = 1;

// What was done.

/** The schema of `--json`. Unknown fields are absent. */
interface UndoReport {
  readonly schema: 'ctxwrap.undo/1';
  readonly runtime: string;
  /** the session file that was read */
  readonly from: string;
  readonly compaction: {
    readonly number: number;
    /** compactions in the file */
    readonly of: number;
    /** ISO 8601 */
    readonly at?: string;
    readonly preTokens?: number;
    readonly postTokens?: number;
  };
  /** messages of the user that are in the window again */
  readonly messages: number;
  readonly damagedLines: number;
  /** the new session; absent where the running agent took the conversation without one */
  readonly session?: SavedSession;
  /** what starts the agent with it */
  readonly resume?: Resume;
  /** what became of the running session */
  readonly live?: {
    readonly id: string;
    readonly outcome: 'switched' | 'refused' | 'unknown' | 'asked';
    readonly words?: string;
  };
}

const newSession = (cwd: string): NewSession => ({
  id: randomUUID(),
  cwd,
  now: Date.now(),
  newUuid: () => randomUUID(),
});

const reportOf = (source: UndoSource, plan: UndonePlan): UndoReport => {
  const { at, preTokens, postTokens } = plan.boundary;
  return {
    schema: 'ctxwrap.undo/1',
    runtime: source.agent.name,
    from: source.path,
    compaction: {
      number: plan.number,
      of: plan.count,
      ...(at > 0 ? { at: formatIsoTime(at) } : {}),
      ...(preTokens === undefined ? {} : { preTokens }),
      ...(postTokens === undefined ? {} : { postTokens }),
    },
    messages: plan.prompts,
    damagedLines: plan.damagedLines,
  };
};

const withSession = (
  report: UndoReport,
  agent: Agent,
  plan: UndonePlan,
  session: SavedSession,
): UndoReport => ({ ...report, session, resume: resumeOf(agent, session, plan.head.cwd) });

const undoInFile = async ({ source, number }: OneSource, search: Search): Promise<UndoReport> => {
  const as = newSession(search.where.cwd);
  const { session, ...plan } = await orExplain(source, undoCompaction({ ...source, number, as }));
  return withSession(reportOf(source, plan), source.agent, plan, session);
};

/** Says what cannot be undone, and why. */
const orExplain = async <T>({ path }: UndoSource, undoing: Promise<T>): Promise<T> => {
  try {
    return await undoing;
  } catch (error) {
    const reason = error instanceof UndoError ? error.message : systemReason(error);
    throw new UserError(`cannot undo in "${path}": ${reason}`, {
      exitCode: failed,
      hint: 'ctxwrap history lists the compactions of all sessions',
    });
  }
};

const undoInAgent = async (
  found: OneSource,
  { record }: ListedSession,
  request: UndoCommandRequest,
  search: Search,
): Promise<UndoReport> => {
  const { source, number } = found;
  const as = newSession(record.cwd);
  const prepared = await orExplain(source, prepareSwitch({ ...source, number, as }));
  const answer = await askToSwitch(record.id, prepared.name, request, search.stateFolder);
  const live = { id: record.id, ...answer };
  const report = { ...reportOf(source, prepared.plan), live };
  const session = sessionOf(prepared, as);
  if (session) return withSession(report, source.agent, prepared.plan, session);
  if (answer.outcome === 'switched' || answer.outcome === 'asked') return report;
  // the running agent has not taken the checkpoint; the session file can be resumed
  return { ...(await undoInFile(found, search)), live };
};

const sessionOf = ({ name, path }: Prepared, { id }: NewSession): SavedSession | undefined =>
  name === id ? { id, path } : undefined;

type LiveOutcome = Omit<NonNullable<UndoReport['live']>, 'id'>;

const askToSwitch = async (
  session: string,
  name: string,
  { json, options }: UndoCommandRequest,
  stateFolder: string,
): Promise<LiveOutcome> => {
  const isQuiet = json || options.values.quiet === true;
  const { outcome, words } = await askSession(
    session,
    { schema: 'ctxwrap.switch/1', name },
    { stateFolder, isQuiet },
  );
  if (outcome === 'done') return { outcome: 'switched' };
  if (outcome === 'asked') return { outcome, words: 'the agent goes back as soon as it is at rest' };
  return { outcome, ...(words === undefined ? {} : { words }) };
};

// For people.

const textOf = (report: UndoReport): readonly string[] => {
  const { compaction, messages: count, session, live } = report;
  const said = count === 1 ? '1 message of yours' : `${count} messages of yours`;
  const sizes = [compaction.preTokens, compaction.postTokens].map((each) =>
    each === undefined ? '?' : formatTokens(each),
  );
  const size = compaction.preTokens === undefined ? '' : ` (${sizes.join(' → ')})`;
  const done = `✓ compaction ${compaction.number} of ${compaction.of}${size} undone`;
  const rows =
    live?.outcome === 'switched'
      ? [`${done} in ${report.runtime}: ${said} back in the window`]
      : [
          ...(live?.words === undefined ? [] : [`${live.outcome === 'asked' ? '' : '✗ '}${live.words}`]),
          ...(session ? [`${done} in a new session with ${said}: ${session.id}`] : []),
        ];
  const isThere = live?.outcome === 'switched' || live?.outcome === 'asked';
  const resume = isThere || !report.resume ? [] : resumeRows(report.resume);
  return [...rows.map(toPlainText), ...resume].map((row) => toAsciiIfNeeded(row, process.env));
};

const runIt = async (
  agent: Agent,
  { resume }: UndoReport,
  { options }: UndoCommandRequest,
  start: Start,
): Promise<Outcome> => {
  if (!resume) return { status: { kind: 'code', code: failed }, notices: [] };
  if (resume.cwd !== undefined)
    try {
      process.chdir(resume.cwd); // the agents look for their sessions by the folder that they run in
    } catch (error) {
      throw new UserError(`cannot go to "${resume.cwd}": ${systemReason(error)}`, {
        exitCode: failed,
        hint: `ctxwrap ${[agent.name, ...resume.args].join(' ')}`,
      });
    }
  return start({ kind: 'run', word: agent.name, args: resume.args, anyCommand: false, options });
};
