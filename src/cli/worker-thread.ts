import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { Agent } from '../agents/agent.js';
import { allAgents } from '../agents/index.js';
import { assumedWindow } from '../core/config/backends.js';
import { strategyNotices } from '../core/config/strategy.js';
import type { Log } from '../storage/log-file.js';
import type { WrapSession } from '../session/options.js';
import type { ToWorker } from '../session/thread-messages.js';
import { agentFromOption } from './agent-option.js';
import { withConfiguration } from './config/apply.js';
import type { Options } from './request.js';
import type { ThreadData } from './session-thread.js';

// The worker thread of a session: the same program, started again in a thread, which finds its agent and its configuration by itself,
// because functions cannot be sent to a thread.

/** The agent of the session, with the user's changes of it. */
const findAgent = async (options: Options, name: string): Promise<Agent> => {
  const own = options.configured?.runtimes ?? [];
  const asked = await agentFromOption(options.runtime, own);
  const agent = asked ?? allAgents(own).find((each) => each.name === name);
  if (!agent) throw new Error(`the agent ${name} is no longer known`);
  return agent;
};

/** Settings that only a configuration can hold, and what becomes of the strategy. */
const configuredSession = (
  { configured, values, isModeGiven }: Options,
  { name, home, newSessions }: Agent,
  log: Log,
): Pick<WrapSession, 'assumedWindow' | 'watchSettings'> & { readonly changes?: readonly string[] } => {
  const assumed =
    configured && values.window === undefined
      ? assumedWindow(values.backend, {
          isKnown: home !== undefined,
          ownTokens: values['claude.million'] ? home?.largeWindowTokens : undefined,
        })
      : undefined;
  const changes = strategyNotices(values, {
    isModeGiven,
    assumedTokens: assumed,
    agent: { name, canSwitch: newSessions?.switching !== undefined },
  });
  if (!configured) return { changes };
  const { windows, watch } = configured;
  return {
    changes,
    ...(assumed === undefined ? {} : { assumedWindow: assumed }),
    watchSettings: ({ onChange, onNotice }) =>
      watch({
        onNotice,
        onChange: ({ values: { window = windows[name], ...others }, ...given }, line) => {
          log.info(line);
          onChange({ ...given, values: { ...others, ...(window === undefined ? {} : { window }) } });
        },
        onTrouble: (detail) => log.warn(`${detail}; the previous settings stay in force`),
      }),
  };
};

/** Runs in the thread. Messages wait until everything is loaded. */
export const runThread = async (): Promise<void> => {
  const port = parentPort;
  if (isMainThread || !port) return;
  const { start, options: given, isConfigured, agent: name } = workerData as ThreadData;
  const { makeWorkerLog, runWorker } = await import('../worker/worker.js');
  const options: Options = isConfigured ? await withConfiguration(given) : given;
  const agent = await findAgent(options, name);
  const channel = { post: (message: unknown) => port.postMessage(message) };
  const log: Log = makeWorkerLog(start.log, channel);
  const { changes = [], ...configured } = configuredSession(
    { ...options, values: start.session.values },
    agent,
    log,
  );
  const session: WrapSession = {
    ...start.session,
    agent,
    log,
    recording: undefined,
    ...configured,
    notices: [...(start.session.notices ?? []), ...changes],
  };
  const handle = runWorker(session, start, channel);
  const handled = new Int32Array(start.handled);
  port.on('message', (message: ToWorker) => {
    handle(message);
    Atomics.add(handled, 0, 1);
  });
};
