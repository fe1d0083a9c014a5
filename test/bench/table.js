// Turns the results into a Markdown table: a row for each number, a column for each candidate.

const fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : '–');

const added = (results, key) => {
  const alone = results.find(({ name }) => name === 'alone')[key];
  return new Map(results.map((each) => [each.name, each.name === 'alone' ? alone : each[key] - alone]));
};
const plain = (results, key) => new Map(results.map((each) => [each.name, each[key]]));

const minus = (value, bare) => value - bare;
const over = (value, bare) => value / bare;
const itself = (value) => value;

const signed = (digits) => (value, name) =>
  (name === 'alone' ? '' : value >= 0 ? '+' : '') + fixed(value, digits);
const number = (digits) => (value) => fixed(value, digits);

/** `part`: of the results; `values`: how to read them; `show`: how to print one of them. */
const rows = [
  { title: 'echo, idle, p50, ms', part: 'latency', key: 'idleP50', values: added, show: signed(2) },
  { title: 'echo, idle, p99, ms', part: 'latency', key: 'idleP99', values: added, show: signed(2) },
  { title: 'echo, flood, p50, ms', part: 'latency', key: 'floodP50', values: added, show: signed(2) },
  { title: 'echo, flood, p99, ms', part: 'latency', key: 'floodP99', values: added, show: signed(2) },
  { title: 'plain lines, MB/s', part: 'throughput', key: 'rate', values: plain, show: number(1) },
  { title: 'CPU for 1 GB of it, s', part: 'throughput', key: 'cpu', values: plain, show: number(1) },
  { title: 'frames of a text interface, MB/s', part: 'frames', key: 'rate', values: plain, show: number(1) },
  { title: "agents' recordings, MB/s", part: 'recording', key: 'rate', values: plain, show: number(1) },
  { title: 'CPU for 1 GB of them, s', part: 'recording', key: 'cpu', values: plain, show: number(1) },
  { title: 'child runs after, ms', part: 'start', key: 'child', values: plain, show: number(0) },
  { title: 'first byte after, ms', part: 'start', key: 'byte', values: plain, show: number(0) },
  { title: 'first byte, silent terminal, ms', part: 'silent', key: 'byte', values: plain, show: number(0) },
  {
    title: 'slowest key of the first 1.5 s, ms',
    part: 'early',
    key: 'slowest',
    values: plain,
    show: number(1),
  },
  {
    title: 'slowest key, silent terminal, ms',
    part: 'earlySilent',
    key: 'slowest',
    values: plain,
    show: number(1),
  },
  { title: 'overview opens, p95, ms', part: 'overview', key: 'p95', values: plain, show: number(0) },
  { title: 'memory, idle, MB', part: 'idle', key: 'megabytes', values: plain, show: number(0) },
  { title: 'memory after 34 MB, MB', part: 'resident', key: 'megabytes', values: plain, show: number(0) },
  { title: 'CPU, idle, %', part: 'idle', key: 'cpuPercent', values: plain, show: number(2) },
];

const line = (cells) => `| ${cells.join(' | ')} |`;

const rateNote = (results, title) => {
  if (!results) return [];
  const rate = (name) => results.find((each) => each.name === name)?.rate;
  const ratio = (name) => fixed(rate('ctxwrap') / rate(name), 2);
  return [`${title}: ctxwrap reaches ${ratio('bare proxy')} of the bare proxy, ${ratio('tmux')} times tmux.`];
};

const scanNote = ({ name, large, p50, p99 }) =>
  `Reading a screen of ${name}${large ? ' in 200 × 60' : ''}: median ${fixed(p50, 2)} ms, p99 ${fixed(p99, 2)} ms.`;

const notes = ({ results: { throughput, recording, memory, paints, scan, worker }, notInstalled }) => [
  ...rateNote(throughput, 'Plain lines'),
  ...rateNote(recording, 'Recordings'),
  ...(memory
    ? [`Memory at each tenth of 1 GB of output: ${memory.map((size) => fixed(size, 0)).join(' ')} MB.`]
    : []),
  ...(paints
    ? [
        `Footer paints a second under a child that redraws 30 times a second: ${fixed(paints.over, 1)}; under one that clears the screen each time: ${fixed(paints.clear, 1)}.`,
      ]
    : []),
  ...(worker
    ? [
        `Slowest key while the worker fails and is replaced: ${worker.map(({ fault, worst }) => `${fixed(worst, 1)} ms (${fault})`).join(', ')}.`,
      ]
    : []),
  ...(scan ?? []).map(scanNote),
  ...notInstalled.map((name) => `${name} is not installed here and was left out.`),
];

/** The budgets of a session, relative to the bare proxy of the same run; `limit` is the most, or with `isLeast` the least. */
const budgets = [
  { title: 'child runs later than the bare proxy’s, ms', part: 'start', key: 'child', of: minus, limit: 25 },
  { title: 'echo, idle, p50, ratio', part: 'latency', key: 'idleP50', of: over, limit: 1 },
  { title: 'echo, idle, p99, ratio', part: 'latency', key: 'idleP99', of: over, limit: 1 },
  { title: 'echo, flood, p99, ms', part: 'latency', key: 'floodP99', of: itself, limit: 5 },
  { title: 'slowest key of the first 1.5 s, ms', part: 'early', key: 'slowest', of: itself, limit: 15 },
  { title: 'frames, ratio', part: 'frames', key: 'rate', of: over, limit: 1, isLeast: true },
  { title: 'recordings, ratio', part: 'recording', key: 'rate', of: over, limit: 0.75, isLeast: true },
  { title: 'memory after 34 MB, MB', part: 'resident', key: 'megabytes', of: itself, limit: 85 },
  { title: 'CPU, idle, %', part: 'idle', key: 'cpuPercent', of: itself, limit: 0.2 },
];

const budgetRow = ({ title, part, key, of, limit, isLeast }, results, wrappers) => {
  const valueOf = (name) => results[part].find((each) => each.name === name)?.[key];
  const bare = valueOf('bare proxy');
  const cells = wrappers.map((name) => fixed(of(valueOf(name), bare), 2));
  return line([title, `${isLeast ? '≥' : '≤'} ${limit}`, ...cells]);
};

const budgetText = ({ names, results }) => {
  const wrappers = names.filter((name) => name === 'before' || name === 'ctxwrap');
  const rowsOf = budgets.filter(({ part }) => results[part]);
  if (rowsOf.length === 0) return [];
  return [
    '',
    line(['', 'budget', ...wrappers]),
    line(['---', '--:', ...wrappers.map(() => '--:')]),
    ...rowsOf.map((budget) => budgetRow(budget, results, wrappers)),
  ];
};

/** What `measureWorst` has measured, as Markdown. */
export const worstText = (machine, results) => {
  const chunks = results[0].sizes.map(({ chunk }) => `chunks of ${chunk}`);
  const lines = results.map(({ name, sizes }) => {
    const ratio = Math.max(...sizes.map((each) => each.ratio));
    return line([name, ...sizes.map(({ rate }) => fixed(rate, 0)), fixed(ratio, 2)]);
  });
  return [
    `Machine: ${machine}. Milliseconds for 1 MB, and bytes out for one byte in.\n`,
    line(['', ...chunks, 'out / in']),
    line(['---', ...chunks.map(() => '--:'), '--:']),
    ...lines,
    '',
  ].join('\n');
};

/** What `measureHistory` has measured, as Markdown. */
export const historyText = (machine, results) =>
  [
    `Machine: ${machine}. The whole program, from start to end, over one file.\n`,
    line(['', 'file, MB', 'compactions', 'MB/s (≥ 150)', 'MB for 1 s of CPU', 'memory, MB (≤ 100)']),
    line(['---', '--:', '--:', '--:', '--:', '--:']),
    ...results.map(({ agent, megabytes, compactions, rate, cpuRate, memory }) =>
      line([agent, fixed(megabytes, 0), compactions, fixed(rate, 0), fixed(cpuRate, 0), fixed(memory, 0)]),
    ),
    '',
  ].join('\n');

/** Everything that was measured, as Markdown. */
export const tableText = (machine, bench) => {
  const { names, results } = bench;
  const measured = rows.filter(({ part }) => results[part]);
  return [
    `Machine: ${machine}.\n`,
    line(['', ...names]),
    line(['---', ...names.map(() => '--:')]),
    ...measured.map(({ title, part, key, values, show }) => {
      const found = values(results[part], key);
      return line([title, ...names.map((name) => show(found.get(name), name))]);
    }),
    ...budgetText(bench),
    '',
    ...notes(bench),
    '',
  ].join('\n');
};
