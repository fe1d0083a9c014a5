import { posix } from 'node:path';
import { parseRecord, getRecord, getText } from '../../core/json.js';
import { parseIsoTime } from '../../core/time.js';
import type { Millis } from '../../core/reading.js';
import type { FileEntry, FilePort, Located, ChildPlace, AgentStatus, SettingsPort } from '../agent.js';
import { chatFile } from '../gemini-family.js';
import type { AgentFolders, SessionFileKind } from '../home.js';

// Where Gemini CLI keeps its session files (docs/facts/gemini.md#session-files):
// ~/.gemini/tmp/<project>/chats/session-<minute>-<id8>.jsonl. It keeps no file open and has no pid file, so the newest matching file is the
// best guess.

// Old versions rewrite one .json document at each change.
const SESSION_FILE = /^session-.*\.jsonl?$/;
const SAFE_SLUG = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const MOST_CANDIDATES = 20;
const HISTORY_END = /\],"lastUpdated":"([^"]{1,40})"\}\}(?:\n|$)/g;

interface Chat {
  readonly file: FileEntry;
  readonly sessionId: string;
  readonly startedAt: Millis;
}

export const locateGemini = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const files = (
    await Promise.all((await projectFolders(port, place)).map((folder) => grownFiles(port, place, folder)))
  ).flat();
  const newest = files.toSorted((a, b) => b.modifiedAt - a.modifiedAt).slice(0, MOST_CANDIDATES);
  const chats = (await Promise.all(newest.map((file) => mainChat(port, file)))).filter(
    (chat) => chat !== undefined,
  );
  for (const chat of chats) {
    if (isOwn(chat, chats, place) || (await isRewritten(port, chat, place)))
      return {
        sessionId: chat.sessionId,
        path: chat.file.path,
        certain: false,
        writtenAt: chat.file.modifiedAt,
      };
  }
  const old = newest.find((file) => file.name.endsWith('.json'));
  return old && { sessionId: old.name, path: old.path, certain: false, writtenAt: old.modifiedAt };
};

// An older conversation that grows may be another terminal's, or may just have got its summary, which the next Gemini to start writes. One
// resumed on the command line counts as begun, because Gemini first makes a new file with the same session id.
const isOwn = (chat: Chat, chats: readonly Chat[], place: ChildPlace): boolean =>
  chat.file.path === place.currentPath ||
  chats.some((other) => other.sessionId === chat.sessionId && other.startedAt >= place.startedAt);

// `/resume` rewrites the whole history of the other conversation.
const isRewritten = async (port: FilePort, { file }: Chat, place: ChildPlace): Promise<boolean> => {
  const text = (await port.lastPart(file.path)) ?? '';
  return [...text.matchAll(HISTORY_END)].some(
    ([, time]) => (parseIsoTime(time ?? '') ?? 0) >= place.startedAt,
  );
};

/** `<project>/chats/session-*.jsonl`, or `.json` of old versions; subagents have a folder of their own below. */
export const sessionFile = (relativePath: string): SessionFileKind | undefined =>
  chatFile(relativePath, SESSION_FILE);

/** `session-<time>-<the first 8 characters of the id>.jsonl`; with the whole id where ctxwrap has written it */
export const idInPath = (path: string): string => IN_NAME.exec(posix.basename(path))?.[1] ?? '';

const IN_NAME = /-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^-]+)\.jsonl?$/;

/** Beside the chats lies a file with the folder's path; old versions named the folder by a hash and had none. */
export const projectOf = async (port: SettingsPort, path: string): Promise<string | undefined> => {
  const folder = posix.dirname(posix.dirname(path));
  const written = (await port.text(posix.join(folder, '.project_root')))?.trim();
  if (written) return written;
  const root = posix.dirname(posix.dirname(folder));
  const projects = getRecord(
    parseRecord((await port.text(posix.join(root, 'projects.json'))) ?? ''),
    'projects',
  );
  const name = posix.basename(folder);
  return Object.entries(projects ?? {}).find(([, slug]) => slug === name)?.[0];
};

/** The folders that it keeps about the project `cwd`: its chats, and its history of files. */
export const foldersOf = async (port: SettingsPort, where: AgentFolders): Promise<readonly string[]> => {
  const parents = ['tmp', 'history'].map((name) => posix.join(geminiFolder(where), name));
  const found = await Promise.all(
    parents.map(async (parent) =>
      (await port.names(parent))
        .filter((name) => SAFE_SLUG.test(name))
        .map((name) => posix.join(parent, name)),
    ),
  );
  const folders = found.flat();
  const roots = await Promise.all(folders.map((folder) => port.text(posix.join(folder, '.project_root'))));
  return folders.filter((_, index) => roots[index]?.trim() === where.cwd);
};

export const geminiFolder = ({ env, home }: AgentFolders): string =>
  posix.join(env['GEMINI_CLI_HOME'] || home, '.gemini');

const projectFolders = async (port: FilePort, place: ChildPlace): Promise<readonly string[]> => {
  const root = geminiFolder(place);
  const projects = getRecord(
    parseRecord((await port.smallText(posix.join(root, 'projects.json'))) ?? ''),
    'projects',
  );
  // Versions before 0.29 named the folder by a hash of the path.
  const folders = [posix.join(root, 'tmp', await port.sha256(place.cwd))];
  const slug = getText(projects, place.cwd);
  if (slug === undefined || !SAFE_SLUG.test(slug)) return folders;
  const folder = posix.join(root, 'tmp', slug);
  const owner = await port.smallText(posix.join(folder, '.project_root'));
  return owner === undefined || owner.trim() === place.cwd ? [folder, ...folders] : folders;
};

const grownFiles = async (
  port: FilePort,
  place: ChildPlace,
  folder: string,
): Promise<readonly FileEntry[]> => {
  const files = await port.list(posix.join(folder, 'chats'), (name) => SESSION_FILE.test(name));
  return files.filter((file) => file.modifiedAt >= place.startedAt);
};

/** The newest document of the old versions that has grown. */
const grownDocument = async (port: FilePort, place: ChildPlace): Promise<FileEntry | undefined> => {
  const folders = await projectFolders(port, place);
  const files = await Promise.all(folders.map((folder) => grownFiles(port, place, folder)));
  const documents = files.flat().filter(({ name }) => name.endsWith('.json'));
  return documents.toSorted((a, b) => b.modifiedAt - a.modifiedAt)[0];
};

const mainChat = async (port: FilePort, file: FileEntry): Promise<Chat | undefined> => {
  if (!file.name.endsWith('.jsonl')) return undefined;
  const header = parseRecord((await port.firstLine(file.path)) ?? '');
  const sessionId = getText(header, 'sessionId');
  if (sessionId === undefined || (getText(header, 'kind') ?? 'main') !== 'main') return undefined;
  return { file, sessionId, startedAt: parseIsoTime(getText(header, 'startTime') ?? '') ?? 0 };
};

// The marker that a compaction leaves in a session document of the old versions (up to 0.34 at least): an `info` message without text. It
// is written the moment the compaction ends, successful or not; only the screen shows which.

const MARK = /"timestamp": "([^"\\]{1,40})",\s+"type": "info",\s+"content": ""/g;
const ENDED = 'compaction ended at ';

/** The last marker in the newest document; undefined where there are no such documents. */
export const readStatus = async (port: FilePort, place: ChildPlace): Promise<AgentStatus | undefined> => {
  const file = await grownDocument(port, place);
  if (!file) return undefined;
  const marks = [...((await port.lastPart(file.path)) ?? '').matchAll(MARK)];
  const [, time] = marks.at(-1) ?? [];
  return { state: time === undefined ? 'no compaction' : `${ENDED}${time}` };
};

/** A compaction has left its marker since then. */
export const hasNewMark = (before: AgentStatus | undefined, after: AgentStatus | undefined): boolean =>
  after !== undefined && after.state.startsWith(ENDED) && after.state !== before?.state;
