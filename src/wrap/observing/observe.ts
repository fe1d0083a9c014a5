import type { ScreenReader } from '../../runtimes/runtime.js';
import { makeLooker, type LookerOptions } from './looker.js';
import { OUTPUT_EVERY_MS } from './scan-timing.js';
import { pollStatus } from './status-poll.js';
import type { Look } from '../compacting/type-order.js';
import type { AgentStatus } from '../../runtimes/seen.js';

/** Looks at the child's screen when it has come to rest. Nothing runs while the child writes nothing. */
export interface Observer {
  /** the child has written; called after its bytes are on their way, so it only notes the time */
  readonly noteOutput: () => void;
  /** looks now; undefined while the screen is not drawn to its end, or cannot be read */
  readonly look: () => Look | undefined;
  /** resolves when the agent's status file has been read anew: the next look is not at an old word of its own */
  readonly refresh: () => Promise<void>;
  readonly stop: () => void;
}

export interface ObserverOptions extends Omit<LookerOptions, 'reader' | 'status'> {
  /** undefined for a runtime whose screen nobody can read */
  readonly read: ScreenReader | undefined;
  /** the agent's own status file, where it has one */
  readonly status: (() => Promise<AgentStatus | undefined>) | undefined;
}

export const makeObserver = (options: ObserverOptions): Observer => {
  const { read, status, onEvent } = options;
  const clock = (): number => performance.now();
  let outputAt = -Infinity;
  const poll = status && read && pollStatus(status, () => looker?.note(clock()));
  const looker = read && makeLooker({ ...options, reader: read, status: () => poll?.last() });
  return {
    noteOutput: () => {
      const now = clock();
      looker?.note(now);
      poll?.noteOutput();
      if (now - outputAt < OUTPUT_EVERY_MS) return;
      outputAt = now;
      setTimeout(() => onEvent({ type: 'output' }), 0).unref(); // the next bytes do not wait for it
    },
    look: () => looker?.now(),
    refresh: async () => poll?.refresh(),
    stop: () => {
      poll?.stop();
      looker?.stop();
    },
  };
};
