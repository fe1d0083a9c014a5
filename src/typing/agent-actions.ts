import { basename } from 'node:path';
import type { RecapChoice } from '../core/conversation/recap.js';
import type { Event } from '../core/event.js';
import { hotkeyName } from '../core/format.js';
import type { Millis } from '../core/reading.js';
import { answerEvent } from '../core/session-flow.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import type { ScreenModel } from '../terminal/screen-model.js';
import type { WrapSession, RestartPlan } from '../session/options.js';
import { makeChannelUndo, type ChannelUndo } from './channel-undo.js';
import { makeContextWay } from './context-way.js';
import { putDraft, type DraftWait } from './prompt-draft.js';
import type { SessionSource } from '../session-files/read-history.js';
import { makeReceipts, type Receipts } from './receipts.js';
import type { MomentWait, TypingGate } from './safe-moment.js';
import { copiesOf } from '../session-files/session-sources.js';
import { openSummariser } from '../session-files/summariser.js';
import { makeRestarter } from './restarter.js';
import { makeShortener, type Shortener } from './shortener.js';
import { makeSwitcher, returnLive, undoLive, type LiveUndo, type Switcher } from './switcher.js';
import type { TypistPort } from './typing-steps.js';
import type { DraftResult } from './typist.js';
import { newSession } from '../session-files/undo.js';
import type { Publisher, SessionLoop } from '../session/ports.js';

// What a running session does for the user besides compacting: it goes back to an earlier conversation, and puts drafts into the prompt.

export interface AgentActions {
  readonly noteEvent: (event: Event) => void;
  /** whether this record of a compaction is one that ctxwrap has written, in the session that the agent now goes on with */
  readonly isOwnBoundary: Shortener['isOwnBoundary'];
  /** shortens the conversation without the agent, at the next safe moment */
  readonly shorten: Shortener['shorten'];
  /** has the agent go on with another session, at the next safe moment */
  readonly switchTo: Switcher['switchTo'];
  /** undoes the last compaction by the agent's control channel, at the next safe moment */
  readonly undoByChannel: ChannelUndo['undo'];
  /** puts what the last compaction has lost into the prompt, as a draft */
  readonly brief: Receipts['brief'];
  /** the key that undoes the last compaction; the footer says what comes of it. Again: withdraws it while it waits */
  readonly pressUndo: () => void;
  /** the recap of the last compaction, for the overlay */
  readonly recap: Receipts['recap'];
  readonly lookAtRecap: Receipts['look'];
  readonly recallWay: Receipts['way'];
  /** gives back what the user has chosen in a recap; the footer says what comes of it */
  readonly giveBack: (choice: RecapChoice) => void;
  /** the same for what matters most, without the choice. Again: withdraws it while it waits */
  readonly pressRecall: () => void;
  /** the same for shortening the conversation without the agent */
  readonly pressRescue: () => void;
  /** the same without a key: does nothing where one is under way */
  readonly startRescue: () => void;
  /** how much the last compaction has kept; undefined where that is not known */
  readonly keptText: () => string | undefined;
  readonly stop: () => void;
}

export interface ActionParts {
  readonly session: WrapSession;
  readonly screen: Pick<ScreenModel, 'takesPastes' | 'snapshot'>;
  /** other programs */
  readonly publisher: Publisher | undefined;
  /** tells the main thread what to start when the child ends; undefined: nothing */
  readonly onRestart: (plan: RestartPlan | undefined) => void;
}

export interface ActionPorts {
  /** the agent's process */
  readonly childPid: number;
  readonly port: TypistPort;
  readonly loop: Pick<SessionLoop, 'flow'>;
  readonly take: (event: Event) => void;
  /** the agent's session file, once it is known */
  readonly sessionFile: () => string | undefined;
  /** the agent's session; undefined while it is not known. Rejects where it cannot be read */
  readonly source: () => Promise<SessionSource | undefined>;
  /** ctxwrap sends Enter behind a command for which the agent goes on in another session, at this time */
  readonly onEntered: (at: Millis) => void;
}

export const makeAgentActions = (parts: ActionParts, ports: ActionPorts): AgentActions => {
  const { agent } = parts.session;
  const { childPid, loop, port, take } = ports;
  const switcher = makeSessionSwitcher(parts, ports);
  const drafts = makeDrafts(parts, ports);
  const receipts = makeSessionReceipts(parts, ports, drafts);
  const shortener = makeSessionShortener(parts, ports, switcher);
  const channelUndo = makeChannelUndo({
    ...parts,
    childPid,
    port,
    flow: loop.flow,
    audit: parts.publisher,
    onEvent: take,
  });
  const undo = makeKeyRequest('undo', ports.take, (wait) => {
    const before = shortener.previous();
    const path = ports.sessionFile();
    const as = newSession(parts.session.cwd);
    return before === undefined || path === undefined
      ? undoLast(parts, ports, { switcher, channelUndo, ...wait })
      : returnLive({ agent, as, before, path, switcher, onEvent: ports.take, ...wait });
  });
  const rescue = makeKeyRequest('rescue', ports.take, shortener.rescue);
  const recall = makeRecallRequest(receipts, ports.take);
  return {
    noteEvent: (event) => {
      receipts.noteEvent(event);
      channelUndo.noteEvent(event);
      shortener.noteEvent(event);
    },
    isOwnBoundary: shortener.isOwnBoundary,
    shorten: shortener.shorten,
    switchTo: switcher.switchTo,
    undoByChannel: channelUndo.undo,
    brief: receipts.brief,
    pressUndo: undo.press,
    recap: receipts.recap,
    lookAtRecap: receipts.look,
    recallWay: receipts.way,
    giveBack: recall.giveBack,
    pressRecall: recall.press,
    pressRescue: rescue.press,
    startRescue: rescue.start,
    keptText: receipts.keptText,
    stop: () =>
      [undo, recall, rescue, shortener, switcher, channelUndo, drafts, receipts].forEach((part) =>
        part.stop(),
      ),
  };
};

const makeSessionReceipts = (
  { session, publisher }: ActionParts,
  { source, take, loop, childPid, port }: ActionPorts,
  drafts: ReturnType<typeof makeDrafts>,
): Receipts => {
  const { agent, log, values } = session;
  return makeReceipts({
    agent,
    source,
    hotkey: hotkeyName(values),
    recall: values.recall,
    log,
    onEvent: take,
    onGiven: (given) => publisher?.onGivenBack(given, loop.flow().session),
    onCounts: (at, counts) => publisher?.onReceipt({ at, counts }, loop.flow().session),
    context: makeContextWay({ session, childPid, flow: loop.flow, port }),
    putDraft: drafts.put,
  });
};

type KeyWait = Required<Pick<MomentWait, 'signal' | 'gate'>>;

/** What a key asks for, once at a time; pressed again while it waits, the key withdraws it. */
const makeKeyRequest = (
  name: string,
  take: (event: Event) => void,
  perform: (wait: KeyWait) => Promise<unknown>,
) => {
  let waiting: AbortController | undefined;
  let isNext = false; // another one takes its place
  let isTyping = false; // from here on it cannot be withdrawn, and what comes of it is said
  const gate: TypingGate = {
    begin: async () => {
      isTyping = true;
      return undefined;
    },
    rest: () => (isTyping = false),
  };
  const start = (): void => {
    if (waiting) return;
    const mine = new AbortController();
    waiting = mine;
    [isTyping, isNext] = [false, false];
    void perform({ signal: mine.signal, gate }).finally(() => {
      waiting = undefined;
      if (isNext) start();
    });
  };
  return {
    start,
    /** in the place of one that still waits */
    startAnew: (): void => {
      if (!waiting) return start();
      if (isTyping) return take(answerEvent(`${name}: too late to change it`));
      isNext = true;
      waiting.abort();
    },
    press: (): void => {
      if (!waiting) return start();
      if (isTyping) return take(answerEvent(`${name}: too late to withdraw it`));
      waiting.abort();
      take(answerEvent(`${name} withdrawn`));
    },
    stop: (): void => waiting?.abort(),
  };
};

/** Gives back what the user has chosen, or what matters most. */
const makeRecallRequest = (receipts: Receipts, take: (event: Event) => void) => {
  let chosen: RecapChoice | undefined;
  const request = makeKeyRequest('recall', take, (wait) => {
    const wanted = chosen;
    chosen = undefined;
    const say = (words: string): void => take(answerEvent(words));
    say('recall: waiting for a safe moment');
    const waiting = { ...wait, onHold: (words: string) => say(`recall ${words}`) };
    return wanted ? receipts.giveBack(wanted, waiting) : receipts.brief(waiting);
  });
  return {
    ...request,
    giveBack: (choice: RecapChoice): void => {
      chosen = choice;
      request.startAnew();
    },
  };
};

const OTHER_DRAFT = 'another draft is waiting already';

/** Puts texts into the prompt, one at a time; the one that the session begins with at once. */
const makeDrafts = ({ session, screen, publisher }: ActionParts, { port, loop, take }: ActionPorts) => {
  const ended = new AbortController();
  let isTaken = false;
  const put = async (text: string, given: DraftWait = {}): Promise<DraftResult> => {
    if (isTaken) return { kind: 'skipped', reason: OTHER_DRAFT };
    isTaken = true;
    const { takesPastes } = screen;
    const { flow } = loop;
    const { log } = session;
    const signal = given.signal ? AbortSignal.any([given.signal, ended.signal]) : ended.signal;
    const { foldsPastes } = session.agent;
    const parts = { text, port, takesPastes, foldsPastes, flow, log, onEvent: take, publisher };
    return putDraft({ ...given, ...parts, signal }).finally(() => (isTaken = false));
  };
  const hasBegun = (): string | undefined => (loop.flow().session.turns > 0 ? 'you have begun' : undefined);
  if (session.startingDraft !== undefined) void put(session.startingDraft, { refusal: hasBegun });
  return { put, stop: (): void => ended.abort() };
};

const makeSessionSwitcher = (
  { session, publisher }: ActionParts,
  { port, loop, take, sessionFile, onEntered }: ActionPorts,
): Switcher =>
  makeSwitcher({
    recipe: session.agent.recipe?.(session.env),
    switching: session.agent.newSessions?.switching,
    port,
    flow: loop.flow,
    sessionFile,
    onEntered,
    log: session.log,
    onEvent: take,
    audit: publisher,
  });

const makeSessionShortener = (
  { session, publisher, onRestart }: ActionParts,
  { port, loop, take, sessionFile }: ActionPorts,
  switcher: Switcher,
): Shortener => {
  const { agent, file, values, env, cwd, log, restarted } = session;
  const home = homeFolder(env);
  const program = basename(file) === agent.command ? file : undefined; // not an interpreter or a launcher
  const common = { port, flow: loop.flow, log, onEvent: take };
  const recipe = agent.recipe?.(env);
  if (restarted) publisher?.onReplaced({ from: restarted.before, to: restarted.session });
  return makeShortener({
    ...common,
    agent,
    values,
    home,
    cwd,
    summarise: openSummariser({ values, agent, env, home, program }),
    switcher,
    restarter:
      values.apply === 'restart'
        ? makeRestarter({ ...common, session, recipe, audit: publisher, onPlan: onRestart })
        : undefined,
    restarted,
    times: session.shortenedAt,
    sessionFile,
    onReplaced: publisher?.onReplaced,
  });
};

interface UndoWays extends Pick<LiveUndo, 'switcher' | 'signal' | 'gate'> {
  readonly channelUndo: Pick<ChannelUndo, 'undo'>;
}

/** By the agent's control channel, where it has one that can; else with keys and a new session, where the agent takes one. */
const undoLast = async (
  { session: { agent, cwd, env, channel } }: ActionParts,
  { take, sessionFile }: ActionPorts,
  { switcher, channelUndo, signal, gate }: UndoWays,
): Promise<void> => {
  const refuse = (reason: string): void => take(answerEvent(`not undone: ${reason}`));
  if (agent.channel?.undo && (channel || !agent.newSessions)) {
    const result = await channelUndo.undo({ signal, gate });
    if (result.kind !== 'impossible') return;
    if (!agent.newSessions) return refuse(result.reason);
  }
  const path = sessionFile();
  const reason = agent.newSessions
    ? 'the session file is not known yet'
    : `ctxwrap cannot write sessions of ${agent.name}`;
  if (path === undefined) return refuse(reason);
  const as = newSession(cwd);
  const copies = () => copiesOf(stateFolder(env, homeFolder(env)), { agent, path });
  await undoLive({ agent, path, as, copies, switcher, onEvent: take, signal, gate });
};
