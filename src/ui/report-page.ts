import { scaleBand, scaleLinear, scaleTime } from 'd3-scale';
import { stack } from 'd3-shape';
import type { Fill } from '../core/compaction/outcome.js';
import { fromTo } from '../core/compaction/texts.js';
import { formatDuration, formatPercent, formatTokens } from '../core/format.js';
import type { Millis } from '../core/reading.js';

// The page of `ctxwrap report --html`: one file without scripts, with its charts as static SVG. Its texts may come from other programs.

export interface PageSession {
  readonly id: string;
  readonly agent: string;
  /** as shown, with ~ for the home folder */
  readonly folder: string;
  readonly startedAt: Millis;
  /** undefined while it runs */
  readonly endedAt?: Millis | undefined;
  readonly usedPercent?: number | undefined;
  readonly compactions: number;
}

export type OutcomeGroup = 'verified' | 'failed' | 'other';

export interface PageCompaction {
  readonly session: string;
  readonly agent: string;
  readonly startedAt: Millis;
  readonly endedAt: Millis;
  /** who wanted it */
  readonly by: string;
  readonly before?: Fill | undefined;
  readonly after?: Fill | undefined;
  readonly group: OutcomeGroup;
  /** how it ended */
  readonly words: string;
}

export interface PageData {
  readonly now: Millis;
  readonly version: string;
  /** oldest first, as the compactions */
  readonly sessions: readonly PageSession[];
  readonly compactions: readonly PageCompaction[];
}

/** A part of the page; '' for a body that has nothing to say. */
interface PageSection {
  readonly title: string;
  readonly body: (data: PageData) => string;
}

const sections: readonly PageSection[] = [
  { title: 'Sessions over time', body: (data) => sessionsChart(data) },
  { title: 'Compactions per day', body: (data) => daysChart(data) },
  { title: 'Size before and after each compaction', body: (data) => sizesChart(data) },
  { title: 'Compactions', body: (data) => compactionsTable(data) },
  { title: 'Sessions', body: (data) => sessionsTable(data) },
];

/** The whole page as HTML. */
export const renderReportPage = (data: PageData): string => {
  const { now, version, sessions, compactions } = data;
  const parts = sections.map(({ title, body }) => ({ title, text: body(data) }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>ctxwrap report</title>
<style>${STYLE}</style>
</head>
<body>
<h1>ctxwrap report</h1>
<p class="quiet">${escape(timeText(now))} · ${sessions.length} sessions · ${compactions.length} compactions · ctxwrap ${escape(version)}</p>
${parts.map(({ title, text }) => `<section><h2>${title}</h2>\n${text === '' ? '<p class="quiet">Nothing is recorded.</p>' : text}</section>`).join('\n')}
</body>
</html>
`;
};

const escape = (text: string): string =>
  text.replace(/\p{Cc}/gu, ' ').replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const two = (value: number): string => String(value).padStart(2, '0');

/** In the reader's own time zone, which is the writer's. */
const dayText = (at: Millis): string => {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

const timeText = (at: Millis): string => {
  const date = new Date(at);
  return `${dayText(at)} ${two(date.getHours())}:${two(date.getMinutes())}`;
};

// Charts. Their colours are classes, so that they follow the theme of the page.

const WIDTH = 960;
const [TOP, RIGHT, BOTTOM] = [8, 12, 24];
const outcomeGroups: readonly OutcomeGroup[] = ['verified', 'failed', 'other'];

const svg = (height: number, label: string, body: readonly string[]): string =>
  `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(label)}">\n${body.join('\n')}\n</svg>`;

const legend = `<p class="legend">${outcomeGroups.map((group) => `<span class="${group}">■</span> ${group}`).join(' ')}</p>`;

const round = (value: number): number => Math.round(value * 10) / 10;

const text = (x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end' = 'start'): string =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escape(words)}</text>`;

const rule = (x1: number, y1: number, x2: number, y2: number): string =>
  `<line class="rule" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;

/** A time axis below the chart. */
const timeAxis = (from: Millis, to: Millis, left: number, height: number) => {
  const scale = scaleTime()
    .domain([from, Math.max(to, from + 60_000)])
    .range([left, WIDTH - RIGHT]);
  const format = scale.tickFormat(8);
  const marks = scale.ticks(8).flatMap((tick) => {
    const x = scale(tick);
    return [rule(x, TOP, x, height - BOTTOM), text(x, height - 8, format(tick), 'middle')];
  });
  return { scale, marks };
};

const MOST_BARS = 40; // sessions in the chart, the latest
const BAR = 16;
const LABELS = 170;

const sessionsChart = ({ sessions, compactions, now }: PageData): string => {
  const shown = sessions.slice(-MOST_BARS);
  const [first] = shown;
  if (!first) return '';
  const height = TOP + shown.length * BAR + BOTTOM;
  const from = Math.min(...shown.map(({ startedAt }) => startedAt));
  const to = Math.max(...shown.map(({ endedAt = now }) => endedAt));
  const { scale, marks } = timeAxis(from, to, LABELS, height);
  const rows = shown.flatMap((session, index) => {
    const y = TOP + index * BAR;
    const { id, agent, folder, startedAt, endedAt = now } = session;
    const [x, end] = [scale(startedAt), scale(endedAt)];
    const name = `${agent} ${folder.split('/').at(-1) ?? ''}`;
    return [
      text(LABELS - 8, y + BAR - 4, name.length > 26 ? `${name.slice(0, 25)}…` : name, 'end'),
      `<rect class="session" x="${round(x)}" y="${y + 3}" width="${round(Math.max(2, end - x))}" height="${BAR - 6}" rx="3"><title>${escape(`${agent} in ${folder}, ${timeText(startedAt)}, ${formatDuration(endedAt - startedAt)}`)}</title></rect>`,
      ...compactions
        .filter((each) => each.session === id)
        .map(
          (each) =>
            `<circle class="${each.group}" cx="${round(scale(each.endedAt))}" cy="${y + BAR / 2}" r="4"><title>${escape(`${timeText(each.endedAt)}: ${each.words}`)}</title></circle>`,
        ),
    ];
  });
  const note =
    sessions.length > MOST_BARS ? `<p class="quiet">The latest ${MOST_BARS} of ${sessions.length}.</p>` : '';
  return `${svg(height, 'Sessions over time with their compactions', [...marks, ...rows])}${legend}${note}`;
};

const MOST_DAYS = 60;

const daysChart = ({ compactions }: PageData): string => {
  const days = [...new Set(compactions.map(({ endedAt }) => dayText(endedAt)))].slice(-MOST_DAYS);
  if (days.length === 0) return '';
  const height = 200;
  const left = 40;
  const counts = days.map((day) => {
    const own = compactions.filter(({ endedAt }) => dayText(endedAt) === day);
    const count = (group: OutcomeGroup): number => own.filter((each) => each.group === group).length;
    return { day, verified: count('verified'), failed: count('failed'), other: count('other') };
  });
  const most = Math.max(...counts.map(({ verified, failed, other }) => verified + failed + other));
  const x = scaleBand()
    .domain(days)
    .range([left, WIDTH - RIGHT])
    .padding(0.3);
  const y = scaleLinear()
    .domain([0, most])
    .nice(5)
    .range([height - BOTTOM, TOP]);
  const ticks = y.ticks(Math.min(5, most)).filter(Number.isInteger);
  const width = Math.min(48, x.bandwidth());
  const layers = stack<(typeof counts)[number], OutcomeGroup>().keys(outcomeGroups)(counts);
  const every = Math.ceil(days.length / 10);
  return (
    svg(height, 'Compactions per day', [
      ...ticks.flatMap((tick) => [
        rule(left, y(tick), WIDTH - RIGHT, y(tick)),
        text(left - 8, y(tick) + 4, String(tick), 'end'),
      ]),
      ...days.flatMap((day, index) =>
        index % every === 0
          ? [text((x(day) ?? 0) + x.bandwidth() / 2, height - 8, day.slice(5), 'middle')]
          : [],
      ),
      ...layers.flatMap((layer) =>
        layer.map((span) => {
          const [low, high] = span;
          const at = (x(span.data.day) ?? 0) + (x.bandwidth() - width) / 2;
          if (high === low) return '';
          return `<rect class="${layer.key}" x="${round(at)}" y="${round(y(high))}" width="${round(width)}" height="${round(y(low) - y(high))}"><title>${span.data.day}: ${high - low} ${layer.key}</title></rect>`;
        }),
      ),
    ]) + legend
  );
};

const sizesChart = ({ compactions }: PageData): string => {
  const sized = compactions.flatMap((each) =>
    each.before?.usedTokens === undefined ? [] : [{ ...each, from: each.before.usedTokens }],
  );
  const [first] = sized;
  if (!first) return '';
  const height = 240;
  const left = 60;
  const { scale: x, marks } = timeAxis(first.endedAt, sized.at(-1)?.endedAt ?? first.endedAt, left, height);
  const y = scaleLinear()
    .domain([0, Math.max(...sized.map(({ from }) => from))])
    .nice()
    .range([height - BOTTOM, TOP]);
  return (
    svg(height, 'Tokens before and after each compaction', [
      ...marks,
      ...y
        .ticks(5)
        .flatMap((tick) => [
          rule(left, y(tick), WIDTH - RIGHT, y(tick)),
          text(left - 8, y(tick) + 4, formatTokens(tick), 'end'),
        ]),
      ...sized.map(({ endedAt, from, after, group, agent, words }) => {
        const at = round(x(endedAt));
        const to = after?.usedTokens ?? from;
        return `<g class="${group}"><title>${escape(`${agent}, ${timeText(endedAt)}: ${words}`)}</title><line x1="${at}" y1="${round(y(from))}" x2="${at}" y2="${round(y(to))}"/><circle cx="${at}" cy="${round(y(from))}" r="4"/><circle cx="${at}" cy="${round(y(to))}" r="3"/></g>`;
      }),
    ]) + legend
  );
};

// Tables, the newest row first.

const MOST_ROWS = 500;

const tableOf = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `<table><thead><tr>${titles.map((title) => `<th>${title}</th>`).join('')}</tr></thead><tbody>\n${rows
        .slice(0, MOST_ROWS)
        .map((cells) => `<tr>${cells.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`)
        .join('\n')}\n</tbody></table>`;

const compactionsTable = ({ compactions }: PageData): string =>
  tableOf(
    ['When', 'Agent', 'Session', 'By', 'Size', 'Took', 'Outcome'],
    compactions
      .toReversed()
      .map(({ endedAt, startedAt, agent, session, by, before, after, words }) => [
        timeText(endedAt),
        agent,
        session,
        by,
        fromTo(before, after) || (before?.usedTokens === undefined ? '' : formatTokens(before.usedTokens)),
        formatDuration(endedAt - startedAt),
        words,
      ]),
  );

const sessionsTable = ({ sessions, now }: PageData): string =>
  tableOf(
    ['Started', 'Agent', 'Session', 'Folder', 'Lasted', 'Full', 'Compactions'],
    sessions
      .toReversed()
      .map(({ startedAt, endedAt, agent, id, folder, usedPercent, compactions }) => [
        timeText(startedAt),
        agent,
        id,
        folder,
        `${formatDuration((endedAt ?? now) - startedAt)}${endedAt === undefined ? ', running' : ''}`,
        usedPercent === undefined ? '' : formatPercent(usedPercent),
        String(compactions),
      ]),
  );

const STYLE = `
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--quiet:#5c6670;--rule:#d9dee3;--session:#9fc0e6;--verified:#1f7a38;--failed:#c62828;--other:#a87900}
@media (prefers-color-scheme:dark){:root{--page:#14171a;--ink:#e6e9ec;--quiet:#98a2ac;--rule:#30363c;--session:#34597f;--verified:#6fc07f;--failed:#ff7070;--other:#d7af00}}
body{background:var(--page);color:var(--ink);font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}
.quiet,.legend{color:var(--quiet);margin:.25rem 0}
svg{width:100%;height:auto;font-size:11px}svg text{fill:var(--quiet)}
.rule{stroke:var(--rule)}.session{fill:var(--session)}
${outcomeGroups.map((group) => `.${group}{fill:var(--${group});color:var(--${group})}g.${group} line{stroke:var(--${group});stroke-width:2}`).join('\n')}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{text-align:left;color:var(--quiet);font-weight:600}
th,td{padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--rule);vertical-align:top;overflow-wrap:anywhere}
`;
