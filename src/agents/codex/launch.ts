import { posix } from 'node:path';
import type { AgentLaunch, CompactRecipe } from '../agent.js';
import type { DaemonOpening } from '../channel.js';
import type { AgentFolders } from '../home.js';
import {
  splitWords,
  type LaunchRules,
  optionsForRestart,
  type RestartRules,
  startsConversation,
} from '../launch.js';

/**
 * Codex 0.169.0, from its --help; `resume`, `fork` and `agents` stay in the terminal, -p is a profile here
 * (docs/facts/codex.md#ends-and-starts-without-a-terminal).
 */
const launchRules: LaunchRules = {
  plainFlags: splitWords('-h --help -V --version'),
  plainCommands: splitWords(`
    exec e review login logout mcp mcp-server plugin app-server remote-control
    completion update doctor sandbox debug apply a queue archive unarchive
    delete migrate-rollouts migrate-nfs-db cloud exec-server features help
  `),
  valueFlags: splitWords(`
    -c --config --enable --disable --remote --remote-auth-token-env -i --image
    -m --model --local-provider -p --profile -s --sandbox -C --cd --add-dir
    -a --ask-for-approval
  `),
};

/** From the same --help: a new start with a session takes no prompt and no other session. */
const restartRules: RestartRules = {
  sessionFlags: splitWords('--last --all --include-non-interactive -i --image'),
  listFlags: splitWords('-i --image'),
  elsewhereFlags: splitWords('--remote'),
};

/**
 * Pasted, because Codex takes fast typing for a paste, whose Enter is a newline; with a trailing space, because TAB would otherwise only
 * complete the command. TAB sends it at rest and queues it during a turn; a dialog or a picker ignores all of it
 * (docs/facts/codex.md#what-to-read-and-how-to-type).
 */
const recipe = (): CompactRecipe => ({
  command: '/compact',
  takesFocus: false,
  isPasted: true,
  pauseMs: 150,
  submit: '\t',
  startMs: 5_000,
  finishMs: 300_000, // a real compaction takes 10 to 120 s; longer is reported as a timeout
  isQueued: true,
});

/** Where Codex keeps its files. */
export const codexFolder = ({ env, home }: AgentFolders): string =>
  env['CODEX_HOME'] || posix.join(home, '.codex');

/** Options with which Codex does without it, as it says itself. */
const EMBEDDED =
  /^(?:--no-daemon|--config(?:=.*)?|-c.*|--enable(?:=.*)?|--disable(?:=.*)?|--search|-p.*|--profile(?:=.*)?|--remote(?:=.*)?)$/;

const channel: DaemonOpening = {
  via: 'daemon',
  name: "Codex's background server",
  needsSession: true,
  refusal: (args) => {
    const option = args.find((each) => EMBEDDED.test(each));
    return option === undefined ? undefined : `with ${option} Codex does without its background server`;
  },
  socket: (where) => posix.join(codexFolder(where), 'app-server-control', 'app-server-control.sock'),
};

export const codexLaunch = {
  name: 'codex',
  command: 'codex',
  npmPackage: '@openai/codex',
  isInteractive: (args) => startsConversation(launchRules, args),
  resumeArgs: ({ id }) => ['resume', id],
  restarting: {
    exitCommand: '/quit',
    typing: { pauseMs: 250, submit: '\r' },
    options: (args) => optionsForRestart({ ...launchRules, ...restartRules }, args),
  },
  channel,
  recipe,
} as const satisfies AgentLaunch;
