// `ctxwrap config` as commander sees it.
import { Argument } from 'commander';
import type { Command } from 'commander';
import { isKeyName, keyNames } from '../../core/config/keys.js';
import { unknownKey } from '../messages.js';
import type { ConfigRequest, Options, Request } from '../request.js';

interface ShowOptions {
  readonly origin?: boolean;
  readonly json?: boolean;
}

export const defineConfig = (program: Command, ask: (request: Request) => void): Command => {
  const config = program
    .command('config')
    .description('what is set, where it comes from, and whether it is right')
    .helpCommand(false);
  const asked = (action: ConfigRequest['action'], { origin = false, json = false }: ShowOptions = {}) => ({
    kind: 'config' as const,
    action,
    origin,
    json,
    options: program.opts<Options>(),
  });
  config
    .command('show', { isDefault: true })
    .description('the values that hold in this folder')
    .addArgument(new Argument('[key]', 'only this one').choices(keyNames).argParser(parseKey))
    .option('--origin', 'also where each comes from, and what it hides')
    .option('--json', 'print one JSON object')
    .action((key: string | undefined, options: ShowOptions) => {
      ask({ ...asked('show', options), ...(key === undefined ? {} : { key }) });
    });
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

const parseKey = (text: string): string => {
  if (!isKeyName(text)) throw unknownKey(text, keyNames);
  return text;
};
