import { words } from '../launch-rules.js';
import type { LaunchRules } from '../launch-rules.js';

export const command = 'claude';
export const npmPackage = '@anthropic-ai/claude-code';

/** Claude Code 2.1.197, from its --help (facts/claude.md §8). */
export const launchRules: LaunchRules = {
  plainFlags: words('-p --print -h --help -v --version --bg --background'),
  plainCommands: words(`
    agents auth auto-mode doctor gateway install mcp plugin plugins
    project setup-token ultrareview update upgrade
  `),
  valueFlags: words(`
    --add-dir --agent --agents --allowedTools --allowed-tools --append-system-prompt
    --betas -d --debug --debug-file --disallowedTools --disallowed-tools --effort
    --fallback-model --file --from-pr --input-format --json-schema --max-budget-usd
    --mcp-config --model -n --name --output-format --permission-mode --plugin-dir
    --plugin-url --remote-control --remote-control-session-name-prefix -r --resume
    --session-id --setting-sources --settings --system-prompt --tools -w --worktree
  `),
};
