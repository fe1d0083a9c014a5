// What has to be known of an agent to try it: how it is started far from everything, and what shows where it is.

/** An agent as it is installed here. */
export interface Installed {
  readonly version: string;
  /** what it prints with --help: no version is given an argument that it does not know */
  readonly help: string;
}

/** One start of an agent: a home of its own, a folder to work in, and the port of the model server. */
export interface Ground {
  /** of the agent */
  readonly version: string;
  readonly home: string;
  readonly project: string;
  readonly port: number;
  readonly isVim: boolean;
}

/** An agent that can be tried. Where its arguments, variables and files come from: facts/<name>.md §1. */
export interface TriedAgent {
  readonly name: string;
  readonly args: (installed: Installed) => readonly string[];
  readonly env: (ground: Ground) => Readonly<Record<string, string>>;
  /** files to write before the start, by their paths in the home */
  readonly files: (ground: Ground) => Readonly<Record<string, string>>;
  /** its own command that compacts, as a user types it, and as ctxwrap does: the text and the key that submits it */
  readonly compact: string;
  readonly strokes: readonly [string, string];
  /** the screen when it can be typed to for the first time */
  readonly ready: RegExp;
  /** a tool has asked for permission */
  readonly dialog: RegExp;
  /** questions for a summary in one compaction, one after the other */
  readonly summaries: number;
  /** its own command that ends it, as a user types it */
  readonly exit: string;
  /** of the model that it is started with, in tokens */
  readonly windowTokens: number;
  /** tokens that count as none in its percentage, of the window and of what is used; 0 when absent */
  readonly freeTokens?: number;
}

export const ENTER = '\r';
export const ESC = '\x1b';
export const BACKSPACE = '\x7f';

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

const WINDOW = 100_000; // raw; Codex tells 95 % of it
const TOLD_WINDOW = 95_000;
const FREE = 12_000; // what every conversation has, as Codex counts (facts/codex.md §2.3)

const config = (port: number, project: string): string => `
model = "gpt-5.5"
model_provider = "lab"
model_context_window = ${WINDOW}
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.lab]
name = "lab"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
env_key = "LAB_API_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[projects."${project}"]
trust_level = "trusted"

[tui]
screen_reader_detection_done = true

[tui.model_availability_nux]
"gpt-6.1-sol" = 1

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
`;

export const codex: TriedAgent = {
  name: 'codex',
  args: ({ help }) => ['--no-daemon'].filter((flag) => help.includes(flag)),
  env: () => ({ LAB_API_KEY: 'sk-made-up' }),
  files: ({ port, project }) => ({ '.codex/config.toml': config(port, project) }),
  compact: '/compact',
  strokes: ['\x1b[200~/compact \x1b[201~', '\t'],
  ready: /^› (?!\d)/m, // what stands there is a suggestion in older versions
  dialog: /Would you like to run the following command\?/,
  summaries: 1,
  exit: '/quit',
  windowTokens: TOLD_WINDOW,
  freeTokens: FREE,
};

// Qwen Code began as Gemini CLI, and much of it is the same.

const common = {
  compact: '/compress',
  strokes: ['/compress', ENTER],
  ready: /Type your message|Press '(?:Esc|i)' for/,
  dialog: /Allow execution of/,
  exit: '/quit',
} as const;

/** The settings file, for a start that asks nothing and tells nobody. */
const settingsOf = (
  selectedType: string,
  { general, ...more }: { readonly general: object } & Readonly<Record<string, object>>,
): string =>
  JSON.stringify({
    security: { auth: { selectedType }, folderTrust: { enabled: false } },
    telemetry: { enabled: false },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false, ...general },
    ide: { enabled: false, hasSeenNudge: true },
    ...more,
  });

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
  windowTokens: 1_048_576,
};

const QWEN_WINDOW = 131_072;

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
      model: { generationConfig: { contextWindowSize: QWEN_WINDOW } },
      general: { disableAutoUpdate: true, vimMode: isVim },
      memory: { enableManagedAutoMemory: false },
      ui: { enableFollowupSuggestions: false },
    }),
  }),
  summaries: 1,
  windowTokens: QWEN_WINDOW,
};

/** All that can be tried. */
export const triedAgents: readonly TriedAgent[] = [claude, codex, gemini, qwen];
