import type { OutcomeGroup } from '../core/compaction/outcome.js';
import { scaleBand, scaleLinear, scaleTime } from 'd3-scale';
import { stack } from 'd3-shape';
import type { Fill } from '../core/compaction/outcome.js';
import { fromTo } from '../core/compaction/texts.js';
import { evidenceKinds } from '../core/conversation/conversation-evidence.js';
import { counted, formatDuration, formatPercent, formatTokens } from '../core/format.js';
import { stripControls } from '../core/printable.js';
import type { Millis } from '../core/reading.js';
import { keptText, nounOf, type KeptCount } from '../core/conversation/receipt.js';
import { DAY_MS } from '../core/time.js';

// The page of `ctxwrap report --html`: one file without scripts, with its charts as static SVG.

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

export interface PageCompaction {
  readonly session: string;
  readonly agent: string;
  readonly endedAt: Millis;
  /** in milliseconds, where that is known */
  readonly took?: Millis | undefined;
  /** nothing was compacted in it */
  readonly isAttempt?: boolean;
  /** who wanted it */
  readonly by: string;
  readonly before?: Fill | undefined;
  readonly after?: Fill | undefined;
  readonly group: OutcomeGroup;
  /** how it ended */
  readonly words: string;
  /** its receipt: how much of what was in the window it has kept; empty where that is not known */
  readonly kept: readonly KeptCount[];
}

export interface PageData {
  readonly now: Millis;
  readonly version: string;
  /** oldest first, as the compactions */
  readonly sessions: readonly PageSession[];
  readonly compactions: readonly PageCompaction[];
}

// HTML in which no text from outside can be markup: whatever is not `Html` yet is escaped.

declare const isHtml: unique symbol;

interface Html {
  readonly html: string;
  readonly [isHtml]: true;
}

/** A list is written one item a line. */
type Value = string | number | Html | readonly Html[];

const escaped = (text: string): string =>
  stripControls(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const partOf = (value: Value): string => {
  if (typeof value !== 'object') return escaped(String(value));
  return 'html' in value ? value.html : value.map((each) => each.html).join('\n');
};

/** A tag for literals: their own words are markup, and what stands in `${}` is text or `Html`. */
const markup = (words: TemplateStringsArray, ...values: readonly Value[]): Html =>
  ({ html: words.map((word, index) => word + partOf(values[index] ?? '')).join('') }) as Html;

const noHtml = markup``;

/** A part of the page; an empty body has nothing to say. */
interface PageSection {
  readonly title: string;
  readonly body: (data: PageData) => Html;
}

const sections: readonly PageSection[] = [
  { title: 'Sessions over time', body: (data) => sessionsChart(data) },
  { title: 'Compactions per day', body: (data) => daysChart(data) },
  { title: 'Tokens before and after each compaction', body: (data) => sizesChart(data) },
  { title: 'What the summaries kept', body: (data) => keptChart(data) },
  { title: 'Compactions', body: (data) => compactionsTable(data) },
  { title: 'Sessions', body: (data) => sessionsTable(data) },
];

/** Stands in the first kilobyte of every page. */
export const PAGE_TITLE = '<title>ctxwrap report</title>';

/** The whole page as HTML. */
export const renderReportPage = (data: PageData): string => {
  const { now, version } = data;
  const parts = sections.map(({ title, body }) => ({ title, text: body(data) }));
  return markup`<!doctype html>
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
<p class="quiet">${timeText(now)} · ctxwrap ${version}</p>
${figures(data)}
${parts.map(
  ({ title, text }) => markup`<section><h2>${title}</h2>
${text.html === '' ? markup`<p class="quiet">Nothing is recorded.</p>` : text}</section>`,
)}
</body>
</html>
`.html;
};

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

// The numbers on top.

const figures = ({ sessions, compactions }: PageData): Html => {
  const running = sessions.filter(({ endedAt }) => endedAt === undefined).length;
  const verified = compactions.filter(({ group }) => group === 'verified');
  const attempts = compactions.filter(({ isAttempt }) => isAttempt).length;
  const count = compactions.length - attempts;
  const took = median(verified.flatMap((each) => each.took ?? []));
  const sized = verified.flatMap(({ before, after }) =>
    before?.usedTokens && after?.usedTokens !== undefined ? [after.usedTokens / before.usedTokens] : [],
  );
  const left = median(sized);
  const all: readonly (readonly [value: string, words: string])[] = [
    [String(sessions.length), `${sessions.length === 1 ? 'session' : 'sessions'}, ${running} running`],
    [String(count), `${count === 1 ? 'compaction' : 'compactions'}, ${verified.length} verified`],
    ...(attempts === 0
      ? []
      : [[String(attempts), `${attempts === 1 ? 'attempt' : 'attempts'} without one`] as const]),
    ...(took === undefined ? [] : [[formatDuration(took), 'a compaction takes (median)'] as const]),
    ...(left === undefined ? [] : [[formatPercent(left * 100), 'of the tokens remain (median)'] as const]),
  ];
  return markup`<ul class="figures">${all.map(([value, words]) => markup`<li><b>${value}</b> ${words}</li>`)}</ul>`;
};

const median = (values: readonly number[]): number | undefined => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
};

// Charts. Their colours are classes, so that they follow the theme of the page.

const WIDTH = 800;
const [TOP, RIGHT, BOTTOM] = [8, 12, 24];
const outcomeGroups: readonly OutcomeGroup[] = ['verified', 'failed', 'other'];

/** In a narrow window it keeps a readable size, and scrolls. */
const svg = (height: number, label: string, body: readonly Html[]): Html =>
  markup`<div class="scroll"><svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">\n${body}\n</svg></div>`;

const legendOf = (parts: readonly (readonly [group: string, words: string])[]): Html =>
  markup`<p class="legend">${parts.map(([group, words]) => markup`<span><span class="${group}">■</span> ${words}</span>`)}</p>`;

const legend = legendOf([
  ['verified', 'verified'],
  ['failed', 'failed'],
  ['other', 'nothing to compact, interrupted, not started or not confirmed'],
]);

const round = (value: number): number => Math.round(value * 10) / 10;

const text = (x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end' = 'start'): Html =>
  markup`<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${words}</text>`;

const rule = (x1: number, y1: number, x2: number, y2: number): Html =>
  markup`<line class="rule" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;

/** `Nov 24` */
const shortDay = (at: Millis): string =>
  new Date(at).toLocaleDateString('en-US', { month: 'short', day: 'numeric' });

const INSET = 6; // for the mark at the left end
const EDGE = 32; // from the right, where there is no room for the second half of a word

/** Its label, a day or a minute, is true of this mark and of no other. */
const isLabelled = (tick: Date, isByDay: boolean): boolean =>
  isByDay ? tick.getHours() + tick.getMinutes() === 0 : tick.getSeconds() + tick.getMilliseconds() === 0;

/** A time axis below the chart. */
const timeAxis = (from: Millis, to: Millis, left: number, height: number) => {
  const scale = scaleTime()
    .domain([from, Math.max(to, from + 60_000)])
    .range([left + INSET, WIDTH - RIGHT]);
  const isByDay = to - from > 2 * DAY_MS;
  const ticks = scale.ticks(isByDay ? 6 : 8).filter((tick) => isLabelled(tick, isByDay));
  const marks = ticks.flatMap((tick) => {
    const x = scale(tick);
    const isDay = isByDay || tick.getHours() + tick.getMinutes() === 0;
    const words = isDay ? shortDay(tick.getTime()) : timeText(tick.getTime()).slice(-5);
    return [
      rule(x, TOP, x, height - BOTTOM),
      text(x, height - 8, words, x > WIDTH - EDGE ? 'end' : 'middle'),
    ];
  });
  return { scale, marks };
};

const MOST_BARS = 40; // sessions in the chart, the latest
const BAR = 16;
const LABELS = 170;

const sessionsChart = ({ sessions, compactions, now }: PageData): Html => {
  const shown = sessions.slice(-MOST_BARS);
  const [first] = shown;
  if (!first) return noHtml;
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
      markup`<rect class="session" x="${round(x)}" y="${y + 3}" width="${round(Math.max(2, end - x))}" height="${BAR - 6}" rx="3"><title>${agent} in ${folder}, ${timeText(startedAt)}, ${formatDuration(endedAt - startedAt)}, ${counted(session.compactions, 'compaction')}</title></rect>`,
      ...compactions
        .filter((each) => each.session === id)
        .map(
          (each) =>
            markup`<circle class="${each.group}" cx="${round(scale(each.endedAt))}" cy="${y + BAR / 2}" r="4"><title>${timeText(each.endedAt)}: ${each.words}</title></circle>`,
        ),
    ];
  });
  const note =
    sessions.length > MOST_BARS
      ? markup`<p class="quiet">The latest ${MOST_BARS} of ${sessions.length}.</p>`
      : noHtml;
  return markup`${svg(height, 'Sessions over time with their compactions', [...marks, ...rows])}${legend}${note}`;
};

const MOST_DAYS = 60;

/** The days, also those without any compaction; of many the last ones. */
const daysBetween = (from: Millis, to: Millis): readonly Millis[] => {
  const noon = new Date(to).setHours(12, 0, 0, 0); // a day is an hour longer or shorter where the clocks change
  const first = new Date(from).setHours(12, 0, 0, 0);
  const count = Math.min(MOST_DAYS, Math.round((noon - first) / DAY_MS) + 1);
  return Array.from({ length: count }, (_, index) => noon - (count - 1 - index) * DAY_MS);
};

const daysChart = ({ compactions }: PageData): Html => {
  const [first] = compactions;
  if (!first) return noHtml;
  const days = daysBetween(first.endedAt, Math.max(...compactions.map(({ endedAt }) => endedAt)));
  const height = 200;
  const left = 40;
  const counts = days.map((at) => {
    const day = dayText(at);
    const own = compactions.filter(({ endedAt }) => dayText(endedAt) === day);
    const count = (group: OutcomeGroup): number => own.filter((each) => each.group === group).length;
    return { day, verified: count('verified'), failed: count('failed'), other: count('other') };
  });
  const most = Math.max(...counts.map(({ verified, failed, other }) => verified + failed + other));
  const x = scaleBand()
    .domain(counts.map(({ day }) => day))
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
  const chart = svg(height, 'Compactions per day', [
    ...ticks.flatMap((tick) => [
      rule(left, y(tick), WIDTH - RIGHT, y(tick)),
      text(left - 8, y(tick) + 4, String(tick), 'end'),
    ]),
    ...days.flatMap((at, index) =>
      (days.length - 1 - index) % every === 0
        ? [text((x(dayText(at)) ?? 0) + x.bandwidth() / 2, height - 8, shortDay(at), 'middle')]
        : [],
    ),
    ...layers.flatMap((layer) =>
      layer.map((span) => {
        const [low, high] = span;
        const at = (x(span.data.day) ?? 0) + (x.bandwidth() - width) / 2;
        if (high === low) return noHtml;
        return markup`<rect class="${layer.key}" x="${round(at)}" y="${round(y(high))}" width="${round(width)}" height="${round(y(low) - y(high))}"><title>${span.data.day}: ${high - low} ${layer.key}</title></rect>`;
      }),
    ),
  ]);
  return markup`${chart}${legend}`;
};

const sizesChart = ({ compactions }: PageData): Html => {
  const sized = compactions.flatMap((each) =>
    each.before?.usedTokens === undefined ? [] : [{ ...each, from: each.before.usedTokens }],
  );
  const [first] = sized;
  if (!first) return noHtml;
  const height = 240;
  const left = 60;
  const { scale: x, marks } = timeAxis(first.endedAt, sized.at(-1)?.endedAt ?? first.endedAt, left, height);
  const y = scaleLinear()
    .domain([0, Math.max(...sized.flatMap(({ from, after }) => [from, after?.usedTokens ?? 0]), 1)])
    .nice()
    .range([height - BOTTOM, TOP]);
  const chart = svg(height, 'Tokens before and after each compaction', [
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
      return markup`<g class="${group}"><title>${agent}, ${timeText(endedAt)}: ${words}</title><line x1="${at}" y1="${round(y(from))}" x2="${at}" y2="${round(y(to))}"/><circle cx="${at}" cy="${round(y(from))}" r="4"/><circle cx="${at}" cy="${round(y(to))}" r="3"/></g>`;
    }),
  ]);
  return markup`${chart}${legend}`;
};

const ROW = 26;
const [KEPT_LEFT, KEPT_RIGHT] = [150, 130];

/** How much of each kind all receipts together have kept. */
const keptChart = ({ compactions }: PageData): Html => {
  const receipts = compactions.filter(({ kept }) => kept.length > 0);
  const sums = evidenceKinds.flatMap((kind) => {
    const own = receipts.flatMap(({ kept }) => kept.filter((each) => each.kind === kind));
    const [kept, of] = [
      own.reduce((sum, each) => sum + each.kept, 0),
      own.reduce((sum, each) => sum + each.of, 0),
    ];
    return of === 0 ? [] : [{ kind, kept, of }];
  });
  if (sums.length === 0) return noHtml;
  const x = scaleLinear()
    .domain([0, 1])
    .range([KEPT_LEFT, WIDTH - KEPT_RIGHT]);
  const bar = (group: string, from: number, to: number, y: number): Html =>
    markup`<rect class="${group}" x="${round(x(from))}" y="${y}" width="${round(x(to) - x(from))}" height="${ROW - 10}"/>`;
  const rows = sums.flatMap(({ kind, kept, of }, index) => {
    const y = TOP + index * ROW;
    const share = kept / of;
    return [
      text(KEPT_LEFT - 8, y + ROW - 14, nounOf(kind, 2), 'end'),
      bar('lost', 0, 1, y),
      bar('verified', 0, share, y),
      text(WIDTH - KEPT_RIGHT + 8, y + ROW - 14, `${kept} of ${of} (${formatPercent(share * 100)})`),
    ];
  });
  const label = 'How much of what was in the window the summaries still name';
  const known = markup`<p class="quiet">From the receipts of ${counted(receipts.length, 'compaction')}; ctxwrap recall lists what one has forgotten.</p>`;
  const parts = legendOf([
    ['verified', 'still named'],
    ['lost', 'lost'],
  ]);
  return markup`${svg(TOP + sums.length * ROW, label, rows)}${parts}${known}`;
};

// Tables, the newest row first.

const MOST_ROWS = 500;
const KEPT_KINDS = 2; // as many as fit into one line

interface Cell {
  readonly text: string;
  /** it may be long, and is broken into lines */
  readonly isLong?: boolean;
  readonly group?: OutcomeGroup;
}

const cellText = (cell: string | Cell): Html => {
  const { text: words, isLong = false, group }: Cell = typeof cell === 'string' ? { text: cell } : cell;
  const names = [...(isLong ? ['long'] : []), ...(group ? [group] : [])].join(' ');
  return names === '' ? markup`<td>${words}</td>` : markup`<td class="${names}">${words}</td>`;
};

const tableOf = (titles: readonly string[], rows: readonly (readonly (string | Cell)[])[]): Html => {
  if (rows.length === 0) return noHtml;
  const shown = rows.slice(0, MOST_ROWS).map((cells) => markup`<tr>${cells.map(cellText)}</tr>`);
  const note =
    rows.length > MOST_ROWS
      ? markup`<p class="quiet">The latest ${MOST_ROWS} of ${rows.length}.</p>`
      : noHtml;
  return markup`<div class="scroll"><table><thead><tr>${titles.map((title) => markup`<th>${title}</th>`)}</tr></thead><tbody>
${shown}
</tbody></table></div>${note}`;
};

const compactionsTable = ({ compactions }: PageData): Html =>
  tableOf(
    ['When', 'Agent', 'Session', 'By', 'Tokens', 'Took', 'Outcome', 'Kept'],
    compactions.toReversed().map((each) => {
      const { endedAt, took, agent, session, by, before, after, group, words, kept } = each;
      const sizes = fromTo(before, after);
      return [
        timeText(endedAt),
        agent,
        session,
        by,
        sizes || (before?.usedTokens === undefined ? '' : formatTokens(before.usedTokens)),
        took === undefined ? '' : formatDuration(took),
        { text: sizes === '' ? words : words.replace(` ${sizes}`, ''), isLong: true, group },
        keptText(kept, KEPT_KINDS) ?? '',
      ];
    }),
  );

const sessionsTable = ({ sessions, now }: PageData): Html =>
  tableOf(
    ['Started', 'Agent', 'Session', 'Folder', 'Lasted', 'Full', 'Compactions'],
    sessions
      .toReversed()
      .map(({ startedAt, endedAt, agent, id, folder, usedPercent, compactions }) => [
        timeText(startedAt),
        agent,
        id,
        { text: folder, isLong: true },
        `${formatDuration((endedAt ?? now) - startedAt)}${endedAt === undefined ? ', running' : ''}`,
        usedPercent === undefined ? '' : formatPercent(usedPercent),
        String(compactions),
      ]),
  );

const STYLE = markup`
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--quiet:#5c6670;--rule:#d9dee3;--session:#9fc0e6;--verified:#1f7a38;--failed:#c62828;--other:#a87900;--lost:#d9dee3}
@media (prefers-color-scheme:dark){:root{--page:#14171a;--ink:#e6e9ec;--quiet:#98a2ac;--rule:#30363c;--session:#34597f;--verified:#6fc07f;--failed:#ff7070;--other:#d7af00;--lost:#444c54}}
body{background:var(--page);color:var(--ink);font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
h1{font-size:1.4rem;margin:0}h2{font-size:1.05rem;margin:2.25rem 0 .5rem}
.quiet,.legend{color:var(--quiet);margin:.25rem 0}.legend>span{display:inline-block;margin-right:1rem}
.figures{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));list-style:none;margin:1rem 0;padding:0}
.figures li{border:1px solid var(--rule);border-radius:6px;color:var(--quiet);padding:.5rem .75rem}.figures b{color:var(--ink);display:block;font-size:1.3rem;font-weight:600}
.scroll{overflow-x:auto}
svg{display:block;font-size:12px;height:auto;max-width:60rem;min-width:44rem;width:100%}svg text{fill:var(--quiet)}
.rule{stroke:var(--rule)}.session{fill:var(--session)}.lost{color:var(--lost);fill:var(--lost)}svg>circle{stroke:var(--page)}
${outcomeGroups.map((group) => markup`.${group}{fill:var(--${group});color:var(--${group})}g.${group} line{stroke:var(--${group});stroke-width:2}`)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}
th{color:var(--quiet);font-weight:600;text-align:left}
th,td{border-bottom:1px solid var(--rule);padding:.25rem .9rem .25rem 0;vertical-align:top;white-space:nowrap}
td.long{min-width:9rem;overflow-wrap:anywhere;white-space:normal}td.verified{color:inherit}
`;
