import { posix } from 'node:path';
import { getCount, getList, getRecord, getText, parseRecord, type JsonRecord } from '../../core/json.js';
import { isSessionId } from '../../core/report/session-id.js';
import type { ViewMarks } from '../../core/shown-conversation.js';
import type { Millis } from '../../core/reading.js';
import type { ChildPlace, FilePort, Located } from '../agent.js';
import { onlyOne, UUID_FILE } from '../files.js';
import { readCommand } from './compaction.js';
import { isPrompt, pidRecords, transcriptOf } from './files.js';
import { configFolder } from './settings.js';
import { commandIn } from './viewer.js';

// Claude's sessions in the background, which other processes run (docs/facts/claude.md#views). `claude attach`, `claude agents` and `←`
// show one of them in this terminal, and nothing that Claude writes says which: it follows from what the screen shows.

interface BackgroundSession {
  readonly pid: number;
  readonly jobId: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly name: string | undefined;
  readonly startedAt: Millis;
}

/** The background session that this terminal shows; undefined while that is not certain. */
export const locateBackground = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const running = await runningSessions(port, place);
  const found =
    running.find(({ pid }) => pid === place.followedPid) ??
    askedFor(place, running) ??
    (await shownOne(port, place, running));
  return found && locatedOf(port, place, found);
};

const runningSessions = async (port: FilePort, place: ChildPlace): Promise<readonly BackgroundSession[]> => {
  const known = (await pidRecords(port, place)).flatMap((record) => readSession(record) ?? []);
  // a process that was killed leaves its file, also where the session runs in another one by now
  const newest = known.filter((each) =>
    known.every((other) => other.jobId !== each.jobId || other.startedAt <= each.startedAt),
  );
  const running = await Promise.all(newest.map(({ pid }) => isRunning(port, pid)));
  return newest.filter((_, index) => running[index]);
};

/** Also where the system does not tell. */
const isRunning = async (port: FilePort, pid: number): Promise<boolean> =>
  !(await port.exists('/proc/self')) || port.exists(`/proc/${pid}`);

/** A spare process waits for a session and has none. */
const readSession = (record: JsonRecord): BackgroundSession | undefined => {
  const [pid, sessionId, jobId] = [
    getCount(record, 'pid'),
    getText(record, 'sessionId'),
    getText(record, 'jobId'),
  ];
  if (record['kind'] !== 'bg' || record['spare'] === true) return undefined;
  if (pid === undefined || sessionId === undefined || jobId === undefined) return undefined;
  if (!isSessionId(sessionId) || !isSessionId(jobId)) return undefined; // they become parts of paths
  const cwd = getText(record, 'cwd') ?? '';
  const startedAt = getCount(record, 'startedAt') ?? 0;
  return { pid, jobId, sessionId, cwd, name: getText(record, 'name'), startedAt };
};

/** `claude attach <id|name>`, until another view has been on the screen; a part of the name is enough for Claude. */
const askedFor = (
  { args, viewSince }: ChildPlace,
  running: readonly BackgroundSession[],
): BackgroundSession | undefined => {
  const [command, asked] = commandIn(args) ?? [];
  if (command !== 'attach' || asked === undefined || viewSince !== undefined) return undefined;
  const byId = running.filter(({ jobId, sessionId }) => jobId === asked || sessionId === asked);
  return (
    onlyOne(byId) ?? onlyOne(running.filter(({ name }) => name?.toLowerCase().includes(asked.toLowerCase())))
  );
};

/**
 * The only session that has the name and the messages that the screen shows. One of the two must be there: the process of a session that is
 * opened again may not run yet, while another one does.
 */
const shownOne = async (
  port: FilePort,
  place: ChildPlace,
  running: readonly BackgroundSession[],
): Promise<BackgroundSession | undefined> => {
  const { view } = place;
  if (view?.shows !== 'conversation') return undefined;
  const names = await Promise.all(running.map((each) => namesOf(port, place, each)));
  const named = running.filter((_, index) => view.names.length === 0 || hasName(names[index] ?? [], view));
  const read = named.map(async (each) => ({ each, says: await matchOf(port, place, each, view.messages) }));
  const possible = (await Promise.all(read)).filter(({ says }) => says !== 'other');
  const same = possible.filter(({ says }) => says === 'same');
  if (same.length > 0) return onlyOne(same)?.each;
  const isByName = view.names.length > 0 && !(await isNamedElsewhere(port, place, running, view));
  return isByName ? onlyOne(possible)?.each : undefined;
};

/** Another job has such a name, whose process does not run, or not yet. */
const isNamedElsewhere = async (
  port: FilePort,
  place: ChildPlace,
  running: readonly BackgroundSession[],
  marks: ViewMarks,
): Promise<boolean> => {
  const jobs = (await port.folders(posix.join(configFolder(place), 'jobs'))).filter(isSessionId);
  const others = jobs.filter((id) => running.every(({ jobId }) => jobId !== id));
  const names = await Promise.all(others.map((jobId) => namesOf(port, place, { jobId, name: undefined })));
  return names.some((each) => hasName(each, marks));
};

/** A narrow list cuts the name that it puts into the title. */
const hasName = (own: readonly string[], { names }: ViewMarks): boolean =>
  names.some((shown) =>
    own.some((name) => shown === name || (CUT.test(shown) && name.startsWith(shown.replace(CUT, '')))),
  );

/** What Claude calls the session: in its pid file, and in the file of its job, which has the first words of the user, too. */
const namesOf = async (
  port: FilePort,
  place: ChildPlace,
  { name, jobId }: Pick<BackgroundSession, 'name' | 'jobId'>,
): Promise<readonly string[]> => {
  const path = posix.join(configFolder(place), 'jobs', jobId, 'state.json');
  const job = parseRecord((await port.smallText(path)) ?? '');
  return [name, getText(job, 'name'), getText(job, 'intent')].flatMap((each) => firstRow(each) ?? []);
};

const firstRow = (text: string | undefined): string | undefined =>
  text?.trim().split('\n')[0]?.trim() || undefined;

const CUT = /(?<=\S.{7,})…$/;

/** Whether these are messages of the session, next to one another; undefined where one of them is not to be seen. */
const matchOf = async (
  port: FilePort,
  place: ChildPlace,
  session: BackgroundSession,
  shown: readonly string[],
): Promise<'same' | 'other' | undefined> => {
  if (shown.length === 0) return undefined;
  const { path } = await fileOf(port, place, session);
  if (path === undefined) return undefined;
  const lines = ((await port.lastPart(path)) ?? '').split('\n');
  const prompts = lines.flatMap((line) => promptIn(line) ?? []);
  const isCut = lines[0] !== (await port.firstLine(path));
  if (prompts.some((_, last) => endsAt({ shown, prompts, isCut }, last))) return 'same';
  if (isCut && lines.some((line) => isLastPrompt(line, shown))) return 'same';
  return prompts.length === 0 ? undefined : 'other';
};

/** Claude also repeats a late message of the user's behind long records; it may be the last but one. */
const isLastPrompt = (line: string, shown: readonly string[]): boolean => {
  const record = line.includes('"last-prompt"') ? parseRecord(line) : undefined;
  const text = getText(record, 'lastPrompt');
  return record?.['type'] === 'last-prompt' && shown.some((row) => isShownAs(text, row));
};

const SHORTEST_CUT = 20; // characters of a row that can be the beginning of a long message

interface Messages {
  readonly shown: readonly string[];
  readonly prompts: readonly string[];
  /** there may be more before what was read */
  readonly isCut: boolean;
}

/** The newest message on the screen is this one; those before it agree within the part of the file that was read. */
const endsAt = ({ shown, prompts, isCut }: Messages, last: number): boolean =>
  shown.toReversed().every((row, back) => (back > last ? isCut : isShownAs(prompts[last - back], row)));

const isShownAs = (message: string | undefined, row: string): boolean =>
  message === row || (row.length >= SHORTEST_CUT && message?.startsWith(row) === true);

/** Claude's own note in the place of a message. */
const INTERRUPTED = /^\[Request interrupted by user/;

/** The first row of the user's message in this line, as the screen shows it. */
const promptIn = (line: string): string | undefined => {
  if (!line.includes('"type":"user"')) return undefined;
  const record = parseRecord(line);
  if (!record || !isPrompt(record) || readCommand(record) !== undefined) return undefined;
  const message = getRecord(record, 'message');
  const text = getText(message, 'content') ?? firstText(message);
  if (text === undefined || INTERRUPTED.test(text)) return undefined;
  return firstRow(text);
};

const firstText = (message: JsonRecord | undefined): string | undefined =>
  getList(message, 'content')
    .map((block) => getText(block, 'text'))
    .find(Boolean);

const locatedOf = async (port: FilePort, place: ChildPlace, session: BackgroundSession): Promise<Located> => {
  const { sessionId, pid } = session;
  return { sessionId, certain: true, pid, ...(await fileOf(port, place, session)) };
};

/** Its file; before its first turn that of the session that it continues. */
const fileOf = async (
  port: FilePort,
  place: ChildPlace,
  session: BackgroundSession,
): Promise<Pick<Located, 'path' | 'isEarlier'>> => {
  const own = await transcriptOf(port, place, session);
  if (own !== undefined) return { path: own };
  const path = await earlierFile(port, place, session);
  return path === undefined ? {} : { path, isEarlier: true };
};

/** The file from which the daemon has started the session, by its list of workers; after /clear the process has another session. */
const earlierFile = async (
  port: FilePort,
  place: ChildPlace,
  { jobId, sessionId }: BackgroundSession,
): Promise<string | undefined> => {
  const config = configFolder(place);
  const roster = parseRecord((await port.smallText(posix.join(config, 'daemon', 'roster.json'))) ?? '');
  const dispatch = getRecord(getRecord(getRecord(roster, 'workers'), jobId), 'dispatch');
  if (getText(dispatch, 'sessionId') !== sessionId) return undefined;
  const launchPath = getText(getRecord(dispatch, 'launch'), 'sessionId') ?? '';
  const path = posix.normalize(launchPath);
  const isOwn = path.startsWith(posix.join(config, 'projects/')) && UUID_FILE.test(posix.basename(path));
  return isOwn && (await port.entry(path)) ? path : undefined;
};
