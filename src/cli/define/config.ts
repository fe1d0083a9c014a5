import { Argument, type Command } from 'commander';
import { isKeyName, keyNames, type KeyName } from '../../core/config/keys.js';
import { unknownKey } from '../messages.js';
import { parseOptions } from '../options.js';
import type { Ask, ConfigRequest } from '../request.js';
import { addNotes, commandTopics } from './help.js';

// `ctxwrap config`, defined for commander.

interface ShowOptions {
  readonly origin?: boolean;
  readonly json?: boolean;
}

export const defineConfig = (program: Command, ask: Ask): Command => {
  const config = program
    .command('config')
    .helpGroup(commandTopics.setup)
    .description('show, check and change the configuration')
    .helpCommand(false);
  addNotes(config, { examples: ['ctxwrap config set warn 75%'] });
  const asked = (action: ConfigRequest['action'], { origin = false, json = false }: ShowOptions = {}) => ({
    kind: 'config' as const,
    action,
    origin,
    json,
    options: parseOptions(program),
  });
  const show = config
    .command('show', { isDefault: true })
    .description('print the settings that apply in this folder')
    .addArgument(
      new Argument('[key]', 'only this key').choices(keyNames).argParser((text) => parseFirst(config, text)),
    )
    .option('--origin', 'also where each value comes from and what it overrides')
    .option('--json', 'print one JSON object')
    .action((key: KeyName | undefined, options: ShowOptions) => {
      ask({ ...asked('show', options), ...(key === undefined ? {} : { key }) });
    });
  addNotes(show, { examples: ['ctxwrap config show --origin'] });
  defineConfigChanges(config, (action, more = {}) => ask({ ...asked(action), ...more }));
  const check = config
    .command('check')
    .description('report mistakes in the configuration and how to fix them')
    .option('--json', 'print one JSON object')
    .action((options: ShowOptions) => ask(asked('check', options)));
  addNotes(check, {
    sections: [['Exit status', '0  no errors\n2  a value is wrong and is not used']],
    examples: ['ctxwrap config check'],
  });
  defineConfigFile(config, (action) => ask(asked(action)));
  return config;
};

type AskChange = (action: ConfigRequest['action'], more?: Pick<ConfigRequest, 'key' | 'value'>) => void;

/** The commands that make the user's file, and those for editors. */
const defineConfigFile = (config: Command, ask: AskChange): void => {
  const init = config
    .command('init')
    .description('write your file with all keys as comments, or add missing')
    .action(() => ask('init'));
  addNotes(init, { examples: ['ctxwrap config init'] });
  const path = config
    .command('path')
    .description('print the path of your file')
    .action(() => ask('path'));
  addNotes(path, { examples: ['cat "$(ctxwrap config path)"'] });
  const schema = config
    .command('schema')
    .description('print the JSON Schema of the file, for editors')
    .action(() => ask('schema'));
  addNotes(schema, { examples: ['ctxwrap config schema > ctxwrap.schema.json'] });
};

/** The commands that change the user's file. */
const defineConfigChanges = (config: Command, ask: AskChange): void => {
  const keyArgument = (): Argument =>
    new Argument('<key>', 'a key that config show lists').choices(keyNames).argParser(parseKey);
  const set = config
    .command('set')
    .description('set a key in your file')
    .addArgument(keyArgument())
    .argument('<value>', 'as in the file, but without quotes; commas between list items')
    .action((key: KeyName, value: string) => ask('set', { key, value }));
  addNotes(set, { examples: ['ctxwrap config set notify.on auto,failure'] });
  const unset = config
    .command('unset')
    .description('remove a key from your file')
    .addArgument(keyArgument())
    .action((key: KeyName) => ask('unset', { key }));
  addNotes(unset, { examples: ['ctxwrap config unset warn'] });
  const edit = config
    .command('edit')
    .description('open your file in $VISUAL, $EDITOR or vi, then check it')
    .action(() => ask('edit'));
  addNotes(edit, {
    sections: [['Exit status', '0  no errors\n1  the editor failed, or the file has errors']],
    examples: ['EDITOR=nano ctxwrap config edit'],
  });
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
