import type { Mode } from './compaction/state.js';

// What a key does while the overlay is open. Nothing here reaches the agent but what the user asked for by name.

/** A key as the terminal side tells it. */
export type OverlayKey = 'd' | '?' | 'esc' | keyof typeof actions | keyof typeof scrolls;

/** What the wrapper has to do; what only the overlay shows is in the state. */
export type OverlayAction = 'compact' | 'mode' | 'postpone' | 'proactive' | 'close';

export type OverlayPage = 'main' | 'detail' | 'help';

export interface OverlayState {
  readonly page: OverlayPage;
  /** the first row of the contents that is shown */
  readonly scroll: number;
  /** the largest that `scroll` can be, and how many rows are shown; as last drawn */
  readonly most: number;
  readonly shown: number;
}

export const openOverlay: OverlayState = { page: 'main', scroll: 0, most: 0, shown: 0 };

const actions = {
  c: 'compact',
  a: 'mode',
  p: 'postpone',
  n: 'proactive',
  q: 'close',
  hotkey: 'close',
} as const satisfies Readonly<Record<string, OverlayAction>>;

const WHEEL_ROWS = 3;

// of a page, one row stays, so that the eye finds its place again
const pageRows = ({ shown }: OverlayState): number => Math.max(1, shown - 1);

const scrolls = {
  up: ({ scroll }: OverlayState) => scroll - 1,
  down: ({ scroll }: OverlayState) => scroll + 1,
  pageup: (state: OverlayState) => state.scroll - pageRows(state),
  pagedown: (state: OverlayState) => state.scroll + pageRows(state),
  home: () => 0,
  end: ({ most }: OverlayState) => most,
  'wheel-up': ({ scroll }: OverlayState) => scroll - WHEEL_ROWS,
  'wheel-down': ({ scroll }: OverlayState) => scroll + WHEEL_ROWS,
} as const;

export interface KeyStep {
  /** the same object where the key has changed nothing that is shown */
  readonly state: OverlayState;
  readonly action?: OverlayAction;
}

export const overlayKey = (state: OverlayState, key: OverlayKey): KeyStep => {
  switch (key) {
    case 'c':
    case 'p':
      return { state: atTop(state), action: actions[key] };
    case 'a':
    case 'n':
    case 'q':
    case 'hotkey':
      return { state, action: actions[key] };
    case 'd':
      return { state: turned(state, 'detail') };
    case '?':
      return { state: turned(state, 'help') };
    case 'esc':
      return state.page === 'main' ? { state, action: 'close' } : { state: onPage(state, 'main') };
    default: {
      const scroll = Math.max(0, Math.min(state.most, scrolls[key](state)));
      return { state: scroll === state.scroll ? state : { ...state, scroll } };
    }
  }
};

const nextModes: Readonly<Record<Mode, Mode>> = { auto: 'ask', ask: 'warn', warn: 'auto', off: 'auto' };

/** The mode after a press of `a`. */
export const nextMode = (mode: Mode): Mode => nextModes[mode];

const onPage = (state: OverlayState, page: OverlayPage): OverlayState => ({ ...state, page, scroll: 0 });

/** The sentence that answers the key stands at the top of the first page. */
const atTop = (state: OverlayState): OverlayState =>
  state.page === 'main' && state.scroll === 0 ? state : onPage(state, 'main');

const turned = (state: OverlayState, page: OverlayPage): OverlayState =>
  onPage(state, state.page === page ? 'main' : page);
