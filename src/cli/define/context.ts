import { command } from './command.js';
import { argument, type Asked, json, LAST_SESSION, runtime, SESSION, window } from './parameters.js';

const takes = {
  target: argument(
    '[session]',
    `${SESSION}; ${LAST_SESSION}; also the beginning of an agent's own id, or a session file`,
  ),
  runtime: runtime('the agent of the session file, if not recognised'),
  window,
  json,
};

export type ContextRequest = Asked<typeof takes>;

export const context = command({
  name: 'context',
  topic: 'sessions',
  isCommon: true,
  summary: 'show what fills a window and where its tiers begin',
  examples: ['ctxwrap context claude'],
  takes,
  configuration: 'all',
  run: async (asked) => (await import('../commands/context.js')).context(asked),
});
