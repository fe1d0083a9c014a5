import { realpathSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { errorStack } from '../core/errors.js';
import type { ThreadListener, WorkerThread } from '../main-thread/worker-host.js';
import type { WorkerStart } from '../session/thread-messages.js';
import { sharedProgramFile, threadScript } from './program-file.js';
import type { Options } from './request.js';

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

// The launcher is a script, whatever NODE_OPTIONS say. Node takes no options of V8 beside it, so those of the command line are left out.
const SCRIPT = '--input-type=commonjs';

/** Starts the thread of a session: the same build of the program again (worker-thread.ts). Its output does not reach the terminal. */
export const startThread = (data: ThreadData, { onMessage, onEnd }: ThreadListener): WorkerThread => {
  const program = sharedProgramFile();
  const worker = new Worker(program ? threadScript(program) : realpathSync(process.argv[1] ?? ''), {
    eval: program !== undefined,
    ...(program ? { execArgv: [SCRIPT] } : {}),
    workerData: data,
    name: 'session',
    stdin: true,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES, maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  worker.on('message', onMessage);
  worker.on('error', (error) => onEnd(errorStack(error)));
  worker.on('exit', (code) => onEnd(`it ended with ${code}`));
  worker.unref(); // the session ends without it
  return {
    post: (message, transfer) => worker.postMessage(message, [...transfer]),
    terminate: () => worker.terminate(),
  };
};
