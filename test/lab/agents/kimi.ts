import { kimi as tried } from '../../../src/verify/agents.js';
import { BACKSPACE, ENTER, ESC, type LabAgent } from './agent.js';

export const kimi: LabAgent = {
  ...tried,
  version: '2.1.0',
  npmName: '@moonshot-ai/kimi-code',
  clear: '/new',
  unasked: ['--auto'],
  plan: { call: (title) => ({ name: 'TodoList', input: { todos: [{ title, status: 'pending' }] } }) },
  ownTrigger: 160_000,
  tellsState: false,
  canInterrupt: true,
  canQueue: false,
  sessionList: { command: '/sessions', shows: / Sessions {2}\(type to search/ },
  places: {
    'slash popup': { keys: ['/'], shows: /→ yolo/, back: [BACKSPACE] },
    'model picker': { keys: ['/model', ENTER], shows: /← current/, back: [ESC] },
    rewind: { keys: [ESC, ESC], shows: /Select messages to undo/, back: [ESC] },
    'shell mode': { keys: ['!'], shows: /! shell mode/, back: [BACKSPACE] },
  },
};
