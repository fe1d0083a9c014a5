import type { AgentLaunch, CompactRecipe } from '../agent.js';
import { launchedBy, splitWords, type LaunchRules, type RestartRules } from '../launch.js';

/** GitHub Copilot CLI 1.0.102, from its --help; a bare word is a subcommand, `-i` opens a conversation with a prompt. */
const launchRules: LaunchRules = {
  plainFlags: splitWords('-p --prompt -h --help -v --version --acp --environment-host'),
  plainCommands: splitWords(`
    app login help init config update version workflow sessions memories plugin mcp skill instruction lsp sandbox
    completion
  `),
  valueFlags: splitWords(`
    -i --interactive -p --prompt --model --reasoning-effort --context --auto-tier --agent -r --resume -n --name
    --session-id --connect -C --log-dir --extension-sdk-path --log-level --stream --output-format --share --add-dir
    --attachment --disable-mcp-server --add-github-mcp-toolset --add-github-mcp-tool --plugin-dir
    --additional-mcp-config --mcp-github-auth --allow-tool --deny-tool --available-tools --excluded-tools
    --secret-env-vars --allow-url --deny-url --max-autopilot-continues --mode --bash-env --mouse
    --environment-compute-id --dynamic-retrieval --enable-mcp-server --max-ai-credits --usage-output-file
  `),
};

const restartRules: RestartRules = {
  sessionFlags: splitWords('-r --resume --continue -n --name --session-id -i --interactive --fleet'),
  listFlags: splitWords(`
    --allow-tool --deny-tool --available-tools --excluded-tools --secret-env-vars --allow-url --deny-url
  `),
  elsewhereFlags: splitWords('-C --worktree --connect'),
};

/** docs/facts/copilot.md. Typed during a turn it would be sent to the model, so the end is waited for. */
const copilotRecipe: CompactRecipe = {
  command: '/compact',
  takesFocus: true,
  isPasted: false,
  pauseMs: 150,
  submit: '\r',
  startMs: 10_000,
  finishMs: 300_000, // a real compaction takes 10 to 120 s; longer is reported as a timeout
  isListed: true,
};

export const copilotLaunch = {
  name: 'copilot',
  command: 'copilot',
  npmPackage: '@github/copilot',
  ...launchedBy(launchRules, restartRules, '/exit'),
  resumeArgs: ({ id }) => ['--resume', id],
  recipe: () => copilotRecipe,
} as const satisfies AgentLaunch;
