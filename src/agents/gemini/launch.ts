import type { AgentLaunch, CompactRecipe } from '../agent.js';
import { familyRecipe } from '../family-recipe.js';
import { launchedBy, splitWords, type LaunchRules, type RestartRules } from '../launch.js';

/** Gemini CLI 0.61.0, from its --help; `-i` and a bare prompt stay in the terminal (docs/facts/gemini.md#ends-and-starts-without-a-terminal). */
const launchRules: LaunchRules = {
  plainFlags: splitWords(`
    -p --prompt -h --help -v --version --acp --experimental-acp
    -l --list-extensions --list-sessions --delete-session
  `),
  plainCommands: splitWords('mcp extensions extension skills skill hooks hook gemma'),
  valueFlags: splitWords(`
    -m --model -i --prompt-interactive -w --worktree --approval-mode --policy
    --admin-policy --allowed-mcp-server-names --allowed-tools -e --extensions -r --resume
    --session-file --session-id --include-directories -o --output-format
  `),
};

/** From the same --help: a new start with a session takes no prompt and no other session. */
const restartRules: RestartRules = {
  sessionFlags: splitWords('-r --resume --session-id --session-file -i --prompt-interactive'),
  elsewhereFlags: splitWords('-w --worktree'),
};

/** docs/facts/gemini.md#keys: Enter within 30 ms of a key is a newline, hence the pause; text after the command is ignored. */
const geminiRecipe: CompactRecipe = { ...familyRecipe, takesFocus: false };

export const geminiLaunch = {
  name: 'gemini',
  command: 'gemini',
  npmPackage: '@google/gemini-cli',
  ...launchedBy(launchRules, restartRules, '/quit'),
  resumeArgs: ({ id }) => ['--resume', id],
  recipe: () => geminiRecipe,
} as const satisfies AgentLaunch;
