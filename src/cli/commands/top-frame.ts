import { own, type Printable, toPrintable } from '../../core/printable.js';
import { cacheSentence, limitsSentence } from '../../core/economy.js';
import { counted } from '../../core/format.js';
import { groupDigits } from '../../core/ladder.js';
import type { NextRecord } from '../../core/report/records.js';
import type { ListedSession } from '../../storage/sessions.js';
import { makeTextsSafe, shorten, toAscii } from '../../ui/text.js';
import { makeTheme, type Theme } from '../../ui/theme.js';
import {
  activityText,
  ageText,
  folderText,
  isForUser,
  sessionsText,
  type SessionsView,
} from '../ps-columns.js';
import { isThere } from '../session-argument.js';
import { selectedOf, windowOf, type TopState } from './top-state.js';

// The screen of `ctxwrap top` as text, from its state and the sessions.

/** What is on the screen. All texts fit into the width. */
export interface TopFrame {
  readonly columns: number;
  /** rows of the terminal */
  readonly rows: number;
  readonly head: Printable;
  readonly titles: Printable;
  readonly lines: readonly Printable[];
  /** below the table: about the selected session */
  readonly details: readonly Printable[];
  /** a question, the filter, or what has happened; '' where there is nothing to say */
  readonly message: Printable;
  readonly keys: Printable;
}

/** The frame from top to bottom, one text for each row of the terminal. */
export const frameRows = ({
  rows,
  head,
  titles,
  lines,
  details,
  message,
  keys,
}: TopFrame): readonly Printable[] => {
  const below = [...details, message, keys];
  const room = Math.max(0, rows - 2 - below.length);
  const table = Array.from({ length: room }, (_, row) => lines[row] ?? own``);
  return [head, titles, ...table, ...below].slice(0, rows);
};

export interface TopView extends SessionsView {
  /** the sessions to show, in their order */
  readonly chosen: readonly ListedSession[];
  /** all of them */
  readonly all: readonly ListedSession[];
  readonly rows: number;
  /** the first visible row of the table before */
  readonly scroll: number;
  /** what has just happened; '' where nothing has */
  readonly news: string;
}

const FIXED_ROWS = 4; // head, titles, message and keys
const MOST_DETAILS = 10; // rows
const MARK = '▶ ';

const LEAST_TABLE = 3; // rows, which the details leave to it

/** How many rows the table has room for. */
const tableRows = (rows: number, details: number): number => Math.max(1, rows - FIXED_ROWS - details);

export interface DrawnTop {
  readonly frame: TopFrame;
  /** the first visible row of the table */
  readonly scroll: number;
  /** how many rows the table has room for */
  readonly room: number;
}

export const topFrame = (state: TopState, view: TopView): DrawnTop => {
  const { chosen, look, rows } = view;
  const columns = look.columns;
  const theme = makeTheme(undefined, look);
  const ids = chosen.map(({ record }) => record.id);
  const selected = chosen[ids.indexOf(selectedOf(state, ids) ?? '')];
  const detailsRoom = Math.max(0, Math.min(MOST_DETAILS, rows - FIXED_ROWS - LEAST_TABLE));
  const details = selected && state.hasDetails ? detailRows(selected, view, theme).slice(0, detailsRoom) : [];
  const room = tableRows(rows, details.length);
  const index = Math.max(0, ids.indexOf(selected?.record.id ?? ''));
  const scroll = windowOf({ count: chosen.length, index, rows: room }, view.scroll);
  const visible = chosen.slice(scroll, scroll + room);
  const inner = { ...look, columns: Math.max(1, columns - MARK.length) };
  const [titles = '', ...lines] = sessionsText(visible, { ...view, look: inner, isChosenByRow: true });
  const frame: TopFrame = {
    columns,
    rows,
    head: headOf(view, orderText(state, view, { scroll, room }), theme),
    titles: visible.length === 0 ? own`` : toPrintable(theme.quiet(['  ', titles])),
    lines:
      visible.length === 0
        ? [own``, toPrintable(`  ${emptyText(state, view)}`)]
        : lines.map((line, row) => toPrintable([scroll + row === index ? theme.strong(MARK) : '  ', line])),
    details,
    message: toPrintable(shorten(messageOf(state, view), columns)),
    keys: keysRow(columns, theme),
  };
  return { frame: look.ascii ? inAscii(frame) : frame, scroll, room };
};

const inAscii = (frame: TopFrame): TopFrame => ({
  ...frame,
  head: toAscii(frame.head),
  titles: toAscii(frame.titles),
  lines: frame.lines.map(toAscii),
  details: frame.details.map(toAscii),
  message: toAscii(frame.message),
  keys: toAscii(frame.keys),
});

const emptyText = ({ filter }: TopState, { all }: TopView): string =>
  filter === '' || all.length === 0
    ? 'No session is running. Start one with: ctxwrap claude'
    : 'No session matches. Esc shows all.';

/** How the table is ordered, and which part of it is visible where that is not all. */
const orderText = (
  { sort, isAll }: TopState,
  { chosen }: TopView,
  { scroll, room }: Pick<DrawnTop, 'scroll' | 'room'>,
): string => {
  const last = Math.min(chosen.length, scroll + room);
  const part = chosen.length > room ? `${scroll + 1}-${last} of ${chosen.length}, ` : '';
  return `${part}by ${sort}${isAll ? ', all' : ''}`;
};

/** The title row. If there is no room, the last counts are left out first. */
const headOf = ({ all, look }: TopView, order: string, theme: Theme): Printable => {
  const there = all.filter(isThere);
  const waiting = there.filter(({ record, liveness }) => liveness === 'live' && isForUser(record)).length;
  const tiers = (['hard', 'auto', 'warn'] as const).flatMap((tier) => {
    const count = there.filter(({ record }) => record.tier === tier).length;
    return count === 0 ? [] : [`${count} ${tier}`];
  });
  const failed = there.filter(({ liveness }) => liveness === 'failed').length;
  const counts = [
    `${there.length} running`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(waiting > 0 ? [`${waiting} waiting for you`] : []),
    ...tiers,
  ];
  const name = 'ctxwrap top';
  const titleWith = (count: number): string =>
    count === 0 ? name : `${name}  ${counts.slice(0, count).join(' · ')}`;
  const room = look.columns - order.length - 2;
  let count = counts.length;
  while (count > 0 && titleWith(count).length > room) count -= 1;
  const left = titleWith(count);
  const gap = look.columns - left.length - order.length;
  if (gap < 2) return toPrintable(shorten(left, look.columns));
  return toPrintable([theme.accent(name), left.slice(name.length), ' '.repeat(gap), theme.quiet(order)]);
};

const messageOf = (
  { asking, isFiltering, filter }: TopState,
  { all, chosen, news, home }: TopView,
): string => {
  const asked = all.find(({ record }) => record.id === asking)?.record;
  if (asked)
    return makeTextsSafe(
      `Ask ${asked.runtime} in ${folderText(asked.cwd, home)} to compact now? y: yes, any other key: no`,
    );
  if (isFiltering) return `/${makeTextsSafe(filter)}_   Enter: keep, Esc: show all`;
  if (news !== '') return makeTextsSafe(news);
  return filter === '' ? '' : `${chosen.length} with "${makeTextsSafe(filter)}" · Esc: show all`;
};

const keys: readonly (readonly [key: string, word: string])[] = [
  ['q', 'quit'],
  ['c', 'compact'],
  ['Enter', 'details'],
  ['/', 'filter'],
  ['s', 'sort'],
  ['a', 'all'],
  ['arrows', 'select'],
];

const keysRow = (columns: number, theme: Theme): Printable => {
  let width = 0;
  const fitting = keys.filter(([key, word]) => (width += key.length + word.length + 3) <= columns + 2);
  return toPrintable(
    fitting.map(([key, word], index) => [index > 0 ? '  ' : '', theme.accent(key), ' ', theme.quiet(word)]),
  );
};

/** `claude's own at 317,000 tokens, 58,000 to go` */
const nextText = ({ kind, value, unit, left }: NextRecord, agent: string): string => {
  const name = { limit: 'your limit', auto: 'auto', own: `${agent}'s own`, hard: 'hard' }[kind];
  const size = (amount: number): string => (unit === 'percent' ? `${amount}%` : groupDigits(amount));
  const rest = left === undefined ? '' : left > 0 ? `, ${size(left)} to go` : ', reached';
  return `${name} at ${size(value)}${unit === 'percent' ? '' : ' tokens'}${rest}`;
};

const LABEL = 10; // columns

/** Everything about one session that has no column. */
const detailRows = (
  session: ListedSession,
  { now, home, look }: TopView,
  theme: Theme,
): readonly Printable[] => {
  const { record, liveness } = session;
  const { reading, cache, limits, thresholds, compaction, activitySince, next } = record;
  const since = activitySince === undefined ? '' : ` (for ${ageText(now - activitySince)})`;
  const auto = thresholds.find(({ name }) => name === 'auto');
  const bound = auto && (auto.unit === 'percent' ? `${auto.value}%` : `${groupDigits(auto.value)} tokens`);
  const facts: readonly (readonly [string, string | undefined])[] = [
    [
      'Session',
      `${record.id}, pid ${record.pid}${record.agentSessionId ? `, conversation ${record.agentSessionId}` : ''}`,
    ],
    ['Agent', [record.runtime, record.agentVersion, reading?.model].filter(Boolean).join(' ')],
    ['Folder', folderText(record.cwd, home)],
    ['Activity', activityText(session, now) + (liveness === 'live' ? since : '')],
    ['Auto', bound && `from ${bound}${compaction ? `, mode ${compaction.mode}` : ''}`],
    ['Next', next && nextText(next, record.runtime)],
    [
      'So far',
      [
        counted(record.compactions, 'compaction'),
        ...(record.turns === undefined ? [] : [counted(record.turns, 'turn')]),
      ].join(', '),
    ],
    ['Cache', cache && isThere(session) ? cacheSentence(cache, now) : undefined],
    ['Plan', limitsSentence(limits, now) || undefined],
  ];
  const row = (label: string, text: string): Printable => {
    const plain = `  ${label.padEnd(LABEL)}${makeTextsSafe(text)}`;
    const cut = shorten(plain, look.columns);
    const isLabelOnly = cut.length <= 2 + LABEL;
    return toPrintable(
      isLabelOnly ? cut : ['  ', theme.quiet(cut.slice(2, 2 + LABEL)), cut.slice(2 + LABEL)],
    );
  };
  return [
    own``,
    ...facts.flatMap(([label, text]) => (text === undefined || text === '' ? [] : [row(label, text)])),
  ];
};
