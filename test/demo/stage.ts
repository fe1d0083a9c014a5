import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import { Terminal } from '@xterm/headless';

const program = fileURLToPath(new URL('../../dist/demo-agent.js', import.meta.url));

interface Ending {
  readonly exitCode: number;
  readonly signal?: number | undefined;
}

/** The built agent under a real PTY, drawn by an emulator. */
export interface Stage {
  readonly terminal: Terminal;
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /** rows of the window, or with `all` of the scrollback too */
  rows: (all?: 'all') => readonly string[];
  /** resolves when the screen, looked at after every output, satisfies the condition; a text must be somewhere on it */
  until: (condition: string | ((screen: string) => boolean)) => Promise<void>;
  type: (bytes: string) => void;
  resize: (columns: number, rows: number) => void;
  signal: (name: NodeJS.Signals) => void;
  bytes: () => string;
  log: () => readonly Record<string, unknown>[];
}

export interface Setting {
  readonly args?: readonly string[];
  readonly script?: readonly object[];
  readonly log?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
}

/** Starts the program and ends it, whatever happens, with the test that `act` is. */
export const onStage = async (setting: Setting, act: (stage: Stage) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'demo-agent-'));
  const { stage, close } = start(setting, folder);
  try {
    await act(stage);
  } finally {
    close();
    rmSync(folder, { recursive: true, force: true });
  }
};

const start = (setting: Setting, folder: string) => {
  const { columns = 80, rows = 24 } = setting;
  const logFile = join(folder, 'log.jsonl');
  const scriptFile = join(folder, 'script.json');
  const scripted = setting.script ? ['--script', scriptFile] : [];
  if (setting.script) writeFileSync(scriptFile, JSON.stringify(setting.script));
  const env = {
    ...process.env,
    ...setting.env,
    ...(setting.log === false ? {} : { CTXWRAP_DEMO_LOG: logFile }),
  };
  const args = [program, ...(setting.args ?? ['--pace', '20']), ...scripted];
  const pty = spawn(process.execPath, args, { cols: columns, rows, env, name: 'xterm-256color' });
  const terminal = new Terminal({
    cols: columns,
    rows,
    scrollback: 5000,
    allowProposedApi: true,
    logLevel: 'off',
  });
  let bytes = '';
  let alive = true;
  const watchers = new Set<() => void>();
  const look = (): void => watchers.forEach((watcher) => watcher());
  pty.onData((data) => {
    bytes += data;
    terminal.write(data, look);
  });
  const ended = new Promise<Ending>((resolve) => {
    pty.onExit((ending) => {
      alive = false;
      terminal.write('', () => {
        look();
        resolve(ending);
      });
    });
  });
  const stage: Stage = {
    terminal,
    pid: pty.pid,
    ended,
    rows: (all) => rowsOf(terminal, all === 'all'),
    until: (condition) =>
      new Promise((resolve, reject) => {
        const met =
          typeof condition === 'string' ? (screen: string) => screen.includes(condition) : condition;
        const watcher = (): void => {
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
    type: (text) => pty.write(text),
    resize: (newColumns, newRows) => {
      terminal.resize(newColumns, newRows);
      pty.resize(newColumns, newRows);
    },
    signal: (name) => process.kill(pty.pid, name),
    bytes: () => bytes,
    log: () => readLog(logFile),
  };
  return { stage, close: () => alive && pty.kill('SIGKILL') };
};

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
