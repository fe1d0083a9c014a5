import type { UserError } from '../core/errors.js';
import { quoteForCopying } from '../core/text.js';
import type { StoreProblem } from '../storage/session-store.js';
import { failure, listed, usageError } from './usage-error.js';

// Messages of `ctxwrap history` and `ctxwrap undo`.

export const nothingToUndo = (): UserError =>
  usageError(
    'no session is running',
    'to undo a compaction of an ended session, name it: ctxwrap undo 0f3a9c12#1; ctxwrap history lists them',
  );

export const nothingToShorten = (): UserError =>
  usageError(
    'no session is running',
    'name a session or its file: ctxwrap compact --strategy truncate 0f3a9c12; ctxwrap history lists them',
  );

/** A new session that is written beside a file somewhere else cannot be resumed there. */
export const undoneElsewhere = (agent: string, folder: string): UserError =>
  failure(
    `${agent} does not look for sessions in "${folder}", so it cannot be started with it`,
    'put the file where its other sessions are, or leave out --run',
  );

/** An agent that takes its compactions back itself. `reason`: why the running session cannot */
export const undoneByChannel = (agent: string, reason?: string): UserError =>
  reason === undefined
    ? failure(
        `ctxwrap undoes a compaction of ${agent} only while it runs, and only the last one`,
        `it needs "via": "channel" (docs/memory.md): ctxwrap config set via channel, then start ${agent} again`,
      )
    : failure(`cannot undo in ${agent}: ${reason}`, 'docs/memory.md says what can be undone there');

/** `unread`: files that may hold it */
export const unknownHistory = (
  given: string,
  agents: readonly { readonly name: string }[],
  unread: readonly StoreProblem[] = [],
): UserError =>
  usageError(
    `there is no session or session file "${given}"`,
    [
      agents.some(({ name }) => name === given)
        ? `for all sessions of ${given}: ctxwrap history --runtime ${given}`
        : 'ctxwrap history lists the sessions with compactions, ctxwrap ps those that run',
      ...unread.map(skippedFile),
    ].join('\n'),
  );

/** A session that ctxwrap wraps, or has wrapped. */
interface WrappedSession {
  /** as `ctxwrap ps` shows it */
  readonly name: string;
  readonly agent: string;
  readonly isRunning: boolean;
}

export const noConversation = ({ name, agent, isRunning }: WrappedSession): UserError =>
  isRunning
    ? failure(
        `session ${name} (${agent}) is running, but nothing of its conversation is on record yet`,
        'send the agent a message first; ctxwrap doctor says what is read',
      )
    : failure(
        `session ${name} (${agent}) ended without a conversation`,
        'ctxwrap history lists the sessions with compactions',
      );

export const goneFile = ({ name, agent }: WrappedSession, path: string): UserError =>
  failure(
    `the file of session ${name} (${agent}) is gone: ${path}`,
    'ctxwrap history lists the sessions that can be read',
  );

export const unfollowedSession = ({ name, agent }: WrappedSession): UserError =>
  failure(
    `ctxwrap cannot read the conversation of session ${name} (${agent})`,
    'ctxwrap history lists the sessions that can be read',
  );

/** `command`: what the user has called, such as `recall` */
export const noneToShow = (command: string): UserError =>
  usageError(
    'no session is running',
    `name the compaction of an ended session: ctxwrap ${command} 0f3a9c12#2; ctxwrap history lists them`,
  );

export const noneRecorded = (): UserError =>
  usageError(
    'no session is running, and no session file with a compaction was found',
    'ctxwrap history lists the sessions with compactions',
  );

/** What is meant where none is named and none runs. */
export const lastRecorded = (name: string, project: string | undefined, isCompacted = true): string =>
  `no session is running; this is the last one${isCompacted ? ' with a compaction' : ''}: ${name}${project === undefined ? '' : ` in ${project}`}`;

export const nothingLost = (given: string, isGivenBack: boolean): UserError =>
  failure(
    isGivenBack
      ? `everything known to be lost in "${given}" was given back`
      : `nothing is known to be lost in "${given}"`,
    `to see what it kept: ctxwrap recall ${quoteForCopying(given)}`,
  );

export const noLiveSession = (given: string, names: readonly string[]): UserError =>
  usageError(
    `"${given}" is not a running session`,
    names.length > 0
      ? `these are running:${listed(names)}`
      : `no session is running; to print what would be given back: ctxwrap recall --print ${quoteForCopying(given)}`,
  );

export const noReceipt = (given: string): UserError =>
  failure(
    `the conversation before "${given}" is no longer in its session file`,
    'ctxwrap checkpoint list shows copies from before; name one: ctxwrap recall 4a57c1be#1',
  );

export const nothingCompacted = (given: string): UserError =>
  failure(`nothing was compacted in "${given}" yet`, 'ctxwrap history lists the sessions with compactions');

/** `numbers`: those that the session has, in their order */
export const noCompaction = (given: string, numbers: readonly number[]): UserError => {
  const [first, last] = [numbers[0], numbers.at(-1)];
  return usageError(
    `there is no compaction "${given}"`,
    first === undefined
      ? 'this session has none'
      : first === last
        ? `this session has one: #${first}`
        : `this session has ${numbers.length}: #${first} to #${last}`,
  );
};

export const severalFiles = (given: string, paths: readonly string[]): UserError =>
  usageError(
    `"${given}" matches ${paths.length} sessions`,
    `type more of the id, or name a file:${listed(paths)}`,
  );

export const unreadConversation = (agent: string): UserError =>
  usageError(
    `the conversations of ${agent} cannot be read`,
    'its compactions can still be listed: ctxwrap history',
  );

/** `canStart`: a new session of the agent can be started with a handoff */
export const unwrittenSessions = (agent: string, canStart: boolean): UserError =>
  failure(
    `ctxwrap cannot write sessions of ${agent}, only read them`,
    canStart
      ? `to start a new one from what is on record: ctxwrap handoff SESSION --to ${agent}`
      : 'to print what is on record: ctxwrap handoff SESSION',
  );

export const incompleteConversation = (reason: string): string => `this is incomplete: ${reason}`;

/** `given`: `SESSION#N` */
export const earlierPart = (given: string, number: number): string =>
  `an earlier compaction left a summary; what was before it: ctxwrap history show ${quoteForCopying(given.replace(/#\d+$/, `#${number - 1}`))} --before`;

export const skippedFile = ({ path, reason, isLimit }: StoreProblem): string =>
  isLimit ? `left out: ${path}: ${reason}` : `skipped ${path}: ${reason}`;

export const damagedLines = (path: string, count: number): string =>
  `${path}: ${count} damaged line${count === 1 ? ' was' : 's were'} skipped`;

export const moreSkipped = (count: number): string =>
  `${count === 1 ? '1 more file was skipped or has' : `${count} more files were skipped or have`} damaged lines; --json lists all of them`;
