// The lists below the numbers of `ctxwrap context`.
import type { ContextReport, PastCompaction } from '../core/context-report.js';
import type { Millis } from '../core/reading.js';
import { grouped } from '../core/rung.js';
import { reasonOnly, thresholdNames } from '../core/thresholds.js';
import type { Paint } from './paint.js';
import { plain, shortened, wrapped } from '../ui/plain-text.js';

const NAME_COLUMNS = 18;
const VALUE_COLUMNS = 11;
const LEAST_HEAD = 2 + NAME_COLUMNS + VALUE_COLUMNS; // with less, the number comes first and the name is cut
const REASON_COLUMNS = 34; // where there is less room, the reason gets rows of its own

export const thresholdRows = (
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
      : `${mark} ${thresholdNames[name].padEnd(NAME_COLUMNS)}${number.padStart(VALUE_COLUMNS)}`;
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

export const compactionRows = (
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

export const toolRows = (
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
