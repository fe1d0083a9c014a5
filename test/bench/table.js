// Turns the results into a Markdown table: a row for each number, a column for each candidate.

const fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : '–');

const added = (results, key) => {
  const alone = results.find(({ name }) => name === 'alone')[key];
  return new Map(results.map((each) => [each.name, each.name === 'alone' ? alone : each[key] - alone]));
};
const plain = (results, key) => new Map(results.map((each) => [each.name, each[key]]));

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
  { title: "agents' recordings, MB/s", part: 'recording', key: 'rate', values: plain, show: number(1) },
  { title: 'CPU for 1 GB of them, s', part: 'recording', key: 'cpu', values: plain, show: number(1) },
  { title: 'child runs after, ms', part: 'start', key: 'child', values: plain, show: number(0) },
  { title: 'first byte after, ms', part: 'start', key: 'byte', values: plain, show: number(0) },
  { title: 'first byte, silent terminal, ms', part: 'silent', key: 'byte', values: plain, show: number(0) },
  { title: 'overview opens, p95, ms', part: 'overlay', key: 'p95', values: plain, show: number(0) },
  { title: 'memory, idle, MB', part: 'idle', key: 'megabytes', values: plain, show: number(0) },
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

const notes = ({ results: { throughput, recording, memory, paints, scan }, notInstalled }) => [
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
  ...(scan ?? []).map(scanNote),
  ...notInstalled.map((name) => `${name} is not installed here and was left out.`),
];

const print = (text) => process.stdout.write(`${text}\n`);

/** Prints what `measureWorst` has measured. */
export const printWorst = (machine, results) => {
  print(`Machine: ${machine}. Milliseconds for 1 MB, and bytes out for one byte in.\n`);
  const chunks = results[0].sizes.map(({ chunk }) => `chunks of ${chunk}`);
  print(line(['', ...chunks, 'out / in']));
  print(line(['---', ...chunks.map(() => '--:'), '--:']));
  for (const { name, sizes } of results) {
    const ratio = Math.max(...sizes.map((each) => each.ratio));
    print(line([name, ...sizes.map(({ rate }) => fixed(rate, 0)), fixed(ratio, 2)]));
  }
};

/** Prints everything that was measured. */
export const printTable = (machine, bench) => {
  const { names, results } = bench;
  print(`Machine: ${machine}.\n`);
  print(line(['', ...names]));
  print(line(['---', ...names.map(() => '--:')]));
  for (const { title, part, key, values, show } of rows) {
    if (!results[part]) continue;
    const found = values(results[part], key);
    print(line([title, ...names.map((name) => show(found.get(name), name))]));
  }
  print('');
  for (const note of notes(bench)) print(note);
};
