import { claude as tried } from '../../../src/verify/agents.js';
import { BACKSPACE, ctrl, ENTER, ESC, type LabAgent } from './agent.js';

export const claude: LabAgent = {
  ...tried,
  version: '2.1.332',
  npmName: '@anthropic-ai/claude-code',
  clear: '/clear',
  unasked: ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash'],
  plan: { call: (subject) => ({ name: 'TaskCreate', input: { subject, description: subject } }) },
  ownTrigger: 168_000,
  tellsState: true,
  canInterrupt: true,
  canQueue: false,
  stash: ctrl('s'),
  largeModel: ['--model', 'claude-opus-4-8'],
  otherModels: {
    usedTokens: 165_000,
    large: { keys: ['/model claude-opus-4-8', ENTER], footer: /165k\/1\.0M +safe/ },
    small: { keys: ['/model claude-sonnet-4-6', ENTER], footer: /165k\/200k +auto/ },
    asks: /Switch model\?/,
  },
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
