import { setTimeout as pass } from 'node:timers/promises';
import type { CompactRecipe, Switching } from '../agents/agent.js';
import { REQUEST_EXPIRED, REQUEST_MS } from '../core/compaction/machine.js';
import { findHold } from '../core/compaction/policy.js';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { noticeEvent } from '../core/session-flow.js';
import { createFile } from '../storage/files.js';
import type { Log } from '../storage/log-file.js';
import { makeTailReader } from '../storage/tail.js';
import type { Publisher } from './publish.js';
import type { SessionLoop } from './session.js';
import type { TypistPort, TypeRequest } from './typing-steps.js';
import { leftoverNotice, retractLate, typeCommand, typedText } from './typist.js';
import { planCheckpoint, undoCompaction, UndoError, type UndonePlan, type UndoRequest } from './undo.js';

// Has the running agent go on with another session, by its own command: typed through the same gate as the compact command, and confirmed by
// the agent's id of the conversation.

export type SwitchResult =
  | { readonly kind: 'switched' }
  /** nothing was typed, or it was taken back */
  | { readonly kind: 'refused'; readonly reason: string }
  /** the command was sent, and its effect is not known */
  | { readonly kind: 'unknown'; readonly reason: string };

export interface Switcher {
  /**
   * Waits for a safe moment, then types the command; aborting withdraws it. `name` is the id of a session, or the name of a checkpoint. Never
   * rejects. `isForAttempt`: it is how an attempt to compact is carried out, and does not wait for its end.
   */
  readonly switchTo: (name: string, signal: AbortSignal, isForAttempt?: boolean) => Promise<SwitchResult>;
  readonly stop: () => void;
}

export interface SwitcherOptions {
  /** how the agent's other command is typed; without it nothing is */
  readonly recipe: CompactRecipe | undefined;
  readonly switching: Switching | undefined;
  readonly port: TypistPort;
  readonly flow: SessionLoop['flow'];
  /** the agent's session file, once it is known */
  readonly sessionFile: () => string | undefined;
  readonly log: Log;
  readonly onEvent: (event: Event) => void;
  /** keeps what was typed, and why it could be */
  readonly audit: Pick<Publisher, 'beginSwitch' | 'endSwitch'> | undefined;
}

const LOOK_MS = 200;
const CONFIRM_MS = 20_000; // the agents take up to 200 ms; a busy machine takes longer
const MOST_SKIPS = 20; // attempts that ended before the first key

const UNSUPPORTED = 'ctxwrap does not know how to tell this agent';
const ENDED = 'the session has ended';
const OTHER = 'another switch waits already';

export const makeSwitcher = (options: SwitcherOptions): Switcher => {
  const { recipe, switching, flow, port, onEvent, audit } = options;
  const ended = new AbortController();
  let isTaken = false;

  const attempt = async (name: string, given: AbortSignal, isForAttempt: boolean): Promise<SwitchResult> => {
    if (!recipe || !switching) return { kind: 'refused', reason: UNSUPPORTED };
    const signal = AbortSignal.any([given, ended.signal]);
    const until = performance.now() + REQUEST_MS;
    for (let skips = 0; skips < MOST_SKIPS; skips += 1) {
      const moment = await safeMoment({ flow, port, isForAttempt }, until, signal);
      if ('reason' in moment)
        return { kind: 'refused', reason: ended.signal.aborted ? ENDED : moment.reason };
      audit?.beginSwitch(flow().session);
      const command = { recipe, switching, name, signal: ended.signal };
      const result = await typeSwitch(options, command).finally(moment.endTurn);
      audit?.endSwitch(name, result);
      if (result) return result;
    }
    return { kind: 'refused', reason: 'no key could be typed' };
  };
  return {
    switchTo: async (name, signal, isForAttempt = false) => {
      if (isTaken) return { kind: 'refused', reason: OTHER };
      isTaken = true;
      try {
        const result = await attempt(name, signal, isForAttempt);
        // the window is as full as before: without this it would be compacted again at once
        if (result.kind === 'switched') onEvent({ type: 'postpone' });
        return result;
      } catch (error) {
        return { kind: 'refused', reason: errorText(error) };
      } finally {
        isTaken = false;
      }
    },
    stop: () => ended.abort(),
  };
};

interface SwitchCommand {
  readonly recipe: CompactRecipe;
  readonly switching: Switching;
  readonly name: string;
  readonly signal: AbortSignal;
}

/** Types the command; undefined when the moment had passed before the first key. */
const typeSwitch = async (
  options: SwitcherOptions,
  command: SwitchCommand,
): Promise<SwitchResult | undefined> => {
  const { port, log, onEvent } = options;
  const { name, signal } = command;
  const restored = await watchRestored(options);
  const request = commandRequest(port, command);
  const typedBefore = port.typedCount();
  const result = await typeCommand(request);
  log.info(typedText(request.recipe.command, result));
  if (result.kind === 'skipped') return undefined;
  if (result.kind === 'withdrawn') return { kind: 'refused', reason: result.reason };
  if (await isConfirmed(options, { name, restored, signal })) return { kind: 'switched' };
  await retractLate(request, { typedBefore, wasSent: true });
  const left = signal.aborted ? undefined : leftoverNotice(request, typedBefore);
  if (left !== undefined) onEvent(noticeEvent(left));
  return { kind: 'unknown', reason: signal.aborted ? ENDED : UNCONFIRMED };
};

const UNCONFIRMED = 'the agent does not show that it has switched';

/** The key is for the attempt to compact that is being carried out: it does not wait for its end. */
interface ForAttempt {
  readonly isForAttempt?: boolean;
}

/** Resolves when a key may be typed, with what ends the turn; with the reason when the time is over. */
export const safeMoment = async (
  { flow, port, isForAttempt = false }: Pick<SwitcherOptions, 'flow' | 'port'> & ForAttempt,
  until: Millis,
  signal: AbortSignal,
): Promise<{ readonly endTurn: () => void } | { readonly reason: string }> => {
  while (!signal.aborted) {
    const { session, compaction, now } = flow();
    const { kind } = compaction.phase;
    const isCompacting = (kind === 'typing' && !isForAttempt) || kind === 'sent' || kind === 'foreign';
    const { activity, activitySince } = session;
    const { keyAt } = compaction;
    const isSafe = !isCompacting && !findHold({ activity, activitySince, keyAt }, now);
    const endTurn = isSafe ? port.takeTurn() : undefined;
    if (endTurn) return { endTurn };
    if (performance.now() > until) return { reason: REQUEST_EXPIRED };
    await pass(LOOK_MS, undefined, { ref: false, signal }).catch(() => undefined);
  }
  return { reason: 'withdrawn' };
};

const commandRequest = (
  port: TypistPort,
  { recipe, switching: { command, listedAs, typing }, name, signal }: SwitchCommand,
): TypeRequest => {
  const { isListed: _, ...rest } = recipe;
  return {
    recipe: {
      ...rest,
      ...typing,
      command: command(name),
      takesFocus: false,
      ...(listedAs ? { listedAs: listedAs(name) } : {}),
    },
    isQueued: false,
    mayStash: false,
    port,
    signal,
  };
};

const TAIL_BYTES = 64 * 1024;

/** Whether the agent has written since now that it has taken another conversation; undefined for an agent whose id tells it. */
const watchRestored = async ({
  switching,
  sessionFile,
}: SwitcherOptions): Promise<(() => Promise<boolean>) | undefined> => {
  const path = sessionFile();
  const { restores } = switching ?? {};
  if (!restores || path === undefined) return undefined;
  let isNew = false;
  let isFound = false;
  const tail = makeTailReader({
    path,
    onLine: (line) => {
      isFound ||= isNew && restores(line);
    },
    onRestart: () => undefined,
    isEnough: () => true,
    lookBack: { firstBytes: TAIL_BYTES, maxBytes: TAIL_BYTES },
  });
  const read = (): Promise<boolean> => tail.readNew().catch(() => false);
  await read();
  isNew = true;
  return async () => {
    await read();
    return isFound;
  };
};

interface Expected {
  readonly name: string;
  readonly restored: (() => Promise<boolean>) | undefined;
  readonly signal: AbortSignal;
}

const RESTED_MS = 500; // of a screen that is drawn anew

/** The agent's id of the conversation is the wanted one, or its file says that it has taken it; and it is at rest again. */
const isConfirmed = async (
  { flow }: SwitcherOptions,
  { name, restored, signal }: Expected,
): Promise<boolean> => {
  const until = performance.now() + CONFIRM_MS;
  while (!signal.aborted && performance.now() < until) {
    await pass(LOOK_MS, undefined, { ref: false, signal }).catch(() => undefined);
    const { session, now } = flow();
    const { activity, activitySince } = session;
    const isThere = restored ? await restored() : session.sessionId === name;
    // the user may have begun to type
    const isAtRest = activity === 'draft' || (activity === 'ready' && now - activitySince >= RESTED_MS);
    if (isThere && isAtRest) return true;
  }
  return false;
};

// The undo of the last compaction in the running agent.

export interface LiveUndo extends Omit<UndoRequest, 'number'> {
  readonly switcher: Pick<Switcher, 'switchTo'>;
  readonly onEvent: (event: Event) => void;
  readonly signal: AbortSignal;
}

/** Undoes it and says what happens in the footer. Never rejects. */
export const undoLive = async ({ switcher, onEvent, signal, ...request }: LiveUndo): Promise<void> => {
  const say = (text: string): void => onEvent(noticeEvent(text));
  try {
    say('undo: the conversation before the compaction comes back at the next safe moment');
    const { plan, name } = await prepareSwitch(request);
    const result = await switcher.switchTo(name, signal);
    if (result.kind === 'switched') return say(undoneText(plan));
    say(`undo: ${result.reason}; to go on with it: ctxwrap undo`);
  } catch (error) {
    say(`undo: ${error instanceof UndoError ? error.message : errorText(error)}`);
  }
};

export interface LiveReturn {
  readonly switcher: Pick<Switcher, 'switchTo'>;
  /** the id of the session that the agent had before its conversation was shortened */
  readonly name: string;
  readonly onEvent: (event: Event) => void;
  readonly signal: AbortSignal;
}

/** Has the agent go back to an earlier session, which is still there, and says what happens in the footer. Never rejects. */
export const returnLive = async ({ switcher, name, onEvent, signal }: LiveReturn): Promise<void> => {
  const say = (text: string): void => onEvent(noticeEvent(text));
  say('undo: the whole conversation comes back at the next safe moment');
  const result = await switcher.switchTo(name, signal);
  say(result.kind === 'switched' ? 'the whole conversation is back' : `undo: ${result.reason}`);
};

export interface Prepared {
  readonly plan: UndonePlan;
  /** what the agent's command takes */
  readonly name: string;
  /** the new file */
  readonly path: string;
}

const ID_IN_NAME = 8;

/** Writes what the running agent takes the conversation from: a session file, or a checkpoint. Rejects as `undoCompaction` does. */
export const prepareSwitch = async (request: UndoRequest): Promise<Prepared> => {
  const name = `ctxwrap-${request.as.id.slice(0, ID_IN_NAME)}`;
  const planned = await planCheckpoint(request, name);
  if (!planned) {
    const { session, ...plan } = await undoCompaction(request);
    return { plan, name: session.id, path: session.path };
  }
  const { plan, file } = planned;
  await createFile(
    file.path,
    (async function* lines() {
      yield file.text;
    })(),
  );
  return { plan, name, path: file.path };
};

/** One line for the footer. */
const undoneText = ({ prompts }: Pick<UndonePlan, 'prompts'>): string =>
  `compaction undone: ${prompts === 1 ? '1 message' : `${prompts} messages`} of yours back in the window`;
