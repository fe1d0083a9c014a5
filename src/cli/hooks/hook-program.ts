// `ctxwrap hook` as commander sees it.
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { Options, Request } from '../request.js';
import { parseChoice } from '../values.js';
import { hookAgents, hookText } from './hook-text.js';
import type { HookAgent } from './hook-text.js';

export const defineHook = (program: Command, ask: (request: Request) => void): void => {
  program
    .command('hook')
    .description("print what an agent's settings need to compact early and to note how full it is")
    .addArgument(
      new Argument('<agent>', hookAgents.join(', '))
        .choices(hookAgents)
        .argParser(parseChoice('hook', ...hookAgents)),
    )
    .action((agent: HookAgent) => ask({ kind: 'print', text: hookText(agent) }));
  program
    .command('hold', { hidden: true })
    .description('the answer to an agent that is about to compact by itself')
    .helpOption(false)
    .action(() => ask({ kind: 'hold', options: program.opts<Options>() }));
};
