import { setTimeout as pass } from 'node:timers/promises';
import type { CompactRecipe, Switching } from '../agents/agent.js';
import { shownId } from '../core/shown-conversation.js';
import { REQUEST_MS } from '../core/compaction/machine.js';
import { SESSION_ENDED, type Result } from '../core/compaction/requests.js';
import type { TypeResult } from '../core/compaction/state.js';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { answerEvent, noticeEvent } from '../core/session-flow.js';
import { removeCreated } from '../storage/files.js';
import type { Log } from '../storage/log-file.js';
import { makeTailReader } from '../storage/tail.js';
import { safeMoment, watchConversation, type MomentWait, LOOK_MS } from './safe-moment.js';
import type { TypistPort, TypeRequest } from './typing-steps.js';
import { leftoverNotice, retractLate, typeCommand, typedText } from './typist.js';
import { UndoError, type UndonePlan, type UndoRequest } from '../session-files/undo.js';
import type { Publisher, SessionLoop, TypedResult } from '../session/ports.js';
import { prepareSwitch, type ReturnRequest, prepareReturn } from '../session-files/prepare-switch.js';

// Has the running agent go on with another session, by its own command: typed through the same gate as the compact command, and confirmed by
// the agent's id of the conversation.

export type SwitchResult = Result<'switch'>;

export interface Switcher {
  /**
   * Waits for a safe moment, then types the command. `name` is the id of a session, or the name of a checkpoint. Never rejects.
   */
  readonly switchTo: (name: string, wait: SwitchWait) => Promise<SwitchResult>;
  readonly stop: () => void;
}

export type SwitchWait = Pick<MomentWait, 'signal' | 'onHold' | 'isForAttempt' | 'allowsDraft' | 'gate'>;

export interface SwitcherOptions {
  /** how the agent's other command is typed; without it nothing is */
  readonly recipe: CompactRecipe | undefined;
  readonly switching: Switching | undefined;
  readonly port: TypistPort;
  readonly flow: SessionLoop['flow'];
  /** the agent's session file, once it is known */
  readonly sessionFile: () => string | undefined;
  /** called when Enter is sent (wall clock): files of the agent that change then may be those of the other session */
  readonly onEntered: (at: Millis) => void;
  readonly log: Log;
  readonly onEvent: (event: Event) => void;
  /** keeps what was typed, and why it could be */
  readonly audit: Pick<Publisher, 'beginSwitch' | 'endSwitch'> | undefined;
}

const CONFIRM_MS = 20_000; // the agents take up to 200 ms; a busy machine takes longer
const MOST_SKIPS = 20; // attempts that ended before the first key

/** Why nothing is typed into an agent without `switching`. */
export const UNSUPPORTED = 'ctxwrap does not know how to tell this agent';
export const OTHER_UNDO = 'another undo is waiting already';

export const makeSwitcher = (options: SwitcherOptions): Switcher => {
  const { recipe, switching, onEvent } = options;
  const ended = new AbortController();
  let isTaken = false;

  const attempt = async (name: string, wait: SwitchWait): Promise<SwitchResult> => {
    if (!recipe || !switching) return { kind: 'refused', reason: UNSUPPORTED };
    return typeAtSafeMoment<SwitchResult>(options, name, {
      wait,
      ended: ended.signal,
      type: (signal) => typeSwitch(options, { recipe, switching, name, signal }),
    });
  };
  return {
    switchTo: async (name, wait) => {
      if (isTaken) return { kind: 'refused', reason: OTHER_UNDO };
      isTaken = true;
      try {
        const result = await attempt(name, wait);
        // the window is as full as before: without this it would be compacted again at once
        if (result.kind === 'switched') onEvent({ type: 'postpone' });
        return result;
      } catch (error) {
        return { kind: 'unknown', reason: errorText(error) }; // it may have been sent
      } finally {
        isTaken = false;
      }
    },
    stop: () => ended.abort(),
  };
};

interface Typing<Result> {
  readonly wait: SwitchWait;
  /** aborted when the child has ended */
  readonly ended: AbortSignal;
  /** types it; undefined when the moment had passed before the first key */
  readonly type: (signal: AbortSignal) => Promise<Result | undefined>;
}

/** Types at a safe moment, as long as the agent is in the same conversation. What was typed is kept in the audit log under `name`. */
export const typeAtSafeMoment = async <Result extends TypedResult>(
  { flow, port, audit }: Pick<SwitcherOptions, 'flow' | 'port' | 'audit'>,
  name: string,
  { wait: given, ended, type }: Typing<Result>,
): Promise<Result | Extract<SwitchResult, { kind: 'refused' }>> => {
  const wait: MomentWait = {
    ...given,
    signal: AbortSignal.any([given.signal, ended]),
    until: performance.now() + REQUEST_MS,
    refusal: watchConversation(flow),
  };
  for (let skips = 0; skips < MOST_SKIPS; skips += 1) {
    const moment = await safeMoment({ flow, port }, wait);
    if ('reason' in moment) return { kind: 'refused', reason: ended.aborted ? SESSION_ENDED : moment.reason };
    audit?.beginSwitch(flow().session);
    const result = await type(ended).finally(moment.endTurn);
    audit?.endSwitch(name, result);
    if (result) return result;
  }
  return { kind: 'refused', reason: 'no safe moment was found' };
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
  const request = commandRequest(tellingEnter(options, command), command);
  const typedBefore = port.typedCount();
  const result = await typeCommand(request);
  log.info(typedText(request.recipe.command, result));
  if (result.kind === 'skipped') return undefined;
  if (result.kind === 'withdrawn') return takenBack(result);
  if (await isConfirmed(options, { name, restored, signal })) return { kind: 'switched' };
  await retractLate(request, { typedBefore, wasSent: true });
  const left = signal.aborted ? undefined : leftoverNotice(request, typedBefore);
  if (left !== undefined) onEvent(noticeEvent(left));
  return { kind: 'unknown', reason: signal.aborted ? SESSION_ENDED : UNCONFIRMED };
};

/** A command that may still stand in the prompt may still be sent, by the user's own Enter. */
export const takenBack = ({
  reason,
  isLeft = false,
}: Extract<TypeResult, { kind: 'withdrawn' }>): Exclude<SwitchResult, { kind: 'switched' }> => ({
  kind: isLeft ? 'unknown' : 'refused',
  reason,
});

/** An agent whose sessions are not in the files that it has open is followed by what it writes after Enter. */
const tellingEnter = (
  { port, onEntered }: SwitcherOptions,
  { recipe, switching: { typing } }: SwitchCommand,
): TypistPort => {
  const submit = Buffer.from(typing?.submit ?? recipe.submit);
  return {
    ...port,
    write: (bytes) => {
      if (submit.equals(bytes)) onEntered(Date.now());
      port.write(bytes);
    },
  };
};

const UNCONFIRMED = 'the agent does not show that it has switched';

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
    const isThere = restored ? await restored() : shownId(session.conversation) === name;
    // the user may have begun to type
    const isAtRest = activity === 'draft' || (activity === 'ready' && now - activitySince >= RESTED_MS);
    if (isThere && isAtRest) return true;
  }
  return false;
};

// The undo of the last compaction in the running agent.

/** What an undo in the running session uses, and the user's withdrawal. */
interface LiveParts extends Pick<SwitchWait, 'signal' | 'gate'> {
  readonly switcher: Pick<Switcher, 'switchTo'>;
  readonly onEvent: (event: Event) => void;
}

export interface LiveUndo extends Omit<UndoRequest, 'number'>, LiveParts {}

/** Undoes it and says what happens in the footer. Leaves no new session where the agent was not told of it. Never rejects. */
export const undoLive = async ({ switcher, onEvent, signal, gate, ...request }: LiveUndo): Promise<void> => {
  const say = (text: string): void => onEvent(answerEvent(text));
  const { agent } = request;
  if (agent.newSessions && !agent.newSessions.switching)
    return say(`not undone: ${UNSUPPORTED} · for a new session: ctxwrap undo`);
  try {
    say('undo: waiting for a safe moment');
    const { plan, name, path } = await prepareSwitch(request);
    const result = await switcher.switchTo(name, { signal, gate, onHold: (words) => say(`undo ${words}`) });
    if (result.kind === 'refused') await removeCreated(path);
    say(liveText(result, undoneText(plan), agent.newSessions?.switching?.command(name)));
  } catch (error) {
    say(`not undone: ${error instanceof UndoError ? error.message : errorText(error)}`);
  }
};

const undoneText = ({ prompts }: Pick<UndonePlan, 'prompts'>): string =>
  `compaction undone: your ${prompts === 1 ? 'message is' : `${prompts} messages are`} back`;

/** One line for the footer; `command` is what the user can type where the effect is not known. */
const liveText = (result: SwitchResult, done: string, command: string | undefined): string => {
  switch (result.kind) {
    case 'switched':
      return done;
    case 'refused':
      return `not undone: ${result.reason}`;
    case 'unknown':
      return `undo not confirmed${command === undefined ? '' : ` · by hand: ${command}`}`;
  }
};

export interface LiveReturn extends ReturnRequest, LiveParts {}

/** Has the agent go back to an earlier session, which is still there, and says what happens in the footer. Never rejects. */
export const returnLive = async ({
  switcher,
  onEvent,
  signal,
  gate,
  ...request
}: LiveReturn): Promise<void> => {
  const say = (text: string): void => onEvent(answerEvent(text));
  try {
    say('undo: waiting for a safe moment');
    const { name, created } = await prepareReturn(request);
    const result = await switcher.switchTo(name, { signal, gate, onHold: (words) => say(`undo ${words}`) });
    if (result.kind === 'refused' && created !== undefined) await removeCreated(created);
    const command = request.agent.newSessions?.switching?.command(name);
    say(liveText(result, 'the whole conversation is back', command));
  } catch (error) {
    say(`not undone: ${errorText(error)}`);
  }
};
