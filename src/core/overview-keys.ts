import type { Mode } from './compaction/state.js';
import {
  afterGiving,
  noSelection,
  openedAgain,
  toggle,
  type RecapChoice,
  type RecapSelection,
  type ShownRecap,
} from './conversation/recap-selection.js';
import { limitChoices, type LimitAnswer, type LimitSelection } from './own-limit.js';
import { parseKey, SHIFT, type InputElement } from './terminal-input.js';

// The keys of the open overview. None of them reaches the agent, except by the action that the user chose.

const choiceKeys = ['1', '2', '3', '4', 'left', 'right', 'tab', ' ', 'enter'] as const; // of the pages with choices

const overviewKeys = [
  ...(['c', 'a', 'p', 'n', 'u', 'b', 'r', 'h', 'l', 'd', 'x', '?', 'q', 'escape'] as const),
  ...choiceKeys,
  ...(['up', 'down', 'pageup', 'pagedown', 'home', 'end'] as const),
];

export type OverviewKey = (typeof overviewKeys)[number] | 'wheel-up' | 'wheel-down';

/** Keys that act on a page with choices, or leave it, and mean something in a dialog of the agent as well. */
export const choicePageKeys: readonly OverviewKey[] = [...choiceKeys, 'up', 'down', 'escape'];

const WHEEL = /^\x1b\[<6([45]);\d+;\d+M$/; // mouse wheel reports in SGR encoding

/** The overview's key for an element of the input, or for one character of it; undefined if it has no meaning. */
export const toOverviewKey = ({ kind, text }: InputElement): OverviewKey | undefined => {
  if (kind === 'mouse') {
    const direction = WHEEL.exec(text)?.[1];
    return direction === '4' ? 'wheel-up' : direction === '5' ? 'wheel-down' : undefined;
  }
  if (kind !== 'key' && kind !== 'text') return undefined;
  const { name, modifiers, isRelease } = parseKey(text);
  const allowed = name === '?' ? SHIFT : 0;
  return isRelease || (modifiers & ~allowed) !== 0 ? undefined : overviewKeys.find((key) => key === name);
};

/** What the wrapper has to do; what concerns only the display is in the state. */
export type OverviewAction =
  | 'compact'
  | 'mode'
  | 'postpone'
  | 'proactive'
  | 'undo'
  | 'recall'
  | 'take-back'
  | 'rescue'
  | 'handoff'
  | 'close';

export type OverviewPage = 'main' | 'detail' | 'help' | ChoicePage;

/** A page on which the user chooses something and takes it with Enter. */
export type ChoicePage = 'limit' | 'recap';

export const isChoicePage = (page: OverviewPage): page is ChoicePage => page === 'limit' || page === 'recap';

export interface OverviewState {
  readonly page: OverviewPage;
  /** first visible row of the contents */
  readonly scroll: number;
  /** the maximum of `scroll` and the number of visible rows, from the last drawing */
  readonly most: number;
  readonly shown: number;
  /** what is marked on the page `limit` */
  readonly limit: LimitSelection;
  /** the same on the page `recap` */
  readonly recap: RecapSelection;
  /** the recap in the last drawing; undefined where there is none */
  readonly shownRecap: ShownRecap | undefined;
}

const firstLimit: LimitSelection = { span: 'session' };

export const initialOverviewState: OverviewState = {
  page: 'main',
  scroll: 0,
  most: 0,
  shown: 0,
  limit: firstLimit,
  recap: noSelection,
  shownRecap: undefined,
};

const actions = {
  c: 'compact',
  a: 'mode',
  p: 'postpone',
  n: 'proactive',
  u: 'undo',
  r: 'rescue',
  h: 'handoff',
  q: 'close',
} as const satisfies Readonly<Record<string, OverviewAction>>;

/** What a key right after the hotkey does without the overview, because its result is at the agent's prompt or in the footer. */
const directActions = [
  'compact',
  'undo',
  'recall',
  'rescue',
  'handoff',
] as const satisfies readonly OverviewAction[];

export type DirectAction = (typeof directActions)[number];

/** Undefined for an action that only makes sense in the overview. */
export const directAction = (action: OverviewAction | undefined): DirectAction | undefined =>
  directActions.find((each) => each === action);

const WHEEL_ROWS = 3;

// a page overlaps the previous one by a row, for orientation
const pageRows = ({ shown }: OverviewState): number => Math.max(1, shown - 1);

const scrolls = {
  up: ({ scroll }: OverviewState) => scroll - 1,
  down: ({ scroll }: OverviewState) => scroll + 1,
  pageup: (state: OverviewState) => state.scroll - pageRows(state),
  pagedown: (state: OverviewState) => state.scroll + pageRows(state),
  home: () => 0,
  end: ({ most }: OverviewState) => most,
  'wheel-up': ({ scroll }: OverviewState) => scroll - WHEEL_ROWS,
  'wheel-down': ({ scroll }: OverviewState) => scroll + WHEEL_ROWS,
} as const;

export interface OverviewKeyResult {
  /** the same object if nothing visible has changed */
  readonly state: OverviewState;
  readonly action?: OverviewAction;
  /** what was chosen; the overview closes */
  readonly answer?: OverviewAnswer;
}

export type OverviewAnswer =
  | { readonly page: 'limit'; readonly limit: LimitAnswer }
  | { readonly page: 'recap'; readonly recap: RecapChoice };

export const pressOverviewKey = (state: OverviewState, key: OverviewKey): OverviewKeyResult =>
  isChoicePage(state.page) ? pressChoiceKey[state.page](state, key) : pressPageKey(state, key);

/** On the page with the choice no other key acts: it could have been meant for the choice. */
const pressLimitKey = (state: OverviewState, key: OverviewKey): OverviewKeyResult => {
  const { choice = 0, span } = state.limit;
  const marked = (limit: Partial<LimitSelection>): OverviewKeyResult => ({
    state: { ...state, scroll: 0, limit: { ...state.limit, ...limit } },
  });
  switch (key) {
    case 'up':
      return choice === 0 ? { state } : marked({ choice: choice - 1 });
    case 'down':
      return choice === limitChoices.length - 1 ? { state } : marked({ choice: choice + 1 });
    case '1':
    case '2':
    case '3':
    case '4':
      return marked({ choice: Number(key) - 1 });
    case 'left':
      return marked({ span: 'session' });
    case 'right':
      return marked({ span: 'always' });
    case 'tab':
      return marked({ span: span === 'session' ? 'always' : 'session' });
    case 'enter': {
      const limit = limitChoices[choice]?.limit ?? 'none';
      return { state: onPage(state, 'main'), answer: { page: 'limit', limit: { limit, span } } };
    }
    case 'c':
    case 'a':
    case 'p':
    case 'n':
    case 'u':
    case 'b':
    case 'r':
    case 'h':
      return { state };
    default:
      return pressPageKey(state, key);
  }
};

/** On the page with the recap the keys that scroll go from line to line. */
const pressRecapKey = (state: OverviewState, key: OverviewKey): OverviewKeyResult => {
  const { recap, shownRecap } = state;
  const last = (shownRecap?.keys.length ?? 0) - 1;
  const at = (line: number): OverviewKeyResult => {
    const next = Math.max(0, Math.min(last, line));
    return next === recap.line ? { state } : { state: { ...state, recap: { ...recap, line: next } } };
  };
  switch (key) {
    case 'up':
    case 'wheel-up':
      return at(recap.line - 1);
    case 'down':
    case 'wheel-down':
      return at(recap.line + 1);
    case 'pageup':
      return at(recap.line - pageRows(state));
    case 'pagedown':
      return at(recap.line + pageRows(state));
    case 'home':
      return at(0);
    case 'end':
      return at(last);
    case ' ':
      return shownRecap && last >= 0 ? { state: { ...state, recap: toggle(recap, shownRecap) } } : { state };
    case 'enter': {
      if (!shownRecap || last < 0) return { state };
      const choice = { at: shownRecap.at, keys: recap.chosen ?? shownRecap.chosen };
      const after = { ...onPage(state, 'main'), recap: afterGiving(choice, shownRecap) };
      return { state: after, answer: { page: 'recap', recap: choice } };
    }
    case 'escape':
    case 'q':
      return { state, action: 'close' };
    case 'x':
      return { state, action: 'take-back' };
    case 'u':
    case 'b':
      return pressPageKey(state, key);
    default:
      return { state };
  }
};

const pressChoiceKey = { limit: pressLimitKey, recap: pressRecapKey } as const satisfies Readonly<
  Record<ChoicePage, (state: OverviewState, key: OverviewKey) => OverviewKeyResult>
>;

const pressPageKey = (state: OverviewState, key: OverviewKey): OverviewKeyResult => {
  switch (key) {
    case 'c':
    case 'p':
    case 'u':
    case 'r':
    case 'h':
      return { state: atTop(state), action: actions[key] };
    case 'a':
    case 'n':
    case 'q':
      return { state, action: actions[key] };
    case 'l':
      return { state: turned({ ...state, limit: firstLimit }, 'limit') };
    case 'b':
      return { state: turned({ ...state, recap: openedAgain(state.recap) }, 'recap') };
    case '1':
    case '2':
    case '3':
    case '4':
    case 'left':
    case 'right':
    case 'tab':
    case ' ':
    case 'enter':
    case 'x':
      return { state };
    case 'd':
      return { state: turned(state, 'detail') };
    case '?':
      return { state: turned(state, 'help') };
    case 'escape':
      return state.page === 'main' ? { state, action: 'close' } : { state: onPage(state, 'main') };
    default: {
      const scroll = Math.max(0, Math.min(state.most, scrolls[key](state)));
      return { state: scroll === state.scroll ? state : { ...state, scroll } };
    }
  }
};

/** What an element of the input does right after the hotkey where no overview opens. */
export const firstAction = (element: InputElement): OverviewAction | undefined => {
  const key = toOverviewKey(element);
  if (key === 'b') return 'recall'; // without the choice
  return key && pressOverviewKey(initialOverviewState, key).action;
};

const nextModes: Readonly<Record<Mode, Mode>> = { auto: 'ask', ask: 'warn', warn: 'auto', off: 'auto' };

/** The mode after pressing `a`. */
export const nextMode = (mode: Mode): Mode => nextModes[mode];

const onPage = (state: OverviewState, page: OverviewPage): OverviewState => ({ ...state, page, scroll: 0 });

/** The answer to the key is at the top of the first page. */
const atTop = (state: OverviewState): OverviewState =>
  state.page === 'main' && state.scroll === 0 ? state : onPage(state, 'main');

const turned = (state: OverviewState, page: OverviewPage): OverviewState =>
  onPage(state, state.page === page ? 'main' : page);
