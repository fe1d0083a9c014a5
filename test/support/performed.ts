import type { Request } from '../../src/cli/request.js';

/** What a command answers in this process; it starts no agent. */
export const performed = (request: Request): Promise<unknown> => {
  if (request.kind !== 'command') throw new Error(`no command, but ${request.kind}`);
  return request.perform(request.options, () => Promise.reject(new Error('nothing is started here')));
};
