import { BACKSPACE, ENTER, ESC, type LabAgent } from './agent.js';

const WINDOW = 131_072;

export const qwen: LabAgent = {
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
    '.qwen/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
      model: { generationConfig: { contextWindowSize: WINDOW } },
      telemetry: { enabled: false },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, disableAutoUpdate: true, vimMode: isVim },
      memory: { enableManagedAutoMemory: false },
      ui: { enableFollowupSuggestions: false },
      ide: { enabled: false, hasSeenNudge: true },
    }),
  }),
  compact: '/compress',
  strokes: ['/compress', ENTER],
  clear: '/clear',
  ready: /Type your message|Press '(?:Esc|i)' for/,
  dialog: /Allow execution of/,
  ownTrigger: 100_000,
  vimStart: { key: 'i', shows: /-- INSERT --/ },
  canInterrupt: true,
  places: {
    'slash popup': { keys: ['/'], shows: /^\s*\/?\w+ {2,}\S/m, back: [BACKSPACE] },
    'model picker': { keys: ['/model', ENTER], shows: /Select Model/i, back: [ESC] },
    rewind: { keys: [ESC, ESC], shows: /Rewind/i, back: [ESC] },
    'shell mode': { keys: ['!'], shows: /shell mode/i, back: [ESC] },
    'vim normal': { keys: [ESC], shows: /-- NORMAL --/, back: ['i'], setting: 'vim' },
  },
};
