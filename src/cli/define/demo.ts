import { command } from './command.js';
import { type Asked, flag } from './parameters.js';

const takes = { interactive: flag('-i, --interactive', 'type to the agent yourself') };

export type DemoRequest = Asked<typeof takes>;

export const demo = command({
  name: 'demo',
  topic: 'trying',
  summary: 'watch it work with a built-in agent, offline',
  examples: ['ctxwrap demo --interactive'],
  takes,
  run: async (asked) => (await import('../commands/demo.js')).demo(asked),
});
