import { gemini as tried } from '../../../src/verify/agents.js';
import { ESC, type LabAgent } from './agent.js';
import { sharedPlaces } from './gemini-and-qwen.js';

export const gemini: LabAgent = {
  ...tried,
  version: '0.61.0',
  npmName: '@google/gemini-cli',
  clear: '/clear',
  unasked: ['--approval-mode', 'yolo'],
  plan: {
    call: (description) => ({ name: 'write_todos', input: { todos: [{ description, status: 'pending' }] } }),
    // models of a later generation do not get the tool
    adapt: (agent) => ({
      ...agent,
      args: (...given) => [...agent.args(...given), '--model', 'gemini-2.5-pro'],
    }),
  },
  ownTrigger: 530_000,
  tellsState: false,
  canInterrupt: false,
  canQueue: false,
  sessionList: { command: '/resume', shows: /Chat Sessions/ },
  places: {
    ...sharedPlaces,
    'vim normal': { keys: [ESC], shows: /\[NORMAL\]/, back: ['i'] },
  },
};
