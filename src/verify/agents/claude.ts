import { ENTER, type TriedAgent } from './agent.js';

const KEY = 'sk-ant-made-up-0123456789abcdefghijklmnopqrstuv';
const KEY_TAIL = 20; // what Claude remembers of a key that was approved

/** The mode in which a tool has to ask: what it is called now, and what it was called before. Newer versions run harmless commands unasked. */
const ASKING_MODES = ['manual', 'default'];

const modeArgs = (help: string): readonly string[] => {
  const [, choices = ''] = /--permission-mode <mode>([^]*?)\n *-/.exec(help) ?? [];
  const mode = ASKING_MODES.find((each) => choices.includes(`"${each}"`));
  return mode === undefined ? [] : ['--permission-mode', mode];
};

export const claude: TriedAgent = {
  name: 'claude',
  args: ({ help }) => ['--model', 'claude-sonnet-4-6', ...modeArgs(help)],
  env: ({ port }) => ({
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
  }),
  files: ({ version, project, isVim }) => ({
    '.claude.json': JSON.stringify({
      hasCompletedOnboarding: true,
      lastOnboardingVersion: version,
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
  ready: /^[❯>](?:\s|$)/m, // `>` in 2.0
  dialog: /Do you want to proceed\?/,
  summaries: 1,
  exit: '/exit',
  windowTokens: 200_000,
};
