import { posix } from 'node:path';
import { getCount, getText, parseRecord } from '../../core/json.js';
import type { AgentStatus, ChildPlace, FileEntry, FilePort, Located, SettingsPort } from '../agent.js';
import type { AgentFolders, SessionFileKind } from '../home.js';
import { chooseAskedFile, inThisView } from '../files.js';

// Where Kimi Code keeps its session files (docs/facts/kimi.md): <home>/sessions/wd_<name>_<hash>/<session>/agents/main/wire.jsonl, beside one such
// folder for each subagent. No file tells the process, and none is kept open, so the session is the one with the user's message. It has no
// folder before the first message.

const SESSION = /^session_([A-Za-z0-9_-]{1,64})$/;
const WIRE = ['agents', 'main', 'wire.jsonl'] as const;
const LONGEST_NAME = 40;
const HASH_DIGITS = 12;
const MOST_SESSIONS = 20; // with more files than this that grew since the start, no guess is made

/** The one with the message or the command that the user has just sent in this terminal; else the followed session. */
export const locateKimi = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> =>
  chooseAskedFile(port, inThisView(place), await grownSessions(port, place), {
    isPrompt: ({ type, source }) =>
      type === 'turn.prompt' || (type === 'full_compaction.begin' && source === 'manual'),
    timeOf: (record) => getCount(record, 'time'),
    begunAt: (first) => getCount(first, 'created_at'),
    idOf: ({ path }) => sessionIdOf(path) ?? '',
  });

/** The session's id, which is the name of its folder without what all of them begin with. */
const sessionIdOf = (path: string): string | undefined =>
  SESSION.exec(posix.basename(posix.resolve(posix.dirname(path), '../..')))?.[1];

/** Sessions of this folder that have grown since the child started, newest first. */
const grownSessions = async (port: FilePort, place: ChildPlace): Promise<readonly FileEntry[]> => {
  const folder = posix.join(sessionsFolder(place), await workspaceName(port, place.cwd));
  const ids = (await port.folders(folder)).filter((name) => SESSION.test(name));
  const files = await Promise.all(ids.map((id) => port.entry(posix.join(folder, id, ...WIRE))));
  return files
    .filter((file) => file !== undefined)
    .filter((file) => file.modifiedAt >= place.startedAt)
    .toSorted((a, b) => b.modifiedAt - a.modifiedAt)
    .slice(0, MOST_SESSIONS);
};

const workspaceName = async (port: FilePort, cwd: string): Promise<string> => {
  const path = cwd.replace(/\/+$/, '');
  const slug = posix
    .basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, LONGEST_NAME)
    .replaceAll(/^-+|-+$/g, '');
  const name = ['', '.', '..'].includes(slug) ? 'workspace' : slug;
  return `wd_${name}_${(await port.sha256(path)).slice(0, HASH_DIGITS)}`;
};

/** `wd_<name>_<hash>/<session>/agents/main/wire.jsonl`; other agents there are subagents. */
export const sessionFile = (relativePath: string): SessionFileKind | undefined => {
  const [, id = '', ...rest] = relativePath.split('/');
  return SESSION.test(id) && rest.join('/') === WIRE.join('/') ? 'session' : undefined;
};

/** `session_<uuid>`; '' for a path of another kind */
export const idInPath = (path: string): string => {
  const [id = '', ...below] = path.split('/').slice(-1 - WIRE.length);
  return SESSION.test(id) && below.join('/') === WIRE.join('/') ? id : '';
};

/** The folder that a session was started in, from its own file. */
export const projectOf = async (port: SettingsPort, path: string): Promise<string | undefined> =>
  getText(
    parseRecord((await port.text(posix.resolve(posix.dirname(path), '../../state.json'))) ?? ''),
    'cwd',
  );

export const sessionsFolder = (place: AgentFolders): string => posix.join(kimiFolder(place), 'sessions');

export const kimiFolder = ({ env, home, cwd }: AgentFolders): string => {
  const folder = env['KIMI_CODE_HOME'];
  return folder ? posix.resolve(cwd, folder) : posix.join(home, '.kimi-code');
};

// What the records tell about the activity. A turn begins with `turn.prompt`, or with `agent.turn.started` where Kimi begins it by itself, and
// ends with `turn.ended`, whatever its outcome. A compaction begins and ends with records of its own, in a turn or at rest.

const TELLING =
  /"(?:turn\.prompt|agent\.turn\.started|turn\.ended|full_compaction\.(?:begin|complete|cancel))"/;
// Kimi writes its records later than its screen, so the end of each state but the last may come when the screen is at rest.
const BUSY: AgentStatus = { state: 'busy', isSilent: true };
const COMPACTING: AgentStatus = { state: 'compacting', isSilent: true };
const UNCLEAR: AgentStatus = { state: 'unclear', isSilent: true };
const IDLE: AgentStatus = { state: 'idle' };

const typeIn = (line: string): string | undefined =>
  TELLING.test(line) ? getText(parseRecord(line), 'type') : undefined;

const stateOf = (type: string | undefined): AgentStatus | undefined => {
  if (type === 'turn.prompt' || type === 'agent.turn.started') return BUSY;
  return type === 'turn.ended' ? IDLE : undefined;
};

/** `busy` from the user's message to the end of the turn. */
export const parseStatus = (line: string): AgentStatus | undefined => stateOf(typeIn(line));

/**
 * Considers all sessions of this folder that have grown since the start, because any may be this terminal's: one that is busy or unclear
 * decides.
 */
export const readStatus = async (port: FilePort, place: ChildPlace): Promise<AgentStatus | undefined> => {
  const grown = await grownSessions(port, place);
  if (grown.length === 0) return { state: 'new' };
  const states = await Promise.all(
    grown.map(async ({ path }) => lastStateIn((await port.lastPart(path)) ?? '')),
  );
  return states.find(({ state }) => state !== 'idle') ?? IDLE;
};

const FIRST = /^\{"type":"metadata"/;

const lastStateIn = (text: string): AgentStatus => {
  const lines = text.split('\n');
  const isWhole = lines.at(-1) === '';
  const types = isWhole ? lines.map(typeIn) : [];
  // a compaction that began in a turn can outlast it
  const compaction = types.findLast((type) => type?.startsWith('full_compaction.'));
  if (compaction === 'full_compaction.begin') return COMPACTING;
  const state = types.toReversed().map(stateOf).find(Boolean);
  // after `/new` there is a session without a turn
  return state ?? (isWhole && FIRST.test(text) ? IDLE : UNCLEAR);
};
