import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ENTER, type TriedAgent } from './agents.js';
import { environmentIn, helpOf, makeGround, proxiesTo } from './ground.js';
import { type Traces, tracesIn, tracingOptions } from './keys.js';
import { lasting } from './mock/api.js';
import { type Asked, type Mock, startMock } from './mock/server.js';
import { type UserWindow, openWindow } from './window.js';

// The user talks with the agent, and the model answers what it is told to.

export interface Talk {
  /** types a message as a person does, and sends it when it stands on the screen */
  readonly say: (text: string) => Promise<void>;
  /** a whole turn, after which the model says that so many tokens are used */
  readonly turn: (usedTokens: number) => Promise<void>;
}

const SUBMIT_MS = 150; // a person does not press Enter in the same moment as the last letter
const LIST_MS = 500; // and looks at the list of commands first: Gemini takes an entry of an older one

const makeTalk = (
  terminal: UserWindow,
  mock: Mock,
  { activity, untilAsked }: Pick<Traces, 'activity'> & Pick<Waits, 'untilAsked'>,
): Talk => {
  const say = async (text: string): Promise<void> => {
    await terminal.type(text);
    await terminal.until(() => terminal.screen().includes(text), `${text} in the prompt`);
    await pause(text.startsWith('/') ? LIST_MS : SUBMIT_MS);
    terminal.press(ENTER);
  };
  let turns = 0;
  return {
    say,
    turn: async (usedTokens) => {
      turns += 1;
      const [question, answer] = [`my number ${turns}`, `heard ${turns} of you`];
      mock.control({ turn: { usedTokens, text: answer } });
      await say(question);
      const isAnswered = ({ said, purpose, end }: Asked): boolean =>
        purpose === 'turn' && said.includes(question) && end === 'answered';
      await untilAsked(isAnswered, `an answer to "${question}"`);
      await terminal.until(() => terminal.screen().includes(answer), `"${answer}" on the screen`);
      await terminal.until(() => activity() === 'ready', 'activity ready in the log after the turn');
    },
  };
};

// What can be waited for in a session: on the screen, in the log, at the model server.

export interface Waits {
  readonly footer: () => string;
  /** resolves with the first line of the wrapper's log from this place on that matches */
  readonly untilLog: (pattern: RegExp, from?: number, patienceMs?: number) => Promise<string>;
  readonly untilFooter: (pattern: RegExp, patienceMs?: number) => Promise<void>;
  readonly untilScreen: (pattern: RegExp) => Promise<void>;
  readonly untilAsked: (isIt: (asked: Asked) => boolean, what: string, patienceMs?: number) => Promise<void>;
}

const makeWaits = (terminal: UserWindow, mock: Mock, { log }: Traces): Waits => {
  const footer = (): string => terminal.rows().at(-1) ?? '';
  return {
    footer,
    untilLog: async (pattern, from = 0, patienceMs) => {
      const found = (): string | undefined =>
        log()
          .slice(from)
          .split('\n')
          .find((line) => pattern.test(line));
      await terminal.until(() => found() !== undefined, `${pattern} in the log`, patienceMs);
      return found() ?? '';
    },
    untilFooter: (pattern, patienceMs) =>
      terminal.until(() => pattern.test(footer()), `${pattern} in the footer`, patienceMs),
    untilScreen: (pattern) =>
      terminal.until(() => pattern.test(terminal.screen()), `${pattern} on the screen`),
    untilAsked: (isIt, what, patienceMs) => terminal.until(() => mock.asked().some(isIt), what, patienceMs),
  };
};

// One session to look at: ctxwrap with an agent in the user's terminal, the model behind it, and what the wrapper says of itself.

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
  readonly options?: readonly string[];
  readonly isVim?: boolean;
  /** beside those of the agent, by their paths in the home */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** the terminal understands OSC 7501 */
  readonly hearsState?: boolean;
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
  const { agent, version, folder, options = [], isVim = false, hearsState = false } = given;
  const [node, program] = given.ctxwrap;
  const mock = await startMock();
  mock.control({ summary: lasting(given.summaryMs / agent.summaries) });
  const ground = makeGround(agent, folder, { version, isVim, port: mock.port }, given.files);
  const env = {
    ...environmentIn(ground.home, [given.commands, dirname(node)], given.programs),
    ...(given.temporary === undefined ? {} : { TMPDIR: given.temporary }),
  };
  const args = agent.args({ version, help: await helpOf(agent, env) });
  const terminal = openWindow({
    words: [node, program, ...tracingOptions(folder), ...options, agent.name, ...args],
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
