// The budgets of a session: what they are measured by, and whether they are kept.
import { BARE } from './candidates.js';
import { cell, isMeasured, readRuns, table } from './cells.js';
import { median } from './numbers.js';

const TIMES = { how: 'times the bare proxy’s', of: (value, bare) => value / bare };
const LATER = { how: 'after the bare proxy’s', of: (value, bare) => value - bare };
const ITSELF = { how: '', of: (value) => value };

const ms = { unit: 'ms', digits: 0 };
const finer = { unit: 'ms', digits: 1 };
const mb = { unit: 'MB', digits: 0 };
const ratio = { unit: '', digits: 2 };

/** `most` or `least` is the limit of the median of the runs. */
const budgets = [
  { title: 'echo, idle, p50', part: 'latency', key: 'idleP50', by: TIMES, ...ratio, most: 1 },
  { title: 'echo, idle, p99', part: 'latency', key: 'idleP99', by: TIMES, ...ratio, most: 1.5 },
  { title: 'child runs', part: 'start', key: 'child', by: LATER, ...ms, most: 25 },
  { title: 'first byte', part: 'start', key: 'byte', by: LATER, ...ms, most: 40 },
  { title: 'first byte, silent terminal', part: 'silent', key: 'byte', by: LATER, ...ms, most: 50 },
  { title: 'frames, warm', part: 'frames', key: 'warm', by: TIMES, ...ratio, least: 0.95 },
  { title: 'recordings, warm', part: 'recordings', key: 'warm', by: TIMES, ...ratio, least: 0.65 },
  { title: 'echo, flood, p99', part: 'latency', key: 'floodP99', by: ITSELF, ...finer, most: 5 },
  { title: 'slowest key of the first 1.5 s', part: 'early', key: 'slowest', by: ITSELF, ...finer, most: 10 },
  {
    title: 'slowest key beside a worker that fails',
    part: 'worker',
    key: 'worst',
    by: ITSELF,
    ...finer,
    most: 50,
  },
  { title: 'memory, idle, before Ink', part: 'idle', key: 'beforeInk', by: ITSELF, ...mb, most: 78 },
  { title: 'memory, idle, with Ink', part: 'idle', key: 'megabytes', by: ITSELF, ...mb, most: 92 },
  { title: 'memory after 37 MB', part: 'resident', key: 'megabytes', by: ITSELF, ...mb, most: 95 },
  { title: 'memory of fifty sessions', part: 'ten', key: 'fifty', by: ITSELF, ...mb, most: 2000 },
  { title: 'CPU, idle', part: 'idle', key: 'cpuPercent', by: ITSELF, unit: '%', digits: 2, most: 0.2 },
  { title: 'CPU time of Ink’s load', part: 'overview', key: 'inkCpu', by: ITSELF, ...ms, most: 150 },
  { title: 'first overview, Ink loaded', part: 'overview', key: 'loaded', by: ITSELF, ...ms, most: 150 },
  {
    title: 'first overview, Ink not loaded',
    part: 'overview',
    key: 'unloaded',
    by: ITSELF,
    ...ms,
    most: 300,
  },
  {
    title: 'history, slowest agent',
    part: 'history',
    key: 'least',
    by: ITSELF,
    unit: 'MB/s',
    digits: 0,
    least: 150,
  },
  { title: 'history, memory', part: 'history', key: 'memory', by: ITSELF, ...mb, most: 100 },
];

const titleOf = ({ title, by, unit }) => [title, unit && `, ${unit}`, by.how && `, ${by.how}`].join('');

const limitOf = ({ most, least }) => (most === undefined ? `≥ ${least}` : `≤ ${most}`);

const verdict = ({ most = Infinity, least = -Infinity }, values) =>
  values.length > 0 && median(values) <= most && median(values) >= least ? 'pass' : 'FAIL';

/** `1.09 (1.05–1.12) pass`; of a number that is no ratio or difference already, what it is more than the bare proxy's: `88, +44 FAIL`. */
const budgetCell = (budget, found, name) => {
  const { part, key, by } = budget;
  const own = readRuns(found, part, { name, read: (row, rowOf) => by.of(row[key], rowOf(BARE)[key]) });
  const more = readRuns(found, part, { name, read: (row, rowOf) => row[key] - rowOf(BARE)[key] });
  const difference =
    by === ITSELF && more.values.length > 0
      ? `, ${cell({ values: [median(more.values)] }, { ...budget, isSigned: true })}`
      : '';
  if (own.failure === undefined && own.values.length === 0) return '–';
  return `${cell(own, { ...budget, isSigned: by === LATER })}${difference} ${own.failure ? 'FAIL' : verdict(budget, own.values)}`;
};

/** The table of all budgets whose parts were measured, as Markdown; nothing without one. */
export const budgetText = (found, builds) => {
  const measured = budgets.filter(({ part }) => isMeasured(found, part));
  if (measured.length === 0) return [];
  const rows = measured.map((budget) => [
    titleOf(budget),
    limitOf(budget),
    ...builds.map((name) => budgetCell(budget, found, name)),
  ]);
  return [
    'Budgets: the median of the runs counts. Behind a comma stands what is more than the bare proxy needs in the same run.\n',
    table(['', 'budget', ...builds], rows),
    '',
  ];
};
