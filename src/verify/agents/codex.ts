import type { TriedAgent } from './agent.js';

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
