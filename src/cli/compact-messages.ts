// What `ctxwrap compact` says when it does not come to an outcome: what is the matter, and the command that helps.
import { UserError } from '../core/user-error.js';
import type { ListedSession } from '../storage/session-records.js';
import { plain } from '../ui/plain-text.js';
import { ageText } from './sessions-text.js';

const usage = 2;
const refusal = 1;

const refusing = (message: string, hint: string): UserError =>
  new UserError(message, { exitCode: refusal, hint });

export const noneRuns = (): UserError =>
  new UserError('no session is running', { exitCode: usage, hint: 'start one with ctxwrap claude' });

export const noSuchSession = (given: string, names: readonly string[]): UserError =>
  new UserError(`there is no session "${given}"`, {
    exitCode: usage,
    hint:
      names.length > 0
        ? `ctxwrap ps shows the sessions:${names.map((name) => `\n  ${name}`).join('')}`
        : 'no session is running; ctxwrap ps --all shows those that are over',
  });

/** Why this session cannot be asked; undefined when it can. */
export const unaskable = ({ record, liveness }: ListedSession, now: number): UserError | undefined => {
  const name = nameOf(record.id);
  switch (liveness) {
    case 'ended':
      return refusing(`${name} has ended`, 'ctxwrap ps shows those that run');
    case 'dead':
      return refusing(`the ctxwrap of ${name} is gone`, 'ctxwrap ps shows those that run');
    case 'stale':
      return refusing(
        `${name} has not answered for ${ageText(now - record.heartbeatAt)}`,
        'if it is stopped, go to its terminal and continue it with fg',
      );
    case 'live':
      if (record.compaction === undefined)
        return refusing(
          `the ctxwrap ${plain(record.version)} of ${name} cannot be asked`,
          'end this session and start it again with this ctxwrap',
        );
      if (record.compaction.mode === 'off')
        return refusing(
          `${name} observes nothing and types nothing (--mode off)`,
          `type the command of ${plain(record.runtime)} in its own window, or start it again with --mode warn`,
        );
      return undefined;
  }
};

export const withoutFocus = (runtime: string): UserError =>
  refusing(`the compact command of ${runtime} takes no text`, 'leave out --focus');

/** A shell of the agent waits for this command, and the agent for its shell. */
export const insideItself = (id: string): UserError =>
  refusing(
    `${nameOf(id)} cannot compact while this command waits inside it`,
    `ctxwrap compact --no-wait ${id}`,
  );

export const cannotAsk = (reason: string): UserError =>
  refusing(`cannot leave the request: ${reason}`, 'make the folder of ctxwrap in XDG_STATE_HOME writable');

export const refusedBy = (id: string, reason: string): UserError => {
  const isPaused = reason.startsWith('paused');
  return refusing(
    `${nameOf(id)} has not compacted: ${plain(reason)}`,
    isPaused ? `ctxwrap compact --force ${id}` : 'ctxwrap ps shows what it is doing',
  );
};

export const outcomeUnknown = (id: string, reason: string): UserError =>
  refusing(
    `${nameOf(id)}: it is not known whether it has compacted: ${plain(reason)} after the command was typed`,
    "look in the agent's own window",
  );

export const withdrawn = 'the request is withdrawn; a compaction that has begun goes on';

export const notNoticed = 'it does not notice requests';

const nameOf = (id: string): string => `session ${id}`;
