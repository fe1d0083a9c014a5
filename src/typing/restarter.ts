import { basename } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { isLower } from '../core/compaction/outcome.js';
import type { Event } from '../core/event.js';
import { formatTokens } from '../core/format.js';
import { noticeEvent } from '../core/session-flow.js';
import { shownId } from '../core/shown-conversation.js';
import type { RestartPlan } from '../session/options.js';
import {
  actWhenSafe,
  comesToRest,
  makeLane,
  refused,
  typeAndConfirm,
  unknown,
  type ActionContext,
  type ActionWait,
  type NotDone,
} from './action.js';
import type { TypeRequest } from './typing-steps.js';

// Has the agent end by its own command, so that it can be started again with another session. No signal is ever sent for that. The main
// thread starts it once it has ended (cli/session.ts), and its next run finds out whether it has that session.

/** `restarting`: the agent has ended; what follows is seen only by its next run. */
export type RestartResult = NotDone | { readonly kind: 'restarting' };

export interface Restarter {
  /** why it cannot be started again; undefined if it can */
  readonly obstacle: () => string | undefined;
  /** Types the command at a safe moment. Never rejects. */
  readonly restartWith: (plan: RestartPlan, wait: ActionWait) => Promise<RestartResult>;
}

const EXIT_MS = 30_000; // the agents take up to 4 s; a busy machine takes longer

export const makeRestarter = (context: ActionContext, exitMs = EXIT_MS): Restarter => {
  const { session, publisher, ended } = context;
  const { restarting, command, recipe } = session.agent;
  const lane = makeLane(ended, 'it is already being restarted');
  return {
    obstacle: () => {
      if (!restarting || !recipe?.(session.env) || basename(session.file) !== command)
        return 'ctxwrap does not know how to start this program again';
      if (restarting.options(session.args) === undefined)
        return 'the agent cannot be started again with its arguments';
      return undefined;
    },
    restartWith: (plan, given) =>
      lane(given, (wait) => {
        const audit = (result: RestartResult | undefined): void =>
          publisher?.endSwitch(plan.session.id, result);
        const act = () => typeExit(context, { plan, signal: ended, exitMs });
        return actWhenSafe<RestartResult>(context, { act, audit }, wait);
      }),
  };
};

interface Exit {
  readonly plan: RestartPlan;
  /** aborted when the child has ended */
  readonly signal: AbortSignal;
  /** for the agent to end */
  readonly exitMs: number;
}

const typeExit = async (context: ActionContext, exit: Exit): Promise<RestartResult | undefined> => {
  const { signal, exitMs } = exit;
  const planned = planOnce(context, exit);
  const request = exitRequest(context, planned.begin, signal);
  if (!request) return refused('no command that ends it is known');
  const result = await typeAndConfirm<RestartResult>(context, {
    request,
    confirm: async () => {
      await pass(exitMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (!signal.aborted) planned.end(); // before anything else, for the user may end it now
      return undefined;
    },
    reason: 'the agent has not ended',
  });
  if (result === undefined) return undefined;
  if (planned.isOn() && signal.aborted) return { kind: 'restarting' };
  planned.end();
  return result;
};

/** Plans it before the first key, from which on the user's own are held: an end that the user wants is the end. */
const planOnce = ({ onRestart }: Pick<ActionContext, 'onRestart'>, { plan }: Exit) => {
  let state: 'none' | 'on' | 'over' = 'none';
  return {
    begin: (): void => {
      if (state !== 'none') return;
      onRestart(plan);
      state = 'on';
    },
    end: (): void => {
      if (state === 'on') onRestart(undefined);
      state = 'over';
    },
    isOn: (): boolean => state === 'on',
  };
};

const exitRequest = (
  { session: { agent, env }, port }: Pick<ActionContext, 'session' | 'port'>,
  onFirstKey: () => void,
  signal: AbortSignal,
): TypeRequest | undefined => {
  const recipe = agent.recipe?.(env);
  if (!agent.restarting || !recipe) return undefined;
  const { exitCommand, typing } = agent.restarting;
  const write: typeof port.write = (bytes) => {
    onFirstKey();
    port.write(bytes);
  };
  return {
    recipe: { ...recipe, ...typing, command: exitCommand, takesFocus: false },
    isQueued: false,
    mayStash: false,
    port: { ...port, write },
    signal,
  };
};

export interface RestartWatch extends Pick<ActionContext, 'flow' | 'take' | 'publisher'> {
  readonly plan: RestartPlan;
  /** called once the agent has it */
  readonly onTaken: () => void;
}

const CONFIRM_MS = 60_000; // of a start on a busy machine

/**
 * Watches whether an agent that was started again has the shortened session, and says it in the footer and in the audit log. The result ends
 * it with the child.
 */
export const confirmRestart = (watch: RestartWatch): { readonly stop: () => void } => {
  const { plan, flow, take, publisher, onTaken } = watch;
  const { preTokens, shortening } = plan;
  const ended = new AbortController();
  const { signal } = ended;
  let isOpen = true;
  const close = (result: { readonly kind: 'switched' } | ReturnType<typeof unknown>): void => {
    isOpen = false;
    publisher?.endEarlierSwitch(plan.session.id, result, flow().session);
  };
  const fail = (reason: string): void => {
    close(unknown(reason));
    take({ type: 'restart-failed', reason, preTokens, shortening });
  };
  const failHere = (reason: string, notice: string): void => {
    fail(reason);
    take(noticeEvent(`restarted, but ${notice}`));
  };
  const follow = async (): Promise<void> => {
    const hasId = (): boolean => shownId(flow().session.conversation) === plan.session.id;
    const isTaken = await comesToRest(flow, hasId, { withinMs: CONFIRM_MS, signal });
    if (signal.aborted) return;
    if (!isTaken)
      return failHere(
        'the agent does not show that it has the shorter session',
        'the agent does not show that it has the shorter conversation',
      );
    onTaken();
    take({ type: 'postpone' });
    const { usedTokens } = flow().session.fused?.reading ?? {};
    const still = usedTokens === undefined ? '' : `the window is still at ${formatTokens(usedTokens)}`;
    if (usedTokens !== undefined && !isLower({ usedTokens: preTokens }, { usedTokens }))
      return failHere(still, still);
    close({ kind: 'switched' });
    take(shortenedEvent(plan));
  };
  void follow();
  return {
    stop: () => {
      ended.abort();
      if (isOpen) fail('the agent ended before it showed that it has the shorter session');
    },
  };
};

/** What the session is told of a conversation that ctxwrap has shortened: as of a compaction that the agent records. */
export const shortenedEvent = (
  { preTokens, postTokens, shortening }: Pick<RestartPlan, 'preTokens' | 'postTokens' | 'shortening'>,
  at = Date.now(),
): Event => ({
  type: 'boundary',
  boundary: { at, initiator: 'ctxwrap', shortening, preTokens, postTokens },
});
