// Turns what was measured into the page: a row for each number, a column for each candidate, the budgets, and notes.
import { budgetText } from './budgets.js';
import { cell, isMeasured, readRuns, runsOf, table } from './cells.js';

/** `part`: of the results; `key`: the number in it; `isAdded`: shown as what is added to the command alone. */
const rows = [
  { title: 'echo, idle, p50, ms', part: 'latency', key: 'idleP50', isAdded: true, digits: 2 },
  { title: 'echo, idle, p99, ms', part: 'latency', key: 'idleP99', isAdded: true, digits: 2 },
  { title: 'echo, flood, p50, ms', part: 'latency', key: 'floodP50', isAdded: true, digits: 2 },
  { title: 'echo, flood, p99, ms', part: 'latency', key: 'floodP99', isAdded: true, digits: 2 },
  { title: 'plain lines, cold, MB/s', part: 'plain', key: 'cold', digits: 1 },
  { title: 'plain lines, warm, MB/s', part: 'plain', key: 'warm', digits: 1 },
  { title: 'CPU for 1 GB of them, s', part: 'plain', key: 'cpu', digits: 1 },
  { title: 'frames of a text interface, cold, MB/s', part: 'frames', key: 'cold', digits: 1 },
  { title: 'frames of a text interface, warm, MB/s', part: 'frames', key: 'warm', digits: 1 },
  { title: 'agents’ recordings, cold, MB/s', part: 'recordings', key: 'cold', digits: 1 },
  { title: 'agents’ recordings, warm, MB/s', part: 'recordings', key: 'warm', digits: 1 },
  { title: 'CPU for 1 GB of them, s', part: 'recordings', key: 'cpu', digits: 1 },
  { title: 'child runs after, ms', part: 'start', key: 'child', digits: 0 },
  { title: 'first byte after, ms', part: 'start', key: 'byte', digits: 0 },
  { title: 'first byte, silent terminal, ms', part: 'silent', key: 'byte', digits: 0 },
  { title: 'slowest key of the first 1.5 s, ms', part: 'early', key: 'slowest', digits: 1 },
  { title: 'slowest key, silent terminal, ms', part: 'earlySilent', key: 'slowest', digits: 1 },
  { title: 'slowest key, worker throws, ms', part: 'worker', key: 'throw', digits: 1 },
  { title: 'slowest key, worker hangs, ms', part: 'worker', key: 'hang', digits: 1 },
  { title: 'slowest key, worker exits, ms', part: 'worker', key: 'exit', digits: 1 },
  { title: 'overview opens first, Ink loaded, ms', part: 'overview', key: 'loaded', digits: 0 },
  { title: 'overview opens first, Ink not loaded, ms', part: 'overview', key: 'unloaded', digits: 0 },
  { title: 'overview opens again, p95, ms', part: 'overview', key: 'p95', digits: 0 },
  { title: 'CPU time of Ink’s load, ms', part: 'overview', key: 'inkCpu', digits: 0 },
  { title: 'memory, idle, before Ink, MB', part: 'idle', key: 'beforeInk', digits: 0 },
  { title: 'memory, idle, MB', part: 'idle', key: 'megabytes', digits: 0 },
  { title: 'memory after 37 MB, MB', part: 'resident', key: 'megabytes', digits: 0 },
  { title: 'ten sessions, PSS, MB', part: 'ten', key: 'ten', digits: 0 },
  { title: 'a session of them, PSS, MB', part: 'ten', key: 'session', digits: 1 },
  { title: 'its own pages, MB', part: 'ten', key: 'own', digits: 1 },
  { title: 'fifty sessions, from these, MB', part: 'ten', key: 'fifty', digits: 0 },
  { title: 'CPU, idle, %', part: 'idle', key: 'cpuPercent', digits: 2 },
  { title: '--continue, 28 MB: a number after, s', part: 'continue', key: 'seconds', digits: 2 },
  { title: '--continue, 28 MB: most memory, MB', part: 'continue', key: 'peak', digits: 0 },
  { title: '--continue, 28 MB: memory 4 s later, MB', part: 'continue', key: 'resident', digits: 0 },
  { title: 'history of claude, MB/s', part: 'history', key: 'claude', digits: 0 },
  { title: 'history of codex, MB/s', part: 'history', key: 'codex', digits: 0 },
  { title: 'history of gemini, MB/s', part: 'history', key: 'gemini', digits: 0 },
  { title: 'history of qwen, MB/s', part: 'history', key: 'qwen', digits: 0 },
  { title: 'history, least MB for 1 s of CPU', part: 'history', key: 'cpuRate', digits: 0 },
  { title: 'history, memory, MB', part: 'history', key: 'memory', digits: 0 },
  { title: 'footer paints/s, redrawn 30 times/s', part: 'paints', key: 'over', digits: 1 },
  { title: 'footer paints/s, cleared 30 times/s', part: 'paints', key: 'clear', digits: 1 },
];

const rowCells = ({ title, part, key, isAdded, digits }, found, names) => [
  title,
  ...names.map((name) => {
    const isPlain = !isAdded || name === 'alone';
    const read = (row, rowOf) => (isPlain ? row[key] : row[key] - rowOf('alone')[key]);
    return cell(readRuns(found, part, { name, read }), { digits, isSigned: !isPlain });
  }),
];

const mainText = (found, names) => {
  const measured = rows.filter(({ part }) => isMeasured(found, part));
  if (measured.length === 0) return [];
  return [
    table(
      ['', ...names],
      measured.map((row) => rowCells(row, found, names)),
    ),
    '',
  ];
};

const worstText = ([cases]) => [
  'Milliseconds for 1 MB of output that is made to be costly, and bytes out for one byte in.\n',
  table(
    ['', ...cases[0].sizes.map(({ chunk }) => `chunks of ${chunk}`), 'out / in'],
    cases.map(({ name, sizes }) => [
      name,
      ...sizes.map(({ rate }) => rate.toFixed(0)),
      Math.max(...sizes.map(({ ratio }) => ratio)).toFixed(2),
    ]),
  ),
  '',
];

const ptyText = (found) => {
  const [[first, second]] = runsOf(found, 'pty');
  const cellOf = (name, digits, read) => cell(readRuns(found, 'pty', { name, read }), { digits });
  const numbers = [
    ...rows.filter(({ part }) => part === 'latency'),
    { title: 'CPU for 1 GB of agents’ recordings, s', key: 'cpu', digits: 1 },
  ];
  return [
    'A bare proxy through node-pty’s public interface, and through its addon alone.\n',
    table(
      ['', first.name, second.name, 'ratio'],
      numbers.map(({ title, key, digits }) => [
        title,
        ...[first, second].map(({ name }) => cellOf(name, digits, (row) => row[key])),
        cellOf(second.name, 2, (row, rowOf) => row[key] / rowOf(first.name)[key]),
      ]),
    ),
    '',
  ];
};

const growthNote = ({ name, failure, samples }) =>
  `Memory of ${name} before and after each of ten times 50 MB of output: ${failure ?? `${samples.map((size) => size.toFixed(0)).join(' ')} MB`}.`;

const scanNote = ({ name, large, p50, p99 }) =>
  `Reading a screen of ${name}${large ? ' in 200 × 60' : ''}: median ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms.`;

/** Each failure once, by part and candidate. */
const failureNotes = (found) => [
  ...new Set(
    found.flatMap((results) =>
      Object.entries(results).flatMap(([part, all]) =>
        all.filter(({ failure }) => failure).map(({ name, failure }) => `${part}, ${name}: ${failure}.`),
      ),
    ),
  ),
];

const conditionsText = ({ machine, load, runs, rounds, minutes }) => [
  `Machine: ${machine}. Load average before: ${load.before}; after: ${load.after}.`,
  `Runs: ${runs}${runs > 1 ? ', one after the other, of which a cell has the median and in parentheses the range' : ''}; ${minutes.toFixed(0)} minutes. Rounds in each run: ${rounds.join(', ')}.`,
  'Echo: 1,200 keys of each candidate in a run, pooled. Cold: the first output of a process; warm: the same output again in it. Idle: 22 s after the start, for 25 s.\n',
];

/** Everything that was measured, as Markdown. `found`: of each run the rows of each part. */
export const speedText = ({ found, failures, conditions, names, missing }) => {
  const notes = [
    ...runsOf(found, 'growth').flat().map(growthNote),
    ...runsOf(found, 'scan').flat().map(scanNote),
    ...failureNotes(found),
    ...failures,
    ...missing.map((name) => `${name} is not installed here and was left out.`),
  ];
  return [
    ...conditionsText(conditions),
    ...mainText(found, names),
    ...budgetText(
      found,
      names.filter((name) => name === 'before' || name === 'ctxwrap'),
    ),
    ...(isMeasured(found, 'pty') ? ptyText(found) : []),
    ...(isMeasured(found, 'worst') ? worstText(runsOf(found, 'worst')) : []),
    ...notes,
    '',
  ].join('\n');
};
