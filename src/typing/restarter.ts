import { basename } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { errorText } from '../core/errors.js';
import { noticeEvent } from '../core/session-flow.js';
import type { WrapSession, RestartPlan } from '../session/options.js';
import {
  takenBack,
  typeAtSafeMoment,
  type SwitcherOptions,
  type SwitchResult,
  type SwitchWait,
} from './switcher.js';
import { leftoverNotice, retractLate, typeCommand, typedText } from './typist.js';
import type { TypeRequest } from './typing-steps.js';

// Has the agent end by its own command, so that it can be started again with another session: typed through the same gate as the compact
// command. No signal is ever sent for that. The main thread starts it once it has ended (cli/session.ts).

export type RestartResult =
  | SwitchResult
  /** the agent has ended; what follows is seen only by its next run */
  | { readonly kind: 'restarting' };

export interface Restarter {
  /** why it cannot be started again; undefined if it can */
  readonly obstacle: () => string | undefined;
  /** Waits for a safe moment, then types the command. Never rejects. */
  readonly restartWith: (plan: RestartPlan, wait: SwitchWait) => Promise<RestartResult>;
  /** the child has ended */
  readonly stop: () => void;
}

export interface RestarterOptions extends Pick<
  SwitcherOptions,
  'recipe' | 'port' | 'flow' | 'log' | 'onEvent' | 'audit'
> {
  readonly session: Pick<WrapSession, 'agent' | 'args' | 'file'>;
  /** tells the main thread what to start when the child ends; undefined: nothing */
  readonly onPlan: (plan: RestartPlan | undefined) => void;
  /** for the agent to end */
  readonly exitMs?: number;
}

const EXIT_MS = 30_000; // the agents take up to 4 s; a busy machine takes longer

const NOT_ENDED = 'the agent has not ended';

export const makeRestarter = (options: RestarterOptions): Restarter => {
  const { session, recipe } = options;
  const { restarting, command } = session.agent;
  const ended = new AbortController();
  return {
    obstacle: () => {
      if (!restarting || !recipe || basename(session.file) !== command)
        return 'ctxwrap does not know how to start this program again';
      if (restarting.options(session.args) === undefined)
        return 'the agent cannot be started again with its arguments';
      return undefined;
    },
    restartWith: (plan, wait) =>
      typeAtSafeMoment<RestartResult>(options, plan.session.id, {
        wait,
        ended: ended.signal,
        type: (signal) => typeExit(options, plan, signal),
      }).catch((error: unknown) => ({ kind: 'unknown', reason: errorText(error) })), // it may have been sent
    stop: () => ended.abort(),
  };
};

/** Types the command and waits for the end; undefined when the moment had passed before the first key. */
const typeExit = async (
  options: RestarterOptions,
  plan: RestartPlan,
  signal: AbortSignal,
): Promise<RestartResult | undefined> => {
  const { port, log, onEvent, onPlan, exitMs = EXIT_MS } = options;
  const request = exitRequest(options, plan, signal);
  if (!request) return { kind: 'refused', reason: 'there is no command that ends it' };
  const typedBefore = port.typedCount();
  const result = await typeCommand(request);
  log.info(typedText(request.recipe.command, result));
  if (result.kind === 'skipped') return undefined; // nothing is planned before the first key
  if (result.kind === 'sent') await pass(exitMs, undefined, { ref: false, signal }).catch(() => undefined);
  if (signal.aborted) return { kind: 'restarting' };
  onPlan(undefined);
  if (result.kind === 'withdrawn') return takenBack(result);
  await retractLate(request, { typedBefore, wasSent: true });
  const left = leftoverNotice(request, typedBefore);
  if (left !== undefined) onEvent(noticeEvent(left));
  return { kind: 'unknown', reason: NOT_ENDED };
};

const exitRequest = (
  { session, recipe, port, onPlan }: RestarterOptions,
  plan: RestartPlan,
  signal: AbortSignal,
): TypeRequest | undefined => {
  const { restarting } = session.agent;
  if (!restarting || !recipe) return undefined;
  const { exitCommand, typing } = restarting;
  let isPlanned = false;
  return {
    recipe: { ...recipe, ...typing, command: exitCommand, takesFocus: false },
    isQueued: false,
    mayStash: false,
    port: {
      ...port,
      // not before the first key, from which on the user's own are held: an end that the user wants is the end
      write: (bytes) => {
        if (!isPlanned) onPlan(plan);
        isPlanned = true;
        port.write(bytes);
      },
    },
    signal,
  };
};
