import type { AgentChannel } from '../agents/channel.js';
import { shownId } from '../core/shown-conversation.js';
import type { Via } from '../core/compaction/outcome.js';
import type { Result } from '../core/compaction/requests.js';
import { errorText } from '../core/errors.js';
import { leavesConversation, type Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { answerEvent } from '../core/session-flow.js';
import { canReadDatabases } from '../storage/database.js';
import type { ScreenModel } from '../terminal/screen-model.js';
import type { ChannelUndoResult } from './channel.js';
import type { WrapSession } from '../session/options.js';
import {
  OTHER_UNDO,
  typeAtSafeMoment,
  type SwitcherOptions,
  type SwitchResult,
  type SwitchWait,
} from './switcher.js';
import type { TypedResult } from '../session/ports.js';

// Undoes the last compaction by the agent's control channel: no key is typed, the agent stays in its conversation, and a draft in its prompt.

export interface ChannelUndo {
  readonly noteEvent: (event: Event) => void;
  /** Waits for a safe moment, asks, and says in the footer what comes of it, unless the undo goes on in another way. Never rejects. */
  readonly undo: (wait: UndoWait) => Promise<ChannelUndone>;
  readonly stop: () => void;
}

type UndoWait = Pick<SwitchWait, 'signal' | 'onHold' | 'gate'>;

/** `switched` here means that the compaction is taken back. */
export type ChannelUndone = Result<'undo'>;

export interface ChannelUndoOptions extends Pick<SwitcherOptions, 'port' | 'flow' | 'audit' | 'onEvent'> {
  readonly session: Pick<WrapSession, 'agent' | 'channel' | 'log' | 'values' | 'env' | 'wrapper'>;
  readonly screen: Pick<ScreenModel, 'snapshot'>;
  /** the agent's process */
  readonly childPid: number;
}

/** What came of asking, as of typing the command of a switch. */
type Asked = SwitchResult & { readonly via: Via };

const impossible = (reason: string): ChannelUndone => ({ kind: 'impossible', reason });

export const makeChannelUndo = (options: ChannelUndoOptions): ChannelUndo => {
  const { session, flow, screen, childPid, port, onEvent } = options;
  const ended = new AbortController();
  let compactedAt: Millis | undefined;
  let isTaken = false;
  const say = (words: string): void => onEvent(answerEvent(words));

  const ask = async (sessionId: string, signal: AbortSignal): Promise<Asked | undefined> => {
    const { agent, channel: open, log } = session;
    const { channel } = agent;
    if (!channel || !open) return undefined;
    const { askToUndo, isInOtherTerminal } = await import('./channel.js');
    const isElsewhereToo = (): Promise<boolean> => isInOtherTerminal(session, sessionId);
    const seen = screen.snapshot;
    const conversation = { sessionId, isElsewhereToo, seen, compactedAt };
    const result = await askToUndo({ channel, open, childPid, ...conversation, port, signal });
    const reason = 'reason' in result ? `, ${result.reason}` : '';
    log.info(`asking ${channel.name} to undo the compaction: ${result.kind}${reason}`);
    return askedOf(result, channel);
  };
  const attempt = async (sessionId: string, wait: UndoWait): Promise<ChannelUndone> => {
    isTaken = true;
    say('undo: waiting for a safe moment');
    const onHold = (words: string): void => {
      say(`undo ${words}`);
      wait.onHold?.(words);
    };
    const result = await typeAtSafeMoment<Asked>(options, sessionId, {
      wait: { ...wait, allowsDraft: true, onHold },
      ended: ended.signal,
      type: (signalOfEnd) => ask(sessionId, signalOfEnd),
    })
      .catch((error: unknown): SwitchResult => ({ kind: 'unknown', reason: errorText(error) })) // it may have been asked
      .finally(() => (isTaken = false));
    return result.kind === 'refused' && 'via' in result ? impossible(result.reason) : result;
  };
  return {
    noteEvent: (event) => {
      if (event.type === 'boundary' && event.boundary.source !== 'screen')
        compactedAt = event.boundary.initiator === 'user' ? event.boundary.at : undefined; // the agent's own is part of a turn
      if (leavesConversation(event)) compactedAt = undefined;
    },
    undo: async (wait) => {
      const { conversation, compactions } = flow().session;
      const sessionId = shownId(conversation);
      const hindrance = channelHindrance(session);
      if (hindrance !== undefined) return impossible(hindrance);
      if (sessionId === undefined) return impossible(canReadDatabases() ? UNKNOWN_SESSION : NO_DATABASE);
      if (compactions === 0) return impossible(NOTHING);
      const result = isTaken
        ? ({ kind: 'refused', reason: OTHER_UNDO } as const)
        : await attempt(sessionId, wait);
      if (result.kind === 'switched') onEvent({ type: 'undone' });
      const hasOtherWay = result.kind === 'impossible' && session.agent.newSessions !== undefined;
      if (!hasOtherWay) say(wordsFor(result));
      return result;
    },
    stop: () => ended.abort(),
  };
};

const NOTHING = 'nothing was compacted in this session';
const UNKNOWN_SESSION = 'the session is not known yet';
const NO_DATABASE = 'this Node has no SQLite to find the session with; Node 22.13 and newer have';

/** Why this agent cannot be asked; undefined where it can. */
const channelHindrance = ({
  agent: { name, channel },
  channel: open,
  values,
}: ChannelUndoOptions['session']): string | undefined => {
  if (open || !channel) return undefined;
  return values.via === 'channel'
    ? `${channel.name} is not open to ctxwrap in this session`
    : `it takes ${channel.name}: ctxwrap config set via channel, then start ${name} again`;
};

const askedOf = (
  result: ChannelUndoResult,
  { name, via }: Pick<AgentChannel, 'name' | 'via'>,
): Asked | undefined => {
  switch (result.kind) {
    case 'skipped':
      return undefined;
    case 'closed':
      return { kind: 'refused', reason: `${name} cannot be asked: ${result.reason}`, via };
    case 'undone':
      return { kind: 'switched', via };
    default:
      return { ...result, via };
  }
};

/** One line for the footer. */
const wordsFor = ({ kind, reason = '' }: TypedResult): string => {
  switch (kind) {
    case 'switched':
      return 'compaction undone: your messages are back';
    case 'unknown':
      return `undo not confirmed: ${reason}`;
    default:
      return `not undone: ${reason}`;
  }
};
