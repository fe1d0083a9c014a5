import { words } from '../launch-rules.js';
import type { LaunchRules } from '../launch-rules.js';

export const command = 'gemini';
export const npmPackage = '@google/gemini-cli';

/** Gemini CLI 0.61.0, from its --help; `-i` and a bare prompt stay in the terminal (facts/gemini.md §8). */
export const launchRules: LaunchRules = {
  plainFlags: words(`
    -p --prompt -h --help -v --version --acp --experimental-acp
    -l --list-extensions --list-sessions --delete-session
  `),
  plainCommands: words('mcp extensions extension skills skill hooks hook gemma'),
  valueFlags: words(`
    -m --model -i --prompt-interactive -w --worktree --approval-mode --policy
    --admin-policy --allowed-mcp-server-names --allowed-tools -e --extensions -r --resume
    --session-file --session-id --include-directories -o --output-format
  `),
};
