import { ESC, type LabAgent } from './agent.js';
import { settingsOf, shared, sharedPlaces } from './gemini-and-qwen.js';

const WINDOW = 131_072;

export const qwen: LabAgent = {
  ...shared,
  name: 'qwen',
  version: '0.24.4',
  // it does not run on Node 20; its own Node comes first in PATH
  packages: (version) => [`@qwen-code/qwen-code@${version}`, 'node@22'],
  args: ['--approval-mode', 'default'],
  env: ({ port }) => ({
    OPENAI_API_KEY: 'made-up',
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_MODEL: 'qwen3-coder-plus',
  }),
  files: ({ isVim }) => ({
    '.qwen/settings.json': settingsOf('openai', {
      model: { generationConfig: { contextWindowSize: WINDOW } },
      general: { disableAutoUpdate: true, vimMode: isVim },
      memory: { enableManagedAutoMemory: false },
      ui: { enableFollowupSuggestions: false },
    }),
  }),
  ownTrigger: 100_000,
  vimStart: { key: 'i', shows: /-- INSERT --/ },
  canInterrupt: true,
  canQueue: true,
  places: {
    ...sharedPlaces,
    'vim normal': { keys: [ESC], shows: /-- NORMAL --/, back: ['i'] },
  },
};
