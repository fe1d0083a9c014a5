import type { Event } from '../core/event.js';
import { hotkeyName } from '../core/format.js';
import { noticeEvent } from '../core/session-flow.js';
import { homeFolder } from '../storage/state-folder.js';
import type { ScreenModel } from '../terminal/screen-model.js';
import type { WrapSession } from './options.js';
import { putDraft } from './prompt-draft.js';
import type { Publisher } from './publish.js';
import { makeReceipts, type Receipts } from './receipts.js';
import type { SessionLoop } from './session.js';
import { makeShortener, type Shortener } from './shortener.js';
import { makeSwitcher, returnLive, undoLive, type Switcher } from './switcher.js';
import type { TypistPort } from './typing-steps.js';
import type { DraftResult } from './typist.js';

// What a running session does for the user besides compacting: it goes back to an earlier conversation, and puts drafts into the prompt.

export interface AgentActions {
  readonly noteEvent: (event: Event) => void;
  /** whether this record of a compaction is one that ctxwrap has written, in the session that the agent now goes on with */
  readonly isOwnBoundary: Shortener['isOwnBoundary'];
  /** has the agent go on with another session, at the next safe moment */
  readonly switchTo: Switcher['switchTo'];
  /** undoes the last compaction, and says in the footer what comes of it */
  readonly undo: () => void;
  /** shortens the conversation without the agent, at the next safe moment */
  readonly shorten: Shortener['shorten'];
  /** the same for the user's key, with the outcome in the footer */
  readonly rescue: () => void;
  /** puts what the last compaction has lost into the prompt, as a draft */
  readonly brief: Receipts['brief'];
  /** how much the last compaction has kept; undefined where that is not known */
  readonly keptText: () => string | undefined;
  readonly stop: () => void;
}

export interface ActionParts {
  readonly session: WrapSession;
  readonly screen: Pick<ScreenModel, 'takesPastes'>;
  /** other programs */
  readonly publisher: Publisher | undefined;
}

export interface ActionPorts {
  readonly port: TypistPort;
  readonly loop: Pick<SessionLoop, 'flow'>;
  readonly take: (event: Event) => void;
  /** the agent's session file, once it is known */
  readonly sessionFile: () => string | undefined;
}

export const makeAgentActions = (parts: ActionParts, ports: ActionPorts): AgentActions => {
  const { agent, log, values } = parts.session;
  const undoing = makeUndoing(parts, ports);
  const { shortener } = undoing;
  const drafts = makeDrafts(parts, ports);
  const receipts = makeReceipts({
    agent,
    sessionFile: ports.sessionFile,
    hotkey: hotkeyName(values) ?? '',
    log,
    onEvent: ports.take,
    putDraft: drafts.put,
  });
  return {
    noteEvent: (event) => {
      receipts.noteEvent(event);
      shortener.noteEvent(event);
    },
    isOwnBoundary: shortener.isOwnBoundary,
    shorten: shortener.shorten,
    rescue: shortener.rescue,
    switchTo: undoing.switchTo,
    undo: undoing.undo,
    brief: receipts.brief,
    keptText: receipts.keptText,
    stop: () => [undoing, drafts, receipts].forEach((part) => part.stop()),
  };
};

/** Puts texts into the prompt, the one that the session begins with at once. */
const makeDrafts = ({ session, screen, publisher }: ActionParts, { port, loop, take }: ActionPorts) => {
  const ended = new AbortController();
  const put = (
    text: string,
    given?: AbortSignal,
    refusal?: () => string | undefined,
  ): Promise<DraftResult> => {
    const { takesPastes } = screen;
    const { flow } = loop;
    const { log } = session;
    const signal = given ? AbortSignal.any([given, ended.signal]) : ended.signal;
    return putDraft({ text, refusal, port, takesPastes, flow, log, onEvent: take, publisher, signal });
  };
  const hasBegun = (): string | undefined => (loop.flow().session.turns > 0 ? 'you have begun' : undefined);
  if (session.startingDraft !== undefined) void put(session.startingDraft, undefined, hasBegun);
  return { put, stop: (): void => ended.abort() };
};

/** Has the agent go on with another session: undoes compactions by that, and shortens the conversation. */
const makeUndoing = ({ session, publisher }: ActionParts, { port, loop, take, sessionFile }: ActionPorts) => {
  const { agent, env, cwd, log, values } = session;
  const switcher = makeSwitcher({
    recipe: agent.recipe?.(env),
    switching: agent.conversations?.switching,
    port,
    flow: loop.flow,
    sessionFile,
    log,
    onEvent: take,
    audit: publisher,
  });
  const ended = new AbortController();
  const shortener = makeShortener({
    agent,
    values,
    home: homeFolder(env),
    cwd,
    summarise: undefined,
    switcher,
    port,
    flow: loop.flow,
    sessionFile,
    log,
    onEvent: take,
  });
  return {
    switchTo: switcher.switchTo,
    shortener,
    undo: (): void => {
      const previous = shortener.previousId();
      if (previous !== undefined)
        return void returnLive({ switcher, name: previous, onEvent: take, signal: ended.signal });
      const path = sessionFile();
      if (path === undefined) return take(noticeEvent('undo: the session file is not known yet'));
      const as = { id: crypto.randomUUID(), cwd, now: Date.now(), newUuid: () => crypto.randomUUID() };
      void undoLive({ agent, path, as, switcher, onEvent: take, signal: ended.signal });
    },
    stop: (): void => {
      ended.abort();
      shortener.stop();
      switcher.stop();
    },
  };
};
