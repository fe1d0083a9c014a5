import { codex as tried } from '../../../src/verify/agents.js';
import { BACKSPACE, ctrl, ENTER, ESC, withFiles, type LabAgent } from './agent.js';

/** Without the window in the configuration that every model has then. */
const withOwnWindows = withFiles((text) => text.replace(/^model_context_window = .*\n/m, ''));

/** With the tool that is off by itself. */
const withUpdatePlan = withFiles((text) => `${text}\n[tools.update_plan]\nenabled = true\n`);

export const codex: LabAgent = {
  ...tried,
  version: '0.171.0',
  npmName: '@openai/codex',
  clear: '/new',
  unasked: ['--ask-for-approval', 'on-request', '--sandbox', 'danger-full-access'],
  plan: {
    call: (step) => ({ name: 'update_plan', input: { plan: [{ step, status: 'pending' }] } }),
    adapt: withUpdatePlan,
  },
  ownTrigger: 91_000,
  tellsState: true,
  canInterrupt: true,
  canQueue: true,
  embedded: '--no-daemon',
  copies: '.codex/packages',
  otherModels: {
    usedTokens: 230_000,
    large: { keys: ['/model', ENTER, '1', ENTER], footer: /230k\/475k +safe/ },
    small: { keys: ['/model', ENTER, '5', ENTER], footer: /230k\/258k +auto/ },
    adapt: withOwnWindows,
  },
  places: {
    'slash popup': { keys: ['/'], shows: /^\s*\/\w+ {2,}\S/m, back: [BACKSPACE] },
    'model picker': { keys: ['/model', ENTER], shows: /Select Model/i, back: [ESC] },
    // the view of the transcript looks the same
    rewind: { keys: [ESC, ESC], shows: /Browsing transcript|rewind/, back: ['q'] },
    'history search': { keys: [ctrl('r')], shows: /search/i, back: [ESC] },
    'shell mode': { keys: ['!'], shows: /Shell mode/, back: [BACKSPACE] },
    'vim normal': { keys: ['/vim', ENTER, ESC], shows: /esc again to edit|Vim: Normal/, back: ['i'] },
  },
};
