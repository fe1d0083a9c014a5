import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Terminal } from '@xterm/headless';
import { startChild, type ChildEnd } from '../../src/terminal/pty.js';
import { makeCharacterJoiner } from '../../src/terminal/time-sliced-parser.js';

const program = fileURLToPath(new URL('../../dist/demo-agent.js', import.meta.url));

/** The built agent under a real PTY, drawn by an emulator. */
export interface DemoTerminal {
  readonly terminal: Terminal;
  readonly pid: number;
  readonly ended: Promise<ChildEnd>;
  /** rows of the window, or with `all` of the scrollback too */
  rows: (all?: 'all') => readonly string[];
  /**
   * resolves when the screen, looked at after every output, satisfies the condition; a text must be somewhere on it. A read may end inside a
   * synchronized update, of which a terminal shows nothing before its end.
   */
  until: (condition: string | ((screen: string) => boolean)) => Promise<void>;
  type: (bytes: string) => void;
  resize: (columns: number, rows: number) => void;
  signal: (name: NodeJS.Signals) => void;
  bytes: () => string;
  log: () => readonly Record<string, unknown>[];
}

export interface Setting {
  readonly args: readonly string[];
  readonly log?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
}

/** Starts the program, runs `act`, and ends the program in any case. */
export const withDemo = async (
  setting: Setting,
  act: (demo: DemoTerminal) => Promise<void>,
): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'demo-agent-'));
  const { stage: demo, close } = start(setting, folder);
  try {
    await act(demo);
  } finally {
    close();
    rmSync(folder, { recursive: true, force: true });
  }
};

const start = (setting: Setting, folder: string) => {
  const { columns = 80, rows = 24 } = setting;
  const logFile = join(folder, 'log.jsonl');
  const env = {
    ...process.env,
    ...setting.env,
    ...(setting.log === false ? {} : { CTXWRAP_DEMO_LOG: logFile }),
  };
  const args = [program, ...setting.args];
  const terminal = new Terminal({
    cols: columns,
    rows,
    scrollback: 5000,
    allowProposedApi: true,
    logLevel: 'off',
  });
  const bytes: Buffer[] = [];
  const whole = makeCharacterJoiner();
  let alive = true;
  const watchers = new Set<() => void>();
  const look = (): void => watchers.forEach((watcher) => watcher());
  let resolve: (ending: ChildEnd) => void = () => undefined;
  const ended = new Promise<ChildEnd>((resolved) => {
    resolve = resolved;
  });
  // started like a wrapped child, so that none of the last output is lost
  const child = startChild({
    file: process.execPath,
    args,
    cwd: process.cwd(),
    env: definedOnly(env),
    size: { columns, rows },
    termios: '',
  }).listen({
    onOutput: (data) => {
      const own = Buffer.from(data); // the emulator reads them later
      bytes.push(own);
      terminal.write(whole(own), look);
    },
    onDrain: () => undefined,
    onEnd: (ending) => {
      alive = false;
      terminal.write('', () => {
        look();
        resolve(ending);
      });
    },
  });
  const demo: DemoTerminal = {
    terminal,
    pid: child.pid,
    ended,
    rows: (all) => rowsOf(terminal, all === 'all'),
    until: (condition) =>
      new Promise((resolve, reject) => {
        const met =
          typeof condition === 'string' ? (screen: string) => screen.includes(condition) : condition;
        const watcher = (): void => {
          if (alive && terminal.modes.synchronizedOutputMode) return;
          const screen = rowsOf(terminal, false).join('\n');
          if (met(screen)) resolve();
          else if (!alive)
            reject(new Error(`the agent ended before ${String(condition)}; screen:\n${screen}`));
          else return;
          watchers.delete(watcher);
        };
        watchers.add(watcher);
        watcher();
      }),
    type: (text) => child.write(Buffer.from(text)),
    resize: (newColumns, newRows) => {
      terminal.resize(newColumns, newRows);
      child.resize({ columns: newColumns, rows: newRows });
    },
    signal: (name) => process.kill(child.pid, name),
    bytes: () => Buffer.concat(bytes).toString(),
    log: () => readLog(logFile),
  };
  return { stage: demo, close: () => alive && process.kill(child.pid, 'SIGKILL') };
};

const definedOnly = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

const rowsOf = (terminal: Terminal, all: boolean): readonly string[] => {
  const buffer = terminal.buffer.active;
  const first = all ? 0 : buffer.baseY;
  return Array.from(
    { length: buffer.baseY + terminal.rows - first },
    (_, row) => buffer.getLine(first + row)?.translateToString(true) ?? '',
  );
};

const readLog = (file: string): readonly Record<string, unknown>[] => {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  } catch {
    return [];
  }
};
