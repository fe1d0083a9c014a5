import { words } from '../launch-rules.js';
import type { LaunchRules } from '../launch-rules.js';

export const command = 'qwen';
export const npmPackage = '@qwen-code/qwen-code';

/** Qwen Code 0.24.4, from its --help: a bare prompt is answered and Qwen exits, unlike Gemini, unless `-i` is there. */
export const launchRules: LaunchRules = {
  plainFlags: words('-p --prompt -h --help -v --version --acp --experimental-acp -l --list-extensions'),
  plainCommands: words('auth board channel extensions hooks mcp review sandbox serve sessions update'),
  promptFlags: words('-i --prompt-interactive'),
  valueFlags: words(`
    --telemetry-target --telemetry-otlp-endpoint --telemetry-otlp-protocol --telemetry-outfile --proxy
    -m --model --fallback-model -i --prompt-interactive --system-prompt --append-system-prompt
    --output-style --sandbox-image --approval-mode --channel --allowed-mcp-server-names --mcp-config
    --allowed-tools -e --extensions --include-directories --add-dir --openai-logging-dir --openai-api-key
    --openai-base-url --input-format -o --output-format --json-fd --json-file --json-schema --input-file
    -r --resume --session-id --worktree --max-session-turns --max-wall-time --max-tool-calls
    --max-subagent-depth --core-tools --exclude-tools --disabled-slash-commands --auth-type
  `),
};
