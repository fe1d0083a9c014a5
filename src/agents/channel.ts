import type { ControlChannel } from '../core/compaction/state.js';
import type { Millis } from '../core/reading.js';
import type { Env, ScreenEvidence } from './agent.js';
import type { AgentFolders } from './home.js';

// How an agent is asked to compact without keys, or to undo that, by an interface of its own. Data and pure functions; src/typing/channel.ts does the asking.

export type AgentChannel = ServerChannel | DaemonChannel;

/** What a launch needs of it. */
export type ChannelLaunch = ServerOpening | DaemonOpening;

/**
 * The agent's state, as its interface reports it. `elsewhere`: it does not have this conversation; undefined: the answer has an unknown
 * form
 */
export type ChannelState = 'resting' | 'busy' | 'elsewhere' | undefined;

/** What both kinds of channel have. */
interface Asking<Call> {
  /** asks what the agent is doing */
  readonly state: Call;
  readonly stateIn: (answer: unknown, sessionId: string | undefined) => ChannelState;
  /** has the agent compact */
  readonly compact: Call;
  /** whether this is the answer of an agent that has taken the request */
  readonly isTaken: (answer: unknown) => boolean;
}

/** How to make the agent undo its last compaction. Later messages would be lost, too, so the last one is looked up first. */
export interface ChannelUndo<Call> {
  /** asks for the last message */
  readonly looks: (sessionId: string) => readonly Call[];
  /** undefined: an answer has an unknown form */
  readonly find: (found: UndoEvidence) => UndoTarget | undefined;
  readonly undo: (sessionId: string, id: string) => Call;
  /** whether this is the answer of an agent that has taken it back */
  readonly isUndone: (answer: unknown, id: string) => boolean;
}

/** How the model is given text without a message of the user's. Asked only of an agent at rest, because during a turn it is asked for an answer. */
export interface ChannelContext<Call> {
  readonly give: (sessionId: string, text: string) => Call;
  /** whether this is the answer of an agent that has added the text to the conversation */
  readonly isGiven: (answer: unknown) => boolean;
}

export interface UndoEvidence {
  /** to the calls of `looks`, in their order */
  readonly answers: readonly unknown[];
  /** the agent's screen; undefined where it is not known */
  readonly seen: ScreenEvidence | undefined;
  /** when the last compaction ended, by the agent's record (wall clock); undefined where nobody asked the agent for it, or that is not known */
  readonly compactedAt: Millis | undefined;
}

/** What the compaction is called in the agent's records, or why it must not be taken back. */
export type UndoTarget = { readonly id: string } | { readonly refusal: string };

/** An HTTP server in the agent's own process, on this machine only and behind a password. It compacts the conversation that is shown. */
export interface ServerChannel extends ServerOpening, Asking<ServerCall> {
  /** its user, for basic authentication (RFC 7617) */
  readonly user: string;
  readonly undo?: ChannelUndo<ServerCall>;
  readonly context?: ChannelContext<ServerCall>;
}

export interface ServerOpening extends ControlChannel {
  readonly via: 'server';
  /** what a launch adds so that the agent opens its server, or why the launch is left alone */
  readonly plan: (launch: ServerLaunch) => ServerPlan;
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

/**
 * A background process that serves all terminals of the agent: JSON-RPC in the messages of a WebSocket (RFC 6455) over a Unix socket. It
 * compacts the conversation with the given id.
 */
export interface DaemonChannel extends DaemonOpening, Asking<(sessionId: string) => RpcCall> {
  /** the first request of a connection, and the notification that follows its answer */
  readonly greeting: RpcCall;
  readonly greeted: string;
  readonly undo?: ChannelUndo<RpcCall>;
  readonly context?: ChannelContext<RpcCall>;
}

export interface DaemonOpening extends ControlChannel {
  readonly via: 'daemon';
  /** why a start with these arguments does without it; undefined where it uses it */
  readonly refusal: (args: readonly string[]) => string | undefined;
  /** the path of its socket */
  readonly socket: (where: AgentFolders) => string;
}

export interface RpcCall {
  readonly method: string;
  readonly params: object;
}
