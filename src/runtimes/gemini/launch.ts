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
  plainCommands: words(`
    -m --model -i --prompt-interactive -w --worktree --approval-mode --policy
  `),
    ...['--session-file', '--session-id', '--include-directories', '-o', '--output-format'],
  ],
};
