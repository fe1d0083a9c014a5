import { command } from './command.js';

export const top = command({
  name: 'top',
  topic: 'sessions',
  isCommon: true,
  summary: 'show running sessions live; sort, filter, compact one',
  examples: ['ctxwrap top'],
  run: async ({ options }) => (await import('../commands/top.js')).top(options),
});
