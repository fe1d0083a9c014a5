import {
  triggerOf,
  type BoundaryInitiator,
  type CompactionSummary,
  type RecordedCompaction,
  type SessionHistory,
} from '../core/conversation/boundary-record.js';
import { counted, formatDuration, formatTokens } from '../core/format.js';
import type { Millis } from '../core/reading.js';
import { keptOrUnknownText } from '../core/conversation/receipt.js';
import { withoutAnalysis } from '../core/conversation/summary-text.js';
import { leftTokens } from '../core/evidence.js';
import { present } from '../core/present.js';
import type { Styled } from '../core/printable.js';
import type { Look } from '../core/look.js';
import { makeTextsSafe, shorten, wrapText } from '../ui/text.js';
import { makeTheme, type Theme } from '../ui/theme.js';
import { timeText } from './context-text.js';
import { folderText } from './ps-columns.js';
import { type Cell, table, type Column } from './text.js';
import { shortIdAmong } from '../core/shown-conversation.js';

// Past compactions for people, in `ctxwrap history`: a table for each session, newest first.

export interface HistoryView {
  readonly look: Look;
  readonly home: string;
  /** whole summaries, below the rows */
  readonly isFull: boolean;
  /** of one compaction: how much of the evidence it has kept */
  readonly kept?: string | undefined;
  /** of one compaction: the command that lists what it has kept */
  readonly recall?: string | undefined;
  /** the rows of a chart, for each session that has one */
  readonly charts?: ReadonlyMap<SessionHistory, readonly Styled[]>;
}

// What is looked for first stays longest: which one, how large it was and is, who wanted it, when.
const columns: readonly Column[] = [
  { title: 'COMPACTION', rank: 0 },
  { title: 'WHEN', rank: 2 },
  { title: 'BEFORE', rank: 0, align: 'right' },
  { title: 'AFTER', rank: 0, align: 'right' },
  { title: 'TRIGGER', rank: 5 },
  { title: 'BY', rank: 1 },
  { title: 'TOOK', rank: 4, align: 'right' },
  { title: 'SUMMARY', rank: 3, leastWidth: 16 },
];

/** Rows in at most `look.columns` columns. */
export const historyText = (sessions: readonly SessionHistory[], view: HistoryView): readonly Styled[] => {
  const ordered = sessions
    .filter(({ compactions }) => compactions.length > 0)
    .toSorted((a, b) => lastOf(b) - lastOf(a));
  const theme = makeTheme(undefined, view.look);
  return ordered.flatMap((session, index) => {
    const name = shortNameOf(ordered, session);
    return [
      ...(index > 0 ? [''] : []),
      headOf(session, name, view, theme),
      ...(view.charts?.get(session) ?? []),
      ...rowsOf(session, name, view, theme),
    ];
  });
};

const lastOf = ({ compactions }: SessionHistory): Millis => compactions.at(-1)?.at ?? 0;

/** `claude · ~/work/app · 11111111` */
const headOf = (session: SessionHistory, name: string, { look, home }: HistoryView, theme: Theme): Styled => {
  const { runtime, project, sessionId, path, isKept } = session;
  const parts = [folderText(project ?? path, home), ...(sessionId === undefined ? [] : [name])];
  const rest = makeTextsSafe([...parts, ...(isKept ? ['kept by ctxwrap'] : [])].join(' · '));
  const whole = shorten(`${runtime} · ${rest}`, look.columns);
  return [theme.accent(whole.slice(0, runtime.length)), theme.quiet(whole.slice(runtime.length))];
};

/** The beginning of the session's id that means it alone among these sessions; its path, where it has no id. */
const shortNameOf = (sessions: readonly SessionHistory[], session: SessionHistory): string => {
  const { sessionId, path } = session;
  if (sessionId === undefined) return path;
  const others = sessions.flatMap((each) => (each === session ? [] : (each.sessionId ?? [])));
  return shortIdAmong(sessionId, others);
};

const rowsOf = (
  { compactions }: SessionHistory,
  name: string,
  { look, isFull }: HistoryView,
  theme: Theme,
): readonly Styled[] => {
  const newest = compactions.toReversed();
  const [titles = '', ...rows] = table(
    columns,
    newest.map((each) => cellsOf(each, name, theme)),
    look.columns,
  );
  return [
    theme.quiet(titles),
    ...rows.flatMap((row, index) => [
      row,
      ...(isFull ? [...keptLines(newest[index], look), ...wholeOf(newest[index]?.summary, look)] : []),
    ]),
  ];
};

const cellsOf = (each: RecordedCompaction, name: string, theme: Theme): readonly Cell[] => {
  const { initiator, durationMs, isVerified } = each;
  const { before, after } = sizesOf(each);
  return [
    makeTextsSafe(`${name}#${each.number}`),
    { text: timeText(each.at), paint: theme.quiet },
    before ?? '-',
    { text: after ?? '-', paint: theme.strong },
    initiator === undefined ? '-' : triggerOf(initiator),
    { text: `${initiatorText(initiator)}${isVerified || each.line === 0 ? '' : '?'}`, paint: theme.plain },
    durationMs === undefined ? '-' : tookText(durationMs),
    summaryCell(each, theme),
  ];
};

/** What is known of how large the window was before a compaction, and is after it. */
export type CompactionSizes = Pick<
  RecordedCompaction,
  'preTokens' | 'isEstimated' | 'postTokens' | 'isPostEstimated' | 'fixedTokens' | 'nextTokens'
>;

const tokensText = (tokens: number | undefined, isEstimated: boolean): string | undefined =>
  tokens === undefined ? undefined : `${isEstimated ? '~' : ''}${formatTokens(tokens)}`;

/** With `~` where it is not the agent's own number: the last one before, the first one after, or with a fixed part that was computed. */
const sizesOf = (each: CompactionSizes): { readonly before?: string; readonly after?: string } => {
  const { preTokens, isEstimated, postTokens, isPostEstimated, fixedTokens, nextTokens } = each;
  const isOwn = postTokens !== undefined && !isPostEstimated && fixedTokens === undefined;
  return present({
    before: tokensText(preTokens, isEstimated === true),
    after: tokensText(leftTokens(each) ?? nextTokens, !isOwn),
  });
};

/** `~166k → 12k` */
export const sizesText = (each: CompactionSizes): string => {
  const { before = '?', after = '?' } = sizesOf(each);
  return `${before} → ${after}`;
};

const initiatorText = (initiator: BoundaryInitiator | undefined): string => {
  if (initiator === 'agent-idle') return 'agent, idle';
  return initiator === 'user' ? 'you' : (initiator ?? '-');
};

const tookText = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : formatDuration(ms));

const LONGEST_CELL = 400; // characters

const summaryCell = ({ summary, line }: RecordedCompaction, theme: Theme): Cell => {
  if (line === 0) return '-'; // no record could hold one
  switch (summary?.kind) {
    case undefined:
      return { text: 'not in the file', paint: theme.quiet };
    case 'encrypted':
      return { text: 'encrypted', paint: theme.quiet };
    case 'empty':
      return { text: 'empty: nothing was kept', paint: theme.failure };
    case 'text':
      return makeTextsSafe(withoutAnalysis(summary.text).replace(TAG, ' ').slice(0, LONGEST_CELL));
  }
};

const TAG = /<\/?[a-z_]+>/g; // around the parts of a summary

const MARGIN = 4;

const keptLines = (each: RecordedCompaction | undefined, { columns }: Look): readonly string[] => {
  const { kept = [], notUnderstood = [] } = each ?? {};
  const text = keptOrUnknownText({ notUnderstood }, kept);
  return text === undefined
    ? []
    : wrapText(makeTextsSafe(`kept ${text}`), columns - MARGIN).map((line) => ' '.repeat(MARGIN) + line);
};

const wholeOf = (each: Pick<CompactionSummary, 'text'> | undefined, { columns }: Look): readonly string[] =>
  (each?.text ? each.text.split('\n') : [])
    .flatMap((line) => wrapText(makeTextsSafe(line), columns - MARGIN))
    .map((line) => (line === '' ? '' : ' '.repeat(MARGIN) + line));

/** One compaction with everything that is known of it. */
export const compactionText = (
  session: SessionHistory,
  each: RecordedCompaction,
  view: HistoryView,
): readonly Styled[] => {
  const theme = makeTheme(undefined, view.look);
  const width = Math.max(...factsOf(session, each, view).map(([label]) => label.length));
  const facts = factsOf(session, each, view).map(([label, value]) =>
    wrapText(makeTextsSafe(value), view.look.columns - width - 2).map((line, index): Styled => [
      theme.quiet((index === 0 ? label : '').padEnd(width)),
      `  ${line}`,
    ]),
  );
  const texts = textsOf(each).flatMap(({ title, text }) => [
    '',
    theme.accent(title),
    ...wholeOf({ text }, view.look),
  ]);
  return [...facts.flat(), ...texts];
};

const textsOf = ({
  summary,
  memory,
}: RecordedCompaction): readonly { readonly title: string; readonly text: string }[] =>
  [
    { title: 'Summary', text: summary?.text ?? '' },
    { title: 'Session memory, as it is now', text: memory?.text ?? '' },
  ].filter(({ text }) => text !== '');

/** The same as Markdown. */
export const compactionMarkdown = (
  session: SessionHistory,
  each: RecordedCompaction,
  kept?: string,
): readonly string[] => [
  `# Compaction ${each.number} of ${session.sessionId ?? session.path}`,
  '',
  ...factsOf(session, each, { home: '/', kept }).map(
    ([label, value]) => `- ${label}: ${makeTextsSafe(value)}`,
  ),
  ...textsOf(each).flatMap(({ title, text }) => ['', `## ${title}`, '', ...text.split('\n')]),
];

/** The trigger is the agent's word for it, which says nothing more of one that ctxwrap started. */
const startedByText = (initiator: BoundaryInitiator | undefined): string => {
  if (initiator === undefined) return 'not in the file';
  const by = initiatorText(initiator);
  return initiator === 'ctxwrap' ? by : `${by} (${triggerOf(initiator)})`;
};

const WEAK_PROOF = 'none: the agent writes the same record when a compaction fails';

/** What is known of it: a row that is not known is left out. */
const factsOf = (
  session: SessionHistory,
  each: RecordedCompaction,
  { home, kept, recall }: Pick<HistoryView, 'home' | 'kept' | 'recall'>,
): readonly (readonly [label: string, value: string])[] => {
  const { initiator, durationMs, summary, memory, isVerified } = each;
  const { before, after } = sizesOf(each);
  const isRecorded = each.line > 0; // of a shortening of ctxwrap the agent's file may say nothing
  return [
    [
      'Agent',
      [session.runtime, ...(session.agentVersion === undefined ? [] : [session.agentVersion])].join(' '),
    ],
    ...(session.sessionId === undefined ? [] : [['Session', session.sessionId] as const]),
    ...(session.project === undefined ? [] : [['Project', folderText(session.project, home)] as const]),
    ['File', `${folderText(session.path, home)}${isRecorded ? `, line ${each.line}` : ''}`],
    ['When', timeText(each.at)],
    ['Started by', startedByText(initiator)],
    ...(before === undefined && after === undefined ? [] : [['Tokens', sizesText(each)] as const]),
    ...(durationMs === undefined ? [] : [['Took', tookText(durationMs)] as const]),
    ['Messages', messagesText(each)],
    ...(kept === undefined ? [] : [['Kept', kept] as const]),
    ...(recall === undefined ? [] : [['Recap', recall] as const]),
    ...(memory ? [['Memory', folderText(memory.path, home)] as const] : []),
    ...(summary?.kind === 'text' || !isRecorded
      ? []
      : [['Summary', summary?.kind ?? 'not in the file'] as const]),
    ...(isVerified
      ? []
      : [['Proof', isRecorded ? WEAK_PROOF : 'none until the agent answers in this session'] as const]),
  ];
};

const messagesText = ({ afterMessage, replaced }: RecordedCompaction): string => {
  const gone = replaced?.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  return `${afterMessage} before it${gone === undefined ? '' : `, ${gone} of them left the window`}`;
};

/** `5 compactions in 3 sessions; 38 other sessions without any` */
export const countsText = (sessions: readonly SessionHistory[], count: number): string => {
  const some = sessions.filter(({ compactions }) => compactions.length > 0).length;
  if (sessions.length === 0) return 'No sessions found.';
  if (count === 0) return `No compactions in ${counted(sessions.length, 'session')}.`;
  const others = sessions.length - some;
  const rest = others > 0 ? `; ${counted(others, 'other session')} without any` : '';
  return `${counted(count, 'compaction')} in ${counted(some, 'session')}${rest}`;
};
