import { BACKSPACE, ESC } from '../agents/agent.js';
import { DOWN, type AgentCommands } from './known.js';

export const codex: AgentCommands = {
  lists: [
    { what: 'hint line', keys: [], rows: /\? for shortcuts/, names: /(?:^| {2}|· )([^· ]+(?: [^· ]+)*)/g, back: [] },
    // the action of each key
    { what: 'shortcuts', keys: ['?'], names: / {2}([A-Z]\S*(?: \S+)*)/g, back: [BACKSPACE] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^[› ] (\/\S+) {2}/g, back: [ESC] },
  ],
  harmless: [],
  others: {},
};
