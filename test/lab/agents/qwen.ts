import { qwen as tried } from '../../../src/verify/agents.js';
import { parseRecord } from '../../../src/core/json.js';
import { ESC, withFiles, type LabAgent } from './agent.js';
import { sharedPlaces } from './gemini-and-qwen.js';

/** With the tool that is off by itself. */
const withTodos = withFiles((text) =>
  JSON.stringify({ ...parseRecord(text), tools: { todoWrite: { enabled: true } } }),
);

export const qwen: LabAgent = {
  ...tried,
  version: '0.24.4',
  npmName: '@qwen-code/qwen-code',
  clear: '/clear',
  unasked: ['--approval-mode', 'yolo'],
  plan: {
    call: (content) => ({ name: 'todo_write', input: { todos: [{ id: '1', content, status: 'pending' }] } }),
    adapt: withTodos,
  },
  ownTrigger: 100_000,
  vimStart: { key: 'i', shows: /-- INSERT --/ },
  tellsState: false,
  canInterrupt: true,
  canQueue: true,
  goingPrompt: /^[>*] /m, // 0.15.10
  sessionList: { command: '/resume', shows: /Resume Session/ },
  places: {
    ...sharedPlaces,
    'vim normal': { keys: [ESC], shows: /-- NORMAL --|for INSERT mode/, back: ['i'] },
  },
};
