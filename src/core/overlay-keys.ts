import type { Mode } from './compaction/state.js';
import type { OverlayAbilities } from './overlay-view.js';
import { keyOf, SHIFT, type InputElement } from './terminal-input.js';

// What a key does while the overlay is open. Nothing here reaches the agent but what the user asked for by name.

const overlayKeys = [
  ...(['c', 'a', 'p', 'n', 'u', 'h', 'd', '?', 'q', 'escape'] as const),
  ...(['up', 'down', 'pageup', 'pagedown', 'home', 'end'] as const),
];

export type OverlayKey = (typeof overlayKeys)[number] | 'wheel-up' | 'wheel-down';

const WHEEL = /^\x1b\[<6([45]);\d+;\d+M$/; // of the mouse, in SGR's form

/** What an element of the user's input, or one character of it, means to the overlay. */
export const overlayKeyOf = ({ kind, text }: InputElement): OverlayKey | undefined => {
  if (kind === 'mouse') {
    const direction = WHEEL.exec(text)?.[1];
    return direction === '4' ? 'wheel-up' : direction === '5' ? 'wheel-down' : undefined;
  }
  if (kind !== 'key' && kind !== 'text') return undefined;
  const { name, modifiers, isRelease } = keyOf(text);
  const allowed = name === '?' ? SHIFT : 0;
  return isRelease || (modifiers & ~allowed) !== 0 ? undefined : overlayKeys.find((key) => key === name);
};

/** What the shell has to do; what only the overlay shows is in the state. */
export type OverlayAction = 'compact' | 'mode' | 'postpone' | 'proactive' | 'undo' | 'handoff' | 'close';

export type OverlayPage = 'overview' | 'detail' | 'help';

export interface OverlayState {
  readonly page: OverlayPage;
  /** the first row of the contents that is shown */
  readonly scroll: number;
  /** the largest that `scroll` can be, and how many rows are shown; as last drawn */
  readonly most: number;
  readonly shown: number;
}

export const openOverlay: OverlayState = { page: 'overview', scroll: 0, most: 0, shown: 0 };

/** What was drawn of it. */
export type OverlayExtent = Pick<OverlayState, 'scroll' | 'most' | 'shown'>;

/** The state with what the drawing found out: how long the contents are, and how much of them fits. */
export const drawnOverlay = (state: OverlayState, { scroll, most, shown }: OverlayExtent): OverlayState => ({
  ...state,
  scroll,
  most,
  shown,
});

export interface KeyStep {
  /** the same object where the key has changed nothing that is shown */
  readonly state: OverlayState;
  readonly action?: OverlayAction;
}

export const overlayKey = (state: OverlayState, key: OverlayKey, can: OverlayAbilities): KeyStep => {
  switch (key) {
    case 'c':
      return { state: atTop(state), action: 'compact' };
    case 'a':
      return { state, action: 'mode' };
    case 'p':
      return can.postpone ? { state: atTop(state), action: 'postpone' } : { state };
    case 'n':
      return { state, action: 'proactive' };
    case 'u':
      return can.undo ? { state: atTop(state), action: 'undo' } : { state };
    case 'h':
      return can.handoff ? { state: atTop(state), action: 'handoff' } : { state };
    case 'd':
      return { state: turned(state, 'detail') };
    case '?':
      return { state: turned(state, 'help') };
    case 'escape':
      return state.page === 'overview' ? { state, action: 'close' } : { state: onPage(state, 'overview') };
    case 'q':
      return { state, action: 'close' };
    default:
      return { state: scrolled(state, key) };
  }
};

/** The mode after a press of `a`. */
export const nextMode = (mode: Mode): Mode => {
  switch (mode) {
    case 'auto':
      return 'ask';
    case 'ask':
      return 'warn';
    case 'warn':
    case 'off':
      return 'auto';
  }
};

const onPage = (state: OverlayState, page: OverlayPage): OverlayState => ({ ...state, page, scroll: 0 });

/** The sentence that answers the key stands at the top of the overview. */
const atTop = (state: OverlayState): OverlayState =>
  state.page === 'overview' && state.scroll === 0 ? state : onPage(state, 'overview');

const turned = (state: OverlayState, page: OverlayPage): OverlayState =>
  onPage(state, state.page === page ? 'overview' : page);

const WHEEL_ROWS = 3;

type ScrollKey = Extract<
  OverlayKey,
  'up' | 'down' | 'pageup' | 'pagedown' | 'home' | 'end' | 'wheel-up' | 'wheel-down'
>;

const scrolled = (state: OverlayState, key: ScrollKey): OverlayState => {
  const scroll = Math.max(0, Math.min(state.most, targetOf(state, key)));
  return scroll === state.scroll ? state : { ...state, scroll };
};

const targetOf = ({ scroll, most, shown }: OverlayState, key: ScrollKey): number => {
  // one row stays, so that the eye finds its place again
  const page = Math.max(1, shown - 1);
  switch (key) {
    case 'up':
      return scroll - 1;
    case 'down':
      return scroll + 1;
    case 'pageup':
      return scroll - page;
    case 'pagedown':
      return scroll + page;
    case 'home':
      return 0;
    case 'end':
      return most;
    case 'wheel-up':
      return scroll - WHEEL_ROWS;
    case 'wheel-down':
      return scroll + WHEEL_ROWS;
  }
};
