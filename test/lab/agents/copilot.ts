import { copilot as tried } from '../../../src/verify/agents.js';
import { BACKSPACE, ctrl, ENTER, ESC, type LabAgent } from './agent.js';

export const copilot: LabAgent = {
  ...tried,
  version: '1.0.102',
  npmName: '@github/copilot',
  clear: '/new',
  unasked: ['--allow-all-tools'],
  plan: {
    call: (title) => ({
      name: 'sql',
      input: {
        description: 'Insert todos',
        query: `INSERT INTO todos (id, title) VALUES ('one', '${title}')`,
      },
    }),
    isUnreadable: true,
  },
  ownTrigger: 110_000,
  tellsState: false,
  canInterrupt: true,
  stopsAtSecondEsc: true,
  canQueue: false,
  copies: '.cache/copilot',
  sessionList: { command: '/resume', shows: / Session {3,}Status/ },
  places: {
    'slash popup': { keys: ['/'], shows: /^┃ ❯ \/\w/m, back: [BACKSPACE] },
    'model picker': { keys: ['/model', ENTER], shows: /Search models/, back: [ESC] },
    rewind: { keys: [ESC, ESC], shows: /Rewind/, back: [ESC] },
    'history search': { keys: [ctrl('r')], shows: /\(reverse-i-search\)/, back: [ESC] },
    'shell mode': { keys: ['!'], shows: /Execute shell command/, back: [ESC] },
  },
};
