import { BACKSPACE, ESC } from '../agents/agent.js';
import { DOWN, type AgentCommands } from './known.js';

export const gemini: AgentCommands = {
  lists: [
    { what: 'hint line', keys: [], rows: /\? for shortcuts|Shift\+Tab/, names: /(?:^| {2})\s*(\S+(?: \S+)*)/g, back: [] },
    { what: 'shortcuts', keys: ['?'], names: /(?:^| {2}) *([^\s─]\S*(?: \S+)*)/g, back: [BACKSPACE] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^ ([a-z][\w-]*) {2,}\S/g, back: [ESC] },
  ],
  harmless: [],
  others: {},
};
