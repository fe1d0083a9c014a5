import { type Styled } from '../core/printable.js';
import { cacheText, limitsText } from '../core/economy.js';
import type { FooterView } from '../core/footer-view.js';
import { formatOwnPercent, formatPercent, formatTokens, isDrawable } from '../core/format.js';
import { present } from '../core/present.js';
import { isGuessedWindow, type Millis, windowPercent } from '../core/reading.js';
import { FAILED_WORDS, type SessionRecord } from '../core/report/records.js';
import { MINUTE_MS, HOUR_MS, DAY_MS } from '../core/time.js';
import type { ListedSession } from '../storage/sessions.js';
import { barOf, barPercent, distanceOf, percentOf, usedOf } from '../ui/footer-items.js';
import type { Look } from '../core/look.js';
import { makeTextsSafe, shorten, toPlainText, wrapText } from '../ui/text.js';
import { makeTheme } from '../ui/theme.js';
import { isThere, shortIdOf } from './session-argument.js';
import { type FieldName, filledTemplate, type Template } from './template.js';
import { type Cell, table, type Column } from './text.js';

// The columns of `ctxwrap ps` and `top`, and sessions as lines from a template. Their records may come from another program.

export interface SessionsView {
  readonly now: Millis;
  readonly home: string;
  readonly look: Look;
  /** all sessions, in which a short id must not mean another one; those that are shown when absent */
  readonly known?: readonly ListedSession[];
  /** the short ids, where they are known already */
  readonly shortId?: (session: ListedSession) => string;
  /** a session is chosen by its row: its id and age, which nobody needs then, make room for the bar and the cache */
  readonly isChosenByRow?: boolean;
}

// The most important columns stay longest: how full, what it does, how serious, where, the numbers behind it, its name.
const columns: readonly Column[] = [
  { title: 'AGENT', rank: 0 },
  { title: 'WINDOW', rank: 6 },
  { title: '%', rank: 0, align: 'right' },
  { title: 'USED', rank: 4, align: 'right' },
  { title: 'TIER', rank: 2 },
  { title: 'ACTIVITY', rank: 1, leastWidth: 20 }, // `waiting: unsent text`
  { title: 'NEXT', rank: 9 },
  { title: 'CACHE', rank: 8, align: 'right' },
  { title: 'AGE', rank: 7, align: 'right' },
  { title: 'FOLDER', rank: 3, leastWidth: 11, cut: 'start' },
  { title: 'SESSION', rank: 5 },
];

const forRows: Readonly<Record<string, Partial<Column>>> = {
  SESSION: { rank: 11 },
  AGE: { rank: 10 },
  FOLDER: { leastWidth: 10 },
};

const LONGEST_AGENT = 16; // columns
const LONGEST_ACTIVITY = 40; // columns
const WIDE = 100; // columns, from which on there is room for a bar of ten cells
const [SHORT_BAR, LONG_BAR] = [6, 10]; // cells

/** A table with a row for each session, in at most `look.columns` columns. */
export const sessionsText = (sessions: readonly ListedSession[], view: SessionsView): readonly Styled[] => {
  const { look, known = sessions, isChosenByRow = false } = view;
  if (sessions.length === 0)
    return wrapText('No session is running. Start one with: ctxwrap claude', look.columns);
  const isShown = (title: string): boolean =>
    (title !== 'CACHE' || known.some(({ record }) => record.cache !== undefined)) &&
    (title !== 'NEXT' || known.some(({ record }) => record.next?.distance !== undefined));
  const wanted = columns.map(({ title }) => isShown(title));
  const isWanted = (_: unknown, index: number): boolean => wanted[index] === true;
  const shown = isChosenByRow ? columns.map((each) => ({ ...each, ...forRows[each.title] })) : columns;
  return table(
    shown.filter(isWanted),
    sessions.map((each) => rowOf(each, { ...view, known }).filter(isWanted)),
    look.columns,
  );
};

const rowOf = (session: ListedSession, view: SessionsView): readonly Cell[] => {
  const { record, liveness } = session;
  const { look } = view;
  const theme = makeTheme(record.tier, look, liveness !== 'live');
  const numbers = footerViewOf(record);
  const fieldText = (field: FieldName): string => cellText(fields[field](session, view)) || '-';
  const [text, rest] = barTexts(numbers, look.columns < WIDE ? SHORT_BAR : LONG_BAR, look);
  return [
    shorten(fieldText('agent'), LONGEST_AGENT),
    { text: text + rest || '-', paint: (bar) => (text + rest ? [theme.bar(text), theme.quiet(rest)] : bar) },
    { text: fieldText('fill'), paint: theme.percent },
    { text: isDrawable(numbers.usedTokens) ? usedOf(numbers) : '-', paint: theme.quiet },
    { text: fieldText('tier'), paint: theme.tier },
    shorten(cellText(activityText(session, view.now)), LONGEST_ACTIVITY),
    { text: fieldText('distance'), paint: theme.quiet },
    { text: fieldText('cache'), paint: theme.quiet },
    { text: fieldText('age'), paint: theme.quiet },
    cellText(fields.folder(session, view), 'start') || '-',
    { text: fieldText('session'), paint: theme.quiet },
  ];
};

const LONGEST_CELL = 1_000; // characters; no terminal is that wide, and to measure more takes long

const cellText = (text: string, cut: 'start' | 'end' = 'end'): string =>
  makeTextsSafe(cut === 'end' ? text.slice(0, LONGEST_CELL) : text.slice(-LONGEST_CELL));

/** Filled and unfilled cells; empty where it is not known how far the next compaction is. */
const barTexts = (
  view: FooterView,
  cells: number,
  { ascii }: Look,
): readonly [filled: string, rest: string] => {
  const percent = barPercent(view);
  if (!isDrawable(percent)) return ['', ''];
  return barOf(percent, cells, { ascii });
};

const footerViewOf = ({ runtime, reading, tier, compactions, next }: SessionRecord): FooterView => ({
  runtime,
  compactions,
  estimated: reading?.source === 'estimate',
  windowInferred: isGuessedWindow(reading?.windowSource),
  ...(reading?.usedTokens === undefined ? {} : { usedTokens: reading.usedTokens }),
  ...(reading?.windowTokens === undefined ? {} : { windowTokens: reading.windowTokens }),
  ...present({ usedPercent: reading && windowPercent(reading), note: reading && formatOwnPercent(reading) }),
  ...(reading?.over ? { isOver: true } : {}),
  ...present({ tier, wayPercent: next?.wayPercent, distance: next?.distance }),
});

const HANDOFF_READY = 'handoff ready';

/** What the session does with what it waits for; of one that does not answer, since when. */
export const activityText = (session: ListedSession, now: Millis): string => {
  const { record, liveness } = session;
  const { activity, endedAt, heartbeatAt } = record;
  switch (liveness) {
    case 'live':
      break;
    case 'ended': {
      const exit = exitText(record);
      return `ended ${ageText(now - (endedAt ?? heartbeatAt))} ago${exit === '0' ? '' : `: ${exit}`}`;
    }
    case 'failed':
      return FAILED_WORDS;
    default:
      return `${liveness}: seen ${ageText(now - heartbeatAt)} ago`;
  }
  const waits = waitsText(session);
  if (isForUser(record)) return `waiting: ${waits}`;
  // the others go on by themselves: what ctxwrap waits for meanwhile is that they are done
  const isIdle = activity === 'ready' || activity === 'unknown';
  const words = mainClause(record.compaction?.words ?? '');
  const ready = record.handoff && HANDOFF_READY;
  if (isIdle) return words || ready || activity;
  return ready ? `${activity} · ${ready}` : activity;
};

/** The agent can only go on when its user has done something. */
export const isForUser = ({ activity }: SessionRecord): boolean =>
  activity === 'dialog' || activity === 'draft';

const waitsText = ({ record, liveness }: ListedSession): string => {
  const { activity, asks, compaction } = record;
  if (liveness === 'failed') return FAILED_WORDS;
  if (liveness !== 'live') return '';
  if (activity === 'dialog') return asks ?? 'permission';
  if (activity === 'draft') return 'unsent text';
  return mainClause(compaction?.words ?? '').replace(/^waiting: /, '');
};

/** `compacting in 8 s` of `compacting in 8 s · Esc: not now` */
const mainClause = (words: string): string => words.split(/, | · /, 1)[0] ?? words;

const exitText = ({ exit }: SessionRecord): string => {
  if (!exit) return '';
  return 'signal' in exit ? exit.signal : String(exit.code);
};

export const ageText = (ms: number): string => {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.floor(ms / 1_000))}s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}m`;
  return ms < DAY_MS ? `${Math.floor(ms / HOUR_MS)}h` : `${Math.floor(ms / DAY_MS)}d`;
};

/** A folder below the home folder as `~/x`. */
export const folderText = (cwd: string, home: string): string => {
  if (cwd === home) return '~';
  return home !== '/' && cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
};

/** What each field holds; empty if unknown. */
const fields: Readonly<Record<FieldName, (session: ListedSession, view: SessionsView) => string>> = {
  agent: ({ record }) => record.runtime,
  version: ({ record }) => record.agentVersion ?? '',
  model: ({ record }) => record.reading?.model ?? '',
  session: (session, { known = [], shortId }) => shortId?.(session) ?? shortIdOf(known, session),
  id: ({ record }) => record.id,
  pid: ({ record }) => String(record.pid),
  folder: ({ record }, { home }) => folderText(record.cwd, home),
  bar: ({ record }, { look }) => barTexts(footerViewOf(record), LONG_BAR, look).join(''),
  fill: ({ record }) => {
    const view = footerViewOf(record);
    return view.usedPercent === undefined ? (view.note ?? '') : percentOf(view, true);
  },
  percent: ({ record }) => wholePercent(record),
  used: ({ record: { reading } }) =>
    tokensText(reading?.usedTokens, reading?.source === 'estimate' ? '~' : ''),
  window: ({ record: { reading } }) =>
    tokensText(reading?.windowTokens, '') +
    (reading?.windowTokens && isGuessedWindow(reading.windowSource) ? '?' : ''),
  tier: ({ record }) => record.tier ?? '',
  next: ({ record }) => record.next?.kind ?? '',
  togo: ({ record }) => leftText(record),
  distance: ({ record }) => distanceOf(footerViewOf(record)),
  activity: ({ record, liveness }) => (liveness === 'live' ? record.activity : liveness),
  waits: waitsText,
  mode: ({ record, liveness }) => (liveness === 'failed' ? '' : (record.compaction?.mode ?? '')),
  age: ({ record }, { now }) => ageText(now - record.startedAt),
  compactions: ({ record }) => String(record.compactions),
  turns: ({ record: { turns } }) => (turns === undefined ? '' : String(turns)),
  cache: (session, { now }) =>
    session.record.cache && isThere(session) ? cacheText(session.record.cache, now) : '',
  limits: ({ record }, { now }) => limitsText(record.limits, now),
  exit: ({ record }) => exitText(record),
};

const tokensText = (tokens: number | undefined, mark: string): string =>
  tokens === undefined ? '' : mark + formatTokens(tokens);

const leftText = ({ next, reading }: SessionRecord): string => {
  if (next?.left === undefined) return '';
  const mark = reading?.source === 'estimate' ? '~' : '';
  return next.unit === 'tokens'
    ? tokensText(next.left, mark)
    : formatPercent(next.left).replace(/^(?=\d)/, mark);
};

/** Like the footer's percentage, 0 and 100 only if exact. */
const wholePercent = ({ reading }: SessionRecord): string => {
  if (reading?.over) return '100';
  const usedPercent = reading && windowPercent(reading);
  if (usedPercent === undefined) return '';
  if (usedPercent <= 0 || usedPercent >= 100) return String(usedPercent);
  return String(Math.min(99, Math.max(1, Math.round(usedPercent))));
};

/** One line for each session, without colours. */
export const templateLines = (
  sessions: readonly ListedSession[],
  template: Template,
  view: SessionsView,
): readonly string[] => {
  const { known = sessions } = view;
  return sessions.map((session) =>
    filledTemplate(template, (field) => toPlainText(fields[field](session, { ...view, known }))),
  );
};
