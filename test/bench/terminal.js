// The terminal that a candidate runs in: the master side of a PTY, which answers questions as a real terminal does.
import { spawn } from '@lydell/node-pty';
import { readSync } from 'node:fs';
import { sleep } from './numbers.js';

export const ROWS = 24;
const COLUMNS = 80;
const PATIENCE_MS = 20_000; // with a candidate that writes nothing
const LEAVE_MS = 3_000;

// Node reads all certificates of NODE_EXTRA_CA_CERTS before anything else: where it is set, that is most of every start, and varies.
const environment = (more) => {
  const env = { ...process.env, TERM: 'xterm-256color', LANG: process.env.LANG ?? 'C.UTF-8', ...more };
  for (const name of Object.keys(env))
    if (/^(CTXWRAP|TMUX|CI$|NODE_V8|NODE_EXTRA_CA_CERTS$)/.test(name)) delete env[name];
  return { ...env, ...more };
};

/** Answers to the questions that ctxwrap and tmux ask when they start, in the order of the questions. */
const answersTo = (text) =>
  [...text.matchAll(/\x1b\[(\??6n|5n|>0?c|0?c)/g)].map(([, question]) => {
    if (question === '5n') return '\x1b[0n';
    if (question.endsWith('6n')) return question === '6n' ? '\x1b[1;1R' : '\x1b[?1;1R';
    return question.startsWith('>') ? '\x1b[>0;276;0c' : '\x1b[?62;22c';
  });

const within = async (milliseconds, promise, what) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hung: ${what}`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Starts `words`; answers questions until told otherwise. Its end is awaited by `leave`. */
export const openTerminal = ([file, ...args], { answers = true, env = {}, cwd = process.cwd() } = {}) => {
  const startedAt = performance.timeOrigin + performance.now();
  const pty = spawn(file, args, { cols: COLUMNS, rows: ROWS, env: environment(env), cwd, encoding: null });
  let onBytes = () => undefined;
  let answering = answers;
  let isOver = false;
  pty.onData((bytes) => {
    if (answering && bytes.includes(0x1b))
      for (const answer of answersTo(bytes.toString('latin1'))) pty.write(answer);
    onBytes(bytes);
  });
  const ended = new Promise((resolve) =>
    pty.onExit((exit) => {
      isOver = true;
      resolve(exit);
    }),
  );
  const until = (text) =>
    new Promise((resolve, reject) => {
      let tail = '';
      ended.then(() => reject(new Error(`crashed: it ended before ${JSON.stringify(text)}`)));
      onBytes = (bytes) => {
        tail += bytes.toString('latin1');
        if (!tail.includes(text)) {
          tail = tail.slice(-1024);
          return;
        }
        onBytes = () => undefined;
        resolve(performance.now());
      };
    });
  const kill = async () => {
    if (!isOver) pty.kill('SIGKILL');
    await within(LEAVE_MS, ended, 'it could not be killed').catch(() => undefined);
  };
  return {
    pid: pty.pid,
    startedAt,
    write: (text) => pty.write(text),
    /** each chunk from now on goes to this function only */
    listen: (listener) => (onBytes = listener),
    stopAnswering: () => (answering = false),
    kill,
    /** writes what ends the child; a candidate that stays is killed, and that is its failure */
    leave: async (text) => {
      if (!isOver) pty.write(text);
      try {
        await within(LEAVE_MS, ended, 'it did not end');
      } finally {
        await kill();
      }
    },
    /** resolves with the time at which `text` has come, possibly in pieces */
    until: (text) => within(PATIENCE_MS, until(text), `${JSON.stringify(text)} did not come`),
    /** reads until `text` comes, blocking this process: nothing else of it costs time then */
    readUntil: (text, onProgress) => readUntil(pty, text, onProgress),
  };
};

/** A terminal while `act` uses it; it is closed in any case. */
export const withTerminal = async (words, options, act) => {
  const terminal = openTerminal(words, options);
  try {
    return await act(terminal);
  } finally {
    await terminal.kill();
  }
};

const WAIT_MS = 0.1; // for more output; a pseudo-terminal holds what comes in this time
const CHUNK = 64 * 1024;
const STILL_MS = 20_000; // without a byte
const MOST_MS = 60_000; // until the end has come

const readNow = (fd, buffer) => {
  try {
    return readSync(fd, buffer);
  } catch (error) {
    if (error.code === 'EAGAIN') return 0;
    if (error.code === 'EIO') throw new Error('crashed: it ended while it wrote', { cause: error });
    throw error;
  }
};

// The master is read with plain reads in a tight loop: an event loop with a callback for each 4 KB would be the bottleneck.
const readUntil = async (pty, text, onProgress = () => undefined) => {
  await sleep(0); // node-pty writes in the next turn
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0; // an error for each empty read must stay cheap
  try {
    return readLoop(pty.fd, text, onProgress);
  } finally {
    Error.stackTraceLimit = limit;
  }
};

const readLoop = (fd, text, onProgress) => {
  const buffer = Buffer.alloc(CHUNK);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  let [tail, bytes] = ['', 0];
  const startedAt = performance.now();
  let lastAt = startedAt;
  for (;;) {
    const size = readNow(fd, buffer);
    if (size === 0) {
      if (tail.includes(text)) return bytes;
      if (performance.now() - lastAt > STILL_MS) throw new Error('hung: no output');
      Atomics.wait(sleeper, 0, 0, WAIT_MS);
      continue;
    }
    lastAt = performance.now();
    if (lastAt - startedAt > MOST_MS) throw new Error(`hung: the output took more than ${MOST_MS / 1000} s`);
    bytes += size;
    tail =
      size >= 256 ? buffer.latin1Slice(size - 256, size) : (tail + buffer.latin1Slice(0, size)).slice(-256);
    onProgress(bytes);
  }
};
