// One session to look at: ctxwrap with an agent in the user's terminal, the model behind it, and what the wrapper says of itself.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { TriedAgent } from './agents/agent.js';
import { environmentIn, helpOf, makeGround, proxiesTo } from './ground.js';
import { lasting } from './mock/control.js';
import { startMock, type Mock } from './mock/server.js';
import { makeTalk, type Talk } from './talk.js';
import { tracesIn, tracingOptions, type Traces } from './traces.js';
import { makeWaits, type Waits } from './waits.js';
import { openWindow, type UserWindow } from './window.js';

/** Bounds of the tiers in every story of the lab, in tokens, and numbers that lie between them. */
export const BOUNDS = { warn: 30_000, auto: 50_000, hard: 70_000 } as const;
export const LITTLE = 10_000;
export const SOME = 20_000;
export const FULL = 55_000;
export const HARD = 75_000;

export interface StageOptions<Agent extends TriedAgent = TriedAgent> {
  readonly agent: Agent;
  readonly version: string;
  /** the folder of the agent's command */
  readonly commands: string;
  /** Node, and ctxwrap's program */
  readonly ctxwrap: readonly [string, string];
  /** for everything that is written */
  readonly folder: string;
  /** of ctxwrap */
  readonly options: readonly string[];
  readonly isVim: boolean;
  /** beside those of the agent, by their paths in the home */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** the terminal understands OSC 7501 */
  readonly hearsState: boolean;
  /** how long the summary of a compaction takes, in milliseconds */
  readonly summaryMs: number;
  /** for everything that is waited for, unless said otherwise, in milliseconds */
  readonly patienceMs?: number;
  /** folders of programs, after those of the agent and of Node; the system's when absent */
  readonly programs?: readonly string[];
  /** for what the agent leaves in a temporary folder; the system's when absent */
  readonly temporary?: string;
  /** nothing but the agent's own settings keeps it from the network */
  readonly isOpen?: boolean;
}

export interface Stage<Agent extends TriedAgent = TriedAgent> extends Traces, Waits, Talk {
  readonly agent: Agent;
  readonly mock: Mock;
  readonly terminal: UserWindow;
  readonly home: string;
  /** for the agent's tools to work in */
  readonly project: string;
  /** what `ctxwrap` prints with these words in another terminal; rejects where its status is not 0 */
  readonly outside: (...words: readonly string[]) => Promise<string>;
  readonly summaries: () => number;
  /** lets time pass in which something must not happen */
  readonly watch: (ms: number) => Promise<void>;
  readonly end: () => Promise<void>;
}

const run = promisify(execFile);

export const openStage = async <Agent extends TriedAgent>(
  given: StageOptions<Agent>,
): Promise<Stage<Agent>> => {
  const { agent, version, folder, isVim, hearsState } = given;
  const [node, program] = given.ctxwrap;
  const mock = await startMock();
  mock.control({ summary: lasting(given.summaryMs / agent.summaries) });
  const ground = makeGround(agent, folder, { version, isVim, port: mock.port }, given.files);
  const env = {
    ...environmentIn(ground.home, [given.commands, dirname(node)], given.programs),
    ...(given.temporary === undefined ? {} : { TMPDIR: given.temporary }),
  };
  const args = agent.args({ version, help: await helpOf(agent, env) });
  const options = [...tracingOptions(folder), ...given.options];
  const terminal = openWindow({
    words: [node, program, ...options, agent.name, ...args],
    cwd: ground.project,
    env: { ...env, ...(given.isOpen ? proxiesTo(mock.port) : {}), ...agent.env(ground) },
    hearsState,
    patienceMs: given.patienceMs,
  });
  const traces = tracesIn(folder, ground.home);
  const waits = makeWaits(terminal, mock, traces);
  return {
    agent,
    mock,
    terminal,
    home: ground.home,
    project: ground.project,
    ...traces,
    ...waits,
    ...makeTalk(terminal, mock, { ...traces, ...waits }),
    outside: async (...words) => (await run(node, [program, ...words], { env })).stdout,
    summaries: () => mock.asked().filter(({ purpose }) => purpose === 'summary').length,
    watch: pause,
    end: async () => {
      writeFileSync(join(folder, 'screen.txt'), terminal.screen());
      writeFileSync(join(folder, 'asked.json'), JSON.stringify(mock.asked(), undefined, 1));
      await hangUp(terminal);
      mock.close();
    },
  };
};

const HANG_UP_MS = 5_000;

/** As when the window is closed; the wrapper then writes its files to the end. */
const hangUp = async (terminal: UserWindow): Promise<void> => {
  terminal.signal('SIGHUP');
  await Promise.race([terminal.ended, pause(HANG_UP_MS)]);
  terminal.signal('SIGKILL');
};
