import { Argument, type Command, Option } from 'commander';
import { hookAgents, hookText } from '../hooks.js';
import { parseChoice, parseOptions } from '../options.js';
import { type AgentsRequest, type Ask, type Shell, shells } from '../request.js';
import { candidatesFor, completionText } from '../shell/completion.js';
import { manPage, manSections } from '../shell/man.js';
import { usageError } from '../usage-error.js';
import { addNotes, commandTopics } from './help.js';

// The commands that set ctxwrap up and try it, defined for commander, and hidden ones for shells, hooks and the build.

export const defineDemo = (program: Command, ask: Ask): void => {
  const demo = program
    .command('demo')
    .helpGroup(commandTopics.trying)
    .description('watch it work with a built-in agent, offline')
    .option('-i, --interactive', 'type to the agent yourself')
    .action(({ interactive = false }: { interactive?: boolean }) =>
      ask({ kind: 'demo', interactive, options: parseOptions(program) }),
    );
  addNotes(demo, { examples: ['ctxwrap demo --interactive'] });
};

export const defineSetup = (program: Command, ask: Ask): void => {
  const doctor = program
    .command('doctor')
    .helpGroup(commandTopics.setup)
    .description('check your setup and suggest fixes')
    .option('--json', 'print one JSON object')
    .action(({ json = false }: { json?: boolean }) =>
      ask({ kind: 'doctor', json, options: parseOptions(program) }),
    );
  addNotes(doctor, {
    sections: [['Exit status', '0  no problems, though perhaps warnings\n1  a problem']],
    examples: ['ctxwrap doctor'],
  });
};

interface VerifyOptions {
  readonly keep?: boolean;
  readonly json?: boolean;
  readonly order?: string;
}

export const defineVerify = (program: Command, agents: readonly string[], ask: Ask): void => {
  const verify = program
    .command('verify')
    .helpGroup(commandTopics.trying)
    .description('test an installed agent against a mock model, offline')
    .addArgument(
      new Argument('[agent]', `${agents.join(', ')}; by default all that are installed`)
        .choices(agents)
        .argParser(parseChoice('verify', ...agents)),
    )
    .option('--keep', 'keep the recording and the log even if everything passes')
    .option('--json', 'print one JSON object')
    .addOption(new Option('--order <json>', 'what is played in the place that was made for it').hideHelp())
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
  addNotes(verify, {
    sections: [
      ['Exit status', '0  every check passed\n1  a check failed\n2  invalid usage, or no agent is installed'],
    ],
    examples: ['ctxwrap verify claude'],
  });
};

export const defineAgents = (program: Command, ask: Ask): void => {
  const agents = program
    .command('agents')
    .helpGroup(commandTopics.setup)
    .description('list agents, and add definitions of others')
    .helpCommand(false);
  addNotes(agents, { examples: ['ctxwrap agents add toy.json'] });
  const asked = (action: AgentsRequest['action'], more: Partial<AgentsRequest> = {}): void =>
    ask({ kind: 'agents', action, replaces: false, json: false, ...more, options: parseOptions(program) });
  const list = agents
    .command('list', { isDefault: true })
    .description('list built-in agents, yours, and definitions that come with ctxwrap')
    .option('--json', 'print one JSON object')
    .allowExcessArguments(true) // `agents bla` comes here, too
    .action(({ json = false }: { json?: boolean }, { args: [given] }: Command) => {
      if (given !== undefined)
        throw usageError(
          `agents has no command "${given}"`,
          'use agents list, agents add FILE or agents show NAME',
        );
      asked('list', { json });
    });
  addNotes(list, { examples: ['ctxwrap agents list'] });
  const add = agents
    .command('add')
    .description('check a definition and copy it into your configuration')
    .argument('<file>', 'a JSON file, or the name of a definition that comes with ctxwrap')
    .option('--replace', 'in place of one with the same name')
    .action((target: string, { replace = false }: { replace?: boolean }) =>
      asked('add', { target, replaces: replace }),
    );
  addNotes(add, { examples: ['ctxwrap agents add goose', 'ctxwrap agents add ./toy.json'] });
  const show = agents
    .command('show')
    .description('print the definition of an agent')
    .argument('<name>', 'as agents list prints it')
    .action((target: string) => asked('show', { target }));
  addNotes(show, { examples: ['ctxwrap agents show goose > my-goose.json'] });
};

export const defineHook = (program: Command, ask: Ask): void => {
  const hook = program
    .command('hook')
    .helpGroup(commandTopics.setup)
    .description("print hooks for an agent's own settings that call ctxwrap")
    .addArgument(
      new Argument('<agent>', hookAgents.join(', '))
        .choices(hookAgents)
        .argParser(parseChoice('hook', ...hookAgents)),
    )
    .action((agent: string) => ask({ kind: 'print', text: hookText(agent) }));
  addNotes(hook, { examples: ['ctxwrap hook claude'] });
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
  program.commandsGroup(commandTopics.setup);
  const init = program
    .command('init')
    .description('print shell functions that wrap the agents automatically')
    .addArgument(shell('init'))
    .action((name: Shell) => ask({ kind: 'init', shell: name, options: parseOptions(program) }));
  addNotes(init, { examples: ['eval "$(ctxwrap init bash)"'] });
  const completion = program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(shell('completion'))
    .action((name: Shell) => print(completionText(name)));
  addNotes(completion, { examples: ['eval "$(ctxwrap completion bash)"'] });
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
