import { ESC } from '../agents/agent.js';
import { DOWN, type AgentCommands } from './known.js';

export const kimi: AgentCommands = {
  lists: [
    { what: 'commands', keys: ['/'], next: DOWN, names: /^ │ {3}(?:→| ) ([a-z][\w:-]*)(?= {2})/g, back: [ESC] },
  ],
  harmless: [],
  others: {},
};
