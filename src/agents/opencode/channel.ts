import { isRecord } from '../../core/json.js';
import type { ServerChannel } from '../channel.js';

// opencode's own server (docs/facts/opencode.md): its screen is a client of it, and takes commands from it as from its own list of commands.

const USER = 'opencode';
const PASSWORD = 'OPENCODE_SERVER_PASSWORD';

/** Options and variables with which the user starts the server, or with which this process is no server. */
const OWN_OPTIONS = /^--(?:port|hostname|mdns|mdns-domain|cors)(?:=|$)/;
const OTHER_COMMANDS: readonly string[] = ['attach', 'pr'];

export const opencodeChannel: ServerChannel = {
  via: 'server',
  name: "opencode's server",
  plan: ({ args, env, port, password }) => {
    if (args.some((each) => OWN_OPTIONS.test(each)) || env[PASSWORD] || env['OPENCODE_SERVER_USERNAME'])
      return { kind: 'leave', reason: 'you have set up its server yourself' };
    const other = args.find((each) => OTHER_COMMANDS.includes(each));
    if (other !== undefined) return { kind: 'leave', reason: `opencode ${other} starts none` };
    return {
      kind: 'open',
      args: ['--port', String(port), '--hostname', '127.0.0.1', ...args],
      env: { [PASSWORD]: password },
    };
  },
  user: USER,
  state: { method: 'GET', path: '/session/status' },
  stateIn: (answer) => {
    if (!isRecord(answer)) return undefined;
    return Object.values(answer).some(isAtWork) ? 'busy' : 'resting';
  },
  compact: { method: 'POST', path: '/tui/execute-command', body: { command: 'session_compact' } },
  isTaken: (answer) => answer === true,
};

/** Only sessions that do something are listed: `busy`, or `retry` between two requests. */
const isAtWork = (status: unknown): boolean => !isRecord(status) || status['type'] !== 'idle';
