import { ctrl, ESC } from '../agents/agent.js';
import { DOWN, type AgentCommands } from './known.js';

export const opencode: AgentCommands = {
  lists: [
    { what: 'hint line', keys: [], rows: /ctrl\+p commands/, names: / {2}((?:ctrl|tab|esc)\S*(?: \S+)*)/g, back: [] },
    { what: 'palette', keys: [ctrl('p')], next: DOWN, names: /^ {30,}(\S+(?: \S+)*)/g, back: [ESC] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^ *┃ (\/\S+) {2,}/g, back: [ESC] },
  ],
  harmless: [],
  others: {},
};
