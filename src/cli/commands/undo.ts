import { dirname } from 'node:path';
import type { Agent, SavedSession } from '../../agents/agent.js';
import {
  beforeCompaction,
  compactionsOf,
  userMessagesIn,
  windowOf,
  type NewSession,
} from '../../core/conversation/conversation.js';
import type { Asked } from '../../core/compaction/requests.js';
import type { Boundary } from '../../core/event.js';
import { UserError } from '../../core/errors.js';
import { present } from '../../core/present.js';
import { formatIsoTime, parseIsoTime } from '../../core/time.js';
import { systemReason } from '../../storage/errors.js';
import { type Millis } from '../../core/reading.js';
import { removeCreated } from '../../storage/files.js';
import type { ListedSession } from '../../storage/sessions.js';
import { toPlainText } from '../../ui/text.js';
import { readCompactions } from '../../session-files/read-history.js';
import {
  compactionNumbers,
  longerSessionFor,
  readLonger,
  sessionBefore,
  type LongerConversation,
  type SessionBefore,
} from '../../session-files/shortened-from.js';
import { readWholeConversation } from '../../session-files/read-conversation.js';
import { copiesOf } from '../../session-files/session-sources.js';
import {
  copySession,
  newSession,
  undoCompaction,
  UndoError,
  type UndonePlan,
  type UndoRequest,
} from '../../session-files/undo.js';
import type { RecordSource } from '../../session-files/session-records.js';
import * as messages from '../messages.js';
import { askAlone, type Answered, type AskedAlone } from '../ask-session.js';
import { timeText } from '../context-text.js';
import { sizesText, type CompactionSizes } from '../history-text.js';
import { findOneSource, isUndoneByChannel, type OneSource } from '../one-source.js';
import { print, printLines } from '../print.js';
import type { UndoCommandRequest } from '../define/undo.js';
import type { Start } from '../request.js';
import { elsewhereRow, isInStore, resumeOf, resumeRows, type Resume } from '../resume.js';
import type { Outcome } from '../session.js';
import { jsonText } from '../../core/printable.js';
import { openSearch, type Search } from './history.js';
import { prepareReturn, prepareSwitch } from '../../session-files/prepare-switch.js';

/**
 * `ctxwrap undo`: a compaction is undone, in the running agent where that is possible. `start` is given by the caller, because only `--run`
 * needs that much code.
 */
export const undo = async (request: UndoCommandRequest, start: Start): Promise<Outcome> => {
  const search = await openSearch(request.options);
  const found = await findOneSource(request, search, {
    command: 'undo',
    none: messages.nothingToUndo,
    last: 'compacted',
  });
  const { agent } = found.source;
  const before = await sessionToReturnTo(found, search);
  const asked = before ? undefined : await undoByChannel(found, request, search);
  if (asked) return showResult(asked, found, request);
  if (isUndoneByChannel(agent)) throw messages.undoneByChannel(agent.name);
  const live = request.run ? undefined : switchable(found);
  const kept = before?.source ?? found.source;
  const isElsewhere = !live && !(await isInStore(kept, search.where));
  const folder = dirname(kept.path);
  if (request.run && isElsewhere) throw messages.undoneElsewhere(agent.name, folder);
  if (live && before)
    return showResult(await returnInAgent(found, { live, before }, request, search), found, request);
  if (live) return showResult(await undoInAgent(found, live, request, search), found, request);
  const report = before
    ? await returnInFile(found, before, search)
    : await undoInFile(found, request, search);
  const made = { report, isElsewhere };
  if (!request.run) return showResult(made, found, request);
  await show(made, request);
  const ended = await runIt(agent, made.report, request, start);
  return found.notice === undefined ? ended : { ...ended, notices: [found.notice, ...ended.notices] };
};

/** The result to print. */
interface UndoResult {
  readonly report: UndoReport;
  readonly isElsewhere?: boolean;
  /** where a running session was asked */
  readonly live?: AskedAlone;
  /** a command for the user to type, if it is unknown whether the running agent has gone back */
  readonly byHand?: string | undefined;
}

const show = (made: UndoResult, { json }: Pick<UndoCommandRequest, 'json'>): ReturnType<typeof print> =>
  json ? print(jsonText(made.report, 2)) : printLines(rowsOf(made));

const showResult = async (
  made: UndoResult,
  { notice }: OneSource,
  request: UndoCommandRequest,
): Promise<Outcome> => {
  await show(made, request);
  const { damagedLines, from } = made.report;
  const isTold = damagedLines > 0 && !request.json;
  const damage = isTold ? messages.damagedLines(from, damagedLines) : undefined;
  return {
    status: made.live?.status ?? { kind: 'code', code: 0 },
    notices: [notice, damage].filter((text) => text !== undefined),
  };
};

/** Has the running agent undo its last compaction itself; undefined if it was not or cannot be asked. */
const undoByChannel = async (
  { source, session, number }: OneSource,
  request: UndoCommandRequest,
  { stateFolder }: Search,
): Promise<UndoResult | undefined> => {
  const { agent } = source;
  if (request.run || number !== undefined || session?.liveness !== 'live') return undefined;
  const { id, channel } = session.record;
  if (!agent.channel?.undo || channel === undefined) return undefined;
  const whole = await orExplain(source, readWholeConversation(source));
  const live = await askLive(id, { schema: 'ctxwrap.undo/1' }, request, stateFolder);
  const { answered } = live;
  if (answered.outcome === 'refused' && answered.why === 'impossible') {
    if (!agent.newSessions) throw messages.undoneByChannel(agent.name, answered.reason);
    return undefined;
  }
  const all = whole ? compactionsOf(whole) : [];
  const last = all.findLast(({ isUndone }) => isUndone !== true);
  const before = whole && last && beforeCompaction(whole, last);
  const report: UndoReport = {
    schema: 'ctxwrap.undo/1',
    runtime: agent.name,
    from: source.path,
    compaction: await compactionIn(source, last?.boundary, {
      number: last ? all.indexOf(last) + 1 : 1,
      count: Math.max(1, all.length),
    }),
    messages: before ? userMessagesIn(windowOf(before)).length : 0,
    damagedLines: whole?.damaged ?? 0,
    live: { id, ...liveOf(answered) },
  };
  return { report, live };
};

/** The running session, if it can switch to another session. */
const switchable = ({ source: { agent }, session }: OneSource): ListedSession | undefined => {
  if (!session || session.liveness !== 'live' || agent.newSessions?.switching === undefined) return undefined;
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
  /** absent if ctxwrap has shortened the conversation itself */
  readonly compaction?: {
    readonly number: number;
    /** compactions in the file */
    readonly of: number;
    /** ISO 8601 */
    readonly at?: string;
    /** the last number before it, where it is not in the record */
    readonly preTokens?: number;
    readonly isEstimated?: true;
    readonly postTokens?: number;
    /** what every request sends besides, where `postTokens` leaves it out */
    readonly fixedTokens?: number;
    /** the first number of an answer after it */
    readonly nextTokens?: number;
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

const reportOf = async (source: RecordSource, plan: UndonePlan): Promise<UndoReport> => ({
  schema: 'ctxwrap.undo/1',
  runtime: source.agent.name,
  from: source.path,
  compaction: await compactionIn(source, plan.boundary, plan),
  messages: plan.prompts,
  damagedLines: plan.damagedLines,
  ...(plan.copiedAt === undefined ? {} : { copiedAt: formatIsoTime(plan.copiedAt) }),
});

const compactionIn = async (
  source: RecordSource,
  boundary: Boundary | undefined,
  { number, count }: Pick<UndonePlan, 'number' | 'count'>,
): Promise<NonNullable<UndoReport['compaction']>> => {
  const { at = 0 } = boundary ?? {};
  const known = (await recordedCompaction(source, at)) ?? boundary ?? {};
  const { preTokens, isEstimated, postTokens, fixedTokens, nextTokens }: CompactionSizes = known;
  return {
    number,
    of: count,
    ...(at > 0 ? { at: formatIsoTime(at) } : {}),
    ...present({ preTokens, isEstimated, postTokens, fixedTokens, nextTokens }),
  };
};

/** The compaction as `ctxwrap history` and `ctxwrap recall` show it, with the numbers around it; undefined if the file no longer has it. */
const recordedCompaction = async (source: RecordSource, at: Millis): Promise<CompactionSizes | undefined> =>
  at > 0 ? (await readCompactions(source, at)).find((each) => each.at === at) : undefined;

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

const undoInFile = async (
  found: OneSource,
  { target }: UndoCommandRequest,
  search: Search,
): Promise<UndoReport> => {
  const { source } = found;
  const as = newSession(search.where.cwd);
  const { session, ...plan } = await orExplain(
    source,
    undoCompaction(requestOf(found, as, search)),
    namedBy(source, target, search),
  );
  return withSession(await reportOf(source, plan), source.agent, plan, session);
};

/** Where ctxwrap has shortened the conversation: the session that it is from. Of an earlier run only the audit log tells. */
const sessionToReturnTo = async (
  { source, number, session }: OneSource,
  search: Search,
): Promise<SessionBefore | undefined> => {
  const { agent } = source;
  const before = number === undefined ? session?.record.shortenedFrom : undefined;
  return before
    ? sessionBefore({ agent, path: before.path }, search.stateFolder, before.id)
    : longerSessionFor(source, number, search);
};

/** The longer session of an ended one is as it was; where only the black box has it, a new session is made of the copy. */
const returnInFile = async (
  { source: { agent } }: OneSource,
  before: SessionBefore,
  { where }: Search,
): Promise<UndoReport> => {
  const longer = await readLonger(before, Infinity);
  const { whole, source, copiedAt } = longer;
  const copied =
    copiedAt === undefined ? undefined : await orExplain(source, copySession(source, newSession(where.cwd)));
  const session = copied ?? longer.session;
  return { ...returnReport(longer), session, resume: resumeOf(agent, session, whole.head.cwd) };
};

const returnReport = ({ whole, source, copiedAt }: LongerConversation): UndoReport => ({
  schema: 'ctxwrap.undo/1',
  runtime: source.agent.name,
  from: source.path,
  messages: userMessagesIn(windowOf(whole)).length,
  damagedLines: whole.damaged,
  ...(copiedAt === undefined ? {} : { copiedAt: formatIsoTime(copiedAt) }),
});

/** What names a compaction, and the numbers that there are. */
interface Named {
  readonly given?: string | undefined;
  readonly numbers?: () => Promise<readonly number[]>;
}

const namedBy = (source: RecordSource, given: string | undefined, search: Search): Named => ({
  given,
  numbers: () => compactionNumbers(source, search),
});

/** Turns a failure into an error that says what cannot be undone, and why. */
const orExplain = async <T>(
  { path }: RecordSource,
  undoing: Promise<T>,
  { given = path, numbers }: Named = {},
): Promise<T> => {
  try {
    return await undoing;
  } catch (error) {
    if (error instanceof UserError) throw error;
    const isOurs = error instanceof UndoError;
    if (isOurs && error.others !== undefined) throw messages.noCompaction(given, (await numbers?.()) ?? []);
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
): Promise<UndoResult> => {
  const { source } = found;
  const { agent } = source;
  const as = newSession(record.cwd);
  const prepared = await orExplain(
    source,
    prepareSwitch(requestOf(found, as, search)),
    namedBy(source, request.target, search),
  );
  const { name, plan, path } = prepared;
  const asked = { schema: 'ctxwrap.switch/1', name } as const;
  const live = await askLive(record.id, asked, request, search.stateFolder);
  const asking = { live, byHand: agent.newSessions?.switching?.command(name) };
  const outcome = { live: { id: record.id, ...liveOf(live.answered) } };
  const report = { ...(await reportOf(source, plan)), ...outcome };
  if (name === as.id) return { ...asking, report: withSession(report, agent, plan, { id: name, path }) };
  if (live.answered.outcome === 'refused') await removeCreated(path);
  if (!isWithoutAgent(live.answered)) return { ...asking, report };
  // the agent is gone and takes no checkpoint; the user can resume the session file
  return { ...asking, report: { ...(await undoInFile(found, request, search)), ...outcome } };
};

/** True if the agent has not gone back and will not do so by itself. */
const isWithoutAgent = (answered: Answered): boolean => {
  switch (answered.outcome) {
    case 'done':
    case 'begun':
      return false;
    case 'refused':
      return true;
    case 'unknown':
      return answered.isOver;
  }
};

interface Shortened {
  readonly live: ListedSession;
  readonly before: SessionBefore;
}

/** Has the running agent go back from a conversation that ctxwrap shortened to the session before. */
const returnInAgent = async (
  { source }: OneSource,
  { live: { record }, before }: Shortened,
  request: UndoCommandRequest,
  { stateFolder }: Search,
): Promise<UndoResult> => {
  const { agent, path } = source;
  const { name, created, longer } = await orExplain(
    source,
    prepareReturn({ agent, as: newSession(record.cwd), before, path }),
  );
  const live = await askLive(record.id, { schema: 'ctxwrap.switch/1', name }, request, stateFolder);
  if (live.answered.outcome === 'refused' && created !== undefined) await removeCreated(created);
  const { session } = longer;
  const kept =
    longer.copiedAt === undefined ? { session, resume: resumeOf(agent, session, longer.whole.head.cwd) } : {};
  const report: UndoReport = {
    ...returnReport(longer),
    ...kept,
    live: { id: record.id, ...liveOf(live.answered) },
  };
  return { report, live, byHand: agent.newSessions?.switching?.command(name) };
};

const askLive = (
  session: string,
  asked: Asked,
  { json, options }: UndoCommandRequest,
  stateFolder: string,
): Promise<AskedAlone> =>
  askAlone(session, asked, { stateFolder, isQuiet: json || options.values.quiet === true });

const liveOf = (answered: Answered): Omit<NonNullable<UndoReport['live']>, 'id'> => {
  switch (answered.outcome) {
    case 'done':
      return { outcome: 'switched' };
    case 'begun':
      return { outcome: 'asked', words: 'the agent goes back as soon as it is idle' };
    case 'refused':
    case 'unknown':
      return { outcome: answered.outcome, words: answered.reason };
  }
};

// For people.

const rowsOf = ({ report, live, byHand, isElsewhere = false }: UndoResult): readonly string[] => {
  const { runtime: agent, session, resume } = report;
  const copied = copyRows(report).map(toPlainText);
  const resumed = resume ? resumeRows(resume) : [];
  if (!live)
    return [toPlainText(madeText(report)), ...copied, ...(isElsewhere ? elsewhereRows(report) : resumed)];
  const { answered } = live;
  switch (answered.outcome) {
    case 'done':
      return [toPlainText(backText(report)), ...copied];
    case 'begun':
      return ['the agent goes back as soon as it is idle', ...copied];
    case 'refused':
      return [
        toPlainText(`✗ not undone in ${agent}: ${answered.reason}`),
        ...(session ? [toPlainText(keptText(report, session)), ...copied, ...resumed] : []),
      ];
    case 'unknown': {
      const asked = `✗ not known whether ${agent} has gone back: ${answered.reason}`;
      if (answered.isOver && session)
        return [toPlainText(asked), toPlainText(keptText(report, session)), ...copied, ...resumed];
      const advice =
        byHand === undefined ? 'look at its window' : `if its window does not show it, type ${byHand} there`;
      return [toPlainText(`${asked}; ${advice}`), ...copied];
    }
  }
};

const madeText = (report: UndoReport): string =>
  !report.compaction
    ? `${undoneText(report)}: ${saidText(report)} are in the session that it is from: ${report.session?.id ?? ''}`
    : `${undoneText(report)} in a new session with ${saidText(report)}: ${report.session?.id ?? ''}`;

const backText = (report: UndoReport): string =>
  `${undoneText(report)} in ${report.runtime}: ${saidText(report)} ${report.messages === 1 ? 'is' : 'are'} back in the window`;

/** Names the session that keeps the conversation, whether or not the running agent has it. */
const keptText = (report: UndoReport, { id }: SavedSession): string =>
  `The earlier conversation, with ${saidText(report)}, is in the session ${id}.`;

const saidText = ({ messages: count }: UndoReport): string =>
  count === 1 ? 'your message' : `your ${count} messages`;

const undoneText = ({ compaction }: UndoReport): string => {
  if (!compaction) return '✓ shortening undone';
  const { number, of, preTokens } = compaction;
  const size = preTokens === undefined ? '' : ` (${sizesText(compaction)})`;
  return `✓ compaction ${number} of ${of}${size} undone`;
};

const copyRows = ({ copiedAt }: UndoReport): readonly string[] =>
  copiedAt === undefined
    ? []
    : [
        `Taken from ctxwrap's copy of ${timeText(parseIsoTime(copiedAt) ?? 0)}: the session file no longer holds it.`,
      ];

const elsewhereRows = ({ runtime: agent, session }: UndoReport): readonly string[] =>
  session === undefined ? [] : [elsewhereRow(agent, session.path)];

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
