import type { TriedAgent } from './agent.js';
import { common, settingsOf } from './gemini-and-qwen.js';

export const gemini: TriedAgent = {
  ...common,
  name: 'gemini',
  args: () => [],
  env: ({ port }) => ({ GEMINI_API_KEY: 'made-up', GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}` }),
  files: ({ isVim }) => ({
    '.gemini/settings.json': settingsOf('gemini-api-key', {
      general: { enableAutoUpdateNotification: false, vimMode: isVim },
    }),
  }),
  summaries: 2,
  exit: '/quit',
  windowTokens: 1_048_576,
};
