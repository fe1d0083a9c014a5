// What commander does not understand, in our words.
import type { Command, CommanderError } from 'commander';
import type { UserError } from '../core/user-error.js';
import * as messages from './messages.js';

export const explain = (error: CommanderError, program: Command): UserError => {
  const text = error.message.replace(/^error: /, '');
  const quoted = /'(.*)'/.exec(text)?.[1] ?? text;
  const command = program.commands.find((each) => each.name() === program.args[0]);
  switch (error.code) {
    case 'commander.unknownOption':
      return messages.unknownOption(quoted, knownFlags(quoted, program, command));
    case 'commander.optionMissingArgument':
      return messages.missingValue(quoted);
    default:
      return messages.wrongUsage(text, command?.name());
  }
};

const knownFlags = (flag: string, program: Command, command: Command | undefined): messages.KnownFlags => {
  const [name] = flag.split('=');
  const knows = (each: Command): boolean => flagsOf(each).includes(name ?? flag);
  const others = command === undefined ? program.commands.filter(knows) : [];
  const other = others.find((each) => program.args.includes(each.name())) ?? others[0];
  const isBefore = command !== undefined && knows(program);
  return {
    command: command?.name(),
    here: flagsOf(command ?? program),
    elsewhere: isBefore
      ? `before the command, as in: ctxwrap ${flag} … ${command.name()}`
      : other && `after the command, as in: ctxwrap ${other.name()} ${flag}`,
  };
};

const flagsOf = (command: Command): readonly string[] => [
  ...command.options.flatMap((option) => option.long ?? []),
  '--help',
];
