import { ctrl, ESC } from '../agents/agent.js';
import { DOWN, each, listed, type AgentCommands } from './known.js';

export const opencode: AgentCommands = {
  lists: [
    // behind a long path the words of it are in the next row
    { what: 'hint line', keys: [], rows: /ctrl\+p/, names: /((?:ctrl|tab)[^ ]*)/g, back: [] },
    { what: 'palette', keys: [ctrl('p')], next: DOWN, names: /^ {30,}(\S+(?: \S+)*)/g, back: [ESC] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^ *┃ (\/\S+) {2,}/g, back: [ESC] },
  ],
  harmless: listed(`
    ctrl+p | Commands | Search | Suggested | Session | Prompt | Agent | Provider | System | Plugins | VCS |
    Open editor | Rename session | Show sidebar | Disable code concealment | Show timestamps | Expand thinking |
    Hide tool details | Toggle session scrollbar | Show generic tool output | Copy last assistant message |
    Copy session transcript | Export session transcript | Skills | Toggle MCPs | Connect provider | View status |
    View debug info | Switch theme | Switch to light mode | Lock theme mode | Help | Open docs | Toggle debug panel |
    Toggle console | Write heap snapshot | Disable terminal title | Disable animations | Disable file context |
    Disable diff wrapping | Disable paste summary | Disable session directory filtering | Install plugin |
    Open diff viewer | Stash prompt | Stash pop | Stash list |
    /connect | /copy | /debug | /diff | /editor | /export | /help | /mcps | /rename | /skills | /status | /themes |
    /thinking | /timestamps
  `),
  others: {
    ...each('Jump to message | /timeline', { does: 'view', scenario: 'rewind' }),
    ...each('/new | New session', { does: 'conversation', scenario: 'clear in the middle' }),
    ...each('/sessions | Switch session', { does: 'conversation', scenario: 'session chosen from a list' }),
    ...each('/fork | Fork session', { does: 'conversation', because: 'a copy of the same size' }),
    ...each('/undo | Undo previous message | /redo | Redo', {
      does: 'conversation',
      because: 'hidden messages are read in test/agents/opencode-database.test.ts',
    }),
    ...each('/move | Move session Move to another project dir', {
      does: 'conversation',
      because: 'the same conversation goes on in another folder',
    }),
    ...each('/models | Switch model', { does: 'model', scenario: 'model picker' }),
    ...each('Variant cycle', { does: 'model', because: 'the window stays the same' }),
    ...each('/agents | Switch agent | Enable auto-approve permissions', {
      does: 'mode',
      because: 'the prompt stays the same but for the name of the agent',
    }),
    ...each('/init | /review', { does: 'mode', because: 'it starts a turn in this conversation' }),
    ...each('/compact | Compact session', { does: 'compact', scenario: 'user compacts' }),
    ...each('/exit | Exit the app', { does: 'exit', because: 'the wrapper ends with the agent' }),
  },
};
