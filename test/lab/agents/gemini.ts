import { ESC, type LabAgent } from './agent.js';
import { settingsOf, shared, sharedPlaces } from './gemini-and-qwen.js';

export const gemini: LabAgent = {
  ...shared,
  name: 'gemini',
  version: '0.61.0',
  packages: (version) => [`@google/gemini-cli@${version}`],
  args: [],
  env: ({ port }) => ({ GEMINI_API_KEY: 'made-up', GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}` }),
  files: ({ isVim }) => ({
    '.gemini/settings.json': settingsOf('gemini-api-key', {
      general: { enableAutoUpdateNotification: false, vimMode: isVim },
    }),
  }),
  ownTrigger: 530_000,
  canInterrupt: false,
  canQueue: false,
  places: {
    ...sharedPlaces,
    'vim normal': { keys: [ESC], shows: /\[NORMAL\]/, back: ['i'] },
  },
};
