import { present } from '../../src/core/present.js';
import type { Activity } from '../../src/core/reading.js';
import type { CompactRecipe } from '../../src/agents/agent.js';
import { retractLate } from '../../src/typing/typist.js';
import { makeTurns, type TypeRequest } from '../../src/typing/typing-steps.js';
import { typeCommand } from '../../src/typing/typist.js';
import type { ScreenObservation } from '../../src/session/ports.js';

export const typed: CompactRecipe = {
  command: '/compact',
  takesFocus: true,
  isPasted: false,
  pauseMs: 10,
  submit: '\r',
  startMs: 5_000,
  finishMs: 120_000,
  stash: { keys: '\x13', pauseMs: 10 },
};
const { stash: _, ...withoutStash } = typed;
export const unstashed: CompactRecipe = withoutStash;
export const pasted: CompactRecipe = { ...unstashed, isPasted: true, submit: '\t', isQueued: true };

export const BACKSPACE = '\x7f';

/** An imitated agent whose prompt handles keys like the real ones, and records them. */
export const makeAgent = (start: { readonly text?: string; readonly activity?: Activity } = {}) => {
  const state = {
    text: start.text ?? '',
    activity: start.activity,
    stashed: undefined as string | undefined,
    hasPrompt: true,
    /** ignores all its input */
    isDeaf: false,
    /** its screen cannot be read */
    isBlind: false,
    /** does not show that a draft is stashed */
    isSilent: false,
    /** another program may read its terminal */
    isDoubted: false,
    /** empties its prompt some time after Enter, when the test says so */
    isSlow: false,
    /** number of characters of the command that arrive */
    most: Infinity,
    /** the command selected in the list below the prompt */
    listed: undefined as string | undefined,
    written: [] as string[],
    /** what the audit is told in place of each of them */
    named: [] as (string | undefined)[],
    submitted: [] as string[],
    released: [] as string[],
    typedCount: 0,
    outputBytes: 0,
    looks: 0,
    /** number of held reads of the user's keys */
    waitingCount: 0,
    hasUnreportedKeys: false,
    onHold: (): void => undefined,
    onRelease: (): void => undefined,
    onWrite: (_keys: string): void => undefined,
  };
  const take = (key: string): void => {
    if (key === '\r' || key === '\t') {
      state.submitted.push(state.text.trim());
      if (!state.isSlow) state.text = state.stashed ?? '';
    } else if (key === BACKSPACE) state.text = state.text.slice(0, -1);
    else if (key === '\x13') {
      [state.text, state.stashed] =
        state.stashed === undefined ? ['', state.text] : [state.stashed, undefined];
    } else state.text += key;
  };
  const activity = (): Activity => state.activity ?? (state.text === '' ? 'ready' : 'draft');
  const port = {
    takeTurn: makeTurns(),
    observe: (): ScreenObservation | undefined => {
      state.looks += 1;
      if (state.isBlind) return undefined;
      return {
        activity: activity(),
        isUntrusted: state.isDoubted,
        prompt: state.hasPrompt
          ? {
              text: state.text,
              ...(state.listed === undefined ? {} : { listed: state.listed }),
              ...(state.stashed === undefined || state.isSilent ? {} : { isStashed: true as const }),
            }
          : undefined,
      };
    },
    refresh: () => Promise.resolve(),
    write: (bytes: Uint8Array, name?: string): void => {
      const keys = Buffer.from(bytes).toString();
      state.named.push(name);
      state.written.push(keys);
      state.onWrite(keys);
      if (state.isDeaf || !state.hasPrompt) return;
      state.outputBytes += 1;
      const text = keys.replaceAll(/\x1b\[20[01]~/g, '');
      for (const key of text.startsWith('/') ? text.slice(0, state.most) : text) take(key);
    },
    typedCount: () => state.typedCount,
    outputBytes: () => state.outputBytes,
    hasUnreportedKeys: () => state.hasUnreportedKeys,
    holdKeys: async (typedBefore: number) => {
      if (state.typedCount !== typedBefore) return undefined;
      state.released.push('held');
      state.onHold();
      return {
        waitingCount: () => state.waitingCount,
        releaseOne: (behind: number) => {
          state.waitingCount -= state.waitingCount > behind ? 1 : 0;
          state.onRelease();
        },
        release: () => {
          state.waitingCount = 0;
          state.released.push(`released after ${state.written.length}`);
        },
      };
    },
  };
  const type = async (
    recipe: CompactRecipe,
    options: {
      focus?: string;
      found?: string;
      isQueued?: boolean;
      mayStash?: boolean;
      signal?: AbortSignal;
      withdrawal?: AbortSignal;
    } = {},
  ) => {
    const request: TypeRequest = {
      recipe,
      port,
      isQueued: options.isQueued ?? false,
      mayStash: options.mayStash ?? true,
      signal: options.signal ?? new AbortController().signal,
      focus: options.focus,
      found: options.found,
      ...present({ withdrawal: options.withdrawal }),
    };
    const typedBefore = state.typedCount;
    const result = await typeCommand(request);
    if (result.kind === 'withdrawn') void retractLate(request, { typedBefore, wasSent: false });
    return result;
  };
  return { state, port, type };
};
