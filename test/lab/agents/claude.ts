import { BACKSPACE, ctrl, ENTER, ESC, type LabAgent } from './agent.js';

const KEY = 'sk-ant-made-up-for-the-lab-0123456789abcdef';
const KEY_TAIL = 20; // what Claude remembers of a key that was approved
const VERSION = '2.1.197';

export const claude: LabAgent = {
  name: 'claude',
  version: VERSION,
  packages: (version) => [`@anthropic-ai/claude-code@${version}`],
  args: ['--model', 'claude-sonnet-4-6'],
  env: ({ port }) => ({
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
  }),
  files: ({ project, isVim }) => ({
    '.claude.json': JSON.stringify({
      hasCompletedOnboarding: true,
      lastOnboardingVersion: VERSION,
      theme: 'dark',
      autoUpdates: false,
      ...(isVim ? { editorMode: 'vim' } : {}),
      customApiKeyResponses: { approved: [KEY.slice(-KEY_TAIL)], rejected: [] },
      projects: {
        [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true, allowedTools: [] },
      },
    }),
  }),
  compact: '/compact',
  strokes: ['/compact', ENTER],
  clear: '/clear',
  ready: /^❯/m,
  dialog: /Do you want to proceed\?/,
  ownTrigger: 168_000,
  canInterrupt: true,
  canQueue: false,
  stash: ctrl('s'),
  places: {
    'slash popup': { keys: ['/'], shows: /^\s*\/\w+ {2,}\S/m, back: [BACKSPACE] },
    'model picker': { keys: ['/model', ENTER], shows: /Select model/, back: [ESC] },
    rewind: { keys: [ESC, ESC], shows: /Rewind/, back: [ESC] },
    transcript: { keys: [ctrl('o')], shows: /Showing detailed transcript/, back: [ESC] },
    'history search': { keys: [ctrl('r')], shows: /search prompts/i, back: [ESC] },
    'shell mode': { keys: ['!'], shows: /! for shell mode/, back: [BACKSPACE] },
    'vim normal': { keys: [ESC], shows: /^(?![^]*-- INSERT --)/, back: ['i'] },
  },
};
