import { existsSync, rmSync } from 'node:fs';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { shownId } from '../core/shown-conversation.js';
import { counted } from '../core/format.js';
import { writeAtomic } from '../storage/state-folder.js';
import type { WrapSession } from '../session/options.js';
import type { DraftWait } from './prompt-draft.js';
import { actWhenSafe, unknown, type ActionContext } from './action.js';

// A way to give the model context without the user's prompt: the agent reads it beside the next message, or at once.

export interface ContextWay {
  /** what becomes of a text, after "gives it back": `with your next message` */
  readonly words: string;
  /** never rejects; the text joins one that was not read yet */
  readonly send: (text: string, wait: DraftWait) => Promise<SentContext>;
  /** this text goes with the next message: the agent has not taken it */
  readonly isWaiting: (text: string) => boolean;
  /** the session file tells what has become of a text */
  readonly noteEvent: (event: Event) => void;
  /** this text was taken, and will not reach the agent any more */
  readonly forget: (text: string) => void;
  /** takes back what the agent has not taken; what it has taken may still be there, and goes again if its message was refused */
  readonly takeBack: () => void;
  /** takes back all that is not known to be read: the conversation is another one */
  readonly withdraw: () => void;
}

export type SentContext =
  /** it is in the conversation */
  | { readonly kind: 'sent' }
  /** it goes with the user's next message: the session file tells whether the agent has it */
  | { readonly kind: 'waiting' }
  /** it must not be sent, or not in this way: `closed` says that there is no such way now */
  | { readonly kind: 'refused' | 'closed'; readonly reason: string }
  /** the agent may have it */
  | { readonly kind: 'unknown'; readonly reason: string };

export interface ContextParts extends Pick<ActionContext, 'flow' | 'port' | 'childPid'> {
  readonly session: Pick<WrapSession, 'agent' | 'channel' | 'contextPath' | 'env' | 'log' | 'wrapper'>;
}

/** The way of this session; undefined where the agent has none. */
export const makeContextWay = (parts: ContextParts): ContextWay | undefined => {
  const { agent, channel, contextPath, log } = parts.session;
  const contextFile = agent.official?.contextFile;
  if (contextPath !== undefined && contextFile)
    return makeFileWay({ ...parts, path: contextPath, contextFile, log });
  return channel && agent.channel?.context ? makeChannelWay(parts) : undefined;
};

// A hook of the agent takes a file with the user's next message. That the file is gone does not say that the agent has read it: a hook of the
// user's own may have refused the message, or the user has taken it back. Its record in the session file says that the hook was read.

interface FileWay extends Pick<WrapSession, 'log'> {
  readonly path: string;
  /** as `contextFile` of `OfficialSource` */
  readonly contextFile: (text: string, sessionId: string) => string | undefined;
  readonly flow: ContextParts['flow'];
}

/** A text of which no record is known. */
interface Unread {
  readonly text: string;
  readonly since: Millis;
  /** it is no longer in the file */
  readonly isTaken: boolean;
}

const joined = (texts: readonly Unread[]): string => texts.map(({ text }) => text).join('\n\n');

/** The file that the hook takes. */
const makeTakenFile = ({ path, contextFile, flow, log }: FileWay) => {
  let withdrawals = 0;

  const remove = (): void => {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      log.warn(`removing ${path}: ${errorText(error)}`);
    }
  };
  return {
    isThere: () => existsSync(path),
    /** the answer says why not */
    put: async (text: string): Promise<SentContext | undefined> => {
      const sessionId = shownId(flow().session.conversation);
      if (sessionId === undefined) return { kind: 'closed', reason: UNKNOWN };
      const content = contextFile(text, sessionId);
      if (content === undefined) return { kind: 'refused', reason: tooLong(text) };
      const before = withdrawals;
      try {
        await writeAtomic(path, content);
      } catch (error) {
        return { kind: 'closed', reason: errorText(error) };
      }
      if (withdrawals === before) return undefined;
      remove();
      return { kind: 'refused', reason: OTHER };
    },
    withdraw: () => {
      withdrawals += 1;
      remove();
    },
  };
};

const makeFileWay = (parts: FileWay): ContextWay => {
  const { log } = parts;
  const file = makeTakenFile(parts);
  let unread: readonly Unread[] = [];

  const look = (): readonly Unread[] => {
    if (!file.isThere()) unread = unread.map((each) => ({ ...each, isTaken: true }));
    return unread;
  };
  /** Writes these into the file, as one text. */
  const put = async (texts: readonly Unread[]): Promise<SentContext | undefined> => {
    const problem = await file.put(joined(texts));
    if (problem) return problem;
    const others = unread.filter((each) => !texts.some(({ text }) => text === each.text));
    unread = [...others, ...texts.map((each) => ({ ...each, isTaken: false }))];
    return undefined;
  };
  /** The agent joins nothing: the text is one that was in the file as a whole. */
  const confirm = (whole: string, at: Millis): void => {
    const known = look().filter(({ text, since, isTaken }) => isTaken && since <= at && whole.includes(text));
    if (known.length === 0) return;
    unread = unread.filter((each) => !known.includes(each));
    log.info('the message has the context');
  };
  /** A message that has taken a text is gone: it goes with the next one. */
  const putAgain = async (at: Millis): Promise<void> => {
    const again = look().filter(({ since, isTaken }) => !isTaken || since <= at);
    if (again.every(({ isTaken }) => !isTaken)) return;
    const problem = await put(again);
    log.info(`the message was refused, the context waits again${problem ? `: no, ${problem.kind}` : ''}`);
  };
  return {
    words: 'with your next message',
    isWaiting: (text) => look().some((each) => each.text === text && !each.isTaken),
    send: async (text) => {
      const waiting = look().filter(({ isTaken }) => !isTaken);
      const problem = await put([...waiting, { text, since: Date.now(), isTaken: false }]);
      if (problem) return problem;
      log.info(`context of ${text.length} characters waits for the next message`);
      return { kind: 'waiting' };
    },
    noteEvent: (event) => {
      if (event.type === 'context-added') confirm(event.text, event.at);
      if (event.type === 'message-refused') void putAgain(event.at);
    },
    forget: (text) => {
      unread = look().filter((each) => each.text !== text || !each.isTaken);
    },
    takeBack: () => {
      unread = look().filter(({ isTaken }) => isTaken);
      file.withdraw();
    },
    withdraw: () => {
      unread = [];
      file.withdraw();
    },
  };
};

/** Why something is not given back. */
export const OTHER = 'the conversation has changed meanwhile';
const UNKNOWN = 'the session is not known yet';
const tooLong = ({ length }: string): string =>
  `${counted(length, 'character')} are too many for one message`;

// The agent's control channel adds it to the conversation at once.

const NO_CHANNEL = 'it has no control channel';

/** What came of asking. */
type Asked =
  | { readonly kind: 'given' }
  | { readonly kind: 'closed' | 'refused' | 'unknown'; readonly reason: string };

const makeChannelWay = (parts: ContextParts): ContextWay => {
  const { flow, port, childPid, session } = parts;
  let ended = new AbortController();

  const ask = async (text: string, sessionId: string, signal: AbortSignal): Promise<Asked | undefined> => {
    const { agent, channel: open, log } = session;
    const { channel } = agent;
    if (!channel || !open) return { kind: 'refused', reason: NO_CHANNEL };
    const { askToGive, isInOtherTerminal } = await import('./channel.js');
    const isElsewhereToo = (): Promise<boolean> => isInOtherTerminal(session, sessionId);
    const result = await askToGive({
      channel,
      open,
      childPid,
      sessionId,
      isElsewhereToo,
      port,
      signal,
      text,
    });
    log.info(
      `giving text by ${channel.name}: ${result.kind}${'reason' in result ? `, ${result.reason}` : ''}`,
    );
    return result.kind === 'skipped' ? undefined : result;
  };
  return {
    words: 'now',
    isWaiting: () => false,
    takeBack: () => undefined,
    noteEvent: () => undefined,
    forget: () => undefined,
    send: async (text, wait) => {
      const sessionId = shownId(flow().session.conversation);
      if (sessionId === undefined) return { kind: 'closed', reason: UNKNOWN };
      const { signal } = ended;
      const act = () => ask(text, sessionId, signal);
      const given = { ...wait, signal: AbortSignal.any([wait.signal ?? signal, signal]) };
      return actWhenSafe<Asked>({ flow, port }, { act, allowsDraft: true }, given)
        .then((result): SentContext => {
          if (result.kind === 'given') return { kind: 'sent' };
          return signal.aborted && result.kind === 'refused' ? { kind: 'refused', reason: OTHER } : result;
        })
        .catch((error: unknown) => unknown(errorText(error))); // it may have been asked
    },
    withdraw: () => {
      ended.abort();
      ended = new AbortController();
    },
  };
};
