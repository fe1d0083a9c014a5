import type { CompactRecipe } from '../agents/agent.js';
import type { CopyResult } from '../core/compaction/copy.js';
import type { EndedCompaction } from '../core/compaction/outcome.js';
import type { Effect } from '../core/compaction/state.js';
import type { Event } from '../core/event.js';
import { noticeEvent } from '../core/session-flow.js';
import type { Log } from '../storage/log-file.js';
import type { ChannelResult } from './channel.js';
import { makeDraftWatch } from './draft.js';
import { clearPrompt } from './action.js';
import { shortenedEvent } from './restarter.js';
import type { ShortenResult } from './shortener.js';
import { withdrawalOf, type TypeRequest, type TypistPort } from './typing-steps.js';
import { typeCommand, typedText } from './typist.js';

// Carries out the core's decisions about compacting: types the command, checks that a stashed draft came back, and reports the result.

export interface CompactorOptions {
  readonly recipe: CompactRecipe | undefined;
  readonly port: TypistPort;
  /** copies the session file before the command is typed; must not reject */
  readonly copy: () => Promise<CopyResult>;
  /** reads what the conversation says must be kept, as the text that is typed; undefined where nothing is known. Must not reject */
  readonly findFocus: () => Promise<string | undefined>;
  /** the agent's control channel, asked in place of typing; undefined where it has none */
  readonly channel: AskableChannel | undefined;
  /** shortens the conversation by this strategy, in place of the command; never rejects */
  readonly shorten: (strategy: string, signal: AbortSignal) => Promise<ShortenResult>;
  /** tells those who have asked for it that it begins; resolves with why it must not. Must not reject */
  readonly begin?: (() => Promise<string | undefined>) | undefined;
  readonly log: Log;
  readonly onEvent: (event: Event) => void;
}

export interface AskableChannel {
  /** for the user: `opencode's server` */
  readonly name: string;
  /** must not reject */
  readonly ask: (signal: AbortSignal) => Promise<ChannelResult>;
}

type TypeEffect = Extract<Effect, { type: 'type-compact' }>;

export interface Compactor {
  readonly run: (effect: Effect) => void;
  readonly stop: () => void;
}

const skipped = (reason: string) => ({ kind: 'skipped', reason, evidence: [] }) as const;

const OTHER_TYPES = 'another command is being typed';

export const makeCompactor = (options: CompactorOptions): Compactor => {
  const attempts = makeAttempts(options);
  const entry = makeEntry(options, attempts.carryOut);
  return {
    run: (effect) => {
      switch (effect.type) {
        case 'type-compact':
          return entry.begin(effect);
        case 'withdraw':
          return entry.withdraw(effect.reason);
        case 'copy':
        case 'find-focus':
          return void prepared(effect, options).then(attempts.tell);
        case 'ended':
          entry.leave();
          return attempts.end(effect.ended);
        case 'refused':
          return options.log.info(`no compaction: ${effect.reason}`);
      }
    },
    stop: () => {
      entry.leave();
      attempts.stop();
    },
  };
};

/** What is made or read before a command is typed. */
const prepared = async (
  { type, id }: Extract<Effect, { readonly type: 'copy' | 'find-focus' }>,
  { copy, findFocus }: CompactorOptions,
): Promise<Event> =>
  type === 'copy'
    ? { type: 'copied', id, result: await copy() }
    : { type: 'focus-found', id, text: await findFocus() };

interface AttemptSignals {
  /** the session has ended, or another attempt has begun */
  readonly signal: AbortSignal;
  /** as in `TypeRequest`; what the agent was asked without keys cannot be taken back */
  readonly withdrawal: AbortSignal;
}

/** What tells the session what came of an attempt. */
type Events = readonly Event[];

/** Carries out one attempt after the other, and puts the prompt in order after it. */
const makeAttempts = (options: CompactorOptions) => {
  const { recipe, port, log, onEvent } = options;
  let [attempt, isOver, typedBefore] = [new AbortController(), false, 0];
  let request: TypeRequest | undefined;
  const draft = makeDraftWatch({ port, log, onEvent });

  const type = async (
    { focus, found, isQueued, stashes }: TypeEffect,
    signals: AttemptSignals,
  ): Promise<Events> => {
    if (!recipe) return [];
    const mayStash = stashes === true;
    const given = { recipe, focus, found, isQueued, mayStash, port, onRestoring: draft.onRestoring };
    [request, typedBefore] = [{ ...given, ...signals }, port.typedCount()];
    draft.begin();
    const result = await typeCommand(request);
    if (result.kind === 'skipped') draft.forget();
    log.info(typedText(recipe.command, result));
    return [{ type: 'typed', result }];
  };
  const carryOut = async (effect: TypeEffect, withdrawal: AbortSignal): Promise<void> => {
    if (isOver) return;
    const endTurn = effect.strategy === undefined ? port.takeTurn() : () => undefined; // a strategy waits for its own
    if (!endTurn) return onEvent({ type: 'typed', result: skipped(OTHER_TYPES) });
    attempt.abort(); // the previous attempt must not interfere
    const mine = new AbortController();
    [attempt, request] = [mine, undefined];
    const act = insteadOfKeys(effect, options) ?? ((signals: AttemptSignals) => type(effect, signals));
    const events = await act({ signal: mine.signal, withdrawal }).finally(endTurn);
    if (!isOver && attempt === mine) events.forEach((event) => onEvent(event));
  };
  const clear = async ({ outcome: { kind } }: EndedCompaction): Promise<void> => {
    if (!request || (kind !== 'not-started' && kind !== 'not-delivered')) return;
    await clearPrompt(request, { typedBefore, wasSent: kind === 'not-started' }, onEvent);
  };
  return {
    carryOut,
    tell: (event: Event): void => {
      if (!isOver) onEvent(event);
    },
    end: (ended: EndedCompaction): void => {
      log.info(endedText(ended));
      if (isOver) return;
      if (ended.strategy !== undefined) attempt.abort(); // nothing is switched for an attempt that is over
      if (ended.via !== undefined) endAsking(ended, attempt, options);
      void clear(ended).catch(() => undefined);
      draft.end(request, { mayHoldCommand: ended.outcome.kind === 'interrupted' });
    },
    stop: (): void => {
      isOver = true;
      attempt.abort();
      draft.stop();
    },
  };
};

/** Carries an attempt out once those who have asked for it are told, unless it has ended by then. */
const makeEntry = (
  { begin, onEvent }: CompactorOptions,
  carryOut: (effect: TypeEffect, withdrawal: AbortSignal) => Promise<void>,
) => {
  let waiting: TypeEffect | undefined;
  let withdrawn = new AbortController();
  const enter = async (effect: TypeEffect, withdrawal: AbortSignal): Promise<void> => {
    const reason = (await begin?.()) ?? withdrawalOf({ withdrawal });
    if (waiting !== effect) return;
    if (reason !== undefined) return onEvent({ type: 'typed', result: skipped(reason) });
    return carryOut(effect, withdrawal);
  };
  return {
    begin: (effect: TypeEffect): void => {
      waiting = effect;
      withdrawn = new AbortController();
      const { signal } = withdrawn;
      // a microtask: the step that decided this is not finished yet
      queueMicrotask(() => void enter(effect, signal));
    },
    withdraw: (reason: string): void => withdrawn.abort(reason),
    leave: (): void => {
      waiting = undefined;
    },
  };
};

/** What is done in place of typing, where anything is. */
const insteadOfKeys = (
  { strategy, channel }: TypeEffect,
  { channel: askable, shorten, log }: CompactorOptions,
): ((signals: AttemptSignals) => Promise<Events>) | undefined => {
  if (strategy !== undefined)
    return async ({ signal, withdrawal }) =>
      shortenedEvents(await shorten(strategy, AbortSignal.any([signal, withdrawal])));
  if (!channel || !askable) return undefined;
  return async ({ signal }) => {
    const result = await askable.ask(signal);
    const words = 'reason' in result ? result.reason : result.evidence;
    log.info(`asking ${askable.name} to compact: ${result.kind}, ${words}`);
    return askedEvents(askable.name, result);
  };
};

/** The outcome of a strategy, as of the command that it stands in for. */
const shortenedEvents = (result: ShortenResult): Events => {
  if (result.kind === 'refused' && result.why === 'nothing')
    return [{ type: 'typed', result: { kind: 'nothing', reason: result.reason, evidence: [] } }];
  if (result.kind === 'refused' && result.why === 'no-strategy')
    return [
      { type: 'typed', result: { ...skipped(result.reason), isStrategyLost: true } },
      noticeEvent(`${result.reason}; the agent's own command is used from now on`),
    ];
  if (result.kind === 'refused')
    return [{ type: 'typed', result: { kind: 'withdrawn', reason: result.reason, evidence: [] } }];
  const evidence = ['reason' in result ? result.reason : `shortened ${result.words}`];
  const pendingSession = result.kind === 'unknown' ? result.pendingSession : undefined;
  const typed: Event = { type: 'typed', result: { kind: 'sent', isQueued: false, evidence, pendingSession } };
  return result.kind === 'shortened' ? [typed, shortenedEvent(result)] : [typed];
};

/** What came of asking by the control channel, as of typing the command. */
const askedEvents = (name: string, result: ChannelResult): Events => {
  switch (result.kind) {
    case 'sent':
      return [{ type: 'typed', result: { kind: 'sent', isQueued: false, evidence: [result.evidence] } }];
    case 'skipped':
      return [{ type: 'typed', result: skipped(result.reason) }];
    case 'closed': {
      const reason = `${name} cannot be asked: ${result.reason}`;
      return [...channelClosed(reason), { type: 'typed', result: skipped(reason) }];
    }
  }
};

/** An agent that was asked and does nothing may have no such command any more, whatever its server has said. */
const endAsking = (
  { outcome }: EndedCompaction,
  attempt: AbortController,
  { channel, onEvent }: CompactorOptions,
): void => {
  attempt.abort(); // one that has ended by its time limit must not be asked for later
  if (outcome.kind !== 'not-started') return;
  const reason = `${channel?.name ?? 'the agent'} was asked, and nothing began`;
  // a microtask: the step that ended it is not finished yet
  queueMicrotask(() => channelClosed(reason).forEach((event) => onEvent(event)));
};

/** It is not asked again in this session. */
const channelClosed = (reason: string): Events => [
  noticeEvent(`${reason}; the command is typed from now on`),
  { type: 'channel-closed' },
];

const endedText = ({ initiator, strategy, outcome, startedAt, endedAt, evidence }: EndedCompaction): string =>
  [
    `compaction by ${initiator === 'ctxwrap' ? 'us' : `the ${initiator}`}: ${outcome.kind}`,
    ...(strategy === undefined ? [] : [`strategy ${strategy}`]),
    `${((endedAt - startedAt) / 1000).toFixed(1)} s`,
    ...evidence,
  ].join(', ');
