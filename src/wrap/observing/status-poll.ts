import type { AgentStatus } from '../../runtimes/seen.js';

/** Asks the agent's status file while the agent does something. */
export interface StatusPoll {
  /** what it said last */
  readonly last: () => AgentStatus | undefined;
  /** the agent has written: its status may change */
  readonly noteOutput: () => void;
  /** resolves when it has been asked anew */
  readonly refresh: () => Promise<void>;
  readonly stop: () => void;
}

const POLL_MS = 500;
const LINGER_MS = 2_000; // agents write their status around the moment when they write to the screen, not only before it

export const pollStatus = (
  read: () => Promise<AgentStatus | undefined>,
  onChange: () => void,
): StatusPoll => {
  let last: AgentStatus | undefined;
  let outputAt = -Infinity;
  let pollAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;
  let isStopped = false;

  const ask = async (): Promise<void> => {
    timer = undefined;
    isAsking = true;
    pollAt = performance.now();
    const said = await read().catch(() => undefined);
    isAsking = false;
    if (isStopped) return;
    const isNew = said?.state !== last?.state || said?.waitingFor !== last?.waitingFor;
    last = said;
    if (performance.now() - outputAt < LINGER_MS) again();
    if (isNew) onChange();
  };
  const again = (): void => {
    if (isAsking || isStopped) return;
    timer ??= setTimeout(() => void ask(), Math.max(0, pollAt + POLL_MS - performance.now())).unref();
  };
  return {
    last: () => last,
    noteOutput: () => {
      outputAt = performance.now();
      again();
    },
    refresh: async () => {
      clearTimeout(timer);
      timer = undefined;
      if (!isAsking && !isStopped) await ask();
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
