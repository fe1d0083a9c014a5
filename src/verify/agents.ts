import { createHash } from 'node:crypto';
import { basename } from 'node:path';

// How to start each agent in a sandbox, and how to recognize its prompt and dialogs.

/** An agent as it is installed here. */
export interface Installed {
  readonly version: string;
  /** the output of --help; an option is passed only if it is listed there */
  readonly help: string;
}

/** The sandbox for one start of an agent: its own home, a project folder, and the port of the model server. */
export interface Sandbox {
  /** of the agent */
  readonly version: string;
  readonly home: string;
  readonly project: string;
  readonly port: number;
  readonly isVim: boolean;
}

/** An agent that can be verified. */
export interface VerifiableAgent {
  readonly name: string;
  readonly args: (installed: Installed) => readonly string[];
  readonly env: (sandbox: Sandbox) => Readonly<Record<string, string>>;
  /** files to write before the start, by their paths in the home */
  readonly files: (sandbox: Sandbox) => Readonly<Record<string, string>>;
  /** the agent's compact command as a user types it, and as ctxwrap types it: the text and the submit key */
  readonly compact: string;
  readonly strokes: readonly [string, string];
  /** matches the screen when the agent accepts input for the first time */
  readonly ready: RegExp;
  /** matches the screen when a tool asks for permission */
  readonly dialog: RegExp;
  /** number of consecutive summary requests in one compaction */
  readonly summaries: number;
  /** the agent's command to quit, as a user types it */
  readonly exit: string;
  /** of the model that it is started with, in tokens */
  readonly windowTokens: number;
  /** tokens that the agent's percentage leaves out, of both the window and the used tokens; 0 when absent */
  readonly freeTokens?: number;
}

export const ENTER = '\r';
export const ESC = '\x1b';
export const BACKSPACE = '\x7f';

const KEY = 'sk-ant-made-up-0123456789abcdefghijklmnopqrstuv';
const KEY_TAIL = 20; // Claude stores the end of an approved key

/**
 * The permission mode in which tools have to ask, by its current name and its older one. Newer versions run safe commands without asking.
 */
const ASKING_MODES = ['manual', 'default'];

const modeArgs = (help: string): readonly string[] => {
  const [, choices = ''] = /--permission-mode <mode>([^]*?)\n *-/.exec(help) ?? [];
  const mode = ASKING_MODES.find((each) => choices.includes(`"${each}"`));
  return mode === undefined ? [] : ['--permission-mode', mode];
};

export const claude: VerifiableAgent = {
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
  ready: /^[❯>$](?:\s|$)/m, // `>` in 2.0, `$` for screen readers
  dialog: /Do you want to proceed\?/,
  summaries: 1,
  exit: '/exit',
  windowTokens: 200_000,
};

const WINDOW = 100_000; // raw; Codex reports 95 % of it
const TOLD_WINDOW = 95_000;
const FREE = 12_000; // the baseline of every conversation, as Codex counts (docs/facts/codex.md#percentage-as-a-formula)

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

export const codex: VerifiableAgent = {
  name: 'codex',
  args: ({ help }) => ['--no-daemon'].filter((flag) => help.includes(flag)),
  env: () => ({ LAB_API_KEY: 'sk-made-up' }),
  files: ({ port, project }) => ({ '.codex/config.toml': config(port, project) }),
  compact: '/compact',
  strokes: ['\x1b[200~/compact \x1b[201~', '\t'],
  ready: /^› (?!\d)/m, // older versions show a suggestion here
  dialog: /Would you like to run the following command\?/,
  summaries: 1,
  exit: '/quit',
  windowTokens: TOLD_WINDOW,
  freeTokens: FREE,
};

// Qwen Code is a fork of Gemini CLI and shares much with it.

const common = {
  compact: '/compress',
  strokes: ['/compress', ENTER],
  ready: /Type your message|Press '(?:Esc|i)' for/,
  dialog: /Allow execution of/,
  exit: '/quit',
} as const;

/** The settings file for a start without questions, telemetry and updates. */
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

export const gemini: VerifiableAgent = {
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

export const qwen: VerifiableAgent = {
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

const OPENCODE_WINDOW = 200_000;

/** docs/facts/opencode.md; the rules for permissions make every shell command ask. */
export const opencode: VerifiableAgent = {
  name: 'opencode',
  args: () => [],
  env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  files: ({ port }) => ({
    '.config/opencode/opencode.json': JSON.stringify({
      autoupdate: false,
      share: 'disabled',
      model: 'lab/lab-model',
      small_model: 'lab/lab-model',
      permission: { bash: 'ask', edit: 'ask' },
      provider: {
        lab: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Lab',
          options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'made-up' },
          models: {
            'lab-model': {
              name: 'Lab Model',
              limit: { context: OPENCODE_WINDOW, output: 8_192 },
              tool_call: true,
            },
          },
        },
      },
    }),
  }),
  compact: '/compact',
  strokes: ['/compact', ENTER],
  ready: /Ask anything/,
  dialog: /Permission required/,
  summaries: 1,
  exit: '/exit',
  windowTokens: OPENCODE_WINDOW,
};

/** What Copilot makes of it leaves out the 16,384 tokens of the longest answer. */
const COPILOT_WHOLE_WINDOW = 128_000;

/** docs/facts/copilot.md; a folder is trusted by its name in the configuration. */
export const copilot: VerifiableAgent = {
  name: 'copilot',
  args: () => [],
  env: ({ port }) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
    COPILOT_PROVIDER_API_KEY: 'made-up',
    COPILOT_MODEL: 'gpt-4.1',
    COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(COPILOT_WHOLE_WINDOW),
  }),
  files: ({ project }) => ({
    '.copilot/config.json': JSON.stringify({ trustedFolders: [project], appTipShown: true }),
  }),
  compact: '/compact',
  strokes: ['/compact', ENTER],
  ready: /Interactive · \S/,
  dialog: /Do you want to run this command\?/,
  summaries: 1,
  exit: '/exit',
  windowTokens: 111_616,
};

const KIMI_WINDOW = 200_000;

const kimiConfig = (port: number): string => `
default_model = "lab"
telemetry = false

[providers.lab]
type = "openai"
base_url = "http://127.0.0.1:${port}/v1"
api_key = "sk-made-up"

[models.lab]
provider = "lab"
model = "lab-model"
max_context_size = ${KIMI_WINDOW}
`;

/** Without its tips, which name commands. */
const KIMI_SCREEN = `
disable_feedback_survey = true

[upgrade]
auto_install = false

[status_line]
items = ["mode", "model", "cwd"]
`;

/** The folder is trusted by a file whose name ends with the hash of its path (docs/facts/kimi.md). */
const kimiTrust = (project: string): Readonly<Record<string, string>> => {
  const hash = createHash('sha256').update(project).digest('hex').slice(0, 12);
  const name = `wd_${basename(project)}_${hash}`;
  return {
    [`.kimi-code/workspace-trust/${name}`]: JSON.stringify({ root: project, trustedAt: 1_700_000_000_000 }),
  };
};

export const kimi: VerifiableAgent = {
  name: 'kimi',
  args: () => [],
  env: () => ({ KIMI_CODE_NO_AUTO_UPDATE: '1' }),
  files: ({ port, project }) => ({
    '.kimi-code/config.toml': kimiConfig(port),
    '.kimi-code/tui.toml': KIMI_SCREEN,
    ...kimiTrust(project),
  }),
  compact: '/compact',
  strokes: ['/compact', ENTER],
  ready: /^ │ > /m,
  dialog: /Run this command\?/,
  summaries: 1,
  exit: '/exit',
  windowTokens: KIMI_WINDOW,
};

/** All agents that can be verified. */
export const verifiableAgents: readonly VerifiableAgent[] = [
  claude,
  codex,
  gemini,
  qwen,
  opencode,
  copilot,
  kimi,
];
