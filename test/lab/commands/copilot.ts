import { ESC } from '../agents/agent.js';
import { DOWN, type AgentCommands } from './known.js';

export const copilot: AgentCommands = {
  lists: [
    { what: 'hint line', keys: [], rows: /\/ commands/, names: /(?:^ |· )([^· ]+(?: [^· ]+)*)/g, back: [] },
    { what: 'tabs' as 'hint line', keys: [], rows: /^ *Current {2,}/, names: /(?:^| {2}) *(\S+(?: \S+)*)/g, back: [] },
    { what: 'shortcuts', keys: ['?'], names: /(?:^ | {2}) *([\w?@#/][^│▀▄]*?)(?= {2}|$)/g, back: [ESC] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^┃ [❯ ] (\/\S+)/g, back: [ESC] },
  ],
  harmless: [],
  others: {},
};
