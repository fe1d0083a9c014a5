import { isKeyName, keyNames, type KeyName } from '../../core/config/keys.js';
import { unknownConfigWord, unknownKey } from '../messages.js';
import { command } from './command.js';
import { argument, type Asked, flag, json } from './parameters.js';

const parseKey = (text: string): KeyName => {
  if (!isKeyName(text)) throw unknownKey(text, keyNames);
  return text;
};

/** What follows `config` is a key for `show`, unless it is a command. */
const parseFirst = (text: string): KeyName => {
  if (!isKeyName(text))
    throw unknownConfigWord(text, [...keyNames, ...commands.flatMap(({ names }) => names)]);
  return text;
};

const showTakes = {
  key: argument('[key]', 'only this key', { choices: keyNames, parse: parseFirst }),
  origin: flag('--origin', 'also print where each value comes from and what it overrides'),
  json,
};
const checkTakes = { json };
const unsetTakes = {
  key: argument('<key>', 'a key that config show lists', { choices: keyNames, parse: parseKey }),
};
const setTakes = {
  ...unsetTakes,
  value: argument('<value>', 'as in the file, but without quotes; commas between list items'),
};

export type ConfigShowRequest = Asked<typeof showTakes>;
export type ConfigCheckRequest = Asked<typeof checkTakes>;
export type ConfigSetRequest = Asked<typeof setTakes>;
export type ConfigUnsetRequest = Asked<typeof unsetTakes>;

const show = command({
  name: 'show',
  otherNames: ['get'],
  isDefault: true,
  summary: 'print the settings that apply in this folder',
  examples: ['ctxwrap config show --origin'],
  takes: showTakes,
  run: async (asked) => (await import('../commands/config.js')).show(asked),
});

const set = command({
  name: 'set',
  summary: 'set a key in your file',
  examples: ['ctxwrap config set notify.on auto,failure'],
  takes: setTakes,
  run: async (asked) => (await import('../commands/config.js')).set(asked),
});

const unset = command({
  name: 'unset',
  summary: 'remove a key from your file',
  examples: ['ctxwrap config unset warn'],
  takes: unsetTakes,
  run: async (asked) => (await import('../commands/config.js')).unset(asked),
});

const edit = command({
  name: 'edit',
  summary: 'open your file in $VISUAL, $EDITOR or vi, then check it',
  sections: [['Exit status', '0  no errors\n1  the editor failed, or the file has errors']],
  examples: ['EDITOR=nano ctxwrap config edit'],
  run: async ({ options }) => (await import('../commands/config.js')).edit(options),
});

const check = command({
  name: 'check',
  summary: 'report mistakes in the configuration and how to fix them',
  sections: [['Exit status', '0  no errors\n2  a value is wrong and is not used']],
  examples: ['ctxwrap config check'],
  takes: checkTakes,
  run: async (asked) => (await import('../commands/config.js')).check(asked),
});

const init = command({
  name: 'init',
  summary: 'write your file with all keys as comments, or add missing ones',
  examples: ['ctxwrap config init'],
  run: async ({ options }) => (await import('../commands/config.js')).init(options),
});

const path = command({
  name: 'path',
  summary: 'print the path of your file',
  examples: ['cat "$(ctxwrap config path)"'],
  run: async ({ options }) => (await import('../commands/config.js')).showPath(options),
});

const schema = command({
  name: 'schema',
  summary: 'print the JSON Schema of the file, for editors',
  examples: ['ctxwrap config schema > ctxwrap.schema.json'],
  run: async () => (await import('../commands/config.js')).showSchema(),
});

const commands = [show, set, unset, edit, check, init, path, schema];

export const config = command({
  name: 'config',
  topic: 'setup',
  isCommon: true,
  summary: 'show, check and change the configuration',
  examples: ['ctxwrap config set warn 75%'],
  commands,
});
