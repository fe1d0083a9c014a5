import type { ThemeChoice } from '../core/config/theme.js';

// What ctxwrap asks the terminal. The answers are told from the user's keys and from answers to the child in query-queue.ts.

/** Where the cursor is, in a form whose answer is no key (DECXCPR); the page number in some answers does not matter. */
export const EXTENDED = '\x1b[?6n';
/**
 * What every terminal answers, with bytes that are no key (DSR, VT100 manual): when this answer is there, an earlier query without one will
 * most likely get none.
 */
export const SENTINEL = '\x1b[5n';
/** Secondary device attributes (DA2): its answer identifies xterm.js. */
const DEVICE_ATTRIBUTES = '\x1b[>c';
/** Asks for the background colour (xterm ctlseqs, OSC 11). */
const BACKGROUND_COLOR = '\x1b]11;?\x1b\\';

type Env = Readonly<Record<string, string | undefined>>;

/** Whether to ask the terminal for its background: the user has not chosen, and the terminal ignores or answers the question. */
const asksBackground = (env: Env, { preset }: ThemeChoice): boolean =>
  preset === 'auto' && !/^(?:linux|dumb|vt\d.*|)$/.test(env['TERM'] ?? '') && (!env['STY'] || !!env['TMUX']);

/** The first questions, all of them in one write. */
export interface StartQuestions {
  readonly text: string;
  readonly isBackgroundAsked: boolean;
}

/** What the terminal is, its background, and where its cursor is, in this order. */
export const startQuestions = (env: Env, theme: ThemeChoice): StartQuestions => {
  const isBackgroundAsked = asksBackground(env, theme);
  const text = (isBackgroundAsked ? BACKGROUND_COLOR : '') + DEVICE_ATTRIBUTES + EXTENDED + SENTINEL;
  return { text, isBackgroundAsked };
};
