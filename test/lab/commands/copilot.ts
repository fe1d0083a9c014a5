import { ESC } from '../agents/agent.js';
import { DOWN, each, listed, type AgentCommands } from './known.js';

export const copilot: AgentCommands = {
  lists: [
    { what: 'hint line', keys: [], rows: /\/ commands/, names: /(?:^ |· )([^· ]+(?: [^· ]+)*)/g, back: [] },
    { what: 'tabs', keys: [], rows: /^ *Current {2,}/, names: /(?:^| {2}) *(\S+(?: \S+)*)/g, back: [] },
    // the actions, without their keys
    {
      what: 'shortcuts',
      keys: ['?'],
      names: / {2}((?!ctrl|shift|meta)[a-z][a-zA-Z ,/$]*?)(?= {2}|$)/g,
      back: [ESC],
    },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^┃ [❯ ] (\/\S+)/g, back: [ESC] },
  ],
  harmless: listed(`
    / commands | ? help | Current | show full help | go to line start | show quick help | go to line end | commands |
    delete from cursor to beginning of line | mention files | delete from cursor to end of line |
    mention issues and pull requests | move cursor by word | insert newline | stash/pop current prompt |
    edit prompt in $EDITOR | enqueue prompt | toggle all timeline | cancel | toggle reasoning display |
    open most recent link |
    /add-dir | /app | /ask | /changelog | /chronicle | /collect-debug-logs | /computer | /context | /copy | /diagnose |
    /diff | /env | /experimental | /feedback | /help | /ide | /instructions | /keep-alive | /limits | /list-dirs | /lsp |
    /mcp | /memory | /permissions | /plugin | /pr | /rename | /reset-allowed-tools | /sandbox | /search | /session |
    /settings | /share | /skills | /statusline | /terminal-setup | /theme | /update | /usage | /user | /version | /voice
  `),
  others: {
    ...each('← open sidebar | tab next tab | Sessions | Issues | Pull requests | Gists', {
      does: 'view',
      because: 'the list of sessions is the one of /resume; the others need an account',
    }),
    ...each('/tasks | /subagents | /agent', {
      does: 'view',
      because: 'a window below the same conversation',
    }),
    ...each('reverse search history', { does: 'view', scenario: 'history search' }),
    ...each('/new', { does: 'conversation', scenario: 'clear in the middle' }),
    ...each('/clear', { does: 'conversation', because: 'as /new' }),
    ...each('/resume', { does: 'conversation', scenario: 'session chosen from a list' }),
    ...each('/undo | clear input, interrupt, stop agents, or rewind', {
      does: 'conversation',
      scenario: 'rewind',
    }),
    ...each('/fork | /move | /worktree | /cwd', {
      does: 'conversation',
      because: 'its log names the session in front, as after /resume',
    }),
    ...each('/remote', { does: 'conversation', because: 'it needs an account and the network' }),
    ...each('/model', { does: 'model', scenario: 'model picker' }),
    ...each('Interactive | Manual Approval | switch modes | /allow-all | /autopilot | /plan', {
      does: 'mode',
      scenario: 'permission dialog',
    }),
    ...each('/vim', { does: 'mode', because: 'not seen: the prompt in it' }),
    ...each('/fleet | /init | /refine | /research | /review | /security-review', {
      does: 'mode',
      because: 'it starts a turn in this conversation',
    }),
    ...each('/compact', { does: 'compact', scenario: 'user compacts' }),
    ...each('/exit | exit', { does: 'exit', because: 'the wrapper ends with the agent' }),
    ...each('/restart', {
      does: 'exit',
      because: 'it comes back with the same session, in the same terminal',
    }),
  },
};
