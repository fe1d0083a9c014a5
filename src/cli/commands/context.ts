import { realpath, stat } from 'node:fs/promises';
import { contextRecord, contextReport } from '../../core/context-report.js';
import type { ContextReport } from '../../core/context-report.js';
import { provenance, sessionLadder } from '../../core/provenance.js';
import { readingRecord } from '../../core/reading-record.js';
import { thresholdsOf } from '../../core/thresholds.js';
import { footerView } from '../../core/view.js';
import { runtimes } from '../../runtimes/index.js';
import type { Runtime } from '../../runtimes/runtime.js';
import { openRegular } from '../../storage/regular-file.js';
import { homeFolder } from '../../storage/home-folder.js';
import { listSessions } from '../../storage/session-records.js';
import type { ListedSession } from '../../storage/session-records.js';
import { stateFolder } from '../../storage/state-folder.js';
import { reasonOf } from '../../storage/unwritable.js';
import { readSessionFile, runtimeOfFile } from '../../wrap/observing/read-session-file.js';
import type { ReadSession } from '../../wrap/observing/read-session-file.js';
import { allRuntimes } from '../all-runtimes.js';
import { contextText } from '../context-text.js';
import { jsonText } from '../json-text.js';
import { ladderChoice } from '../ladder-choice.js';
import * as messages from '../messages.js';
import { widthOfOutput } from '../output-width.js';
import { paintFor } from '../paint.js';
import type { ContextRequest } from '../request.js';
import { runtimeFromOption } from '../runtime-option.js';
import { drawnFor } from '../signs.js';
import { findSession, namesOf, onlySession } from '../session-argument.js';

/** `ctxwrap context`: how full the window of a session is, and what fills it. */
export const context = async (request: ContextRequest): Promise<string> => {
  const report = await reportOf(request);
  if (request.json) return jsonText(contextRecord(report), 2);
  const paint = paintFor(process.stdout.isTTY, process.env);
  const lines = contextText(report, { width: widthOfOutput(), paint });
  return drawnFor(`${lines.join('\n')}\n`, process.env);
};

const reportOf = async (request: ContextRequest): Promise<ContextReport> => {
  const { env } = process;
  const { target } = request;
  const list = () => listSessions(stateFolder(env, homeFolder(env)), Date.now());
  if (target === undefined) return sessionReport(onlySession(await list()), request);
  const exists = await stat(target).then(
    () => true,
    (error: unknown) => !(error instanceof Error && 'code' in error && error.code === 'ENOENT'),
  );
  // a file can be read although the sessions cannot
  const sessions = exists ? await list().catch(() => []) : await list();
  const session = findSession(sessions, target);
  if (session) return sessionReport(session, request);
  if (!exists) throw messages.unknownSession(target, namesOf(sessions));
  return fileReport(target, request);
};

const runtimeNamed = (name: string, { options }: ContextRequest): Runtime | undefined =>
  allRuntimes(options.configured?.runtimes).find((each) => each.name === name);

/** Numbers as the wrapper has them; the session file adds what only it holds. */
const sessionReport = async (
  { record, liveness }: ListedSession,
  request: ContextRequest,
): Promise<ContextReport> => {
  const { id, pid, logPath, reading, note, agentSessionId } = record;
  const runtime = runtimeNamed(record.runtime, request);
  const file =
    logPath === undefined || !runtime?.log
      ? undefined
      : await readFile(logPath, runtime, request).catch(() => undefined);
  const seen = file && provenance(file.state, Date.now());
  const windowTokens = reading?.windowTokens;
  return contextReport({
    runtime: record.runtime,
    session: { id, pid, liveness },
    agentSessionId,
    path: logPath,
    reading,
    note,
    // the file may be a turn ahead or behind
    cachedTokens: seen && seen.usedTokens === reading?.usedTokens ? seen.cachedTokens : undefined,
    thresholds: record.thresholds,
    ownLadder: windowTokens === undefined ? undefined : runtime?.ownLadder?.(windowTokens),
    compactions: file?.compactions ?? [],
    toolResults: file?.toolResults ?? [],
  });
};

const fileReport = async (given: string, request: ContextRequest): Promise<ContextReport> => {
  const path = await readablePath(given);
  const asked = await runtimeFromOption(request.options.runtime, request.options.configured?.runtimes);
  const recognised = await runtimeOfFile(path, Object.values(runtimes));
  const runtime = asked ?? recognised;
  if (!runtime) throw messages.unknownFile(given);
  if (!runtime.log) throw messages.unfollowedAgent(runtime.name);
  const { state, compactions, toolResults } = await readFile(path, runtime, request);
  const now = Date.now();
  const reading = readingRecord(state, now);
  // without a number it may be a session before its first answer, or no session of this agent at all
  const isOther = runtime.log.recognises !== undefined && recognised !== runtime;
  if (!reading && compactions.length === 0 && isOther)
    throw messages.othersFile(given, runtime.name, recognised?.name);
  const windowTokens = reading?.windowTokens;
  return contextReport({
    runtime: runtime.name,
    path,
    reading,
    note: footerView(state, now).note,
    cachedTokens: provenance(state, now)?.cachedTokens,
    thresholds: thresholdsOf(sessionLadder(state)),
    ownLadder: windowTokens === undefined ? undefined : runtime.ownLadder?.(windowTokens),
    compactions,
    toolResults,
  });
};

const readFile = (path: string, runtime: Runtime, { options }: ContextRequest): Promise<ReadSession> =>
  readSessionFile({
    path,
    runtime,
    env: {}, // a file may be another machine's, or of another day: this shell's settings are not its agent's
    windowTokens: options.window,
    ladder: ladderChoice(options),
    now: Date.now(),
  });

const packers: readonly { readonly mark: Buffer; readonly unpack: string }[] = [
  { mark: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), unpack: 'zstd -dc' },
  { mark: Buffer.from([0x1f, 0x8b]), unpack: 'gzip -dc' },
];

/** The file itself behind any links; throws what is wrong with it. */
const readablePath = async (given: string): Promise<string> => {
  try {
    const path = await realpath(given);
    const stats = await stat(path);
    if (stats.isDirectory()) throw messages.unreadableFile(given, 'it is a folder');
    if (!stats.isFile()) throw messages.unreadableFile(given, 'it is no regular file');
    const file = await openRegular(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
      if (bytesRead === 0) throw messages.unreadableFile(given, 'it is empty');
      const packer = packers.find(({ mark }) => buffer.subarray(0, mark.length).equals(mark));
      if (packer) throw messages.compressedFile(given, packer.unpack);
    } finally {
      await file.close();
    }
    return path;
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw messages.unreadableFile(given, reasonOf(error));
    throw error;
  }
};
