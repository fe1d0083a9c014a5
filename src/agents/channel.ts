import type { ControlChannel } from '../core/compaction/state.js';
import type { Env } from './agent.js';

// How an agent is asked to compact without keys, by an interface of its own. Data and pure functions; src/wrap/channel.ts does the asking.

/** An HTTP server in the agent's own process, on this machine only and behind a password. */
export interface ServerChannel extends ControlChannel {
  readonly via: 'server';
  /** what a launch adds so that the agent opens its server, or why the launch is left alone */
  readonly plan: (launch: ServerLaunch) => ServerPlan;
  /** its user, for basic authentication (RFC 7617) */
  readonly user: string;
  /** asks whether the agent is at work */
  readonly state: ServerCall;
  /** reads the answer; undefined for one of an unknown form */
  readonly isBusy: (answer: unknown) => boolean | undefined;
  /** has the agent compact the conversation that the user sees */
  readonly compact: ServerCall;
  /** whether this is the answer of a server that has taken the request */
  readonly isTaken: (answer: unknown) => boolean;
}

export interface ServerCall {
  readonly method: 'GET' | 'POST';
  /** begins with a slash */
  readonly path: string;
  /** sent as JSON */
  readonly body?: object;
}

export interface ServerLaunch {
  readonly args: readonly string[];
  /** of the child */
  readonly env: Env;
  /** a free port of 127.0.0.1 */
  readonly port: number;
  readonly password: string;
}

export type ServerPlan =
  | {
      readonly kind: 'open';
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'leave'; readonly reason: string };
