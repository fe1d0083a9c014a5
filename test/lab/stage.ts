// One session to look at: ctxwrap with an agent in the user's terminal, the model behind it, and what the wrapper says of itself.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ENTER, type LabAgent } from './agents/agent.js';
import { startMock, type Asked, type Mock } from './mock/server.js';
import { openUserTerminal, type UserTerminal } from './terminal.js';

/** Bounds of the tiers in every scenario, in tokens, and numbers that lie between them. */
const BOUNDS = { warn: 30_000, auto: 50_000, hard: 70_000 } as const;
export const LITTLE = 10_000;
export const SOME = 20_000;
export const FULL = 55_000;
export const HARD = 75_000;

export interface StageOptions {
  readonly agent: LabAgent;
  /** of the agent's commands */
  readonly commands: string;
  /** the program */
  readonly ctxwrap: string;
  /** for everything that is written */
  readonly folder: string;
  readonly options: readonly string[];
  readonly isVim: boolean;
}

export interface Stage {
  readonly agent: LabAgent;
  readonly mock: Mock;
  readonly terminal: UserTerminal;
  /** for the agent's tools to work in */
  readonly project: string;
  readonly footer: () => string;
  readonly log: () => string;
  readonly cast: () => string;
  /** the wrapper's audit log */
  readonly audit: () => string;
  /** as the wrapper has last seen it */
  readonly activity: () => string | undefined;
  /** what `ctxwrap` prints with these words in another terminal; rejects where its status is not 0 */
  readonly outside: (...words: readonly string[]) => Promise<string>;
  /** types a message as a person does, and sends it when it stands on the screen */
  readonly say: (text: string) => Promise<void>;
  /** a whole turn, after which the model says that so many tokens are used */
  readonly turn: (usedTokens: number) => Promise<void>;
  /** resolves with the first line of the wrapper's log from this place on that matches */
  readonly untilLog: (pattern: RegExp, from?: number, patienceMs?: number) => Promise<string>;
  readonly untilFooter: (pattern: RegExp, patienceMs?: number) => Promise<void>;
  readonly untilScreen: (pattern: RegExp) => Promise<void>;
  readonly untilAsked: (isIt: (asked: Asked) => boolean, what: string, patienceMs?: number) => Promise<void>;
  readonly summaries: () => number;
  /** lets time pass in which something must not happen */
  readonly watch: (ms: number) => Promise<void>;
  readonly end: () => Promise<void>;
}

const run = promisify(execFile);

const SUBMIT_MS = 150; // a person does not press Enter in the same moment as the last letter
const LIST_MS = 500; // and looks at the list of commands first: Gemini takes an entry of an older one

export const openStage = async (given: StageOptions): Promise<Stage> => {
  const { agent, folder } = given;
  const mock = await startMock();
  const ground = { ...makeGround(folder), port: mock.port, isVim: given.isVim };
  for (const [path, text] of Object.entries(agent.files(ground))) write(join(ground.home, path), text);
  write(join(ground.project, 'README.md'), '# A project\n');
  const [logPath, castPath] = [join(folder, 'ctxwrap.log'), join(folder, 'session.cast')];
  const env = {
    PATH: [given.commands, dirname(process.execPath), '/usr/local/bin:/usr/bin:/bin'].join(':'),
    HOME: ground.home,
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    LANG: 'C.UTF-8',
  };
  const terminal = openUserTerminal({
    words: [
      process.execPath,
      given.ctxwrap,
      ...wrapperArgs(given, logPath, castPath),
      agent.name,
      ...agent.args,
    ],
    cwd: ground.project,
    env: { ...env, ...agent.env(ground) },
  });
  const auditPath = join(ground.home, '.local/state/ctxwrap/audit.jsonl');
  const log = (): string => (existsSync(logPath) ? readFileSync(logPath, 'utf8') : '');
  const footer = (): string => terminal.rows().at(-1) ?? '';
  const activity = (): string | undefined => [...log().matchAll(/ activity (\w+)/g)].at(-1)?.[1];
  const untilScreen = (pattern: RegExp): Promise<void> =>
    terminal.until(() => pattern.test(terminal.screen()), `${pattern} on the screen`);
  const say = async (text: string): Promise<void> => {
    await terminal.type(text);
    await terminal.until(() => terminal.screen().includes(text), `${text} in the prompt`);
    await pause(text.startsWith('/') ? LIST_MS : SUBMIT_MS);
    terminal.press(ENTER);
  };
  const untilAsked: Stage['untilAsked'] = (isIt, what, patienceMs) =>
    terminal.until(() => mock.asked().some(isIt), what, patienceMs);
  let turns = 0;
  return {
    agent,
    mock,
    terminal,
    project: ground.project,
    footer,
    log,
    cast: () => readFileSync(castPath, 'utf8'),
    audit: () => (existsSync(auditPath) ? readFileSync(auditPath, 'utf8') : ''),
    activity,
    outside: async (...words) => (await run(process.execPath, [given.ctxwrap, ...words], { env })).stdout,
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
      await terminal.until(() => activity() === 'ready', 'the agent at rest after its turn');
    },
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
    untilScreen,
    untilAsked,
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
const hangUp = async (terminal: UserTerminal): Promise<void> => {
  terminal.signal('SIGHUP');
  await Promise.race([terminal.ended, pause(HANG_UP_MS)]);
  terminal.signal('SIGKILL');
};

const wrapperArgs = ({ options }: StageOptions, logPath: string, castPath: string): readonly string[] => [
  ...Object.entries(BOUNDS).flatMap(([tier, tokens]) => [`--${tier}`, String(tokens)]),
  '--log',
  logPath,
  '--record',
  castPath,
  '--record-input',
  ...options,
];

const makeGround = (folder: string) => {
  const [home, project] = [join(folder, 'home'), join(folder, 'project')];
  mkdirSync(home, { recursive: true });
  mkdirSync(project, { recursive: true });
  return { home, project };
};

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};
