import type { CompactRecipe, NewSessionForm } from '../agents/agent.js';
import type { CopyResult } from '../core/compaction/copy.js';
import type { EndedCompaction } from '../core/compaction/outcome.js';
import type { CompactSettings, ControlChannel, Effect } from '../core/compaction/state.js';
import { isBlackBoxOn } from '../core/config/keys.js';
import type { Event } from '../core/event.js';
import { present } from '../core/present.js';
import { noticeEvent } from '../core/session-flow.js';
import type { Log } from '../storage/log-file.js';
import type { ChannelResult } from './channel.js';
import { makeDraftWatch } from './draft.js';
import { strategyInUse } from '../core/config/backends.js';
import type { WrapSession } from '../session/options.js';
import { shortenedEvent, type ShortenResult } from './shortener.js';
import { withdrawalOf, type TypeRequest, type TypistPort } from './typing-steps.js';
import { leftoverNotice, retractLate, typeCommand, typedText } from './typist.js';

// Carries out the core's decisions about compacting: types the command, checks that a stashed draft came back, and reports the result.

export interface CompactorOptions {
  readonly recipe: CompactRecipe | undefined;
  readonly mayStash: boolean;
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

const OTHER_TYPES = { kind: 'skipped', reason: 'another command is typed', evidence: [] } as const;

export const makeCompactor = (options: CompactorOptions): Compactor => {
  const { recipe, mayStash, port, log, onEvent } = options;
  let [attempt, isOver, typedBefore] = [new AbortController(), false, 0];
  let request: TypeRequest | undefined;
  const draft = makeDraftWatch({ port, log, onEvent });

  const type: Ways['type'] = async ({ focus, found, isQueued }, withdrawal) => {
    if (!recipe || isOver) return;
    const endTurn = port.takeTurn();
    if (!endTurn) return onEvent({ type: 'typed', result: OTHER_TYPES });
    attempt.abort(); // the previous attempt must not interfere
    const mine = new AbortController();
    [attempt, typedBefore] = [mine, port.typedCount()];
    const given = { recipe, focus, found, isQueued, mayStash, port, onRestoring: draft.onRestoring };
    request = { ...given, signal: mine.signal, withdrawal };
    draft.begin();
    const result = await typeCommand(request);
    endTurn();
    if (result.kind === 'skipped') draft.forget();
    log.info(typedText(recipe.command, result));
    if (!isOver && attempt === mine) onEvent({ type: 'typed', result });
  };
  const withoutKeys: Ways['withoutKeys'] = async (act, withdrawal) => {
    attempt.abort();
    const mine = new AbortController();
    [attempt, request] = [mine, undefined];
    const tell = await act({ signal: mine.signal, withdrawal });
    if (!isOver && attempt === mine) tell();
  };
  const entry = makeEntry(options, { type, withoutKeys });
  return {
    run: (effect) => {
      switch (effect.type) {
        case 'type-compact':
          return entry.begin(effect);
        case 'withdraw':
          return entry.withdraw(effect.reason);
        case 'copy':
        case 'find-focus':
          return void prepared(effect, options).then((event) => (isOver ? undefined : onEvent(event)));
        case 'ended':
          entry.leave();
          log.info(endedText(effect.ended));
          if (isOver) return undefined;
          if (effect.ended.via !== undefined) endAsking(effect.ended, attempt, options);
          if (request) void clearPrompt(effect.ended, request, typedBefore, onEvent).catch(() => undefined);
          return draft.end(request, { mayHoldCommand: effect.ended.outcome.kind === 'interrupted' });
        case 'refused':
          return log.info(`no compaction: ${effect.reason}`);
      }
    },
    stop: () => {
      isOver = true;
      entry.leave();
      attempt.abort();
      draft.stop();
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

/** The two ways to carry an attempt out. */
interface Ways {
  readonly type: (effect: TypeEffect, withdrawal: AbortSignal) => Promise<void>;
  readonly withoutKeys: (
    act: NonNullable<ReturnType<typeof insteadOfKeys>>,
    withdrawal: AbortSignal,
  ) => Promise<void>;
}

/** Carries an attempt out once those who have asked for it are told, unless it has ended by then. */
const makeEntry = (options: CompactorOptions, { type, withoutKeys }: Ways) => {
  const { begin, onEvent } = options;
  let waiting: TypeEffect | undefined;
  let withdrawn = new AbortController();
  const enter = async (effect: TypeEffect, withdrawal: AbortSignal): Promise<void> => {
    const reason = (await begin?.()) ?? withdrawalOf({ withdrawal });
    if (waiting !== effect) return;
    if (reason !== undefined)
      return onEvent({ type: 'typed', result: { kind: 'skipped', reason, evidence: [] } });
    const act = insteadOfKeys(effect, options);
    return act ? withoutKeys(act, withdrawal) : type(effect, withdrawal);
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

/** A command that was sent without effect may still stand in the prompt; the user's next text would be appended to it. */
const clearPrompt = async (
  { outcome }: EndedCompaction,
  attempted: TypeRequest,
  typedBefore: number,
  onEvent: CompactorOptions['onEvent'],
): Promise<void> => {
  if (outcome.kind !== 'not-started' && outcome.kind !== 'not-delivered') return;
  await retractLate(attempted, { typedBefore, wasSent: outcome.kind === 'not-started' });
  const left = attempted.signal.aborted ? undefined : leftoverNotice(attempted, typedBefore);
  if (left !== undefined) onEvent({ type: 'notice', text: left, priority: 200 });
};

/** What is done in place of typing, where anything is; it resolves with what tells the result. */
const insteadOfKeys = ({ strategy, channel }: TypeEffect, options: CompactorOptions) => {
  const { channel: askable, onEvent } = options;
  if (strategy !== undefined)
    return async ({ signal, withdrawal }: AttemptSignals) => {
      const result = await options.shorten(strategy, AbortSignal.any([signal, withdrawal]));
      return (): void => tellShortened(result, onEvent);
    };
  return channel && askable
    ? async ({ signal }: AttemptSignals) => {
        const result = await askInTurn(askable, options.port, signal);
        return (): void => tellAsked(askable.name, result, options);
      }
    : undefined;
};

/** The outcome of a strategy, as of the command that it stands in for. */
const tellShortened = (result: ShortenResult, onEvent: CompactorOptions['onEvent']): void => {
  if (result.kind === 'refused')
    return onEvent({ type: 'typed', result: { kind: 'withdrawn', reason: result.reason, evidence: [] } });
  const evidence = ['reason' in result ? result.reason : `shortened ${result.words}`];
  onEvent({ type: 'typed', result: { kind: 'sent', isQueued: false, evidence } });
  if (result.kind === 'shortened') onEvent(shortenedEvent(result));
};

const askInTurn = async (
  { ask }: AskableChannel,
  port: TypistPort,
  signal: AbortSignal,
): Promise<ChannelResult> => {
  const endTurn = port.takeTurn();
  if (!endTurn) return { kind: 'skipped', reason: OTHER_TYPES.reason };
  return ask(signal).finally(endTurn);
};

/** What came of asking by the control channel, as of typing the command. */
const tellAsked = (name: string, result: ChannelResult, { onEvent, log }: CompactorOptions): void => {
  log.info(
    `asking ${name} to compact: ${result.kind}, ${'reason' in result ? result.reason : result.evidence}`,
  );
  if (result.kind === 'sent')
    return onEvent({ type: 'typed', result: { kind: 'sent', isQueued: false, evidence: [result.evidence] } });
  const isClosed = result.kind === 'closed';
  const reason = isClosed ? `${name} cannot be asked: ${result.reason}` : result.reason;
  if (isClosed) closeChannel(reason, onEvent);
  onEvent({ type: 'typed', result: { kind: 'skipped', reason, evidence: [] } });
};

/** An agent that was asked and does nothing may have no such command any more, whatever its server has said. */
const endAsking = (
  { outcome }: EndedCompaction,
  attempt: AbortController,
  { channel, onEvent }: CompactorOptions,
): void => {
  attempt.abort(); // one that has ended by its time limit must not be asked for later
  if (outcome.kind !== 'not-started') return;
  // a microtask: the step that ended it is not finished yet
  queueMicrotask(() => closeChannel(`${channel?.name ?? 'the agent'} was asked, and nothing began`, onEvent));
};

/** It is not asked again in this session. */
const closeChannel = (reason: string, onEvent: CompactorOptions['onEvent']): void => {
  onEvent(noticeEvent(`${reason}; the command is typed from now on`));
  onEvent({ type: 'channel-closed' });
};

/** Without what it takes to use it. */
const controlChannel = ({ via, name, needsSession }: ControlChannel): ControlChannel => ({
  via,
  name,
  ...(needsSession ? { needsSession } : {}),
});

/** The user's settings, limited to what the agent supports. */
export const compactSettings = (
  { values, isModeGiven, tour, channel }: Pick<WrapSession, 'values' | 'isModeGiven' | 'tour' | 'channel'>,
  recipe: CompactRecipe | undefined,
  newSessions?: Pick<NewSessionForm, 'switching'>,
): CompactSettings => {
  const strategy = newSessions?.switching && strategyInUse(values, isModeGiven);
  const { mode, ladder, draft, whenBusy, proactive, focus, idle } = values;
  return {
    mode: ladder === 'handoff' && mode === 'auto' ? 'warn' : mode, // the handoff preset never types by itself
    ...present({ command: recipe?.command }),
    startMs: recipe?.startMs ?? 0,
    finishMs: recipe?.finishMs ?? 0,
    ...present({ focus }),
    mayStash: draft === 'stash' && recipe?.stash !== undefined,
    mayQueue: whenBusy === 'queue' && recipe?.isQueued === true,
    isProactive: proactive,
    ...(isBlackBoxOn(values) ? { keepsCopy: true, copyLimitBytes: values['blackbox.limit'] } : {}),
    ...(idle === 'compact' ? { mayCompactIdle: true } : {}),
    ...(isModeGiven && mode === 'auto' ? { mayTypeUnseen: true } : {}),
    ...present({ strategy }),
    ...(channel ? { channel: controlChannel(channel) } : {}),
    ...present({ countdownMs: tour?.countdownMs }),
  };
};

const endedText = ({ initiator, outcome, startedAt, endedAt, evidence }: EndedCompaction): string =>
  [
    `compaction by ${initiator === 'ctxwrap' ? 'us' : `the ${initiator}`}: ${outcome.kind}`,
    `${((endedAt - startedAt) / 1000).toFixed(1)} s`,
    ...evidence,
  ].join(', ');
