import { Option, type Command } from 'commander';
import { present } from '../../core/present.js';
import { own, type Printable } from '../../core/printable.js';
import { parseOptions, type CommandOptions } from '../options.js';
import type { Ask, ConfigurationUse, Options, Request, Start } from '../request.js';
import type { Outcome } from '../session.js';
import { addNotes, commandTopics, type Notes } from './help.js';
import type { Asked, Parameters } from './parameters.js';

// A command is defined in one file; --help, completion, manual page and the parser follow from it. Every start loads all definitions, so
// what a command does is imported when it runs.

export interface CommandDefinition<P extends Parameters> extends Partial<Notes> {
  readonly name: string;
  /** other names, which are listed nowhere */
  readonly otherNames?: readonly string[];
  /** its heading in --help and in the manual page; a command of a command has none */
  readonly topic?: keyof typeof commandTopics;
  /** listed nowhere, because shells, agents or the build call it */
  readonly isHidden?: boolean;
  /** it has no --help either */
  readonly isBare?: boolean;
  /** runs when the command above it is called alone */
  readonly isDefault?: boolean;
  readonly summary: string;
  /** its arguments and options, in the order of --help */
  readonly takes?: P;
  /** the commands of this command */
  readonly commands?: readonly DefinedCommand[];
  /** throws a UserError for values that do not go together */
  readonly check?: (asked: Asked<P>) => void;
  /** the error for a word too many, where there is a better one than commander's */
  readonly unexpected?: (word: string) => Error;
  /** what it needs of the user's configuration, which is read before it runs; nothing by default */
  readonly configuration?: ConfigurationUse | ((asked: Asked<P>) => ConfigurationUse);
  /** a text that needs nothing but the command line */
  readonly text?: (asked: Asked<P>, around: Around) => string;
  /** a text is printed, and the exit status is 0 */
  readonly run?: (asked: Asked<P>, around: RunAround) => Promise<Outcome | Printable>;
}

/** What is around a command. */
interface Around {
  readonly program: Command;
  readonly version: string;
}

interface RunAround extends Around {
  readonly start: Start;
}

/** Where a command line goes. */
export interface Receiver extends Around {
  readonly ask: Ask;
}

export interface DefinedCommand {
  /** with its other names behind it */
  readonly names: readonly string[];
  readonly isHidden: boolean;
  readonly addTo: (parent: Command, receiver: Receiver) => void;
}

export const command = <P extends Parameters = Record<never, never>>(
  definition: CommandDefinition<P>,
): DefinedCommand => {
  const { name, otherNames = [], isHidden = false, isDefault = false } = definition;
  const names = [name, ...otherNames];
  return {
    names,
    isHidden,
    addTo: (parent, receiver) => {
      for (const each of names)
        define(
          parent.command(each, { hidden: isHidden || each !== name, isDefault: isDefault && each === name }),
          definition,
          receiver,
        );
    },
  };
};

const define = <P extends Parameters>(
  made: Command,
  definition: CommandDefinition<P>,
  receiver: Receiver,
): void => {
  const { topic, summary, isCommon, isBare, takes, commands = [], examples = [], sections = [] } = definition;
  made.description(summary).allowExcessArguments(definition.unexpected !== undefined);
  addNotes(made, { examples, sections, ...present({ isCommon }) });
  if (topic !== undefined) made.helpGroup(commandTopics[topic]);
  if (isBare) made.helpOption(false);
  for (const { part } of Object.values<Parameters[string]>(takes ?? {}))
    if (part instanceof Option) made.addOption(part);
    else made.addArgument(part);
  if (commands.length > 0) made.helpCommand(false);
  for (const each of commands) each.addTo(made, receiver);
  if (definition.run || definition.text)
    made.action(() => receiver.ask(requestOf(made, definition, receiver)));
};

/** What the command line asks of this command. */
const requestOf = <P extends Parameters>(
  made: Command,
  { name, takes, check, unexpected, configuration = 'none', text, run }: CommandDefinition<P>,
  receiver: Receiver,
): Request => {
  const excess = made.args[made.registeredArguments.length];
  if (unexpected && excess !== undefined) throw unexpected(excess);
  const { runtime, window, ...values } = valuesOf(made, takes ?? {});
  const options = parseOptions(receiver.program, { runtime, window } as CommandOptions);
  const askedWith = (used: Options): Asked<P> => ({ ...values, options: used }) as Asked<P>;
  const asked = askedWith(options);
  check?.(asked);
  if (text) return { kind: 'print', text: text(asked, receiver) };
  return {
    kind: 'command',
    name,
    asked: values,
    options,
    configuration: typeof configuration === 'function' ? configuration(asked) : configuration,
    perform: async (used, start) => (await run?.(askedWith(used), { ...receiver, start })) ?? own``,
  };
};

const valuesOf = (made: Command, takes: Parameters): Readonly<Record<string, unknown>> => {
  const givenTo = ({ part }: Parameters[string]): unknown =>
    part instanceof Option
      ? made.getOptionValue(part.attributeName())
      : made.processedArgs[made.registeredArguments.indexOf(part)];
  const all = Object.entries(takes).map(([name, each]) => [name, each.valueOf(givenTo(each))]);
  return present(Object.fromEntries(all) as Record<string, unknown>);
};
