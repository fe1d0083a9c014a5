// The terminal that a candidate runs in: the master side of a PTY, which answers questions as a real terminal does.
import { spawn } from '@lydell/node-pty';
import { readSync } from 'node:fs';

export const ROWS = 24;
const COLUMNS = 80;

const environment = () => {
  const env = { ...process.env, TERM: 'xterm-256color', LANG: process.env.LANG ?? 'C.UTF-8' };
  for (const name of Object.keys(env)) if (/^(CTXWRAP|TMUX|CI$|NODE_V8)/.test(name)) delete env[name];
  return env;
};

/** Answers to the questions that ctxwrap and tmux ask when they start, in the order of the questions. */
const answersTo = (text) =>
  [...text.matchAll(/\x1b\[(\??6n|5n|>0?c|0?c)/g)].map(([, question]) => {
    if (question === '5n') return '\x1b[0n';
    if (question.endsWith('6n')) return question === '6n' ? '\x1b[1;1R' : '\x1b[?1;1R';
    return question.startsWith('>') ? '\x1b[>0;276;0c' : '\x1b[?62;22c';
  });

/** Starts `words`; answers questions until told otherwise. */
export const openTerminal = ([file, ...args], { answers = true } = {}) => {
  const startedAt = performance.timeOrigin + performance.now();
  const pty = spawn(file, args, { cols: COLUMNS, rows: ROWS, env: environment(), encoding: null });
  let onBytes = () => undefined;
  let answering = answers;
  pty.onData((bytes) => {
    if (answering && bytes.includes(0x1b))
      for (const answer of answersTo(bytes.toString('latin1'))) pty.write(answer);
    onBytes(bytes);
  });
  const ended = new Promise((resolve) => pty.onExit(resolve));
  const terminal = {
    pid: pty.pid,
    startedAt,
    ended,
    write: (text) => pty.write(text),
    /** each chunk from now on goes to this function only */
    listen: (listener) => (onBytes = listener),
    stopAnswering: () => (answering = false),
    kill: () => pty.kill('SIGKILL'),
    /** resolves with the time at which `text` has come, possibly in pieces */
    until: (text) =>
      new Promise((resolve, reject) => {
        let tail = '';
        ended.then(() => reject(new Error(`${file} ended before ${text}: ${tail}`)));
        onBytes = (bytes) => {
          tail += bytes.toString('latin1');
          if (!tail.includes(text)) {
            tail = tail.slice(-1024);
            return;
          }
          onBytes = () => undefined;
          resolve(performance.now());
        };
      }),
    /** reads until `text` comes, blocking this process: nothing else of it costs time then */
    readUntil: (text, onProgress) => readUntil(pty, text, onProgress),
  };
  return terminal;
};

const WAIT_MS = 0.1; // for more output; a pseudo-terminal holds what comes in this time
const CHUNK = 64 * 1024;

const readNow = (fd, buffer) => {
  try {
    return readSync(fd, buffer);
  } catch (error) {
    if (error.code === 'EAGAIN') return 0;
    throw error;
  }
};

// The master is read with plain reads in a tight loop: an event loop with a callback for each 4 KB would be the bottleneck.
const readUntil = (pty, text, onProgress = () => undefined) => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0; // an error for each empty read must stay cheap
  const buffer = Buffer.alloc(CHUNK);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  let tail = '';
  let bytes = 0;
  for (;;) {
    const size = readNow(pty.fd, buffer);
    if (size === 0) {
      if (tail.includes(text)) break;
      Atomics.wait(sleeper, 0, 0, WAIT_MS);
      continue;
    }
    bytes += size;
    tail =
      size >= 256 ? buffer.latin1Slice(size - 256, size) : (tail + buffer.latin1Slice(0, size)).slice(-256);
    onProgress(bytes);
  }
  Error.stackTraceLimit = limit;
  return bytes;
};
