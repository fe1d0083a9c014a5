// `ctxwrap init` and `ctxwrap completion` as commander sees them, and what shells and the build ask for.
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { Options, Request } from '../request.js';
import { parseChoice } from '../values.js';
import { candidatesFor } from './candidates.js';
import { completionText } from './completion-text.js';
import { manPage } from './man-page.js';
import { manSections } from './man-sections.js';
import { shells } from './shells.js';
import type { Shell } from './shells.js';

export interface ShellParts {
  readonly agents: readonly string[];
  readonly version: string;
  readonly ask: (request: Request) => void;
}

export const defineShell = (program: Command, { agents, version, ask }: ShellParts): void => {
  const print = (text: string): void => ask({ kind: 'print', text });
  const shell = (name: string): Argument =>
    new Argument('<shell>', shells.join(', ')).choices(shells).argParser(parseChoice(name, ...shells));
  program
    .command('init')
    .description('print shell functions that start the agents through ctxwrap')
    .addArgument(shell('init'))
    .action((name: Shell) => ask({ kind: 'init', shell: name, options: program.opts<Options>() }));
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
        options: program.opts<Options>(),
      });
    });
  program
    .command('man', { hidden: true })
    .description('the manual page')
    .action(() => print(manPage(program, { version, sections: manSections })));
};
