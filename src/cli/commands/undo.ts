import { realpath } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import type { Agent, SavedSession } from '../../agents/agent.js';
import { beforeCompaction, compactionsOf, windowOf, type NewSession } from '../../core/conversation.js';
import type { Boundary } from '../../core/event.js';
import { UserError } from '../../core/errors.js';
import { formatTokens } from '../../core/format.js';
import { formatIsoTime, parseIsoTime } from '../../core/time.js';
import { systemReason } from '../../storage/errors.js';
import { removeCreated } from '../../storage/files.js';
import type { ListedSession } from '../../storage/sessions.js';
import { toPlainText } from '../../ui/text.js';
import { readWholeConversation } from '../../wrap/read-conversation.js';
import { prepareReturn, prepareSwitch, type Prepared } from '../../wrap/switcher.js';
import { copiesOf } from '../../wrap/session-sources.js';
import {
  newSession,
  undoCompaction,
  UndoError,
  type UndonePlan,
  type UndoRequest,
  type UndoSource,
} from '../../wrap/undo.js';
import * as messages from '../messages.js';
import { askSession, type Asked, type AskedOutcome } from '../ask-session.js';
import { timeText } from '../context-text.js';
import { findOneSource, isUndoneByChannel, type OneSource } from '../one-source.js';
import { print, printLines } from '../print.js';
import type { RunRequest, UndoCommandRequest } from '../request.js';
import { resumeOf, resumeRows, type Resume } from '../resume.js';
import type { Outcome } from '../session.js';
import { jsonText } from '../../core/printable.js';
import { openSearch, type Search } from './history.js';

/** Starts an agent under ctxwrap; given by the caller, because only `--run` needs that much code. */
export type Start = (request: RunRequest) => Promise<Outcome>;

/** `ctxwrap undo`: a compaction is undone, in the running agent where that is possible. */
export const undo = async (request: UndoCommandRequest, start: Start): Promise<Outcome> => {
  const search = await openSearch(request.options);
  const found = await findOneSource(request, search, { command: 'undo', none: messages.nothingToUndo });
  const { agent } = found.source;
  const asked = await undoByChannel(found, request, search);
  if (asked) return told(asked, found, request);
  if (isUndoneByChannel(agent)) throw messages.undoneByChannel(agent.name);
  const live = request.run ? undefined : switchable(found);
  const before = found.number === undefined ? live?.record.shortenedFrom : undefined;
  const isElsewhere = !live && !(await isInStore(found.source, search));
  const folder = dirname(found.source.path);
  if (request.run && isElsewhere) throw messages.undoneElsewhere(agent.name, folder);
  const report = !live
    ? await undoInFile(found, search)
    : before
      ? await returnInAgent(found, { live, before }, request, search)
      : await undoInAgent(found, live, request, search);
  if (!request.run) return told(report, found, request, isElsewhere);
  await show(report, request, isElsewhere);
  return runIt(agent, report, request, start);
};

const show = (
  report: UndoReport,
  { json }: Pick<UndoCommandRequest, 'json'>,
  isElsewhere: boolean,
): ReturnType<typeof print> => (json ? print(jsonText(report, 2)) : printLines(textOf(report, isElsewhere)));

const told = async (
  report: UndoReport,
  { source }: OneSource,
  request: UndoCommandRequest,
  isElsewhere = false,
): Promise<Outcome> => {
  await show(report, request, isElsewhere);
  const { outcome } = report.live ?? {};
  const { damagedLines } = report;
  const isTold = damagedLines > 0 && !request.json;
  return {
    status: { kind: 'code', code: outcome === 'refused' || outcome === 'unknown' ? 1 : 0 },
    notices: isTold ? [messages.damagedLines(source.path, damagedLines)] : [],
  };
};

/** The last compaction, undone by the running agent itself; undefined where it is not, or cannot be, asked so. */
const undoByChannel = async (
  { source, session, number }: OneSource,
  request: UndoCommandRequest,
  { stateFolder }: Search,
): Promise<UndoReport | undefined> => {
  const { agent } = source;
  if (request.run || number !== undefined || session?.liveness !== 'live') return undefined;
  const { id, channel, shortenedFrom } = session.record;
  if (!agent.channel?.undo || channel === undefined || shortenedFrom !== undefined) return undefined;
  const whole = await orExplain(source, readWholeConversation(source));
  const { isImpossible, ...answer } = await askLive(id, { schema: 'ctxwrap.undo/1' }, request, stateFolder);
  if (isImpossible && !agent.newSessions) throw messages.undoneByChannel(agent.name, answer.words);
  if (isImpossible) return undefined;
  const all = whole ? compactionsOf(whole) : [];
  const last = all.findLast(({ isUndone }) => isUndone !== true);
  const before = whole && last && beforeCompaction(whole, last);
  return {
    schema: 'ctxwrap.undo/1',
    runtime: agent.name,
    from: source.path,
    compaction: compactionIn(last?.boundary, last ? all.indexOf(last) + 1 : 1, Math.max(1, all.length)),
    messages: before ? windowOf(before).filter(({ kind }) => kind === 'prompt').length : 0,
    damagedLines: whole?.damaged ?? 0,
    live: { id, ...answer },
  };
};

/** The running session that can be told to go on with another session. */
const switchable = ({ source: { agent }, session }: OneSource): ListedSession | undefined => {
  if (!session || session.liveness !== 'live' || agent.newSessions?.switching === undefined) return undefined;
  const { compaction } = session.record;
  return compaction === undefined || compaction.mode === 'off' ? undefined : session;
};

/** The agent finds a new session that is written beside this file. */
const isInStore = async ({ agent: { home }, path }: UndoSource, { where }: Search): Promise<boolean> => {
  if (!home) return false;
  const folders = [home.sessions(where), dirname(path)];
  const [store = '', folder = ''] = await Promise.all(
    folders.map((each) => realpath(each).catch(() => each)),
  );
  return !relative(store, folder).startsWith('..');
};

const failed = 1;

// What was done.

/** The schema of `--json`. Unknown fields are absent. */
interface UndoReport {
  readonly schema: 'ctxwrap.undo/1';
  readonly runtime: string;
  /** the session file that was read */
  readonly from: string;
  /** absent if ctxwrap has shortened the conversation itself */
  readonly compaction?: {
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
  /** ISO 8601; of the black box's copy that it was taken from, because the session file no longer holds it */
  readonly copiedAt?: string;
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

const reportOf = (source: UndoSource, plan: UndonePlan): UndoReport => ({
  schema: 'ctxwrap.undo/1',
  runtime: source.agent.name,
  from: source.path,
  compaction: compactionIn(plan.boundary, plan.number, plan.count),
  messages: plan.prompts,
  damagedLines: plan.damagedLines,
  ...(plan.copiedAt === undefined ? {} : { copiedAt: formatIsoTime(plan.copiedAt) }),
});

const compactionIn = (
  boundary: Boundary | undefined,
  number: number,
  of: number,
): NonNullable<UndoReport['compaction']> => {
  const { at = 0, preTokens, postTokens } = boundary ?? {};
  return {
    number,
    of,
    ...(at > 0 ? { at: formatIsoTime(at) } : {}),
    ...(preTokens === undefined ? {} : { preTokens }),
    ...(postTokens === undefined ? {} : { postTokens }),
  };
};

const withSession = (
  report: UndoReport,
  agent: Agent,
  plan: UndonePlan,
  session: SavedSession,
): UndoReport => ({ ...report, session, resume: resumeOf(agent, session, plan.head.cwd) });

const requestOf = ({ source, number }: OneSource, as: NewSession, { stateFolder }: Search): UndoRequest => ({
  ...source,
  number,
  as,
  copies: source.open ? undefined : () => copiesOf(stateFolder, source),
});

const undoInFile = async (found: OneSource, search: Search): Promise<UndoReport> => {
  const { source } = found;
  const as = newSession(search.where.cwd);
  const { session, ...plan } = await orExplain(source, undoCompaction(requestOf(found, as, search)));
  return withSession(reportOf(source, plan), source.agent, plan, session);
};

/** Says what cannot be undone, and why. */
const orExplain = async <T>({ path }: UndoSource, undoing: Promise<T>): Promise<T> => {
  try {
    return await undoing;
  } catch (error) {
    const isOurs = error instanceof UndoError;
    throw new UserError(`cannot undo in "${path}": ${isOurs ? error.message : systemReason(error)}`, {
      exitCode: failed,
      hint: isOurs
        ? 'ctxwrap history lists the compactions of all sessions'
        : 'to read what was said before: ctxwrap history show SESSION#N --before',
    });
  }
};

const undoInAgent = async (
  found: OneSource,
  { record }: ListedSession,
  request: UndoCommandRequest,
  search: Search,
): Promise<UndoReport> => {
  const { source } = found;
  const as = newSession(record.cwd);
  const prepared = await orExplain(source, prepareSwitch(requestOf(found, as, search)));
  const answer = await askToSwitch(record.id, prepared.name, request, search.stateFolder);
  const live = { id: record.id, ...answer };
  const report = { ...reportOf(source, prepared.plan), live };
  const session = sessionOf(prepared, as);
  if (session) return withSession(report, source.agent, prepared.plan, session);
  if (answer.outcome === 'switched' || answer.outcome === 'asked') return report;
  // the running agent has not taken the checkpoint; the session file can be resumed
  return { ...(await undoInFile(found, search)), live };
};

interface Shortened {
  readonly live: ListedSession;
  readonly before: SavedSession;
}

/** The running agent has a conversation that ctxwrap has shortened, and goes back to the session from before. */
const returnInAgent = async (
  { source }: OneSource,
  { live: { record }, before }: Shortened,
  request: UndoCommandRequest,
  { stateFolder }: Search,
): Promise<UndoReport> => {
  const { agent, path } = source;
  const whole = await orExplain(source, readWholeConversation({ agent, path: before.path }));
  const { name, created } = await orExplain(
    source,
    prepareReturn({ agent, as: newSession(record.cwd), before, path }),
  );
  const answer = await askToSwitch(record.id, name, request, stateFolder);
  if (answer.outcome === 'refused' && created !== undefined) await removeCreated(created);
  return {
    schema: 'ctxwrap.undo/1',
    runtime: agent.name,
    from: before.path,
    messages: whole ? windowOf(whole).filter(({ kind }) => kind === 'prompt').length : 0,
    damagedLines: whole?.damaged ?? 0,
    session: before,
    resume: resumeOf(agent, before, whole?.head.cwd),
    live: { id: record.id, ...answer },
  };
};

const sessionOf = ({ name, path }: Prepared, { id }: NewSession): SavedSession | undefined =>
  name === id ? { id, path } : undefined;

type LiveOutcome = Omit<NonNullable<UndoReport['live']>, 'id'>;

const askToSwitch = async (
  session: string,
  name: string,
  request: UndoCommandRequest,
  stateFolder: string,
): Promise<LiveOutcome> => {
  const { isImpossible: _, ...answer } = await askLive(
    session,
    { schema: 'ctxwrap.switch/1', name },
    request,
    stateFolder,
  );
  return answer;
};

const askLive = async (
  session: string,
  asked: Asked,
  { json, options }: UndoCommandRequest,
  stateFolder: string,
): Promise<LiveOutcome & Pick<AskedOutcome, 'isImpossible'>> => {
  const isQuiet = json || options.values.quiet === true;
  const { outcome, ...rest } = await askSession(session, asked, { stateFolder, isQuiet });
  if (outcome === 'done') return { outcome: 'switched' };
  if (outcome === 'asked') return { outcome, words: 'the agent goes back as soon as it is idle' };
  return { outcome, ...rest };
};

// For people.

const textOf = (report: UndoReport, isElsewhere: boolean): readonly string[] => {
  const { compaction, messages: count, session, live } = report;
  const said = count === 1 ? 'your message' : `your ${count} messages`;
  const done = compaction ? undoneText(compaction) : '✓ shortening undone';
  const rows =
    live?.outcome === 'switched'
      ? [`${done} in ${report.runtime}: ${said} ${count === 1 ? 'is' : 'are'} back in the window`]
      : [
          ...(live?.words === undefined ? [] : [liveWords(live, report.runtime)]),
          ...(session ? [`${done} in a new session with ${said}: ${session.id}`] : []),
        ];
  const isDone = live?.outcome === 'switched' || live?.outcome === 'asked';
  const resume =
    isDone || !report.resume ? [] : isElsewhere ? elsewhereRows(report) : resumeRows(report.resume);
  return [...[...rows, ...copyRows(report)].map(toPlainText), ...resume];
};

const undoneText = ({ number, of, preTokens, postTokens }: NonNullable<UndoReport['compaction']>): string => {
  const sizes = [preTokens, postTokens].map((each) => (each === undefined ? '?' : formatTokens(each)));
  const size = preTokens === undefined ? '' : ` (${sizes.join(' → ')})`;
  return `✓ compaction ${number} of ${of}${size} undone`;
};

const liveWords = ({ outcome, words = '' }: LiveOutcome, agent: string): string => {
  switch (outcome) {
    case 'refused':
      return `✗ not undone in ${agent}: ${words}`;
    case 'unknown':
      return `✗ ${words}`;
    default:
      return words;
  }
};

const copyRows = ({ copiedAt }: UndoReport): readonly string[] =>
  copiedAt === undefined
    ? []
    : [
        `Taken from ctxwrap's copy of ${timeText(parseIsoTime(copiedAt) ?? 0)}: the session file no longer holds it.`,
      ];

const elsewhereRows = ({ runtime: agent, session }: UndoReport): readonly string[] =>
  session === undefined
    ? []
    : [`It is in ${session.path}, where ${agent} does not look for sessions.`].map(toPlainText);

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
