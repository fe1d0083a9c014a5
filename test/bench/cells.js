// What stands in a cell: the median of the runs with their range, or that a candidate has failed.
import { median } from './numbers.js';

const FAILURES = /^(?:crashed|hung)\b/;

const fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : '–');

/** The rows of a part in each run that measured it. */
export const runsOf = (found, part) => found.flatMap((results) => (results[part] ? [results[part]] : []));

export const isMeasured = (found, part) => runsOf(found, part).some((rows) => rows.length > 0);

/**
 * What a candidate has in each run: `read(row, rowOf)` gives a number, and `rowOf` the row of another candidate of the same run.
 * `{ values, failure }`; without values the candidate has no part in this.
 */
export const readRuns = (found, part, { name, read }) => {
  const runs = runsOf(found, part).flatMap((rows) => {
    const rowOf = (other) => rows.find((row) => row.name === other) ?? {};
    return rows.filter((row) => row.name === name).map((row) => ({ row, rowOf }));
  });
  const failure = runs.map(({ row }) => row.failure).find((text) => text !== undefined);
  return {
    values: runs.map(({ row, rowOf }) => read(row, rowOf)).filter(Number.isFinite),
    failure: failure && (FAILURES.exec(failure)?.[0] ?? 'failed'),
  };
};

/** `+0.22` or `0.22`, and with several runs what they range over: `0.22 (0.18–0.25)`. */
export const cell = ({ values, failure }, { digits, isSigned = false }) => {
  if (failure) return failure;
  if (values.length === 0) return '–';
  const show = (value) => `${isSigned && value >= 0 ? '+' : ''}${fixed(value, digits)}`;
  const range = `${show(Math.min(...values))}–${show(Math.max(...values))}`;
  return values.length === 1 ? show(values[0]) : `${show(median(values))} (${range})`;
};

const line = (cells) => `| ${cells.join(' | ')} |`;

/** A Markdown table whose columns but the first one are aligned to the right. */
export const table = (head, rows) =>
  [line(head), line(head.map((_, at) => (at === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n');
