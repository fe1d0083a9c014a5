import type { Key } from './key.js';
import type { KeyName, Values } from './keys.js';
import { count, endpointOr, environmentName, flag, text } from './value-types.js';

// The keys of the summariser, and why it cannot be used as it is configured. Nothing but the user's own file can set them: they decide
// where a conversation goes.

/** In place of an address: the agent's own print mode. */
export const AGENT_ITSELF = 'agent';

export const summariserKeys = {
  'summariser.url': {
    type: endpointOr(AGENT_ITSELF, 'http://127.0.0.1:11434/v1'),
    env: false,
    doc: "Who writes summaries in place of the agent's compact command: the base URL of an OpenAI-compatible API on this machine, or `agent` for the agent's own print mode, which runs without tools in an empty folder. Nothing is sent unless you set this.",
    example: 'http://127.0.0.1:11434/v1',
  },
  'summariser.model': {
    type: text(200),
    env: false,
    doc: 'The model to use at `summariser.url`; required with a URL.',
    example: 'qwen3:8b',
  },
  'summariser.keyEnv': {
    type: environmentName,
    env: false,
    doc: 'The name of the environment variable that holds the key for `summariser.url`. Never put the key itself into a configuration file.',
    example: 'OPENAI_API_KEY',
  },
  'summariser.timeout': {
    type: count(10, 3_600),
    env: false,
    fallback: 300,
    doc: 'How long one summary may take, in seconds. An answer that stalls for 30 s is given up.',
  },
  'summariser.remote': {
    type: flag,
    env: false,
    fallback: false,
    careful: false,
    doc: 'Allow a `summariser.url` on another machine. Your conversations are then sent there.',
  },
} as const satisfies Readonly<Record<string, Key>>;

/** What keeps the summariser from being used. */
export interface SummariserFault {
  readonly key: KeyName;
  /** a sentence without a full stop */
  readonly reason: string;
  /** the same in few words */
  readonly short: string;
  /** the command that fixes it */
  readonly fix: string;
}

type SummariserValues = Pick<Values, 'summariser.url' | 'summariser.model' | 'summariser.remote'>;

export const noSummariser = {
  reason: 'no summariser is set',
  fix: `ctxwrap config set summariser.url ${AGENT_ITSELF}`,
} as const;

/** Undefined if the summariser can be used, or is not configured. */
export const findSummariserFault = (values: SummariserValues): SummariserFault | undefined => {
  const url = values['summariser.url'];
  if (url === undefined || url === AGENT_ITSELF) return undefined;
  if (!values['summariser.remote'] && !isLoopback(new URL(url).hostname))
    return {
      key: 'summariser.url',
      reason: `summariser.url is ${url}, which is not on this machine: the conversation would leave it`,
      short: 'summariser.url is not on this machine',
      fix: 'ctxwrap config set summariser.remote true',
    };
  if (values['summariser.model'] === undefined)
    return {
      key: 'summariser.url',
      reason: 'summariser.url needs a model',
      short: 'summariser.url needs a model',
      fix: 'ctxwrap config set summariser.model NAME',
    };
  return undefined;
};

/** An address that never leaves the machine, or `localhost`. The name of a host in a URL: IPv6 in brackets. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
