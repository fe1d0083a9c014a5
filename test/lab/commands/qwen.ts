import { BACKSPACE, ESC } from '../agents/agent.js';
import { DOWN, type AgentCommands } from './known.js';

export const qwen: AgentCommands = {
  lists: [
    { what: 'hint line', keys: [], rows: /shift \+ tab/, names: /^ *(\S+(?: \S+)*)/g, back: [] },
    { what: 'shortcuts', keys: ['?'], names: /(?:^| {2}) *([^\s─]\S*(?: \S+)*)/g, back: [BACKSPACE] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^ {2}[> ] ([a-z][\w-]*)(?= |$)/g, back: [ESC] },
  ],
  harmless: [],
  others: {},
};
