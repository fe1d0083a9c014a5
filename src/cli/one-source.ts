import { existsSync } from 'node:fs';
import type { Agent } from '../agents/agent.js';
import { allAgents } from '../agents/index.js';
import type { UserError } from '../core/errors.js';
import { quoteForCopying } from '../core/text.js';
import { listSessions, type ListedSession } from '../storage/sessions.js';
import type { SessionSource } from '../session-files/read-history.js';
import type { RecordSource } from '../session-files/session-records.js';
import { hasCompaction, lastWritten, type Search } from './commands/history.js';
import { findTargets, NUMBERED } from './history-targets.js';
import * as messages from './messages.js';
import type { Options } from './request.js';
import { findSession, isLastUnwrapped, isThere, lastSession } from './session-argument.js';
import { usageError } from './usage-error.js';

// Resolves an argument that means one session file: a session as `ctxwrap ps` lists it, the agent's id of a conversation, or a path.

export interface OneSource {
  readonly source: RecordSource & Pick<SessionSource, 'idInDatabase'>;
  /** of the compaction that the argument names, as in `ID#2` */
  readonly number?: number | undefined;
  /** the running session that writes the file */
  readonly session?: ListedSession | undefined;
  /** which one was taken, where that is not plain */
  readonly notice?: string | undefined;
}

export interface OneSourceRequest {
  /** when absent, the session this process runs in, the only live one, or the last one where none is live */
  readonly target?: string | undefined;
  readonly options: Options;
}

/** What the messages say. */
interface OneSourceWords {
  /** what the user has called */
  readonly command: string;
  /** the error where no session runs and none is named */
  readonly none: () => Error;
  /** which session in the agents' files is meant then, if ctxwrap has wrapped none; without it, none of them */
  readonly last?: 'any' | 'compacted';
}

/** Throws where the argument means no file, or several. */
export const findOneSource = async (
  request: OneSourceRequest,
  search: Search,
  { command, none, last }: OneSourceWords,
): Promise<OneSource> => {
  const { target } = request;
  const sessions = await listSessions(search.stateFolder, Date.now()).catch(() => []);
  if (target === undefined && last && isLastUnwrapped(sessions)) {
    const isCompacted = last === 'compacted';
    const found = await lastWritten(search, isCompacted ? hasCompaction : () => true);
    if (found) {
      const { source, name, session } = found;
      return { source, notice: messages.lastRecorded(name, session.project, isCompacted) };
    }
  }
  const [, name = target, digits] = NUMBERED.exec(target ?? '') ?? [];
  const number = digits === undefined ? undefined : Number(digits);
  const session = name === undefined ? lastSession(sessions, none) : findSession(sessions, name);
  const live = session && isThere(session) ? session : undefined;
  const path = live?.record.logPath;
  const agent = live && agentNamed(live.record.runtime, request);
  if (agent && command === 'undo' && isUndoneByChannel(agent) && !live.record.channel)
    throw messages.undoneByChannel(agent.name);
  if (agent && path !== undefined && existsSync(path))
    return { source: { agent, path }, number, session: live };
  if (target === undefined && agent && !agent.log?.conversation)
    throw messages.unreadConversation(agent.name);
  const wanted = target ?? session?.record.id ?? '';
  const { targets, skipped } = await findTargets([wanted], search);
  const [first, ...others] = targets;
  if (!first) throw messages.unknownHistory(wanted, search.agents, skipped);
  if (others.length > 0)
    throw severalFiles(
      wanted,
      targets.map(({ source }) => source.idInDatabase ?? source.path),
    );
  // the session may also be named by the path of its file, or by the agent's id
  const writing = sessions.find((each) => isThere(each) && writes(each, first.source));
  return { source: first.source, number: first.number, session: writing };
};

/** A copy of its file is not what it writes. */
const writes = ({ record }: ListedSession, { agent, path, open, idInDatabase }: SessionSource): boolean =>
  idInDatabase === undefined
    ? !open && record.logPath === path
    : record.runtime === agent.name && record.agentSessionId === idInDatabase;

/** It takes its compactions back itself, only while it runs: ctxwrap does not write sessions of it. */
export const isUndoneByChannel = ({ newSessions, channel }: Agent): boolean =>
  !newSessions && channel?.undo !== undefined;

const agentNamed = (name: string, { options }: OneSourceRequest): Agent | undefined =>
  allAgents(options.configured?.runtimes).find((each) => each.name === name);

const severalFiles = (given: string, paths: readonly string[]): UserError =>
  usageError(
    `"${given}" matches ${paths.length} session files`,
    ['name one of them:', ...paths.slice(0, 5).map((path) => `  ${quoteForCopying(path)}`)].join('\n'),
  );
