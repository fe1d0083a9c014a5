// From a JSON value to a runtime like any other. Data only: nothing in it can run, and files are reached through the FilePort alone.
import { startsConversation } from '../launch-rules.js';
import type { Runtime } from '../runtime.js';
import { isProblem, type Problem } from './check.js';
import type { Definition } from './definition.js';
import { lineTime, logReader } from './log.js';
import { locateBy } from './paths.js';
import { recipeOf } from './recipe.js';
import { definition } from './schema.js';
import { screenOf } from './screen.js';

export type { Problem };

export type Defined = { readonly runtime: Runtime } | { readonly problems: readonly Problem[] };

/** A runtime from its definition, or everything that is wrong with it. */
export const defineRuntime = (value: unknown): Defined => {
  const checked = definition(value, '');
  if (isProblem(checked)) return checked;
  return { runtime: runtimeOf(checked.value) };
};

const runtimeOf = (defined: Definition): Runtime => {
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
    ...(npmPackage === undefined ? {} : { npmPackage }),
    isInteractive: (args) => startsConversation(rules, args),
    nativeTrigger: () => nativeTrigger,
    ...(log
      ? { log: { locate: locateBy(log.globs), reader: () => logReader(log, window), timeOf: lineTime(log) } }
      : {}),
    ...(screen || activity || prompt ? { screen: screenOf(defined) } : {}),
    ...(recipe ? { recipe: () => recipe } : {}),
    ...(log || screen ? {} : { isEstimated: true as const }),
  };
};
