import type { AgentLaunch, CompactRecipe } from '../agent.js';
import { splitWords, startsConversation, type LaunchRules } from '../launch.js';

/** Kimi Code 2.1.0, from its --help, and `-r`, which it names at its end. */
const launchRules: LaunchRules = {
  plainFlags: splitWords('-V --version -p --prompt -h --help'),
  plainCommands: splitWords(
    'export fork provider session acp web server rc remote login doctor vis install-desktop migrate upgrade update help',
  ),
  valueFlags: splitWords(
    '-S --session -r --resume -m --model --output-format --skills-dir --agent --agent-file --add-dir',
  ),
};

/** docs/facts/kimi.md; during a turn Kimi refuses the command. */
const kimiRecipe: CompactRecipe = {
  command: '/compact',
  takesFocus: true,
  isPasted: false,
  pauseMs: 150,
  submit: '\r',
  startMs: 5_000,
  isListed: true,
  finishMs: 300_000, // a real compaction takes 10 to 120 s; longer is reported as a timeout
};

export const kimiLaunch = {
  name: 'kimi',
  command: 'kimi',
  npmPackage: '@moonshot-ai/kimi-code',
  isInteractive: (args) => startsConversation(launchRules, args),
  resumeArgs: ({ id }) => ['--resume', `session_${id}`],
  recipe: () => kimiRecipe,
} as const satisfies AgentLaunch;
