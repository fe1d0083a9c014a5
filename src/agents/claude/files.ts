import { posix } from 'node:path';
import { getList, getRecord, getText, isRecord, parseRecord, type JsonRecord } from '../../core/json.js';
import type { ChildPlace, FilePort } from '../agent.js';
import { UUID_FILE } from '../files.js';
import type { SessionFileKind } from '../home.js';
import { configFolder } from './settings.js';

// Where Claude Code keeps its session files (docs/facts/claude.md#session-files, #older-versions).

const LONGEST_SLUG = 200;
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

/** Of the pid files. */
export const sessionsFolder = (place: ChildPlace): string => posix.join(configFolder(place), 'sessions');

/** The records of all pid files: each Claude that runs has one, and one that was killed leaves its own. */
export const pidRecords = async (port: FilePort, place: ChildPlace): Promise<readonly JsonRecord[]> => {
  const files = await port.list(sessionsFolder(place), (name) => /^\d+\.json$/.test(name));
  const texts = await Promise.all(files.map((file) => port.smallText(file.path)));
  return texts.map((text) => parseRecord(text ?? '')).filter((record) => record !== undefined);
};

/** The transcript of a session, which a session that was moved has in the folder of the child; undefined before its first turn. */
export const transcriptOf = async (
  port: FilePort,
  place: ChildPlace,
  { sessionId, cwd }: { readonly sessionId: string; readonly cwd: string },
): Promise<string | undefined> => {
  for (const folder of [cwd, place.cwd]) {
    const path = posix.join(projectFolder(place, folder), `${sessionId}.jsonl`);
    if (await port.entry(path)) return path;
  }
  return undefined;
};

/** A message of the user's; those of tools, subagents and Claude itself are also recorded with type `user`. */
export const isPrompt = (record: JsonRecord): boolean => {
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

// Claude's own 32-bit string hash, in base 36.
const hash = (text: string): string => {
  let value = 0;
  for (let i = 0; i < text.length; i++) value = ((value << 5) - value + text.charCodeAt(i)) | 0;
  return Math.abs(value).toString(36);
};
