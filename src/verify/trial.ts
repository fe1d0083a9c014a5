import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ENTER, type VerifiableAgent } from './agents.js';
import { environmentIn, helpOf, makeSandbox, proxiesTo } from './sandbox.js';
import { type SessionFiles, sessionFilesIn, sessionFileOptions } from './keys.js';
import { spreadOver } from './mock/api.js';
import { type RecordedRequest, type MockServer, startMockServer } from './mock/server.js';
import { type UserTerminal, type UserTerminalOptions, openUserTerminal } from './user-terminal.js';
import { present } from '../core/present.js';

// The conversation: the user types prompts, and the model server answers as configured.

export interface Conversation {
  /** types a message as a person does, and submits it when it is on the screen */
  readonly submit: (text: string) => Promise<void>;
  /** plays a whole turn, after which the model reports so many used tokens */
  readonly turn: (usedTokens: number) => Promise<void>;
}

const SUBMIT_MS = 150; // a person does not press Enter together with the last letter
const LIST_MS = 500; // time to look at the list of commands first: Gemini may otherwise take an entry of an outdated list

const makeConversation = (
  terminal: UserTerminal,
  mock: MockServer,
  { activity, untilRequest }: Pick<SessionFiles, 'activity'> & Pick<Waits, 'untilRequest'>,
): Conversation => {
  const submit = async (text: string): Promise<void> => {
    await terminal.type(text);
    await terminal.until(() => terminal.screen().includes(text), `${text} in the prompt`);
    await pause(text.startsWith('/') ? LIST_MS : SUBMIT_MS);
    terminal.press(ENTER);
  };
  let turns = 0;
  return {
    submit,
    turn: async (usedTokens) => {
      turns += 1;
      const [question, answer] = [`my number ${turns}`, `heard ${turns} of you`];
      mock.configure({ turn: { usedTokens, text: answer } });
      await submit(question);
      const isAnswered = ({ said, purpose, end }: RecordedRequest): boolean =>
        purpose === 'turn' && said.includes(question) && end === 'answered';
      await untilRequest(isAnswered, `an answer to "${question}"`);
      await terminal.until(() => terminal.screen().includes(answer), `"${answer}" on the screen`);
      await terminal.until(() => activity() === 'ready', 'activity ready in the log after the turn');
    },
  };
};

// Waiting for the screen, the log, or the model server.

export interface Waits {
  readonly footer: () => string;
  /** resolves with the first matching line of the wrapper's log after this offset */
  readonly untilLog: (pattern: RegExp, from?: number, patienceMs?: number) => Promise<string>;
  readonly untilFooter: (pattern: RegExp, patienceMs?: number) => Promise<void>;
  readonly untilScreen: (pattern: RegExp) => Promise<void>;
  readonly untilRequest: (
    isIt: (requests: RecordedRequest) => boolean,
    what: string,
    patienceMs?: number,
  ) => Promise<void>;
}

const makeWaits = (terminal: UserTerminal, mock: MockServer, { log }: SessionFiles): Waits => {
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
    untilRequest: (isIt, what, patienceMs) =>
      terminal.until(() => mock.requests().some(isIt), what, patienceMs),
  };
};

// One trial session: ctxwrap with an agent in the user's terminal, the model server, and the wrapper's log files.

/** How the user's terminal looks, and who gets what is drawn in it. */
type Drawn = Pick<UserTerminalOptions, 'size' | 'isLight' | 'onOutput'>;

export interface TrialOptions<Agent extends VerifiableAgent = VerifiableAgent> extends Drawn {
  readonly agent: Agent;
  readonly version: string;
  /** the folder of the agent's command */
  readonly commands: string;
  /** the paths of Node and of ctxwrap's program */
  readonly ctxwrap: readonly [string, string];
  /** for all files that are written */
  readonly folder: string;
  /** of ctxwrap */
  readonly options?: readonly string[];
  readonly isVim?: boolean;
  /** additional files beside the agent's, by their paths in the home */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** the terminal supports OSC 7501 */
  readonly understandsState?: boolean;
  /** duration of the summary of a compaction, in milliseconds */
  readonly summaryMs: number;
  /** the usual timeout of all waits, in milliseconds */
  readonly patienceMs?: number;
  /** folders of programs, after those of the agent and of Node; the system's when absent */
  readonly programs?: readonly string[];
  /** the agent's temporary folder; the system's when absent */
  readonly temporary?: string;
  /** only the agent's own settings keep it from the network */
  readonly isOpen?: boolean;
}

export interface TrialSession<Agent extends VerifiableAgent = VerifiableAgent>
  extends SessionFiles, Waits, Conversation {
  readonly agent: Agent;
  readonly mock: MockServer;
  readonly terminal: UserTerminal;
  readonly home: string;
  /** the folder in which the agent's tools work */
  readonly project: string;
  /** the output of `ctxwrap` with these arguments in another terminal; rejects where its status is not 0 */
  readonly runCtxwrap: (...args: readonly string[]) => Promise<string>;
  /** another terminal of the user, in which ctxwrap runs with these arguments */
  readonly openTerminal: (...args: readonly string[]) => UserTerminal;
  /** the agent's arguments that keep it from the network and from changing its behaviour */
  readonly agentArgs: readonly string[];
  readonly summaryCount: () => number;
  /** waits while something must not happen */
  readonly waitFor: (ms: number) => Promise<void>;
  readonly end: () => Promise<void>;
}

const run = promisify(execFile);

export const openTrial = async <Agent extends VerifiableAgent>(
  given: TrialOptions<Agent>,
): Promise<TrialSession<Agent>> => {
  const { agent, version, folder, options = [], isVim = false, understandsState = false } = given;
  const [node, program] = given.ctxwrap;
  const mock = await startMockServer();
  mock.configure({ summary: spreadOver(given.summaryMs / agent.summaries) });
  const sandbox = makeSandbox(agent, folder, { version, isVim, port: mock.port }, given.files);
  const env = {
    ...environmentIn(sandbox.home, [given.commands, dirname(node)], given.programs),
    ...present({ TMPDIR: given.temporary }),
  };
  const args = agent.args({ version, help: await helpOf(agent, env) });
  const terminals: UserTerminal[] = [];
  const open = (words: readonly string[], drawn: Drawn = {}): UserTerminal => {
    const terminal = openUserTerminal({
      ...drawn,
      commandLine: [node, program, ...words],
      cwd: sandbox.project,
      env: { ...env, ...(given.isOpen ? proxiesTo(mock.port) : {}), ...agent.env(sandbox) },
      understandsState,
      patienceMs: given.patienceMs,
    });
    terminals.push(terminal);
    return terminal;
  };
  const { size, isLight, onOutput } = given;
  const drawn = { size, isLight, onOutput };
  const terminal = open([...sessionFileOptions(folder), ...options, agent.name, ...args], drawn);
  const files = sessionFilesIn(folder, sandbox.home);
  const waits = makeWaits(terminal, mock, files);
  return {
    agent,
    mock,
    terminal,
    home: sandbox.home,
    project: sandbox.project,
    ...files,
    ...waits,
    ...makeConversation(terminal, mock, { ...files, ...waits }),
    openTerminal: (...words) => open(words),
    agentArgs: args,
    runCtxwrap: async (...args) => (await run(node, [program, ...args], { env })).stdout,
    summaryCount: () => mock.requests().filter(({ purpose }) => purpose === 'summary').length,
    waitFor: pause,
    end: async () => {
      writeFileSync(join(folder, 'screen.txt'), terminal.screen());
      writeFileSync(join(folder, 'asked.json'), JSON.stringify(mock.requests(), undefined, 1));
      await Promise.all(terminals.map(hangUp));
      mock.close();
    },
  };
};

const HANG_UP_MS = 5_000;

/** Ends the session like closing the window; the wrapper then completes its files. */
const hangUp = async (terminal: UserTerminal): Promise<void> => {
  terminal.signal('SIGHUP');
  await Promise.race([terminal.ended, pause(HANG_UP_MS)]);
  terminal.signal('SIGKILL');
};
