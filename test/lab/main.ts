// Runs real agents under ctxwrap without a network, as selected by the arguments; prints a table.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { agents } from './agents/all.js';
import { readArguments, type Subject, type LabArguments } from './arguments.js';
import { cacheFolder, installed, newestVersion } from './install.js';
import { isolatedCommand, failureOf } from '../../src/verify/sandbox.js';
import { play, type Verdict } from './play.js';
import { scenarioNamed } from './scenarios/all.js';
import type { Scenario } from './scenarios/scenario.js';
import { writePages } from './page.js';
import { tableOf, type Played } from './table.js';

/** One session. */
interface Run {
  readonly subject: Subject;
  readonly scenario: Scenario;
  readonly time: number;
}

/** What a session needs from outside its sandbox. */
interface Order {
  readonly agent: string;
  readonly version: string;
  readonly scenario: string;
  readonly commands: string;
  readonly ctxwrap: string;
  readonly folder: string;
  readonly options: readonly string[];
}

const root = process.env['CTXWRAP_LAB_ROOT'] ?? process.cwd();
const ctxwrap = resolve(process.env['CTXWRAP'] ?? join(root, 'bin/ctxwrap.js'));
const [self = ''] = process.argv.slice(1);

/** Runs each scenario once before any is repeated, so that an aborted run still covers all. */
const runsOf = ({ subjects, scenarios: wanted, times }: LabArguments): readonly Run[] =>
  Array.from({ length: times }, (_, index) =>
    wanted.flatMap((scenario) =>
      subjects
        .filter(({ agent }) => scenario.isFor?.(agent) ?? true)
        .map((subject) => ({ subject, scenario, time: index + 1 })),
    ),
  ).flat();

const verdictIn = (folder: string): Verdict => {
  try {
    return JSON.parse(readFileSync(join(folder, 'verdict.json'), 'utf8')) as Verdict;
  } catch {
    return { isGood: false, evidence: `the session ended without a verdict: ${join(folder, 'lab.log')}` };
  }
};

const perform = async (
  { subject, scenario, time }: Run,
  { evidence, ...outside }: Pick<Order, 'commands' | 'options'> & { readonly evidence: string },
): Promise<Played> => {
  const { agent, version } = subject;
  const folder = join(evidence, `${agent.name}-${version}-${scenario.name.replaceAll(' ', '-')}-${time}`);
  mkdirSync(folder, { recursive: true });
  const order: Order = { agent: agent.name, version, scenario: scenario.name, ctxwrap, folder, ...outside };
  const [file, ...args] = isolatedCommand([process.execPath, self, '--play', JSON.stringify(order)]);
  const log = createWriteStream(join(folder, 'lab.log'));
  await once(log, 'open');
  const child = spawn(file, args, { stdio: ['ignore', log, log] });
  await once(child, 'exit');
  const verdict = verdictIn(folder);
  const sign = verdict.isGood ? 'ok' : 'FAILED';
  process.stderr.write(
    `${sign}  ${agent.name} ${version} · ${scenario.name} · ${time}: ${verdict.evidence}\n`,
  );
  return { agent: agent.name, version, scenario: scenario.name, verdict };
};

/** So many at the same time, in the order of the list. */
const performAll = async (
  wish: LabArguments,
  evidence: string,
  onPlayed: (played: readonly Played[]) => void,
): Promise<readonly Played[]> => {
  const cache = cacheFolder(process.env);
  const commands = new Map(
    wish.subjects.map((subject) => [subject, installed(subject.agent, subject.version, cache)]),
  );
  const waiting = [...runsOf(wish)];
  const played: Played[] = [];
  const work = async (): Promise<void> => {
    for (let run = waiting.shift(); run; run = waiting.shift()) {
      const outside = { evidence, commands: commands.get(run.subject) ?? '', options: wish.options };
      played.push(await perform(run, outside));
      onPlayed(played);
    }
  };
  await Promise.all(Array.from({ length: wish.jobs }, work));
  return played;
};

const playOrder = async (text: string): Promise<void> => {
  const order = JSON.parse(text) as Order;
  const agent = agents.find(({ name }) => name === order.agent);
  const scenario = scenarioNamed(order.scenario);
  if (!agent || !scenario) throw new Error(`no such session: ${text}`);
  await play({ ...order, ctxwrap: [process.execPath, order.ctxwrap], agent, scenario });
};

const list = (wish: LabArguments): string =>
  wish.scenarios.map(({ name, expects }) => `${name.padEnd(26)} ${expects}\n`).join('');

const lab = async (argv: readonly string[]): Promise<number> => {
  const wish = readArguments(argv, newestVersion);
  if (wish.isList) {
    process.stdout.write(list(wish));
    return 0;
  }
  const reason = failureOf(isolatedCommand(['true']));
  if (reason !== undefined)
    throw new Error(`the lab needs the right to make namespaces (unshare and ip of Linux): ${reason}`);
  const started = new Date();
  const evidence = join(cacheFolder(process.env), 'runs', started.toISOString().replace(/[:.]/g, '-'));
  const played = await performAll(wish, evidence, (all) => {
    if (wish.isWritten) writePages(join(root, 'docs'), all, started);
  });
  process.stdout.write(`${tableOf(played, started)}\nRecordings and logs: ${evidence}\n`);
  return played.every(({ verdict }) => verdict.isGood) ? 0 : 1;
};

const [word, order = ''] = process.argv.slice(2);
try {
  if (word === '--play') await playOrder(order);
  process.exitCode = word === '--play' ? 0 : await lab(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`lab: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
// processes that a failed session leaves must not keep it open
if (word === '--play') process.exit();
