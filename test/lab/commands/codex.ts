import { BACKSPACE, ESC } from '../agents/agent.js';
import { DOWN, each, listed, type AgentCommands } from './known.js';

const background =
  'it needs the background server, which has its own facts (docs/facts/codex-background-server.md)';

export const codex: AgentCommands = {
  lists: [
    {
      what: 'hint line',
      keys: [],
      rows: /\? for shortcuts/,
      names: /(?:^| {2}|· )([^· ]+(?: [^· ]+)*)/g,
      back: [],
    },
    // the actions, without their keys
    { what: 'shortcuts', keys: ['?'], names: / {2}([A-Z]\S*(?: \S+)*)/g, back: [BACKSPACE] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^[› ] (\/\S+) {2}/g, back: [ESC] },
  ],
  harmless: listed(`
    ? for shortcuts | ⚠ 1 warning | f2 to view | Keyboard shortcuts | Tab: Keyboard | Compose | Session | Transcript (open first) |
    Commands | Send message | Mention files | Find text | Scroll | New line | Start selection | Paste image | Voice |
    Top / latest | External editor | Inspect activity |
    /presets | /ide | /permissions | /keymap | /experimental | /approve | /memories | /skills | /import | /hooks | /rename |
    /init | /config | /recap | /voice | /goal | /side | /copy | /export | /raw | /tui | /diff | /mention | /status | /warnings |
    /pwd | /title | /statusline | /theme | /pets | /mcp | /plugins | /feedback | /ps | /stop
  `),
  others: {
    ...each('Open transcript', { does: 'view', scenario: 'rewind' }),
    ...each('Search history', { does: 'view', scenario: 'history search' }),
    ...each('← for agents | Agents (empty prompt) | /agents | Subagents (empty prompt) | /subagents', {
      does: 'view',
      because: background,
    }),
    ...each('/daemon | /rc', { does: 'view', because: background }),
    ...each('/new', { does: 'conversation', scenario: 'clear in the middle' }),
    ...each('/clear', { does: 'conversation', because: 'as /new, and the terminal is cleared' }),
    ...each('Edit last message', { does: 'conversation', scenario: 'rewind' }),
    ...each('/resume', { does: 'conversation', scenario: 'undo' }),
    ...each('/fork | /worktree | /review', {
      does: 'conversation',
      because: 'the new thread has its own rollout, as after /resume',
    }),
    ...each('/archive | /delete', {
      does: 'conversation',
      because: 'it ends this conversation, with a question first',
    }),
    ...each('/cd', { does: 'conversation', because: 'the same thread goes on in another folder' }),
    ...each('/model', { does: 'model', scenario: 'model picker' }),
    ...each('/fast | Less reasoning | More reasoning', {
      does: 'model',
      because: 'the window stays the same',
    }),
    ...each('/vim', { does: 'mode', scenario: 'vim normal' }),
    ...each('Shell command', { does: 'mode', scenario: 'shell mode' }),
    ...each('Change mode | /plan', { does: 'mode', because: 'the prompt stays the same' }),
    ...each('/compact', { does: 'compact', scenario: 'user compacts' }),
    ...each('/exit | /logout | Quit', { does: 'exit', because: 'the wrapper ends with the agent' }),
  },
};
