import { setTimeout as pause } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import { programPath } from './programs.js';
import type { Ending } from './wrapped.js';

/** A terminal that can stop reading, and draws nothing. It answers the queries for the cursor position and the status. */
export interface PausableTerminal {
  /** of the program; its parent keeps the terminal open */
  pid: () => number;
  /** resolves when the program has been started */
  started: () => Promise<void>;
  /** resolves when the program's exit status can be read */
  ended: () => Promise<Ending>;
  stopReading: () => void;
  readOn: () => void;
  /** called with each chunk */
  onBytes: (listener: (bytes: Buffer) => void) => void;
  bytes: () => Buffer;
  type: (keys: string) => void;
  close: () => void;
}

export interface PausableTerminalOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const VALVE_ROWS = 24;
const COLUMNS = 80;
const LOOK_MS = 5;

const messages = (text: string): readonly (Ending & { pid?: number })[] =>
  [...text.matchAll(/\x1b\]7777;([^\x07]*)\x07/g)].map(
    ([, json = '']) => JSON.parse(json) as Ending & { pid?: number },
  );

export const openPausableTerminal = ({ command, cwd, env }: PausableTerminalOptions): PausableTerminal => {
  const args = [programPath('parent.js'), '', ...command];
  const size = { cols: COLUMNS, rows: VALVE_ROWS };
  const pty = spawn(process.execPath, args, { ...size, cwd, env: { ...env }, encoding: null });
  const chunks: Buffer[] = [];
  let listener: (bytes: Buffer) => void = () => undefined;
  let pid = 0;
  let finish: (ending: Ending) => void = () => undefined;
  const ended = new Promise<Ending>((resolve) => (finish = resolve));
  let start: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (start = resolve));
  pty.onData((data) => {
    const bytes = data as unknown as Buffer; // there is no encoding
    chunks.push(bytes);
    if (bytes.includes('\x1b[?6n')) pty.write('\x1b[?1;1R');
    if (bytes.includes('\x1b[5n')) pty.write('\x1b[0n');
    const recent = Buffer.concat(chunks.slice(-3)).toString('latin1'); // a message may arrive in pieces
    for (const message of messages(recent)) {
      if (message.pid === undefined) finish(message);
      else ({ pid } = message);
    }
    if (pid > 0) start();
    listener(bytes);
  });
  return {
    pid: () => pid,
    started: () => started,
    ended: () => ended,
    stopReading: () => pty.pause(),
    readOn: () => pty.resume(),
    onBytes: (next) => (listener = next),
    bytes: () => Buffer.concat(chunks),
    type: (keys) => pty.write(keys),
    close: () => pty.kill('SIGKILL'),
  };
};

/** Resolves when no process with this pid is left. */
export const processGone = async (pid: number): Promise<void> => {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await pause(LOOK_MS);
  }
};

/** The child's lines in the output, without the footers painted and the questions asked between them. */
export const linesIn = (valve: PausableTerminal): string => {
  const text = valve.bytes().toString('utf8');
  const paint = new RegExp(String.raw`\x1b7\x1b\[${VALVE_ROWS};1H[^]*?\x1b8`, 'g');
  return text
    .slice(text.indexOf('line 0'))
    .replaceAll(paint, '')
    .replaceAll(/\x1b\[(?:\?6|5)n/g, '');
};
