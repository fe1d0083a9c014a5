import { hookAgents, hookText } from '../hooks.js';
import { command } from './command.js';
import { argument, oneOf } from './parameters.js';

export const hook = command({
  name: 'hook',
  topic: 'setup',
  summary: "print hooks for an agent's own settings that call ctxwrap",
  examples: ['ctxwrap hook claude'],
  takes: { agent: argument('<agent>', hookAgents.join(', '), oneOf('hook', hookAgents)) },
  text: ({ agent }) => hookText(agent),
});

export const hold = command({
  name: 'hold',
  isHidden: true,
  isBare: true,
  summary: 'the answer to an agent that is about to compact on its own',
  run: async () => (await import('../hooks.js')).answerHook(),
});
