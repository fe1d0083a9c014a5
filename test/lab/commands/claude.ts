import { BACKSPACE, ESC } from '../agents/agent.js';
import { DOWN, type AgentCommands } from './known.js';

export const claude: AgentCommands = {
  lists: [
    { what: 'hint line', keys: [], rows: /\? for shortcuts/, names: /(?:^ +|· )([^·]+)/g, back: [] },
    { what: 'shortcuts', keys: ['?'], names: /(?:^| {2})(\S+(?: \S+)*)/g, back: [BACKSPACE] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^ {2}[❯ ] (\/\S+)/g, back: [ESC] },
  ],
  harmless: [],
  others: {},
};
