import { BACKSPACE, ESC } from '../agents/agent.js';
import { DOWN, each, listed, type AgentCommands } from './known.js';

const skill = 'it starts a turn in this conversation';
const background =
  'it lists work in the background of the same conversation (docs/facts/claude-background.md)';

export const claude: AgentCommands = {
  lists: [
    { what: 'hint line', keys: [], rows: /\? for shortcuts/, names: /(?:^ +|· )([^·]+)/g, back: [] },
    { what: 'shortcuts', keys: ['?'], names: /(?:^| {2})(\S+(?: \S+)*)/g, back: [BACKSPACE] },
    { what: 'commands', keys: ['/'], next: DOWN, names: /^ {2}[❯ ] (\/\S+)/g, back: [ESC] },
  ],
  harmless: listed(`
    ? for shortcuts | esc esc to clear input | ctrl+shift+_ to undo | / for commands | ctrl+z to suspend | @ for file paths |
    ctrl+v to paste images | /btw for side question | ctrl+t to toggle tasks | backslash (\\) then enter for | newline |
    ctrl+g to edit in $EDITOR | /keybindings to customize |
    /add-dir | /auto-mode-setup | /btw | /bug | /color | /config | /context | /copy | /diff | /export | /feedback | /focus | /goal |
    /help | /hooks | /ide | /keybindings | /login | /mcp | /memory | /mobile | /output-style | /permissions | /plugin |
    /powerup | /radio | /recap | /release-notes | /reload-plugins | /reload-skills | /rename | /sandbox | /scroll-speed |
    /skills | /status | /stickers | /terminal-setup | /theme | /tui | /usage | /statusline
  `),
  others: {
    ...each('ctrl+o to see full transcript', { does: 'view', scenario: 'transcript' }),
    ...each('← for agents', { does: 'view', scenario: 'agents and back' }),
    ...each('/background', { does: 'exit', scenario: 'attach and agents' }),
    ...each('/list-agents | /tasks | /workflows', { does: 'view', because: background }),
    ...each('/clear', { does: 'conversation', scenario: 'clear in the middle' }),
    ...each('/rewind', { does: 'conversation', scenario: 'rewind' }),
    ...each('/resume', { does: 'conversation', scenario: 'undo' }),
    ...each('/branch | /fork', {
      does: 'conversation',
      because: 'the copy has another session id, as after /resume',
    }),
    ...each('/subtask', { does: 'conversation', because: background }),
    ...each('/cd', {
      does: 'conversation',
      because: 'the same conversation goes on with its file in another folder',
    }),
    ...each('/model | alt+p to switch model', { does: 'model', scenario: 'model picker' }),
    ...each('/effort | /fast', { does: 'model', because: 'the window stays the same' }),
    ...each('! for shell mode', { does: 'mode', scenario: 'shell mode' }),
    ...each('ctrl+s to stash prompt', { does: 'mode', scenario: 'draft put aside' }),
    ...each('⏸ manual mode on | shift+tab to cycle modes | /plan', {
      does: 'mode',
      scenario: 'permission dialog',
    }),
    ...each('/compact', { does: 'compact', scenario: 'user compacts' }),
    ...each('/autocompact', { does: 'compact', scenario: 'agent compacts itself' }),
    ...each(
      `/batch | /claude-api | /code-review | /dataviz | /debug | /deep-research | /doctor | /fewer-permission-prompts | /init |
       /insights | /loop | /plugin-authoring | /run | /run-skill-generator | /security-review | /simplify | /team-onboarding |
       /update-config | /verify | /workflow-authoring`,
      { does: 'mode', because: skill },
    ),
    ...each('/exit | /logout', { does: 'exit', because: 'the wrapper ends with the agent' }),
  },
};
