import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pause, sizeOf, work } from './launch.js';
import { footerProblem, footersIn, rowProblems, rowsOf, scrollProblems, withoutFooter } from './text.js';

const programs = `${dirname(fileURLToPath(import.meta.url))}/programs`;
const wrapper = `${process.execPath} ${process.env.CTXWRAP}`;
const node = (file) => `${process.execPath} ${programs}/${file}`;
const SETTLE_MS = 700; // an answer of the terminal, a repaint of the child, a paint of the footer
const START_MS = 1_500;

const at = (columns, rows) => ({ columns, rows });
const startSize = at(80, 24);
const storm = [at(70, 20), at(90, 30), at(60, 18), at(84, 36), at(100, 16), at(80, 24)];
/** The series of sizes: each step is one change, the storm six in 0.3 s. */
const series = [
  ['h-', at(80, 20)],
  ['h+', at(80, 30)],
  ['w-', at(60, 30)],
  ['w+', at(90, 30)],
  ['both', at(70, 22)],
  ['storm', ...storm],
  ['tall', at(80, 44)],
];

const rowLess = ({ columns, rows }) => at(columns, rows - 1);
const opened = async (open, options) => {
  const terminal = await open(options);
  await pause(START_MS);
  return terminal;
};
const dumpOf = async (terminal, name) => {
  const text = await terminal.dump();
  writeFileSync(`${work}/${name}.txt`, text);
  return rowsOf(text);
};

const programsToResize = {
  'ink box': node('box.js bottom'),
  'ink box, deaf to height': node('box.js still'),
  'cursor in prompt': node('box.js prompt'),
  'prompt, deaf to height': node('box.js parked'),
  bash: `sh -c 'seq -f "row %03g stays" 60; PS1="ready> " exec bash --norc --noprofile'`,
  less: `less ${programs}/../checks.js`,
};

const changeTo = async (terminal, sizes, fit) => {
  for (const size of sizes) {
    terminal.resize(fit(size));
    if (sizes.length > 1) await pause(50);
  }
};

const sizeProblem = (terminal, wanted) => {
  const { columns, rows } = sizeOf(terminal.tty);
  return columns === wanted.columns && rows === wanted.rows ? [] : [`(size is ${columns}x${rows})`];
};

const resizeOne = async (open, name, command) => {
  const wrapped = await opened(open, {
    size: startSize,
    command: `${wrapper} --log ${work}/${name}.log -- ${command}`,
    name,
  });
  const bare = await opened(open, { size: rowLess(startSize), command, name: `${name}-bare` });
  // a pager repaints its screen; what it leaves in the scrollback of GNU screen is chance, also bare
  const visible = (rows) => (command.startsWith('less') ? withoutFooter(rows).slice(-15) : rows);
  const problems = [];
  for (const [step, ...sizes] of [['start', startSize], ...series]) {
    await changeTo(wrapped, sizes, (size) => size);
    await changeTo(bare, sizes, rowLess);
    await pause(SETTLE_MS);
    const rows = await dumpOf(wrapped, `${name}.${step}`);
    const bareRows = await dumpOf(bare, `${name}-bare.${step}`);
    const seen = [
      ...sizeProblem(wrapped, sizes.at(-1)),
      ...[footerProblem(rows)].filter(Boolean),
      ...rowProblems(visible(rows), visible(bareRows), step),
    ];
    problems.push(...seen.map((problem) => `${step}: ${problem}`));
  }
  await wrapped.close();
  await bare.close();
  return problems;
};

const resizeChecks = Object.entries(programsToResize).map(([title, command], index) => [
  `resize: ${title}`,
  (open, name) => resizeOne(open, `${name}-r${index}`, command),
]);

const scroll = async (open, name) => {
  const terminal = await opened(open, {
    size: startSize,
    command: `${wrapper} -- sh ${programs}/scroll.sh`,
    name,
  });
  await pause(3_500);
  const rows = await dumpOf(terminal, name);
  await terminal.close();
  return [...scrollProblems(rows), ...[footerProblem(rows)].filter(Boolean)];
};

const childrenOf = (parent) =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)])
    .toString()
    .trim()
    .split('\n')
    .map((line) => line.trim());
const pidIn = (line) => Number(line.split(' ')[0]);

const shellPid = (tty) =>
  execFileSync('ps', ['-o', 'pid=,args=', '-t', tty.replace('/dev/', '')])
    .toString()
    .split('\n')
    .find((line) => line.includes('shell$'))
    ?.trim()
    .split(' ')[0];

const shellCommand = (file) => `bash --rcfile ${file} -i`;

/** A shell that runs the wrapped program, and what it looks like when the program, or the wrapper, is gone. */
const ending = (kind, finish) => async (open, name) => {
  const rcfile = `${work}/shell$.rc`;
  writeFileSync(rcfile, "PS1='shell$ '\nunset PROMPT_COMMAND\n");
  const terminal = await opened(open, { size: startSize, command: shellCommand(rcfile), name });
  const say = async (text, wait = SETTLE_MS) => {
    terminal.type(text);
    await pause(wait);
  };
  await say('seq 20\n'); // the print of xterm lacks its oldest rows after the alternate screen was shown, also bare
  await say(`${node('modes.js')}\n`);
  await say('seq -f "old %03g" 40\n');
  await say(`${wrapper} -- ${node(`box.js ${kind} 5`)}\n`, START_MS);
  let during = 0;
  for (let attempt = 0; attempt < 5 && during === 0; attempt += 1) {
    during = footersIn(await dumpOf(terminal, `${name}.during`));
    if (during === 0) await pause(SETTLE_MS);
  }
  await finish({ terminal, say, pid: pidIn(childrenOf(shellPid(terminal.tty))[0]) });
  await pause(SETTLE_MS);
  await say('echo al""ive\n');
  await say(`${node('modes.js')}\n`);
  const rows = await dumpOf(terminal, `${name}.after`);
  await terminal.close();
  return [
    ...(during === 1 ? [] : [`${during} footers while it ran`]),
    ...endProblems(rows, kind, finish === kill),
  ];
};

/** After a kill of the wrapper the shell may be quicker than the watchdog: its prompt is then a row higher. */
const isPrompt = (row, isKilled) => row === 'shell$ echo al""ive' || (isKilled && row === 'echo al""ive');

const endProblems = (rows, kind, isKilled) => {
  const modes = rows.filter((row) => row.startsWith('modes:'));
  const old = rows.filter((row) => /^old \d{3}$/.test(row)).length;
  const stays = rows.filter((row) => row.startsWith('row ')).length;
  const alive = rows.indexOf('alive');
  return [
    ...(footersIn(rows) === 0 ? [] : ['a footer is left']),
    ...(old === 40 ? [] : [`${old} of 40 older lines are left`]),
    ...(stays === 5 ? [] : [`${stays} of 5 lines of the child are left`]),
    ...(alive > 0 ? [] : ['the shell does not answer']),
    ...(alive > 0 && !isPrompt(rows[alive - 1], isKilled) ? [`prompt: ${rows[alive - 1]}`] : []),
    ...(modes.length === 2 && modes[0] === modes[1] ? [] : [`modes differ: ${modes.join(' | ')}`]),
    ...(kind === 'wild' && rows.includes('wild') ? ['the alternate screen is left behind'] : []),
  ];
};

const quit = ({ say }) => say('q');
const kill = ({ pid }) => process.kill(pid, 'SIGKILL');
const killChild = ({ pid }) =>
  process.kill(pidIn(childrenOf(pid).find((line) => line.includes('box.js'))), 'SIGKILL');

export const checks = [
  ...resizeChecks,
  ['100 lines to the scrollback', scroll],
  ['end: quit', ending('bottom', quit)],
  ['end: quit in prompt', ending('prompt', quit)],
  ['end: child killed, modes on', ending('wild', killChild)],
  ['end: wrapper kill -9', ending('bottom', kill)],
  ['end: wrapper kill -9, modes on', ending('wild', kill)],
];
