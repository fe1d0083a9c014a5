import { words } from '../launch-rules.js';
import type { LaunchRules } from '../launch-rules.js';

export const command = 'codex';
export const npmPackage = '@openai/codex';

/** Codex 0.169.0, from its --help; `resume`, `fork` and `agents` stay in the terminal, -p is a profile here (facts/codex.md §8). */
export const launchRules: LaunchRules = {
  plainFlags: words('-h --help -V --version'),
  plainCommands: words(`
    exec e review login logout mcp mcp-server plugin app-server remote-control
    completion update doctor sandbox debug apply a queue archive unarchive
    delete migrate-rollouts migrate-nfs-db cloud exec-server features help
  `),
  valueFlags: words(`
    -c --config --enable --disable --remote --remote-auth-token-env -i --image
    -m --model --local-provider -p --profile -s --sandbox -C --cd --add-dir
    -a --ask-for-approval
  `),
};
