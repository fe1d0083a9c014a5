import { type ContextReport, type PastCompaction, partNames, type PartName } from '../core/context-report.js';
import { blankSentence } from '../core/format.js';
import { grouped, reasonOnly, thresholdNames } from '../core/ladder.js';
import type { Millis, WindowSource } from '../core/reading.js';
import { usedText } from '../core/report.js';
import { plain, shortened, wrapped, widthOf } from '../ui/text.js';
import type { Paint } from './text.js';

// The lists below the numbers of `ctxwrap context`.

const CONTEXT_SECTIONS_NAME_COLUMNS = 18;
const VALUE_COLUMNS = 11;
const LEAST_HEAD = 2 + CONTEXT_SECTIONS_NAME_COLUMNS + VALUE_COLUMNS; // with less, the number comes first and the name is cut
const REASON_COLUMNS = 34; // where there is less room, the reason gets rows of its own

const thresholdRows = (
  { thresholds, ownLadder, tier, runtime, reading }: ContextReport,
  columns: number,
  paint: Paint,
): readonly string[] => {
  if (thresholds.length === 0) return [];
  const rows = thresholds.flatMap((each) => {
    const [first = '', ...rest] = thresholdText(each, columns);
    return [each.current ? paint.tier(tier, first) : first, ...rest];
  });
  const own = ownLadder ? ownText(ownLadder, runtime) : undefined;
  const usedPercent = reading?.usedPercent;
  const isBelow = tier === 'safe' && usedPercent !== undefined;
  return [
    paint.bold('Thresholds'),
    ...rows,
    ...(isBelow ? wrapped('The tier is safe: no boundary is reached.', columns) : []),
    ...(own === undefined ? [] : wrapped(own, columns).map(paint.dim)),
  ];
};

const thresholdText = (
  { name, value, unit, reason, current }: ContextReport['thresholds'][number],
  columns: number,
): readonly string[] => {
  const number = unit === 'percent' ? `${value}%` : grouped(value);
  const mark = current ? '▶' : ' ';
  const head =
    columns < LEAST_HEAD
      ? `${mark}${number.padStart(VALUE_COLUMNS - 1)} ${thresholdNames[name]}`
      : `${mark} ${thresholdNames[name].padEnd(CONTEXT_SECTIONS_NAME_COLUMNS)}${number.padStart(VALUE_COLUMNS)}`;
  const why = plain(reasonOnly({ reason }));
  const room = columns - head.length - 2;
  if (room < REASON_COLUMNS)
    return [shortened(head, columns), ...wrapped(why, columns - 4).map((line) => `    ${line}`)];
  const [first = '', ...rest] = wrapped(why, room);
  return [`${head}  ${first}`, ...rest.map((line) => `${' '.repeat(head.length + 2)}${line}`)];
};

const ownText = (
  { effective, warn, auto, hard }: NonNullable<ContextReport['ownLadder']>,
  runtime: string,
): string =>
  `For comparison, ${runtime}'s own: effective ${grouped(Math.round(effective))}, warn ${grouped(Math.round(warn))}, ` +
  `auto ${grouped(Math.round(auto))}, hard ${grouped(Math.round(hard))}`;

const MOST_SHOWN = 10;

const compactionRows = (
  { compactions, path }: ContextReport,
  columns: number,
  paint: Paint,
): readonly string[] => {
  if (path === undefined) return [];
  const shown = compactions.slice(-MOST_SHOWN);
  const before = compactions.length - shown.length;
  return [
    paint.bold(shortened(`Compactions so far: ${compactions.length}`, columns)),
    ...(before > 0 ? [`  … ${before} before`] : []),
    ...shown.flatMap((each) => indented(compactionText(each), columns)),
  ];
};

const compactionText = ({ at, initiator, preTokens, postTokens, nextTokens }: PastCompaction): string => {
  const before = preTokens === undefined ? '?' : grouped(preTokens);
  const after = postTokens === undefined ? '?' : grouped(postTokens);
  const sizes =
    postTokens === undefined && nextTokens !== undefined
      ? `${before} → ${grouped(nextTokens)} with the next turn`
      : `${before} → ${after}`;
  const who = initiator === undefined ? '' : `, by ${initiator === 'ctxwrap' ? '' : 'the '}${initiator}`;
  return `${timeText(at)}: ${sizes}${who}`;
};

const indented = (text: string, columns: number): readonly string[] =>
  wrapped(text, columns - 4).map((line, index) => `${' '.repeat(index === 0 ? 2 : 4)}${line}`);

const two = (value: number): string => String(value).padStart(2, '0');

/** In the user's own time zone. */
const timeText = (at: Millis): string => {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
};

const toolRows = (
  { toolResults, compactions }: ContextReport,
  columns: number,
  paint: Paint,
): readonly string[] => {
  if (toolResults.length === 0) return [];
  const since = compactions.length > 0 ? ' since the last compaction' : '';
  return [
    paint.bold(shortened(`Largest tool results${since}, estimated`, columns)),
    ...toolResults.map(({ tokens, name, label }) =>
      shortened(`${`~${grouped(tokens)}`.padStart(10)}  ${plain(`${name} ${label}`)}`, columns),
    ),
  ];
};

// `ctxwrap context` for people: how full the window is and why, in the manner of the agents' own /context, in any width.

export interface ContextLook {
  readonly width: number;
  readonly paint: Paint;
}

const WIDEST = 100; // longer lines are not easier to read
const BAR = 60;

export const contextText = (report: ContextReport, { width, paint }: ContextLook): readonly string[] => {
  const columns = Math.min(WIDEST, width);
  const sections = [
    headRows(report, columns, paint),
    report.reading ? fillRows(report, columns, paint) : wrapped(plain(blankSentence(report.note)), columns),
    thresholdRows(report, columns, paint),
    compactionRows(report, columns, paint),
    toolRows(report, columns, paint),
  ];
  return sections
    .filter((rows) => rows.length > 0)
    .flatMap((rows, index) => (index === 0 ? rows : ['', ...rows]));
};

const headRows = (
  { runtime, reading, session, agentSessionId, path }: ContextReport,
  columns: number,
  paint: Paint,
): readonly string[] => {
  const title = [runtime, ...(reading?.model ? [reading.model] : [])].map(plain).join(' · ');
  const names = [
    ...(session ? [`session ${session.id} (pid ${session.pid}, ${session.liveness})`] : []),
    ...(agentSessionId === undefined ? [] : [`conversation ${plain(agentSessionId)}`]),
  ];
  return [
    paint.bold(shortened(title, columns)),
    ...names.map((name) => shortened(name, columns)),
    ...(path === undefined ? [] : [paint.dim(shortened(plain(path), columns, 'start'))]),
  ];
};

const windowTexts: Readonly<Record<WindowSource, string>> = {
  user: 'set by you',
  agent: 'said by the agent',
  derived: 'derived from what the agent shows',
  table: 'from the model table',
  default: 'assumed, not known',
};

const sourceTexts = {
  official: "from the agent's status line",
  log: 'from the session file',
  screen: "from the agent's screen",
  estimate: 'estimated from the text since the last number',
} as const;

const partCells: Readonly<Record<PartName, string>> = {
  used: '█',
  cached: '█',
  fresh: '▓',
  answer: '▓',
  free: '░',
  buffer: '▒',
};

const fillRows = (report: ContextReport, columns: number, paint: Paint): readonly string[] => {
  const { reading, parts, totalTokens, tier } = report;
  if (!reading) return [];
  const { usedTokens, answerTokens, windowTokens, usedPercent, source, windowSource, basis, over } = reading;
  const mark = source === 'estimate' ? '~' : '';
  const tokens = usedTokens === undefined ? [] : [`${mark}${usedText({ usedTokens, answerTokens })}`];
  const percent =
    usedPercent === undefined ? [] : [`${over ? '>100' : `${mark}${usedPercent}`}% ${basisText(basis)}`];
  const window =
    windowTokens === undefined || windowSource === undefined
      ? usedPercent === undefined
        ? ['Window not known: --window says how large it is']
        : []
      : [
          `Window ${grouped(windowTokens)}${windowSource === 'default' ? '?' : ''} tokens, ${windowTexts[windowSource]}`,
        ];
  const hasShare = usedPercent !== undefined || totalTokens !== undefined;
  const tierText = tier === undefined ? [] : [`tier ${tier}`];
  return [
    ...wrapped(`Used ${[...tokens, ...percent, sourceTexts[source], ...tierText].join(' · ')}`, columns),
    ...window.flatMap((text) => wrapped(text, columns)),
    ...(hasShare ? [paint.tier(tier, bar(report, Math.min(BAR, columns)))] : []),
    ...parts.map(({ name, tokens: size, percent: share }) =>
      row(`${partCells[name]} ${partNames[name]}`, [grouped(size), `${share.toFixed(1)}%`], columns),
    ),
    ...(totalTokens === undefined
      ? []
      : [paint.dim(row('  Total', [grouped(totalTokens), '100.0%'], columns))]),
  ];
};

const basisText = (basis: string): string => {
  switch (basis) {
    case 'effective':
      return 'of the window less the room for an answer';
    case 'auto-compact':
      return 'of the way to its own compaction';
    case 'baseline':
      return 'of the window as the agent counts';
    default:
      return 'of the window';
  }
};

const NAME_COLUMNS = 21;
const LEAST_ROW = NAME_COLUMNS + 18;

/** A name, and numbers right below each other. */
const row = (name: string, numbers: readonly [string, string], columns: number): string => {
  const label = shortened(name, NAME_COLUMNS);
  const [first, second] = numbers;
  // where there is no room for both, the name is what can be spared
  if (columns < LEAST_ROW) return shortened(`${first.padStart(9)} ${second.padStart(6)} ${name}`, columns);
  const text = `${label}${' '.repeat(NAME_COLUMNS - widthOf(label))}${first.padStart(10)} ${second.padStart(7)}`;
  return shortened(text, columns);
};

/** Cells in proportion to the parts; the cells of all parts together are the bar. */
const bar = ({ parts, reading, totalTokens }: ContextReport, cells: number): string => {
  if (totalTokens === undefined || totalTokens === 0) {
    const used = Math.round((Math.min(100, reading?.usedPercent ?? 0) * cells) / 100);
    return '█'.repeat(used) + '░'.repeat(cells - used);
  }
  let tokens = 0;
  let drawn = 0;
  return parts
    .map(({ name, tokens: size }) => {
      tokens += size;
      const upTo = Math.round((tokens * cells) / totalTokens);
      const text = partCells[name].repeat(upTo - drawn);
      drawn = upTo;
      return text;
    })
    .join('');
};
