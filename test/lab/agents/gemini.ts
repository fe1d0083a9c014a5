import { BACKSPACE, ENTER, ESC, type LabAgent } from './agent.js';

export const gemini: LabAgent = {
  name: 'gemini',
  version: '0.61.0',
  packages: (version) => [`@google/gemini-cli@${version}`],
  args: [],
  env: ({ port }) => ({ GEMINI_API_KEY: 'made-up', GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}` }),
  files: ({ isVim }) => ({
    '.gemini/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      telemetry: { enabled: false },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, vimMode: isVim },
      ide: { enabled: false, hasSeenNudge: true },
    }),
  }),
  compact: '/compress',
  strokes: ['/compress', ENTER],
  clear: '/clear',
  ready: /Type your message|Press '(?:Esc|i)' for/,
  dialog: /Allow execution of/,
  ownTrigger: 530_000,
  canInterrupt: false,
  places: {
    'slash popup': { keys: ['/'], shows: /^\s*\/?\w+ {2,}\S/m, back: [BACKSPACE] },
    'model picker': { keys: ['/model', ENTER], shows: /Select Model/i, back: [ESC] },
    rewind: { keys: [ESC, ESC], shows: /> Rewind|Rewind/, back: [ESC] },
    'shell mode': { keys: ['!'], shows: /shell mode enabled/, back: [ESC] },
    'vim normal': { keys: [ESC], shows: /\[NORMAL\]/, back: ['i'], setting: 'vim' },
  },
};
