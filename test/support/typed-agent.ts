import type { Activity } from '../../src/core/reading.js';
import type { Recipe } from '../../src/agents/agent.js';
import { retractLate } from '../../src/wrap/typist.js';
import type { Look, TypeOrder } from '../../src/wrap/typing-steps.js';
import { typeCompact } from '../../src/wrap/typist.js';

export const typed: Recipe = {
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
export const unstashed: Recipe = withoutStash;
export const pasted: Recipe = { ...unstashed, isPasted: true, submit: '\t', isQueued: true };

export const BACKSPACE = '\x7f';

/** An agent whose prompt takes keys as the real ones do, and what it was sent. */
export const makeAgent = (start: { readonly text?: string; readonly activity?: Activity } = {}) => {
  const state = {
    text: start.text ?? '',
    activity: start.activity,
    aside: undefined as string | undefined,
    hasPrompt: true,
    /** swallows everything it is sent */
    isDeaf: false,
    /** its screen cannot be read */
    isBlind: false,
    /** does not say that a draft is put aside */
    isSilent: false,
    /** another program may read its terminal */
    isDoubted: false,
    /** empties its prompt a while after Enter, when the test says so */
    isSlow: false,
    /** how much of the command arrives */
    most: Infinity,
    /** the command chosen in the list below the prompt */
    listed: undefined as string | undefined,
    written: [] as string[],
    submitted: [] as string[],
    released: [] as string[],
    typed: 0,
    drawn: 0,
    looks: 0,
    /** keys of the user's that are held */
    waiting: 0,
    onRelease: (): void => undefined,
    onWrite: (_keys: string): void => undefined,
  };
  const take = (key: string): void => {
    if (key === '\r' || key === '\t') {
      state.submitted.push(state.text.trim());
      if (!state.isSlow) state.text = state.aside ?? '';
    } else if (key === BACKSPACE) state.text = state.text.slice(0, -1);
    else if (key === '\x13') {
      [state.text, state.aside] = state.aside === undefined ? ['', state.text] : [state.aside, undefined];
    } else state.text += key;
  };
  const activity = (): Activity => state.activity ?? (state.text === '' ? 'ready' : 'draft');
  const port = {
    look: (): Look | undefined => {
      state.looks += 1;
      if (state.isBlind) return undefined;
      return {
        activity: activity(),
        isDoubted: state.isDoubted,
        prompt: state.hasPrompt
          ? {
              text: state.text,
              ...(state.listed === undefined ? {} : { listed: state.listed }),
              ...(state.aside === undefined || state.isSilent ? {} : { isStashed: true as const }),
            }
          : undefined,
      };
    },
    refresh: () => Promise.resolve(),
    write: (bytes: Uint8Array): void => {
      const keys = Buffer.from(bytes).toString();
      state.written.push(keys);
      state.onWrite(keys);
      if (state.isDeaf || !state.hasPrompt) return;
      state.drawn += 1;
      const text = keys.replaceAll(/\x1b\[20[01]~/g, '');
      for (const key of text.startsWith('/') ? text.slice(0, state.most) : text) take(key);
    },
    typed: () => state.typed,
    drawn: () => state.drawn,
    holdKeys: () => {
      state.released.push('held');
      return {
        waiting: () => state.waiting,
        releaseOne: (behind: number) => {
          state.waiting -= state.waiting > behind ? 1 : 0;
          state.onRelease();
        },
        release: () => {
          state.waiting = 0;
          state.released.push(`released after ${state.written.length}`);
        },
      };
    },
  };
  const type = async (
    recipe: Recipe,
    options: { focus?: string; isQueued?: boolean; mayStash?: boolean; signal?: AbortSignal } = {},
  ) => {
    const order: TypeOrder = {
      recipe,
      port,
      isQueued: options.isQueued ?? false,
      mayStash: options.mayStash ?? true,
      signal: options.signal ?? new AbortController().signal,
      focus: options.focus,
    };
    const typedBefore = state.typed;
    const result = await typeCompact(order);
    if (result.kind === 'withdrawn') void retractLate(order, { typedBefore, wasSent: false });
    return result;
  };
  return { state, port, type };
};
