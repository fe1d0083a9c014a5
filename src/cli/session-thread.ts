import { realpathSync } from 'node:fs';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { errorCode, errorStack } from '../core/errors.js';
import type { ThreadListener, WorkerThread } from '../main-thread/worker-host.js';
import type { WorkerStart } from '../session/thread-messages.js';
import { type ProgramFile, sharedProgramFile, threadScript } from './program-file.js';
import type { Options } from './request.js';

// Starts the thread of a session. It is a file of its own because node:worker_threads takes 3 ms to load, which the agent need not wait for.

/** What the thread of a session gets. */
export interface ThreadData {
  readonly start: WorkerStart;
  readonly options: Omit<Options, 'configured'>;
  /** files and environment apply */
  readonly isConfigured: boolean;
  /** name of the agent */
  readonly agent: string;
}

const MOST_MEGABYTES = 512; // of its heap: a thread that needs more has a fault, and is ended
const YOUNG_MEGABYTES = 8; // of new objects: more would only take memory

// The launcher is a script, whatever NODE_OPTIONS say.
const SCRIPT = '--input-type=commonjs';

/** With Node's options of this process; without them where some cannot be given to a thread, as those of V8. */
const startLauncher = (program: ProgramFile, options: WorkerOptions): Worker => {
  const start = (given: readonly string[]): Worker =>
    new Worker(threadScript(program), { ...options, eval: true, execArgv: [...given, SCRIPT] });
  try {
    return start(process.execArgv);
  } catch (error) {
    if (errorCode(error) !== 'ERR_WORKER_INVALID_EXEC_ARGV') throw error;
    return start([]);
  }
};

/** Starts the thread of a session: the same build of the program again (worker-thread.ts). Its output does not reach the terminal. */
export const startThread = (data: ThreadData, { onMessage, onEnd }: ThreadListener): WorkerThread => {
  const program = sharedProgramFile();
  const options: WorkerOptions = {
    workerData: data,
    name: 'session',
    stdin: true,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES, maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  };
  const worker = program
    ? startLauncher(program, options)
    : new Worker(realpathSync(process.argv[1] ?? ''), options);
  worker.stdout.resume();
  worker.stderr.resume();
  worker.on('message', onMessage);
  worker.on('error', (error) => onEnd(errorStack(error)));
  worker.on('exit', (code) => onEnd(`it ended with ${code}`));
  worker.unref(); // the session ends without it
  return {
    post: (message) => worker.postMessage(message),
    terminate: () => worker.terminate(),
  };
};
