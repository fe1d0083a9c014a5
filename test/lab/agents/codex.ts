import { BACKSPACE, ctrl, ENTER, ESC, type LabAgent } from './agent.js';

const WINDOW = 100_000; // raw; Codex tells 95 % of it

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

export const codex: LabAgent = {
  name: 'codex',
  version: '0.169.0',
  packages: (version) => [`@openai/codex@${version}`],
  args: ['--no-daemon'],
  env: () => ({ LAB_API_KEY: 'sk-made-up' }),
  files: ({ port, project }) => ({ '.codex/config.toml': config(port, project) }),
  compact: '/compact',
  strokes: ['\x1b[200~/compact \x1b[201~', '\t'],
  clear: '/new',
  ready: /Ask Codex to do anything/,
  dialog: /Would you like to run the following command\?/,
  ownTrigger: 91_000,
  canInterrupt: true,
  canQueue: true,
  places: {
    'slash popup': { keys: ['/'], shows: /^\s*\/\w+ {2,}\S/m, back: [BACKSPACE] },
    'model picker': { keys: ['/model', ENTER], shows: /Select Model/i, back: [ESC] },
    // the view of the transcript is this one, too
    rewind: { keys: [ESC, ESC], shows: /Browsing transcript|rewind/, back: [ESC] },
    'history search': { keys: [ctrl('r')], shows: /search/i, back: [ESC] },
    'shell mode': { keys: ['!'], shows: /Shell mode/, back: [BACKSPACE] },
    'vim normal': { keys: ['/vim', ENTER, ESC], shows: /esc again to edit|Vim: Normal/, back: ['i'] },
  },
};
