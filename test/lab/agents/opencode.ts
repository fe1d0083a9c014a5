import { opencode as tried } from '../../../src/verify/agents.js';
import { BACKSPACE, ENTER, ESC, type LabAgent } from './agent.js';

export const opencode: LabAgent = {
  ...tried,
  version: '1.18.33',
  npmName: 'opencode-ai',
  clear: '/new',
  unasked: ['--auto'],
  plan: {
    call: (content) => ({
      name: 'todowrite',
      input: { todos: [{ content, status: 'pending', priority: 'high' }] },
    }),
  },
  ownTrigger: 192_000,
  compactsAtOnce: true,
  retriesItself: true,
  tellsState: false,
  canInterrupt: true,
  stopsAtSecondEsc: true,
  canQueue: false,
  sessionList: { command: '/sessions', shows: / Sessions {3,}esc$/m },
  places: {
    'slash popup': { keys: ['/'], shows: /^ *┃ \/\w+ {2,}\S/m, back: [BACKSPACE] },
    'model picker': { keys: ['/models', ENTER], shows: /Select model/, back: [ESC] },
    rewind: { keys: ['/timeline', ENTER], shows: /Timeline/, back: [ESC] },
    'shell mode': { keys: ['!'], shows: /exit shell mode/, back: [ESC] },
  },
};
