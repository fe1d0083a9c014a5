import { realpathSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { errorCode, LimitError } from '../../core/errors.js';
import type { Agent } from '../../agents/agent.js';
import { type AgentFolders, idInPath } from '../../agents/home.js';
import { agents, allAgents } from '../../agents/index.js';
import type { OwnCompaction } from '../../agents/own-compaction.js';
import { ladderChoice } from '../../core/config/keys.js';
import {
  markOwnCompactions,
  parseOwnAttempt,
  type SessionFileId,
} from '../../core/compaction/own-compactions.js';
import { unrecordedSizes } from '../../core/compaction/shortened-session.js';
import type { KnownAgent } from '../../core/config/check.js';
import {
  contextRecord,
  contextReport,
  type ContextReport,
  type PastCompaction,
} from '../../core/report/context-report.js';
import type { SessionRecord } from '../../core/report/records.js';
import { isGuessedWindow } from '../../core/reading.js';
import { rememberedWindows } from '../../core/report/model-uses.js';
import { footerView } from '../../core/footer-view.js';
import type { OwnLadder, Threshold } from '../../core/ladder.js';
import { provenance, sessionThresholds, readingRecord } from '../../core/report/report.js';
import { openSettingsFiles } from '../../storage/agent-file-reader.js';
import { systemReason } from '../../storage/errors.js';
import { openRegular } from '../../storage/files.js';
import { findCommand } from '../../storage/find-command.js';
import { readAudit } from '../../storage/log-file.js';
import { readModelUses } from '../../storage/model-uses.js';
import { canUnpack, readStored } from '../../storage/session-store.js';
import { listSessions, type ListedSession } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { readLook } from '../../core/look.js';
import type { SessionSource } from '../../session-files/read-history.js';
import type { RecordSource } from '../../session-files/session-records.js';
import { runningSource, sourcesAt } from '../../session-files/session-sources.js';
import {
  readSessionFile,
  agentOfFile,
  type SessionFileSummary,
} from '../../session-files/read-session-file.js';
import { contextSections } from '../context-text.js';
import * as messages from '../messages.js';
import { print, workingFolder } from '../print.js';
import { findOneSource } from '../one-source.js';
import type { ContextRequest } from '../define/context.js';
import type { Outcome } from '../session.js';
import { agentFromOption } from '../agent-option.js';
import { openSearch } from './history.js';
import { widthOfOutput } from '../text.js';
import { shortId } from '../../core/shown-conversation.js';
import { jsonText, joinPrintable, own, type Printable } from '../../core/printable.js';
import {
  findSession,
  isThere,
  hasBegun,
  isLastUnwrapped,
  lastSession,
  shortIdOf,
} from '../session-argument.js';

const WIDEST = 100; // columns; longer lines are hard to read

/** `ctxwrap context`: how full a session's window is, and what fills it. */
export const context = async (request: ContextRequest): Promise<Outcome> => {
  const found = await reportOf(request);
  const { unread } = found;
  await print(await printedReport(found, request));
  return { status: { kind: 'code', code: 0 }, notices: unread === undefined ? [] : [unread] };
};

const printedReport = async (
  { report, name = report.agentSessionId && shortId(report.agentSessionId) }: Found,
  request: ContextRequest,
): Promise<Printable> => {
  if (request.json) return jsonText(contextRecord(report), 2);
  const { renderReport } = await import('../../ui/Report.js');
  const columns = Math.min(WIDEST, widthOfOutput());
  const rows = renderReport(
    contextSections(report, name),
    readLook({ env: process.env, isTTY: process.stdout.isTTY, columns }),
  );
  return own`${joinPrintable(rows, own`\n`)}\n`;
};

interface Found {
  readonly report: ContextReport;
  /** the id of the session, as `ctxwrap ps` shows it */
  readonly name?: string | undefined;
  /** why the agent's own records add nothing, or which source replaced them */
  readonly unread?: string | undefined;
}

const reportOf = async (request: ContextRequest): Promise<Found> => {
  const { env } = process;
  const { target } = request;
  const list = () => listSessions(stateFolder(env, homeFolder(env)), Date.now());
  if (target === undefined) {
    const all = await list();
    // of a session that ctxwrap has wrapped the last numbers are known also without its file
    const isUnwrapped = isLastUnwrapped(all) && !all.some(hasBegun);
    return isUnwrapped ? namedReport(undefined, all, request) : sessionReport(lastSession(all), all, request);
  }
  const exists = await stat(target).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  );
  // the files of sessions can be read even when the list of sessions cannot
  let unlisted: unknown;
  const sessions = await list().catch((error: unknown) => {
    unlisted = error;
    return [];
  });
  const session = findSession(sessions, target);
  if (session) return sessionReport(session, sessions, request);
  if (exists) return { report: await fileReport(target, request) };
  return namedReport(target, sessions, request).catch((error: unknown) => {
    throw unlisted ?? error;
  });
};

/** A session by the agent's id of its conversation, or the beginning of that; without it the last one. Throws where it means none, or several. */
const namedReport = async (
  target: string | undefined,
  sessions: readonly ListedSession[],
  request: ContextRequest,
): Promise<Found> => {
  const { options } = request;
  const words = { command: 'context', none: messages.noSession, last: 'any' } as const;
  const found = await findOneSource({ target, options }, await openSearch(options), words);
  const { source, number, session, notice } = found;
  if (number !== undefined) throw messages.namesCompaction(target ?? '', 'context');
  if (session) return sessionReport(session, sessions, request);
  const open = source.open ?? (() => readStored(source.path));
  const isKept = source.open !== undefined && source.idInDatabase === undefined;
  try {
    const report = await sourceReport({ ...source, open }, request);
    return {
      report,
      name: shortId(idInPath(source.agent.home, source.path)) || undefined,
      unread: notice ?? (isKept ? messages.readFromCopy(source.path) : undefined),
    };
  } catch (error) {
    throw messages.unreadableSession(target ?? source.path, systemReason(error));
  }
};

const folders = (): AgentFolders => {
  const { env } = process;
  return { env, home: homeFolder(env), cwd: workingFolder() };
};

const agentNamed = (name: string, { options }: ContextRequest): Agent | undefined =>
  allAgents(options.configured?.runtimes).find((each) => each.name === name);

/** The wrapper's own numbers, plus what only the session file holds. */
const sessionReport = async (
  session: ListedSession,
  all: readonly ListedSession[],
  request: ContextRequest,
): Promise<Found> => {
  const { record, liveness } = session;
  const { id, pid, logPath, reading, note, agentSessionId } = record;
  const agent = agentNamed(record.runtime, request);
  let unread: string | undefined;
  const file =
    agent &&
    (await readRunning(agent, record, request).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') unread = messages.unreadRecords(agent.name, systemReason(error));
      else if (!isThere(session)) unread = messages.goneSessionFile; // otherwise it comes with the first message
      return undefined;
    }));
  const seen = file && provenance(file.state, Date.now());
  const isNew = unread === undefined && !record.compactions;
  const known = file ?? (isNew ? { compactions: [], toolResults: [] } : undefined);
  const report = contextReport({
    runtime: record.runtime,
    session: { id, pid, liveness },
    agentSessionId,
    path: logPath,
    reading,
    note,
    // the file may be a turn ahead of or behind the wrapper
    cachedTokens: seen && seen.usedTokens === reading?.usedTokens ? seen.cachedTokens : undefined,
    thresholds: record.thresholds,
    ownLadder: agent && ownLadder(agent, reading, record.thresholds),
    compactions:
      known &&
      (await named(known.compactions, {
        runtime: record.runtime,
        path: logPath ?? '',
        sessionId: agentSessionId,
      })),
    filled: file?.filled,
    toolResults: known?.toolResults,
  });
  return { report, unread, name: shortIdOf(all, session) };
};

const readRunning = async (
  agent: Agent,
  { logPath, agentSessionId, cwd }: SessionRecord,
  request: ContextRequest,
): Promise<SessionFileSummary | undefined> => {
  const known = { path: logPath, sessionId: agentSessionId };
  const source = agent.log && (await runningSource(agent, { ...folders(), cwd }, known));
  return source && readSource(source, request);
};

/**
 * Marks the compactions that ctxwrap started, since the session file knows only that someone asked; with the one by which ctxwrap has written
 * the session, where the agent's file has no record of it.
 */
const named = async (
  compactions: readonly PastCompaction[],
  file: SessionFileId,
): Promise<readonly PastCompaction[]> => {
  const { env } = process;
  const lines = await readAudit(stateFolder(env, homeFolder(env)));
  const attempts = lines.flatMap((line) => parseOwnAttempt(line) ?? []);
  return markOwnCompactions<PastCompaction>(compactions, attempts, file, (written) =>
    unrecordedSizes(written),
  );
};

const fileReport = async (given: string, request: ContextRequest): Promise<ContextReport> => {
  const path = await readablePath(given);
  const asked = await agentFromOption(request.options.runtime, request.options.configured?.runtimes);
  const writer = asked?.log ? asked : Object.values(agents).find(({ log }) => log?.database);
  const cannotRead = (error: unknown): never => {
    const isOfFile = error instanceof LimitError || errorCode(error) !== undefined;
    throw isOfFile ? messages.unreadableFile(given, systemReason(error)) : error;
  };
  if (writer?.log?.database && (await isDatabase(path).catch(cannotRead)))
    return databaseReport(given, path, writer, request);
  const recognised = await agentOfFile(path, Object.values(agents)).catch(cannotRead);
  const agent = asked ?? recognised;
  if (!agent) throw messages.unknownFile(given);
  if (!agent.log) throw messages.unfollowedAgent(agent.name);
  const report = await sourceReport({ path, agent, open: () => readStored(path) }, request).catch(cannotRead);
  // a file without a number may be a session before its first answer, or no session of this agent
  const isOther = agent.log.recognises !== undefined && recognised !== agent;
  if (!report.reading && report.compactions?.length === 0 && isOther)
    throw messages.otherAgentsFile(given, agent.name, recognised?.name);
  return report;
};

/** Reports the only session in a database; with several, the user has to name one by its id. */
const databaseReport = async (
  given: string,
  path: string,
  agent: Agent,
  request: ContextRequest,
): Promise<ContextReport> => {
  const { sources, skipped } = await sourcesAt({ path, asked: agent, agents: [agent], where: folders() });
  const [source, ...others] = sources;
  const reason = skipped[0]?.reason ?? 'no session is in it';
  if (!source?.open) throw messages.unreadableFile(given, reason);
  if (others.length > 0)
    throw messages.severalFiles(
      given,
      sources.flatMap(({ idInDatabase }) => idInDatabase ?? []),
    );
  return sourceReport({ ...source, open: source.open }, request);
};

const sourceReport = async (
  source: RecordSource & Pick<SessionSource, 'idInDatabase'>,
  request: ContextRequest,
): Promise<ContextReport> => {
  const { agent, path, idInDatabase: sessionId } = source;
  const { state, compactions, filled, toolResults } = await readSource(source, request);
  const now = Date.now();
  const reading = readingRecord(state, now);
  const thresholds = sessionThresholds(state);
  return contextReport({
    runtime: agent.name,
    ...(sessionId === undefined ? {} : { agentSessionId: sessionId }),
    path,
    reading,
    note: footerView(state, now).note,
    cachedTokens: provenance(state, now)?.cachedTokens,
    thresholds,
    ownLadder: ownLadder(agent, reading, thresholds),
    compactions: await named(compactions, { runtime: agent.name, path, sessionId }),
    filled,
    toolResults,
  });
};

/** The agent's own boundaries; only for its own window, not for one the user has set. */
const ownLadder = (
  agent: Agent,
  reading: ContextReport['reading'],
  thresholds: readonly Threshold[],
): OwnLadder | undefined => {
  const { windowTokens, windowSource } = reading ?? {};
  if (windowTokens === undefined || windowSource === 'user' || isGuessedWindow(windowSource))
    return undefined;
  const native = thresholds.find(({ name }) => name === 'native');
  return agent.ownLadder?.(windowTokens, native?.value);
};

const readSource = async (source: RecordSource, { options }: ContextRequest): Promise<SessionFileSummary> => {
  const { env, home } = folders();
  return readSessionFile({
    ...source,
    env: {}, // the file may come from another machine or day, so this shell's settings do not apply
    windowTokens: options.values.window,
    ladder: ladderChoice(options.values),
    remembered: rememberedWindows(await readModelUses(stateFolder(env, home)), source.agent.name),
    now: Date.now(),
  });
};

const SQLITE = Buffer.from('SQLite format 3\0');

const isDatabase = async (path: string): Promise<boolean> => {
  for await (const chunk of readStored(path)) return chunk.subarray(0, SQLITE.length).equals(SQLITE);
  return false;
};

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** The file behind any links. Throws when it cannot be read. */
const readablePath = async (given: string): Promise<string> => {
  try {
    const path = await realpath(given);
    const stats = await stat(path);
    if (stats.isDirectory()) throw messages.unreadableFile(given, 'it is a folder');
    if (!stats.isFile()) throw messages.unreadableFile(given, 'it is not a regular file');
    const file = await openRegular(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
      if (bytesRead === 0) throw messages.unreadableFile(given, 'it is empty');
      if (buffer.equals(ZSTD) && !canUnpack('.zst')) throw messages.compressedFile(given);
    } finally {
      await file.close();
    }
    return path;
  } catch (error) {
    if (errorCode(error) !== undefined) throw messages.unreadableFile(given, systemReason(error));
    throw error;
  }
};

// Where the installed agents compact by themselves, according to their own settings for this folder.

/** The settings as a session started here without arguments would have them. */
export const readOwnCompaction = async (agent: Agent, place: AgentFolders): Promise<OwnCompaction> =>
  (await agent.ownCompaction?.read(openSettingsFiles(), { ...place, args: [] })) ?? {
    trigger: agent.nativeTrigger(place.env),
    settings: [],
  };

/** The installed agents that compact by themselves; when none is installed, the first one in the table, as an example. */
export const compactingAgents = async (
  agents: readonly Agent[],
  place: AgentFolders,
): Promise<readonly KnownAgent[]> => {
  const search = { path: place.env['PATH'], self: realpathSync(process.argv[1] ?? '') };
  const known = agents.filter(({ home }) => home !== undefined);
  const there = known.filter(({ command = '' }) => findCommand(command, search).kind === 'found');
  const found = await Promise.all(
    (there.length > 0 ? there : known.slice(0, 1)).map(async (agent): Promise<readonly KnownAgent[]> => {
      const { trigger } = await readOwnCompaction(agent, place);
      const { name, home } = agent;
      return trigger && home ? [{ name, usualTokens: home.usualWindowTokens, trigger }] : [];
    }),
  );
  return found.flat();
};
