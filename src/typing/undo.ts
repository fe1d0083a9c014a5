import type { AgentChannel } from '../agents/channel.js';
import type { Via } from '../core/compaction/outcome.js';
import type { Result } from '../core/compaction/requests.js';
import { errorText } from '../core/errors.js';
import { leavesConversation, type Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { answerEvent } from '../core/session-flow.js';
import { shownId } from '../core/shown-conversation.js';
import type { SavedSession } from '../agents/agent.js';
import type { WrapSession } from '../session/options.js';
import { prepareReturn, prepareSwitch } from '../session-files/prepare-switch.js';
import { longerSessionFor, sessionBefore, type SessionBefore } from '../session-files/shortened-from.js';
import { copiesOf } from '../session-files/session-sources.js';
import { newSession, type UndonePlan } from '../session-files/undo.js';
import { canReadDatabases } from '../storage/database.js';
import { removeCreated } from '../storage/files.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import {
  actWhenSafe,
  makeLane,
  notDoneText,
  refused,
  type ActionContext,
  type ActionWait,
} from './action.js';
import type { ChannelUndoResult } from './channel.js';
import { UNSUPPORTED, type SwitchResult, type SwitchTo } from './switcher.js';

// Undoes the last compaction in the running agent: it goes back to the session before a shortening, takes the compaction back by its control
// channel, or goes on with a new session that has the whole conversation.

/** `switched`: the compaction is taken back; `impossible`: not by the control channel. */
export type UndoResult = Result<'undo'>;

export interface Undo {
  readonly noteEvent: (event: Event) => void;
  /** by the control channel: no key is typed, the agent stays in its conversation, and a draft in its prompt */
  readonly byChannel: (wait: ActionWait) => Promise<UndoResult>;
  /** in the best way that the agent has; never rejects */
  readonly undo: (wait: ActionWait) => Promise<void>;
}

export interface UndoParts {
  readonly switchTo: SwitchTo;
  /** the session before the last shortening, while the agent has the shortened one */
  readonly previous: () => SavedSession | undefined;
}

const WAITING = 'undo: waiting for a safe moment';
const WORDS = { failed: 'not undone', unsure: 'undo not confirmed' };

export const makeUndo = (context: ActionContext, { switchTo, previous }: UndoParts): Undo => {
  const { session, sessionFile, take } = context;
  const { agent, cwd, env, channel } = session;
  const { newSessions } = agent;
  const byChannel = makeChannelUndo(context);
  const say = (words: string): void => take(answerEvent(words));

  const toSession = async (prepare: () => Promise<Target>, wait: ActionWait): Promise<void> => {
    try {
      say(WAITING);
      const { name, created, done } = await prepare();
      const result = await switchTo(name, { ...wait, onHold: (words) => say(`undo ${words}`) });
      // the agent was not told of it
      if (result.kind === 'refused' && created !== undefined) await removeCreated(created);
      if (result.kind === 'switched') return say(done);
      const byHand = newSessions?.switching?.command(name);
      say(
        notDoneText(
          byHand !== undefined && result.kind === 'unknown' ? { ...result, byHand } : result,
          WORDS,
        ),
      );
    } catch (error) {
      say(`not undone: ${errorText(error)}`);
    }
  };
  /** Of an earlier run only the audit log tells. */
  const sessionToReturnTo = async (path: string | undefined): Promise<SessionBefore | undefined> => {
    const [before, folder] = [previous(), stateFolder(env, homeFolder(env))];
    if (before) return sessionBefore({ agent, path: before.path }, folder, before.id);
    return path === undefined || !newSessions
      ? undefined
      : longerSessionFor({ agent, path }, undefined, folder).catch(() => undefined);
  };
  return {
    noteEvent: byChannel.noteEvent,
    byChannel: byChannel.undo,
    undo: async (wait) => {
      const [path, as] = [sessionFile(), newSession(cwd)];
      const before = await sessionToReturnTo(path);
      if (before && path !== undefined)
        return toSession(async () => {
          const { name, created } = await prepareReturn({ agent, as, before, path });
          return { name, created, done: 'the whole conversation is back' };
        }, wait);
      if (agent.channel?.undo && (channel || !newSessions)) {
        const result = await byChannel.undo(wait);
        if (result.kind !== 'impossible') return;
        if (!newSessions) return say(notDoneText(refused(result.reason), WORDS));
      }
      const obstacle = sessionObstacle(agent, path);
      if (obstacle !== undefined || path === undefined) return say(`not undone: ${obstacle}`);
      const copies = () => copiesOf(stateFolder(env, homeFolder(env)), { agent, path });
      return toSession(async () => {
        const { name, path: created, plan } = await prepareSwitch({ agent, path, as, copies });
        return { name, created, done: undoneText(plan) };
      }, wait);
    },
  };
};

/** What the agent goes on with. */
interface Target {
  readonly name: string;
  /** a file that was made for it */
  readonly created?: string | undefined;
  /** what is said when the agent has it */
  readonly done: string;
}

const sessionObstacle = (
  { name, newSessions }: WrapSession['agent'],
  path: string | undefined,
): string | undefined => {
  if (!newSessions) return `ctxwrap cannot write sessions of ${name}`;
  if (path === undefined) return 'the session file is not known yet';
  return newSessions.switching ? undefined : `${UNSUPPORTED} · for a new session: ctxwrap undo`;
};

const undoneText = ({ prompts }: Pick<UndonePlan, 'prompts'>): string =>
  `compaction undone: your ${prompts === 1 ? 'message is' : `${prompts} messages are`} back`;

// By the agent's control channel.

/** What came of asking, as of typing the command of a switch. */
type Asked = SwitchResult & { readonly via: Via };

const impossible = (reason: string): UndoResult => ({ kind: 'impossible', reason });

const makeChannelUndo = (context: ActionContext) => {
  const { session, flow, publisher, take, ended } = context;
  const lane = makeLane(ended, 'another undo is already waiting');
  let compactedAt: Millis | undefined;
  const say = (words: string): void => take(answerEvent(words));

  const perform = async (sessionId: string, given: ActionWait): Promise<UndoResult> => {
    const result = await lane<SwitchResult | Asked>(given, (wait) => {
      say(WAITING);
      const onHold = (words: string): void => {
        say(`undo ${words}`);
        wait.onHold?.(words);
      };
      const act = () => askForUndo(context, { sessionId, compactedAt, signal: ended });
      const audit = (asked: SwitchResult | undefined): void => publisher?.endSwitch(sessionId, asked);
      return actWhenSafe<SwitchResult>(context, { act, audit, allowsDraft: true }, { ...wait, onHold });
    });
    return result.kind === 'refused' && 'via' in result ? impossible(result.reason) : result;
  };
  return {
    noteEvent: (event: Event): void => {
      if (event.type === 'boundary' && event.boundary.source !== 'screen')
        compactedAt = event.boundary.initiator === 'user' ? event.boundary.at : undefined; // the agent's own is part of a turn
      if (leavesConversation(event)) compactedAt = undefined;
    },
    /** Asks at a safe moment, and says in the footer what comes of it, unless the undo goes on in another way. Never rejects. */
    undo: async (wait: ActionWait): Promise<UndoResult> => {
      const { conversation, compactions } = flow().session;
      const sessionId = shownId(conversation);
      const hindrance = channelHindrance(session);
      if (hindrance !== undefined) return impossible(hindrance);
      if (sessionId === undefined) return impossible(canReadDatabases() ? UNKNOWN_SESSION : NO_DATABASE);
      if (compactions === 0) return impossible('nothing was compacted in this session');
      const result = await perform(sessionId, wait);
      if (result.kind === 'switched') take({ type: 'undone' });
      const hasOtherWay = result.kind === 'impossible' && session.agent.newSessions !== undefined;
      if (!hasOtherWay) say(channelText(result));
      return result;
    },
  };
};

const UNKNOWN_SESSION = 'the session is not known yet';
const NO_DATABASE = 'this Node has no SQLite to find the session with; Node 22.13 and newer have';

/** Why this agent cannot be asked; undefined where it can. */
const channelHindrance = ({
  agent: { name, channel },
  channel: open,
  values,
}: Pick<WrapSession, 'agent' | 'channel' | 'values'>): string | undefined => {
  if (open || !channel) return undefined;
  return values.via === 'channel'
    ? `${channel.name} is not open to ctxwrap in this session`
    : `it takes ${channel.name}: ctxwrap config set via channel, then start ${name} again`;
};

const channelText = (result: UndoResult): string => {
  if (result.kind === 'switched') return 'compaction undone: your messages are back';
  return notDoneText(result.kind === 'impossible' ? refused(result.reason) : result, WORDS);
};

interface Asking {
  readonly sessionId: string;
  readonly compactedAt: Millis | undefined;
  readonly signal: AbortSignal;
}

/** undefined: the moment had passed before it was asked */
const askForUndo = async (
  { session, screen, childPid, port }: ActionContext,
  { sessionId, compactedAt, signal }: Asking,
): Promise<Asked | undefined> => {
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

const askedOf = (
  result: ChannelUndoResult,
  { name, via }: Pick<AgentChannel, 'name' | 'via'>,
): Asked | undefined => {
  switch (result.kind) {
    case 'skipped':
      return undefined;
    case 'closed':
      return { ...refused(`${name} cannot be asked: ${result.reason}`), via };
    case 'undone':
      return { kind: 'switched', via };
    default:
      return { ...result, via };
  }
};
