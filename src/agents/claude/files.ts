import { posix } from 'node:path';
import {
  getCount,
  isRecord,
  getList,
  parseRecord,
  getRecord,
  getText,
  type JsonRecord,
} from '../../core/json.js';
import { present } from '../../core/present.js';
import { isSessionId } from '../../core/report/records.js';
import type { FileEntry, FilePort, Located, ChildPlace, AgentStatus } from '../agent.js';
import type { AgentFolders, SessionFileKind } from '../home.js';
import { chooseAskedFile, CLOCK_SLACK_MS } from '../files.js';

// Where Claude Code keeps its session files (facts/claude.md §7, facts/sessions.md §F).

export const UUID_FILE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/;
const LONGEST_SLUG = 200;
// A version that writes a pid file has done so by then (0.4 s measured); before that, a guess could be another terminal's session.
const PID_FILE_WAIT_MS = 5_000;

interface PidFile {
  readonly sessionId: string;
  readonly cwd: string;
  /** the whole content of the file */
  readonly record: JsonRecord | undefined;
}

/** The session named in the child's own pid file; for versions without one, the session file that contains the user's message. */
export const locateClaude = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const said = await ownPidFile(port, place);
  if (!said) return place.now - place.startedAt < PID_FILE_WAIT_MS ? undefined : askedUnclaimed(port, place);
  for (const cwd of [said.cwd, place.cwd]) {
    const path = posix.join(projectFolder(place, cwd), `${said.sessionId}.jsonl`);
    if (await port.entry(path)) return { sessionId: said.sessionId, path, certain: true };
  }
  return { sessionId: said.sessionId, certain: true };
};

/** The folder name of a project: every character of its path other than letters and digits becomes `-`; long names get a hash. */
export const projectFolder = (place: ChildPlace, cwd: string): string => {
  const slug = cwd.replace(/[^a-zA-Z0-9]/g, '-');
  const name = slug.length <= LONGEST_SLUG ? slug : `${slug.slice(0, LONGEST_SLUG)}-${hash(cwd)}`;
  return posix.join(configFolder(place), 'projects', name);
};

/** `<project>/<uuid>.jsonl`; subagents write `agent-*.jsonl`, or files in a folder of the session. */
export const sessionFile = (relativePath: string): SessionFileKind | undefined => {
  const [, name, ...deeper] = relativePath.split('/');
  return name !== undefined && deeper.length === 0 && UUID_FILE.test(name) ? 'session' : undefined;
};

export const configFolder = ({ env, home }: AgentFolders): string =>
  env['CLAUDE_CONFIG_DIR'] || posix.join(home, '.claude');

const sessionsFolder = (place: ChildPlace): string => posix.join(configFolder(place), 'sessions');

/** The `sessions/<pid>.json` of the child or of a process below it. */
const ownPidFile = async (port: FilePort, place: ChildPlace): Promise<PidFile | undefined> => {
  for (const pid of await port.family(place.childPid)) {
    const text = await port.smallText(posix.join(sessionsFolder(place), `${pid}.json`));
    const said = text === undefined ? undefined : readPidFile(text, place);
    if (said) return said;
  }
  return undefined;
};

const readPidFile = (text: string, place: ChildPlace): PidFile | undefined => {
  const record = parseRecord(text);
  const sessionId = getText(record, 'sessionId');
  if (sessionId === undefined || !isSessionId(sessionId)) return undefined;
  const startedAt = getCount(record, 'startedAt') ?? place.startedAt;
  if (startedAt < place.startedAt - CLOCK_SLACK_MS) return undefined;
  return { sessionId, cwd: getText(record, 'cwd') ?? place.cwd, record };
};

const askedUnclaimed = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const files = await port.list(projectFolder(place, place.cwd), (name) => UUID_FILE.test(name));
  const grown = files.filter((file) => file.modifiedAt >= place.startedAt);
  if (grown.length === 0) return undefined;
  const claimed = await claimedSessions(port, place);
  const free = grown.filter((file) => !claimed.includes(idOf(file)));
  return chooseAskedFile(port, place, free, { isPrompt, idOf });
};

// Messages of tools, subagents and Claude itself are also recorded with type `user`.
const isPrompt = (record: JsonRecord): boolean => {
  const message = getRecord(record, 'message');
  const isBySomebodyElse = ['isSidechain', 'isMeta', 'isCompactSummary'].some(
    (mark) => record[mark] === true,
  );
  if (record['type'] !== 'user' || isBySomebodyElse) return false;
  const text = getText(message, 'content');
  if (text !== undefined) return !/^<(?!command-|bash-input>)/.test(text);
  const blocks = getList(message, 'content');
  return blocks.length > 0 && blocks.every((block) => isRecord(block) && block['type'] !== 'tool_result');
};

// Sessions that belong to other running Claudes, by their pid files.
const claimedSessions = async (
  port: FilePort,
  place: ChildPlace,
): Promise<readonly (string | undefined)[]> => {
  const files = await port.list(sessionsFolder(place), (name) => /^\d+\.json$/.test(name));
  const texts = await Promise.all(files.map((file) => port.smallText(file.path)));
  return texts.map((text) => getText(parseRecord(text ?? ''), 'sessionId'));
};

const idOf = (file: FileEntry): string => file.name.slice(0, -'.jsonl'.length);

// Claude's own 32-bit string hash, in base 36.
const hash = (text: string): string => {
  let value = 0;
  for (let i = 0; i < text.length; i++) value = ((value << 5) - value + text.charCodeAt(i)) | 0;
  return Math.abs(value).toString(36);
};

/** Claude's state from the child's pid file; old versions write none (facts/sessions.md §F). */
export const readStatus = async (port: FilePort, place: ChildPlace): Promise<AgentStatus | undefined> => {
  const said = await ownPidFile(port, place);
  const state = getText(said?.record, 'status');
  if (state === undefined) return undefined;
  const waitingFor = getText(said?.record, 'waitingFor');
  return { state, ...present({ waitingFor }) };
};
