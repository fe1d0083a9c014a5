import { BACKSPACE, ESC } from '../agents/agent.js';
import { DOWN, each, listed, type AgentCommands } from './known.js';

export const gemini: AgentCommands = {
  lists: [
    {
      what: 'hint line',
      keys: [],
      rows: /\? for shortcuts|^ Shift\+Tab/,
      names: /(?:^| {2}) *(\S+(?: \S+)*)/g,
      back: [],
    },
    { what: 'shortcuts', keys: ['?'], names: /(?:^| {2}) *([^\s─]\S*(?: \S+)*)/g, back: [BACKSPACE] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^ ([a-z][\w-]*) {2,}\S/g, back: [ESC] },
  ],
  harmless: listed(`
    ? for shortcuts | Shortcuts See /help for more | Ctrl+V paste images | @ select file or folder |
    Alt+M raw markdown mode | Ctrl+G open external editor |
    directory | footer | stats | about | auth | bug | bug-memory | commands | copy | docs | export-session | editor |
    extensions | help | shortcuts | hooks | ide | init | oncall | mcp | memory | policies | privacy | theme | tools | skills |
    settings | gemma | setup-github | terminal-setup
  `),
  others: {
    ...each('tasks | agents', { does: 'view', because: 'a list beside the conversation' }),
    ...each('Ctrl+R reverse-search history', { does: 'view', scenario: 'history search' }),
    ...each('Tab focus UI', { does: 'view', because: 'the rows around the same prompt' }),
    ...each('clear', { does: 'conversation', scenario: 'clear in the middle' }),
    ...each('rewind | Double Esc clear & rewind', { does: 'conversation', scenario: 'rewind' }),
    ...each('resume', { does: 'conversation', scenario: 'session chosen from a list' }),
    ...each('chat', { does: 'conversation', because: 'its records are read in test/agents/gemini.test.ts' }),
    ...each('model', { does: 'model', scenario: 'model picker' }),
    ...each('! shell mode', { does: 'mode', scenario: 'shell mode' }),
    ...each('vim', { does: 'mode', scenario: 'vim normal' }),
    ...each('Shift+Tab to accept edits | Shift+Tab cycle mode | Ctrl+Y YOLO mode | plan', {
      does: 'mode',
      because: 'the prompt stays the same but for its sign',
    }),
    ...each('compress', { does: 'compact', scenario: 'user compacts' }),
    ...each('quit', { does: 'exit', because: 'the wrapper ends with the agent' }),
  },
};
