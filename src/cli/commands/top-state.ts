import type { Tier } from '../../core/ladder.js';
import type { ListedSession } from '../../storage/sessions.js';
import { isThere } from '../session-argument.js';
import { isForUser } from '../ps-columns.js';

// What `ctxwrap top` shows, as a function of the sessions and the keys. Pure.

/** The orders of the table; the first one puts on top what needs the user. */
export const sortNames = ['need', 'fill', 'cache', 'age', 'agent', 'folder'] as const;

export type SortName = (typeof sortNames)[number];

export interface TopState {
  readonly sort: SortName;
  /** text that a session must have in one of its cells; '' for all sessions */
  readonly filter: string;
  /** keys go into the filter */
  readonly isFiltering: boolean;
  /** also those that are over */
  readonly isAll: boolean;
  readonly hasDetails: boolean;
  /** id of the selected session; the first one where it is not there */
  readonly selected?: string | undefined;
  /** id of the session that the user is asked about, before it is asked to compact */
  readonly asking?: string | undefined;
}

export const startTop: TopState = {
  sort: 'need',
  filter: '',
  isFiltering: false,
  isAll: false,
  hasDetails: false,
};

/** A key as the terminal sent it: its name, or the text that was typed or pasted. */
export interface TopKey {
  readonly name?: KeyName | undefined;
  readonly text: string;
}

export type KeyName =
  | 'up'
  | 'down'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'interrupt'
  | 'suspend';

/** What a key does beside changing the state. */
export type TopAction = { readonly kind: 'quit' } | { readonly kind: 'compact'; readonly id: string };

export interface TopStep {
  readonly state: TopState;
  readonly action?: TopAction | undefined;
}

/** What the keys move in: the ids of all chosen sessions in their order, and how many of them the table shows at once. */
export interface TopList {
  readonly ids: readonly string[];
  readonly rows: number;
}

const LONGEST_FILTER = 100; // characters

/** The state after a key. */
export const stepTop = (state: TopState, key: TopKey, list: TopList): TopStep => {
  if (state.asking !== undefined) return answered(state, key);
  if (state.isFiltering) return { state: filtered(state, key) };
  const moved = moveBy(key, list.rows);
  if (moved !== undefined) return { state: { ...state, selected: movedTo(state, list, moved) } };
  switch (key.name ?? key.text) {
    case 'q':
    case 'Q':
      return { state, action: { kind: 'quit' } };
    case 'escape':
      return { state: { ...state, hasDetails: false, filter: state.hasDetails ? state.filter : '' } };
    case 'enter':
    case 'd':
      return { state: { ...state, hasDetails: !state.hasDetails } };
    case 's':
      return { state: { ...state, sort: nextSort(state.sort) } };
    case 'a':
      return { state: { ...state, isAll: !state.isAll } };
    case '/':
      return { state: { ...state, isFiltering: true } };
    case 'c':
      return { state: { ...state, asking: selectedOf(state, list.ids) } };
    default:
      return { state };
  }
};

/** Only `y` asks; any other key means no. */
const answered = ({ asking, ...rest }: TopState, { text }: TopKey): TopStep =>
  asking !== undefined && (text === 'y' || text === 'Y')
    ? { state: rest, action: { kind: 'compact', id: asking } }
    : { state: rest };

const filtered = (state: TopState, { name, text }: TopKey): TopState => {
  switch (name) {
    case 'enter':
      return { ...state, isFiltering: false };
    case 'escape':
      return { ...state, isFiltering: false, filter: '' };
    case 'backspace':
      return { ...state, filter: [...state.filter].slice(0, -1).join('') };
    case undefined:
      return {
        ...state,
        filter: [...(state.filter + text.replace(/\p{Cc}/gu, ''))].slice(0, LONGEST_FILTER).join(''),
      };
    default:
      return state;
  }
};

const nextSort = (sort: SortName): SortName =>
  sortNames[(sortNames.indexOf(sort) + 1) % sortNames.length] ?? 'need';

/** Rows to move by; undefined for a key that moves nothing. */
const moveBy = ({ name, text }: TopKey, rows: number): number | undefined => {
  switch (name ?? text) {
    case 'up':
    case 'k':
      return -1;
    case 'down':
    case 'j':
      return 1;
    case 'page-up':
      return -rows;
    case 'page-down':
      return rows;
    case 'home':
      return -Infinity;
    case 'end':
      return Infinity;
    default:
      return undefined;
  }
};

const movedTo = (state: TopState, { ids }: TopList, by: number): string | undefined => {
  const index = ids.indexOf(selectedOf(state, ids) ?? '');
  return ids[Math.max(0, Math.min(ids.length - 1, index + by))];
};

/** The id of the selected session; undefined where there is none. */
export const selectedOf = ({ selected }: TopState, ids: readonly string[]): string | undefined =>
  selected !== undefined && ids.includes(selected) ? selected : ids[0];

/** The part of a list to show, so that the selected row is in it: as near to the former part as possible. */
export const windowOf = (
  { count, index, rows }: { readonly count: number; readonly index: number; readonly rows: number },
  before: number,
): number => {
  const least = Math.max(0, index - rows + 1);
  const most = Math.max(0, Math.min(index, count - rows));
  return Math.max(Math.min(least, Math.max(0, count - rows)), Math.min(before, most));
};

/** The sessions to show, in their order. `searchText` is what the filter looks at. */
export const chosenSessions = (
  sessions: readonly ListedSession[],
  { sort, filter, isAll }: TopState,
  searchText: (session: ListedSession) => string,
): readonly ListedSession[] => {
  const wanted = filter.trim().toLowerCase();
  const shown = sessions.filter(
    (each) => (isAll || isThere(each)) && (wanted === '' || searchText(each).toLowerCase().includes(wanted)),
  );
  return shown.toSorted((a, b) => orders[sort](a, b) || a.record.startedAt - b.record.startedAt);
};

type Order = (a: ListedSession, b: ListedSession) => number;

const tiers: readonly (Tier | undefined)[] = [undefined, 'safe', 'warn', 'auto', 'hard'];

const fillOf = ({ record }: ListedSession): number => record.reading?.usedPercent ?? -1;

/** A dialog stops an agent at work; behind unsent text it is idle. Where ctxwrap has failed, only the user can keep the window from filling. */
const needOf = ({ liveness, record }: ListedSession): number => {
  if (liveness === 'failed') return 15;
  if (liveness !== 'live') return -1;
  return isForUser(record) ? (record.activity === 'dialog' ? 20 : 10) : tiers.indexOf(record.tier);
};

const byFill: Order = (a, b) => fillOf(b) - fillOf(a);
const byText =
  (text: (session: ListedSession) => string): Order =>
  (a, b) =>
    text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0;

const orders: Readonly<Record<SortName, Order>> = {
  need: (a, b) => needOf(b) - needOf(a) || byFill(a, b),
  fill: byFill,
  cache: (a, b) => (a.record.cache?.expiresAt ?? Infinity) - (b.record.cache?.expiresAt ?? Infinity) || 0,
  age: (a, b) => a.record.startedAt - b.record.startedAt,
  agent: byText(({ record }) => record.runtime),
  folder: byText(({ record }) => record.cwd),
};
