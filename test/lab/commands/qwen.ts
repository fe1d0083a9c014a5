import { BACKSPACE, ESC } from '../agents/agent.js';
import { DOWN, each, listed, type AgentCommands } from './known.js';

export const qwen: AgentCommands = {
  lists: [
    { what: 'hint line', keys: [], rows: /shift \+ tab/, names: /^ *(\S+(?: \S+)*)/g, back: [] },
    { what: 'shortcuts', keys: ['?'], names: /(?:^| {2}) *([^\s─]\S*(?: \S+)*)/g, back: [BACKSPACE] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^ {2}[> ] ([a-z][\w-]*)(?= |$)/g, back: [ESC] },
  ],
  harmless: listed(`
    / for commands | ctrl+j for newline ⏎ | ctrl+q to queue for the next turn | @ for file paths | ctrl+l to clear screen |
    ctrl+v to paste images | esc esc to clear input | ctrl+o to expand details | ctrl+x for external editor |
    btw | bug | ide | mcp | auth | copy | diff | docs | help | init | goal | hooks | learn | recap | stats | theme | tools |
    voice | status | config | doctor | editor | export | memory | rename | skills | update | advisor | context | curator |
    history | summary | insight | language | remember | settings | directory | extensions | statusline | permissions |
    output-style | setup-github | import-config | reload-plugins | terminal-setup | peers
  `),
  others: {
    ...each('ctrl+r to search history', { does: 'view', scenario: 'history search' }),
    ...each('agents | tasks', { does: 'view', because: 'a window below the same conversation' }),
    ...each('clear', { does: 'conversation', scenario: 'clear in the middle' }),
    ...each('rewind', { does: 'conversation', scenario: 'rewind' }),
    ...each('resume', { does: 'conversation', scenario: 'session chosen from a list' }),
    ...each('branch | fork | restore | delete | arena | cd', {
      does: 'conversation',
      because: 'not seen to the end (docs/facts/qwen.md)',
    }),
    ...each('model', { does: 'model', scenario: 'model picker' }),
    ...each('effort', { does: 'model', because: 'the window stays the same' }),
    ...each('! for shell mode', { does: 'mode', scenario: 'shell mode' }),
    ...each('vim', { does: 'mode', scenario: 'vim normal' }),
    ...each(
      '⏸ Ask permissions (shift + tab to cycle) | shift+tab to cycle approvals | plan | approval-mode',
      {
        does: 'mode',
        because: 'the prompt stays the same but for its sign',
      },
    ),
    ...each(
      `loop | batch | stuck | review | dataviz | new-app | simplify | qc-helper | coordinate | goal-draft | browser-use |
       computer-use | workflow-creator | extension-creator | zvec-grep-install | workflow-authoring |
       ctrl+y to retry last request`,
      { does: 'mode', because: 'it starts a turn in this conversation' },
    ),
    ...each('compress', { does: 'compact', scenario: 'user compacts' }),
    ...each('compress-fast', {
      does: 'compact',
      because: 'it found nothing to compress (docs/facts/qwen.md)',
    }),
    ...each('quit | ctrl+c to quit', { does: 'exit', because: 'the wrapper ends with the agent' }),
  },
};
