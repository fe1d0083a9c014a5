import { posix } from 'node:path';
import {
  getCount,
  parseRecord,
  getText,
  type JsonRecord,
  isRecord,
  getList,
  getRecord,
} from '../../core/json.js';
import { isSessionId } from '../../core/report/session-id.js';
import type { FileEntry, FilePort, Located, ChildPlace, AgentStatus } from '../agent.js';
import { chatFile } from '../gemini-family.js';
import type { AgentFolders, SessionFileKind } from '../home.js';
import { chooseAskedFile, CLOCK_SLACK_MS } from '../files.js';

// Where Qwen Code keeps its session files (docs/facts/qwen.md#session-files): <runtime folder>/projects/<cwd>/chats/<session>.jsonl. Two
// files tell a process's session: `sessions/<pid>.json` and, also in older versions, `chats/<session>.runtime.json`. Versions before 0.16
// have neither and keep no file open: there it is the file with the user's message.

const RUNTIME_FILE = /^[A-Za-z0-9_-]{1,64}\.runtime\.json$/;
const CHAT_FILE = /^[A-Za-z0-9_-]{1,64}\.jsonl$/;
const MOST_RUNTIME_FILES = 50;
const MOST_CHATS = 20; // with more files than this that grew since the start, no guess is made

interface Said {
  readonly sessionId: string;
  readonly cwd: string;
}

/**
 * The session named by the child's own file, which follows `/clear`, `/resume` and `/cd`; without one, the chat with the user's message.
 */
export const locateQwen = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const family = await port.family(place.childPid);
  const session = (await registered(port, place, family)) ?? (await besideChats(port, place, family));
  if (!session) return chooseAskedFile(port, place, await grownChats(port, place), { isPrompt, idOf });
  const path = posix.join(chatsFolder(place, session.cwd), `${session.sessionId}.jsonl`);
  const isThere = (await port.entry(path)) !== undefined;
  return { sessionId: session.sessionId, certain: true, ...(isThere ? { path } : {}) };
};

const registered = async (
  port: FilePort,
  place: ChildPlace,
  family: readonly number[],
): Promise<Said | undefined> => {
  for (const pid of family) {
    const text = await port.smallText(posix.join(qwenFolder(place), 'sessions', `${pid}.json`));
    const record = parseRecord(text ?? '');
    const startedAt = getCount(record, 'startedAt') ?? 0;
    const session = sessionIn(record, place, { id: 'sessionId', cwd: 'cwd' });
    if (session && startedAt >= place.startedAt - CLOCK_SLACK_MS) return session;
  }
  return undefined;
};

const besideChats = async (
  port: FilePort,
  place: ChildPlace,
  family: readonly number[],
): Promise<Said | undefined> => {
  const files = await port.list(chatsFolder(place, place.cwd), (name) => RUNTIME_FILE.test(name));
  const newest = files
    .filter((file) => file.modifiedAt >= place.startedAt - CLOCK_SLACK_MS)
    .toSorted((a, b) => b.modifiedAt - a.modifiedAt)
    .slice(0, MOST_RUNTIME_FILES);
  for (const file of newest) {
    const record = parseRecord((await port.smallText(file.path)) ?? '');
    const pid = getCount(record, 'pid');
    if (pid !== undefined && family.includes(pid))
      return sessionIn(record, place, { id: 'session_id', cwd: 'work_dir' });
  }
  return undefined;
};

/**
 * Chats of this folder that have grown since the child started, newest first: this session's, or those of other terminals that no process
 * claims.
 */
const grownChats = async (port: FilePort, place: ChildPlace): Promise<readonly FileEntry[]> => {
  const files = await port.list(
    chatsFolder(place, place.cwd),
    (name) => CHAT_FILE.test(name) || RUNTIME_FILE.test(name),
  );
  const claimed = files.map(({ path }) => path.replace(/\.runtime\.json$/, '.jsonl'));
  return files
    .filter(({ name, path }) => CHAT_FILE.test(name) && claimed.indexOf(path) === claimed.lastIndexOf(path))
    .filter((file) => file.modifiedAt >= place.startedAt)
    .toSorted((a, b) => b.modifiedAt - a.modifiedAt)
    .slice(0, MOST_CHATS);
};

const isPrompt = (record: JsonRecord): boolean => record['type'] === 'user' && record['isSidechain'] !== true;

const idOf = ({ name }: FileEntry): string => name.slice(0, -'.jsonl'.length);

const sessionIn = (
  record: JsonRecord | undefined,
  place: ChildPlace,
  names: { readonly id: string; readonly cwd: string },
): Said | undefined => {
  const sessionId = getText(record, names.id);
  if (sessionId === undefined || !isSessionId(sessionId)) return undefined;
  return { sessionId, cwd: getText(record, names.cwd) ?? place.cwd };
};

/** `<project>/chats/<session>.jsonl` */
export const sessionFile = (relativePath: string): SessionFileKind | undefined =>
  chatFile(relativePath, CHAT_FILE);

const chatsFolder = (place: ChildPlace, cwd: string): string =>
  posix.join(qwenRuntimeFolder(place), 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'), 'chats');

export const qwenRuntimeFolder = (place: AgentFolders): string =>
  absolute(place.env['QWEN_RUNTIME_DIR'], place) ?? qwenFolder(place);

export const qwenFolder = (place: AgentFolders): string =>
  absolute(place.env['QWEN_HOME'], place) ?? posix.join(place.home, '.qwen');

const absolute = (folder: string | undefined, { cwd, home }: AgentFolders): string | undefined => {
  if (!folder) return undefined;
  if (folder === '~' || folder.startsWith('~/')) return posix.join(home, folder.slice(1));
  return posix.resolve(cwd, folder);
};

// What a Qwen session file says about the agent's activity. A turn begins with the user's message and ends with an answer that calls no
// tool, or with a refused tool. A turn cancelled before its answer leaves no trace, so then nothing is known.

const TELLING = /"(?:assistant|user|tool_result|slash_command)"/;
const BUSY: AgentStatus = { state: 'busy' };
const IDLE: AgentStatus = { state: 'idle' };

/** `busy` from the user's message, `idle` from the last answer. */
export const parseStatus = (line: string): AgentStatus | undefined => {
  if (!TELLING.test(line)) return undefined;
  const record = parseRecord(line);
  if (!record || record['isSidechain'] === true) return undefined;
  switch (record['type']) {
    case 'user':
      return BUSY;
    case 'assistant':
      return callsTool(record) ? BUSY : IDLE;
    case 'tool_result':
      return getText(getRecord(record, 'toolCallResult'), 'status') === 'cancelled' ? IDLE : BUSY;
    case 'system':
      return getText(getRecord(record, 'systemPayload'), 'phase') === 'result' ? IDLE : undefined;
    default:
      return undefined;
  }
};

const callsTool = (record: JsonRecord): boolean =>
  getList(getRecord(record, 'message'), 'parts').some(
    (part) => isRecord(part) && getRecord(part, 'functionCall') !== undefined,
  );

/**
 * Considers all files of this folder that have grown since the start, because any may be this session's: one that is busy or unclear
 * decides.
 */
export const readStatus = async (port: FilePort, place: ChildPlace): Promise<AgentStatus | undefined> => {
  const chats = await grownChats(port, place);
  if (chats.length === 0) return { state: 'new' };
  const states = await Promise.all(
    chats.map(async ({ path }) => lastStateIn((await port.lastPart(path)) ?? '')),
  );
  return states.find(({ state }) => state !== 'idle') ?? IDLE;
};

const lastStateIn = (text: string): AgentStatus => {
  const lines = text.split('\n');
  const isWhole = lines.at(-1) === '';
  return (isWhole ? lines.toReversed().map(parseStatus).find(Boolean) : undefined) ?? { state: 'unclear' };
};
