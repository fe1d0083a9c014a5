// Where Qwen Code keeps its session files (facts/qwen.md): <runtime folder>/projects/<cwd>/chats/<session>.jsonl. Two files tell which
// session a process is in: `sessions/<pid>.json` and, also in older versions, `chats/<session>.runtime.json`. Versions before 0.16 have
// neither, and keep no file open: there it is the file with what the user sent here.
import { posix } from 'node:path';
import { countAt, parseRecord, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { Homestead } from '../agent-home.js';
import { onlyAsked } from '../asked-files.js';
import type { FileEntry, FilePort } from '../file-port.js';
import type { Located } from '../runtime.js';
import type { Place } from '../place.js';

const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;
const RUNTIME_FILE = /^[A-Za-z0-9_-]{1,64}\.runtime\.json$/;
const CHAT_FILE = /^[A-Za-z0-9_-]{1,64}\.jsonl$/;
const MOST_RUNTIME_FILES = 50;
const MOST_CHATS = 20; // that grew since the start; more are not ours to sort out
// They are written by the child itself; an older one is left over from a process that had the same pid.
const CLOCK_SLACK_MS = 60_000;

interface Said {
  readonly sessionId: string;
  readonly cwd: string;
}

/** The child's own word on its session; it follows `/clear`, `/resume` and `/cd`. Without it, the chat with what the user sent here. */
export const locateQwen = async (port: FilePort, place: Place): Promise<Located | undefined> => {
  const family = await port.family(place.childPid);
  const said = (await registered(port, place, family)) ?? (await besideChats(port, place, family));
  if (!said) return onlyAsked(port, place, await grownChats(port, place), { isPrompt, idOf });
  const path = posix.join(chatsFolder(place, said.cwd), `${said.sessionId}.jsonl`);
  const isThere = (await port.entry(path)) !== undefined;
  return { sessionId: said.sessionId, certain: true, ...(isThere ? { path } : {}) };
};

const registered = async (
  port: FilePort,
  place: Place,
  family: readonly number[],
): Promise<Said | undefined> => {
  for (const pid of family) {
    const text = await port.smallText(posix.join(qwenFolder(place), 'sessions', `${pid}.json`));
    const record = parseRecord(text ?? '');
    const startedAt = countAt(record, 'startedAt') ?? 0;
    const said = sessionIn(record, place, { id: 'sessionId', cwd: 'cwd' });
    if (said && startedAt >= place.startedAt - CLOCK_SLACK_MS) return said;
  }
  return undefined;
};

const besideChats = async (
  port: FilePort,
  place: Place,
  family: readonly number[],
): Promise<Said | undefined> => {
  const files = await port.list(chatsFolder(place, place.cwd), (name) => RUNTIME_FILE.test(name));
  const newest = files
    .filter((file) => file.modifiedAt >= place.startedAt - CLOCK_SLACK_MS)
    .toSorted((a, b) => b.modifiedAt - a.modifiedAt)
    .slice(0, MOST_RUNTIME_FILES);
  for (const file of newest) {
    const record = parseRecord((await port.smallText(file.path)) ?? '');
    const pid = countAt(record, 'pid');
    if (pid !== undefined && family.includes(pid))
      return sessionIn(record, place, { id: 'session_id', cwd: 'work_dir' });
  }
  return undefined;
};

/** Chats of this folder that have grown since the child started, the newest first: of this session, or of another terminal's that no process says to be its own. */
export const grownChats = async (port: FilePort, place: Place): Promise<readonly FileEntry[]> => {
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
  place: Place,
  names: { readonly id: string; readonly cwd: string },
): Said | undefined => {
  const sessionId = textAt(record, names.id);
  if (sessionId === undefined || !SAFE_ID.test(sessionId)) return undefined;
  return { sessionId, cwd: textAt(record, names.cwd) ?? place.cwd };
};

const chatsFolder = (place: Place, cwd: string): string =>
  posix.join(runtimeFolder(place), 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'), 'chats');

export const runtimeFolder = (place: Homestead): string =>
  absolute(place.env['QWEN_RUNTIME_DIR'], place) ?? qwenFolder(place);

export const qwenFolder = (place: Homestead): string =>
  absolute(place.env['QWEN_HOME'], place) ?? posix.join(place.home, '.qwen');

const absolute = (folder: string | undefined, { cwd, home }: Homestead): string | undefined => {
  if (!folder) return undefined;
  if (folder === '~' || folder.startsWith('~/')) return posix.join(home, folder.slice(1));
  return posix.resolve(cwd, folder);
};
