import type { JsonRecord } from '../../core/json.js';
import type { CompactRecipe, Agent } from '../agent.js';
import { startsConversation } from '../launch.js';
import { makeLocate } from './files.js';
import { makeLineTime, makeLogReader } from './log.js';
import type { TimeLimit } from './pattern.js';
import { type Definition, type Problem, definition, type Change, change, check } from './schema.js';
import { makeScreen } from './screen.js';
import { present } from '../../core/present.js';

const KEYS = { enter: '\r', tab: '\t' } as const;

/** The recipe; undefined where the definition does not say how to see typed text, because nothing is typed blindly. */
const recipeOf = ({ recipe, prompt }: Definition): CompactRecipe | undefined =>
  recipe &&
  prompt && {
    command: recipe.command,
    takesFocus: recipe.takesFocus ?? false,
    isPasted: recipe.paste ?? false,
    pauseMs: recipe.pauseMs ?? 150,
    submit: KEYS[recipe.submit ?? 'enter'],
    startMs: recipe.startMs ?? 5_000,
    finishMs: recipe.finishMs ?? 120_000,
  };

// From a JSON value to a runtime like any other. The value is data only: nothing in it runs, and files are reached only through the
// FilePort.

export type { Problem };

export type DefineResult = { readonly agent: Agent } | { readonly problems: readonly Problem[] };

/** A runtime from its definition, or everything wrong with it. Its patterns run under the time limit. */
export const defineAgent = (value: unknown, limit: TimeLimit): DefineResult => {
  const checked = check(definition, value);
  return 'problems' in checked ? checked : { agent: agentOf(checked.value, limit) };
};

const agentOf = (defined: Definition, limit: TimeLimit): Agent => {
  const {
    name,
    command,
    npmPackage,
    interactive = {},
    log,
    screen,
    activity,
    prompt,
    nativeTrigger,
    window,
  } = defined;
  const recipe = recipeOf(defined);
  const rules = { plainFlags: [], plainCommands: [], valueFlags: [], ...interactive };
  return {
    name,
    command,
    ...present({ npmPackage }),
    isInteractive: (args) => startsConversation(rules, args),
    nativeTrigger: () => nativeTrigger,
    ...(log
      ? {
          log: {
            locate: makeLocate(log.globs),
            reader: () => makeLogReader({ log, window, limit }),
            timeOf: makeLineTime(log),
          },
        }
      : {}),
    ...(screen || activity || prompt ? { screen: makeScreen(defined, limit) } : {}),
    ...(recipe ? { recipe: () => recipe } : {}),
    ...(log || screen ? {} : { isEstimated: true as const }),
  };
};

/**
 * Whether the value is a definition of its own rather than changes to a built-in agent, so that one which was written before ctxwrap knew
 * the agent stays valid.
 */
export const isWholeDefinition = (value: JsonRecord): boolean =>
  value['command'] !== undefined &&
  ['log', 'screen', 'activity', 'prompt', 'interactive', 'npmPackage', 'note'].some(
    (field) => value[field] !== undefined,
  );

// A built-in runtime with the user's changes.

export type ChangeResult =
  /** `windowTokens` is the window that the user has set */
  { readonly agent: Agent; readonly windowTokens?: number } | { readonly problems: readonly Problem[] };

export const changeAgent = (agent: Agent, value: unknown): ChangeResult => {
  const checked = check(change, value);
  if ('problems' in checked) return checked;
  const { window } = checked.value;
  return {
    agent: changed(agent, checked.value),
    ...present({ windowTokens: window }),
  };
};

const changed = (agent: Agent, { command, recipe: waits, nativeTrigger }: Change): Agent => {
  const { recipe, ownCompaction, ...rest } = agent;
  return {
    ...rest,
    ...present({ recipe, command }),
    // a trigger that the user defines overrides the agent's settings
    ...(nativeTrigger ? { nativeTrigger: () => nativeTrigger } : ownCompaction ? { ownCompaction } : {}),
    ...(recipe && waits
      ? {
          recipe: (env) => {
            const known = recipe(env);
            if (!known) return undefined;
            // a pause shorter than the tested one would let Enter come before the command is drawn
            return { ...known, ...waits, pauseMs: Math.max(known.pauseMs, waits.pauseMs ?? 0) };
          },
        }
      : {}),
  };
};
