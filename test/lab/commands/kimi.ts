import { ESC } from '../agents/agent.js';
import { DOWN, each, listed, type AgentCommands } from './known.js';

export const kimi: AgentCommands = {
  lists: [
    {
      what: 'commands',
      keys: ['/'],
      next: DOWN,
      names: /^ │ {3}(?:→| ) ([a-z]\S*)(?= {2})/g,
      back: [ESC],
    },
  ],
  harmless: listed(`
    settings | provider | btw | help | add-dir | editor | experiments | feedback | mcp | plugins | reload | reload-tui |
    status | theme | title | usage | copy | desktop | export-debug-zip | export-md | login | version | goal
  `),
  others: {
    ...each('tasks', { does: 'view', because: 'a list in the place of the conversation, without a number' }),
    ...each('swarm | sub-skill | sub-skill.consolidate | sub-skill.review', {
      does: 'view',
      because: 'its agents have files of their own, which are not read',
    }),
    ...each('new', { does: 'conversation', scenario: 'clear in the middle' }),
    ...each('fork', { does: 'conversation', because: 'the copy stays behind: this session goes on' }),
    ...each('sessions', { does: 'conversation', scenario: 'session chosen from a list' }),
    ...each('undo', { does: 'conversation', scenario: 'rewind' }),
    ...each('web | remote-control', {
      does: 'conversation',
      because: 'another client of the same session: not seen',
    }),
    ...each('model | secondary-model', { does: 'model', scenario: 'model picker' }),
    ...each('effort', { does: 'model', because: 'the window stays the same' }),
    ...each('yolo | auto | permission | plan', {
      does: 'mode',
      because: 'the prompt stays the same but for its sign',
    }),
    ...each(
      'init | check-kimi-code-docs | custom-theme | import-from-cc-codex | mcp-config | update-config | write-goal',
      {
        does: 'mode',
        because: 'it starts a turn in this conversation',
      },
    ),
    ...each('compact', { does: 'compact', scenario: 'user compacts' }),
    ...each('exit | logout', { does: 'exit', because: 'the wrapper ends with the agent' }),
  },
};
