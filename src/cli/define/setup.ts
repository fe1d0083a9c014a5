import { Argument, type Command, Option } from 'commander';
import { hookAgents, hookText } from '../hooks.js';
import { parseChoice, parseOptions } from '../options.js';
import { type Ask, type Shell, shells } from '../request.js';
import { candidatesFor, completionText } from '../shell/completion.js';
import { manPage, manSections } from '../shell/man.js';

// The commands that set ctxwrap up and try it, defined for commander, and hidden ones for shells, hooks and the build.

interface VerifyOptions {
  readonly keep?: boolean;
  readonly json?: boolean;
  readonly order?: string;
}

export const defineVerify = (program: Command, agents: readonly string[], ask: Ask): Command =>
  program
    .command('verify')
    .description(
      'try an installed agent against a made-up model server: no network, no key, nothing of yours',
    )
    .addArgument(
      new Argument('[agent]', `${agents.join(', ')}; every one that is installed when absent`)
        .choices(agents)
        .argParser(parseChoice('verify', ...agents)),
    )
    .option('--keep', 'keep the recording and the log, also when all is well')
    .option('--json', 'print one JSON object')
    .addOption(new Option('--order <json>', 'what is played in the place that was made for it').hideHelp())
    .addHelpText(
      'after',
      '\nExit status: 0 all is well; 1 something is not; 2 wrong usage, or nothing to try is installed.\n',
    )
    .action((agent: string | undefined, { keep = false, json = false, order }: VerifyOptions) =>
      ask({
        kind: 'verify',
        ...(agent === undefined ? {} : { agent }),
        keep,
        json,
        ...(order === undefined ? {} : { order }),
        options: parseOptions(program),
      }),
    );

export const defineHook = (program: Command, ask: Ask): void => {
  program
    .command('hook')
    .description("print what an agent's settings need to compact early and to note how full it is")
    .addArgument(
      new Argument('<agent>', hookAgents.join(', '))
        .choices(hookAgents)
        .argParser(parseChoice('hook', ...hookAgents)),
    )
    .action((agent: string) => ask({ kind: 'print', text: hookText(agent) }));
  program
    .command('hold', { hidden: true })
    .description('the answer to an agent that is about to compact by itself')
    .helpOption(false)
    .action(() => ask({ kind: 'hold', options: parseOptions(program) }));
};

export interface ShellParts {
  readonly agents: readonly string[];
  readonly version: string;
  readonly ask: Ask;
}

export const defineShell = (program: Command, { agents, version, ask }: ShellParts): void => {
  const print = (text: string): void => ask({ kind: 'print', text });
  const shell = (name: string): Argument =>
    new Argument('<shell>', shells.join(', ')).choices(shells).argParser(parseChoice(name, ...shells));
  program
    .command('init')
    .description('print shell functions that start the agents through ctxwrap')
    .addArgument(shell('init'))
    .action((name: Shell) => ask({ kind: 'init', shell: name, options: parseOptions(program) }));
  program
    .command('completion')
    .description('print what makes a shell complete the words of ctxwrap')
    .addArgument(shell('completion'))
    .action((name: Shell) => print(completionText(name)));
  program
    .command('complete', { hidden: true })
    .description('words for a shell')
    .argument('[words...]')
    .helpOption(false)
    .action((words: readonly string[]) => {
      const line = words.map((word) => word.replace(/^=/, ''));
      ask({
        kind: 'complete',
        candidates: (ownAgents) => candidatesFor(program, line, [...agents, ...ownAgents]),
        typed: line.at(-1) ?? '',
        options: parseOptions(program),
      });
    });
  program
    .command('version', { hidden: true })
    .description('print the version')
    .action(() => print(`${version}\n`));
  program
    .command('man', { hidden: true })
    .description('the manual page')
    .action(() => print(manPage(program, { version, sections: manSections })));
};
