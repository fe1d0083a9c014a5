import type { TitleSigns } from '../../core/reading.js';
import type { AgentLaunch, CompactRecipe, Env } from '../agent.js';
import { launchedBy, splitWords, type LaunchRules, type RestartRules } from '../launch.js';
import { parseAgentState } from '../tested.js';
import { planHook } from './hooks.js';
import { meaningOfState } from './state-report.js';
import { planStatusLine } from './status-line.js';
import { isOn } from './window.js';

/** Claude Code 2.1.197, from its --help (docs/facts/claude.md#ends-and-starts-without-a-terminal). */
const launchRules: LaunchRules = {
  plainFlags: splitWords('-p --print -h --help -v --version --bg --background --json'), // the last one of `agents`
  plainCommands: splitWords(`
    auth auto-mode doctor gateway install mcp plugin plugins
    project setup-token ultrareview update upgrade import logs stop kill rm respawn purge daemon
  `),
  valueFlags: splitWords(`
    --add-dir --agent --agents --allowedTools --allowed-tools --append-system-prompt
    --betas -d --debug --debug-file --disallowedTools --disallowed-tools --effort
    --fallback-model --file --from-pr --input-format --json-schema --max-budget-usd
    --mcp-config --model -n --name --output-format --permission-mode --plugin-dir
    --plugin-url --remote-control --remote-control-session-name-prefix -r --resume
    --session-id --setting-sources --settings --system-prompt --tools -w --worktree
  `),
};

/** From the same --help: a new start with a session takes no prompt and no other session. */
const restartRules: RestartRules = {
  sessionFlags: splitWords('-r --resume -c --continue --session-id --fork-session --from-pr'),
  listFlags: splitWords(`
    --add-dir --allowedTools --allowed-tools --betas --disallowedTools --disallowed-tools --file --mcp-config --tools
  `),
  elsewhereFlags: splitWords('-w --worktree --tmux --teleport --remote'),
};

// Enter may come at once, but the row is drawn only 100 to 150 ms after it on a busy machine (docs/facts/claude.md#keys).
const PAUSE_MS = 120;
const STASH_PAUSE_MS = 100;

/** `/compact`, or none where the user has disabled it. */
const recipe = (env: Env): CompactRecipe | undefined =>
  isOn(env['DISABLE_COMPACT'])
    ? undefined
    : {
        command: '/compact',
        takesFocus: true,
        isPasted: false,
        pauseMs: PAUSE_MS,
        submit: '\r',
        startMs: 5_000,
        finishMs: 300_000, // a real compaction takes 10 to 120 s; longer is reported as a timeout
        stash: { keys: '\x13', pauseMs: STASH_PAUSE_MS }, // written together with the command, the draft would go to the model
      };

/*
 * The sign before the name in the title of Claude Code 2.1.330. Seen: `✳ ` at rest and in dialogs, `◐ ` and `◑ ` alternating every 960 ms
 * while it works, as long as the terminal has the focus; in a multiplexer always `✳ `. Read in its program: `* ` and `> ` where it draws
 * with ASCII. Once its question `OSC 7501;?` is answered, it sets the name alone.
 */

const FRAME_MS = 960;

const isInMultiplexer = (env: Env): boolean =>
  ['TMUX', 'STY', 'ZELLIJ'].some((name) => (env[name] ?? '') !== '');

export const titleSigns = (env: Env): TitleSigns => ({
  sets: [
    { rest: '✳', busy: isInMultiplexer(env) ? ['✳'] : ['◐', '◑'] },
    { rest: '*', busy: isInMultiplexer(env) ? ['*'] : ['>'] },
  ],
  frameMs: FRAME_MS,
  isWorking: (text) => {
    const report = text.includes(':id=') ? undefined : parseAgentState(text); // a state with an id is a helper's
    return report && meaningOfState(report) === 'busy';
  },
});

export const claudeLaunch = {
  name: 'claude',
  command: 'claude',
  npmPackage: '@anthropic-ai/claude-code',
  ...launchedBy(launchRules, restartRules, '/exit'),
  official: { plan: planStatusLine, hook: planHook },
  resumeArgs: ({ id }) => ['--resume', id],
  recipe,
  titleSigns,
  suspendedText: 'suspended. Run `fg`', // "has been suspended" in old versions, "is suspended" since 2.1.331
} as const satisfies AgentLaunch;
