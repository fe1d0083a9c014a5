import type { Command } from 'commander';
import { unknownHelp } from '../messages.js';
import { manPage, manSections } from '../shell/man.js';
import { command, type DefinedCommand } from './command.js';
import { fullHelp } from './help.js';
import { argument, flag } from './parameters.js';

// What ctxwrap says about itself.

export const version = command({
  name: 'version',
  isHidden: true,
  summary: 'print the version',
  text: (_, around) => `${around.version}\n`,
});

/** For the build. */
export const man = command({
  name: 'man',
  isHidden: true,
  summary: 'the manual page',
  text: (_, around) => manPage(around.program, { version: around.version, sections: manSections }),
});

/** The help of these commands. */
export const helpOf = (commands: readonly DefinedCommand[]): DefinedCommand => {
  const names = commands.flatMap(({ names: [name = ''], isHidden }) => (isHidden ? [] : [name]));
  const parse = (text: string): string => {
    if (!names.includes(text)) throw unknownHelp(text, names);
    return text;
  };
  return command({
    name: 'help',
    topic: 'setup',
    summary: 'print this help, or the help of a command',
    examples: ['ctxwrap help --all', 'ctxwrap help ps'],
    takes: {
      name: argument('[command]', 'such as ps', { parse, choices: names }),
      part: argument('[part]', 'one of its commands, such as show of history'),
      all: flag('--all', 'list all commands'),
    },
    text: ({ name, part, all }, { program }) =>
      all && name === undefined ? fullHelp(program) : partOf(program, [name, part]).help(),
  });
};

/** `history show`, from its two words. Throws for what is no command. */
const partOf = (program: Command, [name, part]: readonly (string | undefined)[]): Command => {
  const found = program.commands.find((each) => each.name() === name) ?? program;
  if (part === undefined) return found;
  const inner = found.commands.find((each) => each.name() === part);
  if (!inner)
    throw unknownHelp(
      part,
      found.commands.map((each) => each.name()),
      name,
    );
  return inner;
};
