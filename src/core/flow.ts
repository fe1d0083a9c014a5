// A number that stays the same while the agent writes and writes has lost its source. An idle agent's number does not age.
import type { Millis } from './reading.js';

const GAP_MS = 2_000; // a longer silence is not output that flows
const STALE_MS = 300_000;

/** How long output has flowed since the number moved. */
export interface Flow {
  readonly flowedMs: number;
  /** undefined before the first output */
  readonly outputAt?: Millis;
}

export const noFlow: Flow = { flowedMs: 0 };

export const afterOutput = ({ flowedMs, outputAt }: Flow, now: Millis): Flow => {
  const gap = outputAt === undefined ? 0 : Math.max(0, now - outputAt);
  return { flowedMs: flowedMs + (gap <= GAP_MS ? gap : 0), outputAt: now };
};

/** The number has moved. */
export const restarted = (flow: Flow): Flow => ({ ...flow, flowedMs: 0 });

export const isStale = ({ flowedMs }: Flow): boolean => flowedMs >= STALE_MS;
