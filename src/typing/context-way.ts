import { existsSync, rmSync } from 'node:fs';
import { errorText } from '../core/errors.js';
import { shownId } from '../core/shown-conversation.js';
import { counted } from '../core/format.js';
import { writeAtomic } from '../storage/state-folder.js';
import { watchFile } from '../storage/watch.js';
import type { WrapSession } from '../session/options.js';
import type { DraftWait } from './prompt-draft.js';
import { typeAtSafeMoment, type SwitcherOptions } from './switcher.js';

// A way to give the model context without the user's prompt: the agent reads it beside the next message, or at once.

export interface ContextWay {
  /** what becomes of a text, after "gives it back": `with your next message` */
  readonly words: string;
  /** never rejects; the text joins one that was not read yet */
  readonly send: (text: string, wait: DraftWait) => Promise<SentContext>;
  /** takes back a text that was not read yet */
  readonly withdraw: () => void;
}

export type SentContext =
  /** it is in the conversation */
  | { readonly kind: 'sent' }
  /** it goes with the user's next message; `read` resolves when the agent has read it, and never otherwise */
  | { readonly kind: 'waiting'; readonly read: Promise<void> }
  /** it must not be sent, or not in this way: `closed` says that there is no such way now */
  | { readonly kind: 'refused' | 'closed'; readonly reason: string }
  /** the agent may have it */
  | { readonly kind: 'unknown'; readonly reason: string };

export interface ContextParts extends Pick<SwitcherOptions, 'flow' | 'port'> {
  readonly session: Pick<WrapSession, 'agent' | 'channel' | 'contextPath' | 'env' | 'log' | 'wrapper'>;
  /** the agent's process */
  readonly childPid: number;
}

/** The way of this session; undefined where the agent has none. */
export const makeContextWay = (parts: ContextParts): ContextWay | undefined => {
  const { agent, channel, contextPath, log } = parts.session;
  const contextFile = agent.official?.contextFile;
  if (contextPath !== undefined && contextFile)
    return makeFileWay({ ...parts, path: contextPath, contextFile, log });
  return channel && agent.channel?.context ? makeChannelWay(parts) : undefined;
};

// A hook of the agent takes a file with the user's next message.

interface FileWay extends Pick<WrapSession, 'log'> {
  readonly path: string;
  /** as `contextFile` of `OfficialSource` */
  readonly contextFile: (text: string, sessionId: string) => string | undefined;
  readonly flow: ContextParts['flow'];
}

const makeFileWay = ({ path, contextFile, flow, log }: FileWay): ContextWay => {
  let waiting: { readonly text: string; readonly read: Promise<void>; readonly stop: () => void } | undefined;
  let withdrawals = 0;

  /** Resolves when the file is gone, unless it was withdrawn. */
  const watchTaken = (text: string) => {
    let stop: () => void = () => undefined;
    const read = new Promise<void>((resolve) => {
      stop = watchFile(path, () => {
        if (existsSync(path)) return;
        stop();
        if (waiting?.read === read) waiting = undefined;
        log.info('the agent has taken the context');
        resolve();
      });
    });
    return { text, read, stop };
  };
  const remove = (): void => {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      log.warn(`removing ${path}: ${errorText(error)}`);
    }
  };
  return {
    words: 'with your next message',
    send: async (text) => {
      const earlier = waiting && existsSync(path) ? waiting : undefined;
      const whole = earlier ? `${earlier.text}\n\n${text}` : text;
      const sessionId = shownId(flow().session.conversation);
      if (sessionId === undefined) return { kind: 'closed', reason: UNKNOWN };
      const content = contextFile(whole, sessionId);
      if (content === undefined) return { kind: 'refused', reason: tooLong(whole) };
      const before = withdrawals;
      try {
        await writeAtomic(path, content);
      } catch (error) {
        return { kind: 'closed', reason: errorText(error) };
      }
      if (withdrawals !== before) {
        remove();
        return { kind: 'refused', reason: OTHER };
      }
      if (!earlier) waiting?.stop();
      waiting = earlier ? { ...earlier, text: whole } : watchTaken(whole);
      log.info(`context of ${whole.length} characters waits for the next message`);
      return { kind: 'waiting', read: waiting.read };
    },
    withdraw: () => {
      withdrawals += 1;
      waiting?.stop();
      waiting = undefined;
      remove();
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
    send: async (text, wait) => {
      const sessionId = shownId(flow().session.conversation);
      if (sessionId === undefined) return { kind: 'closed', reason: UNKNOWN };
      const { signal } = ended;
      return typeAtSafeMoment<Asked>({ flow, port, audit: undefined }, sessionId, {
        wait: { ...wait, signal: wait.signal ?? signal, allowsDraft: true },
        ended: signal,
        type: (atEnd) => ask(text, sessionId, atEnd),
      })
        .then((result): SentContext => {
          if (result.kind === 'given') return { kind: 'sent' };
          return signal.aborted && result.kind === 'refused' ? { kind: 'refused', reason: OTHER } : result;
        })
        .catch((error: unknown): SentContext => ({ kind: 'unknown', reason: errorText(error) })); // it may have been asked
    },
    withdraw: () => {
      ended.abort();
      ended = new AbortController();
    },
  };
};
