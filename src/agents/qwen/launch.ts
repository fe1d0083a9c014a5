import type { AgentLaunch, CompactRecipe } from '../agent.js';
import { familyRecipe } from '../family-recipe.js';
import { launchedBy, splitWords, type LaunchRules, type RestartRules } from '../launch.js';

/** Qwen Code 0.24.4, from its --help: unlike Gemini it answers a bare prompt and exits, unless `-i` is given. */
const launchRules: LaunchRules = {
  plainFlags: splitWords('-p --prompt -h --help -v --version --acp --experimental-acp -l --list-extensions'),
  plainCommands: splitWords('auth board channel extensions hooks mcp review sandbox serve sessions update'),
  promptFlags: splitWords('-i --prompt-interactive'),
  valueFlags: splitWords(`
    --telemetry-target --telemetry-otlp-endpoint --telemetry-otlp-protocol --telemetry-outfile --proxy
    -m --model --fallback-model -i --prompt-interactive --system-prompt --append-system-prompt
    --output-style --sandbox-image --approval-mode --channel --allowed-mcp-server-names --mcp-config
    --allowed-tools -e --extensions --include-directories --add-dir --openai-logging-dir --openai-api-key
    --openai-base-url --input-format -o --output-format --json-fd --json-file --json-schema --input-file
    -r --resume --session-id --worktree --max-session-turns --max-wall-time --max-tool-calls
    --max-subagent-depth --core-tools --exclude-tools --disabled-slash-commands --auth-type
  `),
};

/** From the same --help: a new start with a session takes no prompt and no other session. */
const restartRules: RestartRules = {
  sessionFlags: splitWords('-r --resume -c --continue --session-id --fork-session -i --prompt-interactive'),
  elsewhereFlags: splitWords('--worktree'),
};

/** docs/facts/qwen.md#compaction; a command given during a turn is queued and runs as a command. */
const qwenRecipe: CompactRecipe = { ...familyRecipe, takesFocus: true, isQueued: true };

export const qwenLaunch = {
  name: 'qwen',
  command: 'qwen',
  npmPackage: '@qwen-code/qwen-code',
  ...launchedBy(launchRules, restartRules, '/quit'),
  resumeArgs: ({ id }) => ['--resume', id],
  recipe: () => qwenRecipe,
} as const satisfies AgentLaunch;
