import { posix } from 'node:path';
import { getCount, getText, parseRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { isSessionId } from '../../core/report/session-id.js';
import type { AgentStatus, ChildPlace, FileEntry, FilePort, Located } from '../agent.js';
import { chooseAskedFile, CLOCK_SLACK_MS, UUID_FILE } from '../files.js';
import { locateBackground } from './background.js';
import { isViewerOnly } from './viewer.js';
import { isPrompt, pidRecords, projectFolder, sessionsFolder, transcriptOf } from './files.js';

// Which session the terminal shows, and its state, by Claude's pid files (docs/facts/claude.md#state-reports, #older-versions).

// A version that writes a pid file has done so by then (0.4 s measured); before that, a guess could be another terminal's session.
const PID_FILE_WAIT_MS = 5_000;

interface PidFile {
  readonly sessionId: string;
  readonly cwd: string;
  /** the whole content of the file */
  readonly record: JsonRecord | undefined;
}

/** The session in view: the child's own, or one in the background that it only shows. */
export const locateClaude = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const own = await ownPidFile(port, place);
  return isElsewhere(place, own) ? locateBackground(port, place) : locateOwn(port, place, own);
};

/** The child shows a session that it does not run: its pid file says that its own has moved to the background, or it has none. */
const isElsewhere = ({ args, viewSince }: ChildPlace, own: PidFile | undefined): boolean =>
  isViewerOnly(args) || (own ? getText(own.record, 'parkedJobId') : viewSince) !== undefined;

/** The session named in the child's own pid file; for versions without one, the session file that contains the user's message. */
const locateOwn = async (
  port: FilePort,
  place: ChildPlace,
  pidFile: PidFile | undefined,
): Promise<Located | undefined> => {
  if (!pidFile)
    return place.now - place.startedAt < PID_FILE_WAIT_MS ? undefined : askedUnclaimed(port, place);
  const path = await transcriptOf(port, place, pidFile);
  return { sessionId: pidFile.sessionId, certain: true, ...present({ path }) };
};

/** The `sessions/<pid>.json` of the child or of a process below it. */
const ownPidFile = async (port: FilePort, place: ChildPlace): Promise<PidFile | undefined> => {
  for (const pid of await port.family(place.childPid)) {
    const text = await port.smallText(posix.join(sessionsFolder(place), `${pid}.json`));
    const pidFile = text === undefined ? undefined : readPidFile(text, place);
    if (pidFile) return pidFile;
  }
  return undefined;
};

/** The same of the process that was found to run the session in view. */
const followedPidFile = async (port: FilePort, place: ChildPlace): Promise<PidFile | undefined> => {
  const { followedPid } = place;
  if (followedPid === undefined) return undefined;
  const text = await port.smallText(posix.join(sessionsFolder(place), `${followedPid}.json`));
  return text === undefined ? undefined : readPidFile(text, { ...place, startedAt: 0 });
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
  // sessions that belong to other running Claudes
  const claimed = (await pidRecords(port, place)).map((record) => getText(record, 'sessionId'));
  const free = grown.filter((file) => !claimed.includes(idOf(file)));
  return chooseAskedFile(port, place, free, { isPrompt, idOf });
};

const idOf = (file: FileEntry): string => file.name.slice(0, -'.jsonl'.length);

/**
 * Claude's state from the pid file of the process that runs the session in view; old versions write none
 * (docs/facts/claude.md#older-versions).
 */
export const readStatus = async (port: FilePort, place: ChildPlace): Promise<AgentStatus | undefined> => {
  const own = await ownPidFile(port, place);
  const pidFile = isElsewhere(place, own) ? await followedPidFile(port, place) : own;
  const state = getText(pidFile?.record, 'status');
  if (state === undefined) return undefined;
  const waitingFor = getText(pidFile?.record, 'waitingFor');
  return { state, ...present({ waitingFor }) };
};
