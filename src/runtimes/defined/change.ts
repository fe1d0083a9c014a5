// From one of our runtimes and what a user changes in it to the runtime as it runs here.
import type { Runtime } from '../runtime.js';
import { isProblem } from './check.js';
import type { Problem } from './check.js';
import type { Change } from './definition.js';
import { change } from './schema.js';

export type Changed =
  /** `windowTokens` is the user's word on how large the window is */
  { readonly runtime: Runtime; readonly windowTokens?: number } | { readonly problems: readonly Problem[] };

export const changeRuntime = (runtime: Runtime, value: unknown): Changed => {
  const checked = change(value, '');
  if (isProblem(checked)) return checked;
  const { window } = checked.value;
  return {
    runtime: changed(runtime, checked.value),
    ...(window === undefined ? {} : { windowTokens: window }),
  };
};

const changed = (runtime: Runtime, { command, recipe: waits, nativeTrigger }: Change): Runtime => {
  const { recipe, ownCompaction, ...rest } = runtime;
  return {
    ...rest,
    ...(recipe ? { recipe } : {}),
    ...(command === undefined ? {} : { command }),
    // whoever says where it compacts knows better than its settings
    ...(nativeTrigger ? { nativeTrigger: () => nativeTrigger } : ownCompaction ? { ownCompaction } : {}),
    ...(recipe && waits
      ? {
          recipe: (env) => {
            const known = recipe(env);
            if (!known) return undefined;
            // a shorter pause than the one that was tried would let Enter come before the command is drawn
            return { ...known, ...waits, pauseMs: Math.max(known.pauseMs, waits.pauseMs ?? 0) };
          },
        }
      : {}),
  };
};
