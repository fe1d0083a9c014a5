import { Argument, type Command } from 'commander';
import { isKeyName, keyNames, type KeyName } from '../../core/config/keys.js';
import { unknownKey } from '../messages.js';
import { parseOptions } from '../options.js';
import type { Ask, ConfigRequest } from '../request.js';

// `ctxwrap config`, defined for commander.

interface ShowOptions {
  readonly origin?: boolean;
  readonly json?: boolean;
}

export const defineConfig = (program: Command, ask: Ask): Command => {
  const config = program
    .command('config')
    .description('what is set, where it comes from, and whether it is right')
    .helpCommand(false);
  const asked = (action: ConfigRequest['action'], { origin = false, json = false }: ShowOptions = {}) => ({
    kind: 'config' as const,
    action,
    origin,
    json,
    options: parseOptions(program),
  });
  config
    .command('show', { isDefault: true })
    .description('the values that hold in this folder')
    .addArgument(
      new Argument('[key]', 'only this one').choices(keyNames).argParser((text) => parseFirst(config, text)),
    )
    .option('--origin', 'also where each comes from, and what it hides')
    .option('--json', 'print one JSON object')
    .action((key: KeyName | undefined, options: ShowOptions) => {
      ask({ ...asked('show', options), ...(key === undefined ? {} : { key }) });
    });
  defineConfigChanges(config, (action, more = {}) => ask({ ...asked(action), ...more }));
  config
    .command('check')
    .description('what is wrong with it, and the command that mends it')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExit status: 0 nothing is wrong, 2 a value does not count.\n')
    .action((options: ShowOptions) => ask(asked('check', options)));
  config
    .command('init')
    .description('write the file with all keys as comments, or add those that are missing')
    .action(() => ask(asked('init')));
  config
    .command('path')
    .description('the name of the file')
    .action(() => ask(asked('path')));
  config
    .command('schema')
    .description('its JSON Schema, for editors')
    .action(() => ask(asked('schema')));
  return config;
};

type AskChange = (action: ConfigRequest['action'], more?: Pick<ConfigRequest, 'key' | 'value'>) => void;

/** The commands that write the user's file. */
const defineConfigChanges = (config: Command, ask: AskChange): void => {
  const keyArgument = (): Argument =>
    new Argument('<key>', 'see config show').choices(keyNames).argParser(parseKey);
  config
    .command('set')
    .description('set a key in your own configuration file')
    .addArgument(keyArgument())
    .argument('<value>', 'as in the file, without quotes; a list has commas')
    .action((key: KeyName, value: string) => ask('set', { key, value }));
  config
    .command('unset')
    .description('remove a key from your own configuration file')
    .addArgument(keyArgument())
    .action((key: KeyName) => ask('unset', { key }));
  config
    .command('edit')
    .description('open your own configuration file in VISUAL, EDITOR or vi, and check it afterwards')
    .addHelpText('after', '\nExit status: 0 nothing is wrong, 1 the editor failed, or the file is wrong.\n')
    .action(() => ask('edit'));
};

const parseKey = (text: string): KeyName => {
  if (!isKeyName(text)) throw unknownKey(text, keyNames);
  return text;
};

/** What follows `config` is a key for `show`, unless it is a command. */
const parseFirst = (config: Command, text: string): KeyName => {
  if (!isKeyName(text)) throw unknownKey(text, [...keyNames, ...config.commands.map((each) => each.name())]);
  return text;
};
