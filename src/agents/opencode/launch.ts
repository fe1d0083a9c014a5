import type { AgentLaunch, CompactRecipe } from '../agent.js';
import type { ServerOpening } from '../channel.js';
import { type LaunchRules, splitWords, startsConversation } from '../launch.js';

/** opencode 1.18.33, from its --help. */
const launchRules: LaunchRules = {
  plainFlags: splitWords('-h --help -v --version'),
  plainCommands: splitWords(`
    completion acp mcp run debug providers auth agent upgrade uninstall serve web models stats export import
    github session plugin plug db
  `),
  valueFlags: splitWords(`
    --log-level --port --hostname --mdns-domain --cors -m --model -s --session --prompt --agent
    --replay-limit
  `),
};

/** docs/facts/opencode.md. What it does with the command during a turn is not known, so the end is waited for. */
const opencodeRecipe: CompactRecipe = {
  command: '/compact',
  takesFocus: false,
  isPasted: false,
  pauseMs: 150,
  submit: '\r',
  startMs: 10_000,
  finishMs: 300_000, // a real compaction takes 10 to 120 s; longer is reported as a timeout
  isListed: true,
};

const PASSWORD = 'OPENCODE_SERVER_PASSWORD';

/** Options and variables with which the user starts the server, or with which this process is no server. */
const OWN_OPTIONS = /^--(?:port|hostname|mdns|mdns-domain|cors)(?:=|$)/;
const OTHER_COMMANDS: readonly string[] = ['attach', 'pr'];

const channel: ServerOpening = {
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
};

export const opencodeLaunch = {
  name: 'opencode',
  command: 'opencode',
  npmPackage: 'opencode-ai',
  isInteractive: (args) => startsConversation(launchRules, args),
  channel,
  recipe: () => opencodeRecipe,
} as const satisfies AgentLaunch;
