import type { TriedAgent } from './agent.js';
import { common, settingsOf } from './gemini-and-qwen.js';

const WINDOW = 131_072;

export const qwen: TriedAgent = {
  ...common,
  name: 'qwen',
  args: () => ['--approval-mode', 'default'],
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
  summaries: 1,
  exit: '/quit',
  windowTokens: WINDOW,
};
