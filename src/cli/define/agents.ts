import { usageError } from '../usage-error.js';
import { command } from './command.js';
import { argument, type Asked, flag, json } from './parameters.js';

const listTakes = { json };
const addTakes = {
  target: argument('<file>', 'a JSON file, or the name of a definition that comes with ctxwrap'),
  replaces: flag('--replace', 'replace one with the same name'),
};
const showTakes = { target: argument('<name>', 'as agents list prints it') };

export type AgentsListRequest = Asked<typeof listTakes>;
export type AgentsAddRequest = Asked<typeof addTakes>;
export type AgentsShowRequest = Asked<typeof showTakes>;

const list = command({
  name: 'list',
  isDefault: true,
  summary: 'list built-in agents, yours, and definitions that come with ctxwrap',
  examples: ['ctxwrap agents list'],
  takes: listTakes,
  unexpected: (word) =>
    usageError(
      `agents has no command "${word}"`, // it comes here as the default
      'use agents list, agents add FILE or agents show NAME',
    ),
  run: async (asked) => (await import('../commands/agents.js')).list(asked),
});

const add = command({
  name: 'add',
  summary: 'check a definition and copy it into your configuration',
  examples: ['ctxwrap agents add goose', 'ctxwrap agents add ./toy.json'],
  takes: addTakes,
  run: async (asked) => (await import('../commands/agents.js')).add(asked),
});

const show = command({
  name: 'show',
  summary: 'print the definition of an agent',
  examples: ['ctxwrap agents show goose > my-goose.json'],
  takes: showTakes,
  run: async (asked) => (await import('../commands/agents.js')).show(asked),
});

export const agents = command({
  name: 'agents',
  topic: 'setup',
  summary: 'list agents, and add definitions of others',
  examples: ['ctxwrap agents add toy.json'],
  commands: [list, add, show],
});
