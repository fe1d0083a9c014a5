import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Agent } from '../../agents/agent.js';
import { type AgentFolders, idInPath } from '../../agents/home.js';
import { allAgents } from '../../agents/index.js';
import {
  historyRecord,
  sessionHistoryRecord,
  type RecordedCompaction,
  type SessionHistory,
} from '../../core/conversation/boundary-record.js';
import {
  markOwnCompactions,
  parseOwnAttempt,
  type OwnAttempt,
} from '../../core/compaction/own-compactions.js';
import { unrecordedCompaction } from '../../core/compaction/shortened-session.js';
import type { Millis } from '../../core/reading.js';
import { shortIdAmong } from '../../core/shown-conversation.js';
import { openSettingsFiles } from '../../storage/agent-file-reader.js';
import { readAudit } from '../../storage/log-file.js';
import { problemAt, type StoreProblem } from '../../storage/session-store.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { readLook, type Look } from '../../core/look.js';
import { wrapText } from '../../ui/text.js';
import { readKeptCounts } from '../../session-files/read-receipt.js';
import { longerSession, type LongerSession } from '../../session-files/shortened-from.js';
import { readHistory, type ReadSession, type SessionSource } from '../../session-files/read-history.js';
import { agentFromOption } from '../agent-option.js';
import { countsText, historyText } from '../history-text.js';
import { findTargets, type HistoryTarget } from '../history-targets.js';
import * as messages from '../messages.js';
import { print, workingFolder, printLines } from '../print.js';
import type { HistoryRequest } from '../define/history.js';
import type { Options } from '../request.js';
import type { Outcome } from '../session.js';
import { byteProgress, widthOfOutput } from '../text.js';
import {
  jsonText,
  joinPrintable,
  type Printable,
  type Styled,
  toPrintableText,
} from '../../core/printable.js';

const WIDEST = 160; // columns; longer lines are hard to read
const CHART_ROWS = 8;

/** `ctxwrap history`: the compactions of all sessions, or of those that are named. */
export const history = async (request: HistoryRequest): Promise<Outcome> => {
  const search = await openSearch(request.options);
  const { targets, skipped } = await findTargets(request.targets, search);
  const read: ReadSession[] = [];
  const problems = [...skipped];
  const readAll = readTargets(targets, search, {
    ...request,
    withKept: request.full,
    onProblem: (problem) => problems.push(problem),
  });
  for await (const each of readAll) {
    const isListed = each.history.compactions.length > 0;
    if (!request.ndjson) read.push(each);
    else if (isListed && !(await print(linesOf(each.history)))) break;
  }
  const sessions = read.map((each) => each.history);
  if (request.json) await print(jsonOf(sessions, problems, request));
  else if (!request.ndjson) await printLines(await linesFor(read, request));
  return { status: { kind: 'code', code: 0 }, notices: noticesOf(sessions, problems) };
};

const linesOf = (session: SessionHistory): Printable =>
  joinPrintable(session.compactions.toReversed().map((each) => jsonText(historyRecord(session, each))));

const jsonOf = (
  sessions: readonly SessionHistory[],
  skipped: readonly StoreProblem[],
  { targets }: HistoryRequest,
): Printable => {
  const shown = sessions.filter(
    ({ compactions, damagedLines }) => targets.length > 0 || compactions.length > 0 || damagedLines > 0,
  );
  const text = jsonText(
    {
      schema: 'ctxwrap.history/1',
      sessions: shown.map(sessionHistoryRecord),
      skipped: skipped.map(({ path, reason, isLimit }) => ({
        path,
        reason: isLimit ? `left out: ${reason}` : reason,
      })),
    },
    2,
  );
  return toPrintableText(text.replace(NUMBERS, (list) => list.replace(/\s+/g, ' ')));
};

/** A list of numbers over several lines; a string in JSON has no newline of its own. */
const NUMBERS = /\[\n\s+\d+(?:,\n\s+\d+)*\n\s+\]/g;

const linesFor = async (
  read: readonly ReadSession[],
  { full, options }: HistoryRequest,
): Promise<readonly Styled[]> => {
  const { env, stdout } = process;
  const columns = Math.min(WIDEST, widthOfOutput());
  const look = readLook({ env, isTTY: stdout.isTTY, columns, theme: options.values.theme });
  const sessions = read.map((each) => each.history);
  const count = sessions.reduce((sum, { compactions }) => sum + compactions.length, 0);
  const view = { look, home: homeFolder(env), isFull: full, charts: await chartsOf(read, look) };
  const rows = historyText(sessions, view);
  return [...rows, ...(rows.length > 0 ? [''] : []), ...wrapText(countsText(sessions, count), columns)];
};

const chartsOf = async (
  read: readonly ReadSession[],
  look: Look,
): Promise<ReadonlyMap<SessionHistory, readonly Styled[]>> => {
  const charts = new Map<SessionHistory, readonly Styled[]>();
  const wanted = read.filter(({ usage, history: { compactions } }) => usage && compactions.length > 0);
  if (wanted.length === 0) return charts;
  const { renderReport } = await import('../../ui/Report.js');
  for (const { usage, history: session } of wanted)
    if (usage && usage.history.samples.length > 0)
      charts.set(
        session,
        renderReport(
          { sections: [{ usage: { history: usage.history, now: usage.until, marks: [] }, rows: [] }] },
          look,
          CHART_ROWS,
        ).map((row) => ({ printable: row })),
      );
  return charts;
};

const MOST_NOTICES = 5;

const noticesOf = (
  sessions: readonly SessionHistory[],
  problems: readonly StoreProblem[],
): readonly string[] => {
  const damaged = sessions
    .filter(({ damagedLines }) => damagedLines > 0)
    .map(({ path, damagedLines }) => messages.damagedLines(path, damagedLines));
  const leftOut = problems.filter(({ isLimit }) => isLimit);
  const skipped = problems.filter(({ isLimit }) => !isLimit);
  const all = [...[...leftOut, ...skipped].map(messages.skippedFile), ...damaged];
  const more = all.length - MOST_NOTICES;
  return more > 0 ? [...all.slice(0, MOST_NOTICES), messages.moreSkipped(more)] : all;
};

// What several commands need to read past sessions.

/** Where and for whom sessions are looked for. */
export interface Search {
  /** those with files that can be read */
  readonly agents: readonly Agent[];
  readonly where: AgentFolders;
  readonly stateFolder: string;
  /** the agent that the user has named */
  readonly asked?: Agent | undefined;
  /** ctxwrap's own attempts to compact */
  readonly attempts: readonly OwnAttempt[];
}

export const openSearch = async ({ runtime, configured }: Options): Promise<Search> => {
  const { env } = process;
  const asked = await agentFromOption(runtime, configured?.runtimes);
  if (asked && !asked.log) throw messages.unfollowedAgent(asked.name);
  const home = homeFolder(env);
  const folder = stateFolder(env, home);
  const lines = await readAudit(folder);
  return {
    agents: asked ? [asked] : allAgents(configured?.runtimes).filter(({ log }) => log !== undefined),
    where: { env, home, cwd: workingFolder() },
    stateFolder: folder,
    asked,
    attempts: lines.flatMap((line) => parseOwnAttempt(line) ?? []),
  };
};

export interface ReadRequest {
  readonly full: boolean;
  readonly chart: boolean;
  /** also how much of the evidence each compaction has kept, for which the file is read once more */
  readonly withKept?: boolean;
  readonly project?: string;
  readonly since?: Millis;
  readonly onProblem: (problem: StoreProblem) => void;
}

// Reading leaves much garbage that lives for one line. V8 would let it grow to twice 16 MB; kept small, it takes 25 MB less and no more time.
// All versions of Node from 20 to 26 know the flag.
const keepGarbageSmall = (): void => setFlagsFromString('--semi-space-growth-factor=1');

/** Reads one session after the other, with a progress bar in a terminal; what cannot be read is a problem and no error. */
export async function* readTargets(
  targets: readonly HistoryTarget[],
  search: Search,
  request: ReadRequest,
): AsyncGenerator<ReadSession> {
  const { since = -Infinity, onProblem } = request;
  keepGarbageSmall();
  const folders = request.project === undefined ? undefined : await foldersOf(request.project);
  const wanted = targets.filter(({ source }) => source.modifiedAt >= since);
  const reported = new Set<string>(); // the sessions of a database share its path, and its limits
  const tell = (problem: StoreProblem): void => {
    const key = `${problem.path}\n${problem.reason}`;
    if (!problem.isLimit || !reported.has(key)) onProblem(problem);
    reported.add(key);
  };
  const progress = byteProgress(wanted.reduce((sum, { source }) => sum + source.size, 0));
  try {
    for (const target of wanted) {
      try {
        const read = await readTarget(target, search, { request, folders, onBytes: progress.add });
        if (read?.leftOut !== undefined)
          tell({ path: target.source.path, reason: read.leftOut, isLimit: true });
        if (read) yield within(read, target, since);
      } catch (error) {
        tell(problemAt(target.source.path, error));
      }
    }
  } finally {
    progress.clear();
  }
}

interface TargetReading {
  readonly request: ReadRequest;
  readonly folders: readonly string[] | undefined;
  readonly onBytes: (count: number) => void;
}

const readTarget = async (
  { source, isWanted }: HistoryTarget,
  search: Search,
  { request: { full: isFull, chart: withUsage, withKept = false }, folders, onBytes }: TargetReading,
): Promise<ReadSession | undefined> => {
  const project = await projectOf(source);
  const longer = longerSession(source, search);
  const isInFolder = (found: string | undefined): boolean =>
    folders === undefined || folders.some((folder) => isWithin(found ?? project ?? '', folder));
  const read = await readHistory(source, {
    isFull,
    withUsage,
    onBytes,
    isWanted: (session) => isInFolder(session.project) && isWanted(session),
    now: source.modifiedAt,
    writtenAt: longer?.at,
  });
  if (!read) return undefined;
  const { history: session } = read;
  const marked = withOwnCompactions(read, search.attempts);
  const compactions = withKept ? await withKeptCounts(marked, source, longer) : marked;
  const known = session.project ?? project;
  return {
    ...read,
    history: { ...session, ...(known === undefined ? {} : { project: known }), compactions },
  };
};

/** Also the one by which ctxwrap has written the session, where the agent's file has no record of it. */
const withOwnCompactions = (
  { history: session, nextTokens }: ReadSession,
  attempts: readonly OwnAttempt[],
): readonly RecordedCompaction[] =>
  markOwnCompactions(session.compactions, attempts, session, (written) =>
    unrecordedCompaction(written, nextTokens),
  );

const withKeptCounts = async (
  compactions: readonly RecordedCompaction[],
  source: SessionSource,
  longer: LongerSession | undefined,
): Promise<readonly RecordedCompaction[]> => {
  if (compactions.length === 0) return compactions;
  const counts = await readKeptCounts(source, longer);
  return compactions.map((each) => {
    const kept = counts.get(each.line);
    return kept ? { ...each, ...kept } : each;
  });
};

const projectOf = async ({ agent, path }: SessionSource): Promise<string | undefined> =>
  agent.home?.projectOf?.(openSettingsFiles(), path);

const within = (read: ReadSession, { number }: HistoryTarget, since: Millis): ReadSession => {
  const { history: session } = read;
  const compactions = session.compactions.filter(
    (each) => each.at >= since && (number === undefined || each.number === number),
  );
  return { ...read, history: { ...session, compactions } };
};

/** As it is given, and behind links: agents record one or the other. */
const foldersOf = async (given: string): Promise<readonly string[]> => {
  const path = resolve(workingFolder(), given);
  return [path, await realpath(path).catch(() => path)];
};

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

export interface OneSession {
  readonly source: SessionSource;
  readonly session: SessionHistory;
}

export interface LastWritten extends OneSession {
  /** the beginning of its id that means it alone; its path, where it has no id */
  readonly name: string;
}

export const hasCompaction = ({ compactions }: SessionHistory): boolean => compactions.length > 0;

/** Of all sessions that are recorded, the one written last that is wanted. */
export const lastWritten = async (
  search: Search,
  isWanted: (session: SessionHistory) => boolean,
): Promise<LastWritten | undefined> => {
  const { targets } = await findTargets([], search); // the one written last comes first
  const idOf = ({ agent, path, idInDatabase }: SessionSource): string =>
    idInDatabase ?? idInPath(agent.home, path);
  for (const target of targets) {
    const { source } = target;
    const onProblem = (): void => undefined; // another one may be readable
    for await (const { history: session } of readTargets([target], search, {
      full: true,
      chart: false,
      onProblem,
    }))
      if (isWanted(session)) {
        const others = targets.flatMap((each) => (each === target ? [] : idOf(each.source)));
        const { sessionId, path } = session;
        return {
          source,
          session,
          name: sessionId === undefined ? path : shortIdAmong(sessionId, others),
        };
      }
  }
  return undefined;
};
