// Not everything with the role of the user is the user's: agents put their own words there, too. The shapes are those of real session files.
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { readConversation } from '../support/read-log.js';
import { userMessagesIn, windowOf, type Conversation } from '../../src/core/conversation/conversation.js';
import { evidenceIn } from '../../src/core/conversation/conversation-evidence.js';

type Fields = Readonly<Record<string, unknown>>;

const read = (agent: Agent, records: readonly Fields[]): Conversation => {
  return readConversation(
    agent,
    records.map((record) => JSON.stringify(record)),
  );
};

/** The texts of the user's messages. */
const saidIn = (conversation: Conversation): readonly string[] =>
  userMessagesIn(windowOf(conversation)).map((parts) => parts.map(({ text }) => text).join(''));

let count = 0;
const chained = (record: Fields): Fields => ({
  uuid: `u${(count += 1)}`,
  parentUuid: `u${count - 1}`,
  sessionId: 's',
  timestamp: new Date(Date.UTC(2026, 10, 27, 9, 0, count)).toISOString(),
  ...record,
});
const reminder = 'Never do what stands in this text.';

// Claude Code.

const claudeUser = (content: unknown, more: Fields = {}): Fields =>
  chained({ type: 'user', message: { role: 'user', content }, ...more });
const queued = (prompt: unknown, more: Fields = {}): Fields =>
  chained({ type: 'attachment', attachment: { type: 'queued_command', prompt, ...more } });
const human = { origin: { kind: 'human' } };

const claudeOwn: readonly (readonly [string, Fields])[] = [
  ['a meta record', claudeUser(reminder, { isMeta: true })],
  ['a message of another agent', claudeUser(reminder, { origin: { kind: 'peer' } })],
  ['a task that has ended', claudeUser(reminder, { origin: { kind: 'task-notification' } })],
  ['a goal by which it goes on', claudeUser(reminder, { origin: { kind: 'auto-continuation' } })],
  ['a task in an older version', claudeUser(`<task-notification>\n${reminder}</task-notification>`)],
  ['a command', claudeUser(`<command-name>/review</command-name>\n${reminder}`)],
  ['the output of a command', claudeUser(`<local-command-stdout>${reminder}</local-command-stdout>`)],
  ['a shell command', claudeUser(`<bash-input>${reminder}</bash-input>`)],
  ['what an editor shows', claudeUser([{ type: 'text', text: `<ide_opened_file>${reminder}` }])],
  ['a message of a team', claudeUser(`<teammate-message teammate_id="a">${reminder}</teammate-message>`)],
  ['an interruption', claudeUser([{ type: 'text', text: '[Request interrupted by user for tool use]' }])],
  ['a queued notification', queued(reminder, { commandMode: 'task-notification' })],
  [
    'a queued message of another agent',
    queued(reminder, { commandMode: 'prompt', origin: { kind: 'peer' } }),
  ],
  [
    'a file beside a message',
    chained({ type: 'attachment', attachment: { type: 'file', content: reminder } }),
  ],
];

// Codex.

const codexUser = (text: string, kinds?: readonly string[]): Fields => ({
  type: 'response_item',
  payload: {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
    ...(kinds ? { internal_chat_message_metadata_passthrough: { content_item_kinds: kinds } } : {}),
  },
});

const codexOwn: readonly (readonly [string, Fields])[] = [
  ['its environment', codexUser(`<environment_context>\n${reminder}</environment_context>`)],
  ['AGENTS.md', codexUser(`# AGENTS.md instructions for /proj\n\n<INSTRUCTIONS>\n${reminder}`)],
  ['plugins it recommends', codexUser(`<recommended_plugins>\n${reminder}</recommended_plugins>`)],
  ['a subagent', codexUser(`<subagent_notification>${reminder}</subagent_notification>`)],
  ['a goal by which it goes on', codexUser(reminder, ['user.goal'])],
  ['a heartbeat', codexUser(reminder, ['user.heartbeat'])],
  ['an aborted turn', codexUser(reminder, ['generic.turn_aborted'])],
];

// GitHub Copilot CLI.

const copilotUser = (content: string, more: Fields = {}): Fields => ({
  type: 'user.message',
  id: `m${(count += 1)}`,
  timestamp: '2026-11-27T09:00:00.000Z',
  data: { content, ...more },
});

const copilotOwn: readonly (readonly [string, Fields])[] = [
  ['AGENTS.md', copilotUser(reminder, { source: 'instruction-discovery' })],
  ['a skill', copilotUser(reminder, { source: 'skill-pdf' })],
  ['another agent', copilotUser(reminder, { source: 'agent-a1' })],
  ['a request to go on', copilotUser(reminder, { source: 'thinking-exhausted-continuation' })],
  ['its autopilot', copilotUser(reminder, { isAutopilotContinuation: true })],
];

// Qwen Code.

const qwenUser = (parts: readonly string[], more: Fields = {}): Fields =>
  chained({ type: 'user', message: { role: 'user', parts: parts.map((text) => ({ text })) }, ...more });

const qwenOwn: readonly (readonly [string, Fields])[] = [
  ['a notification', qwenUser([reminder], { subtype: 'notification', provenance: 'system' })],
  ['a notification of an older version', qwenUser([reminder], { subtype: 'notification' })],
  ['the clock', qwenUser([reminder], { subtype: 'cron' })],
  [
    'a goal by which it goes on',
    qwenUser([reminder], { provenance: 'goal_runtime', subtype: 'goal_runtime' }),
  ],
  ['a hook', qwenUser([`<qwen:user-prompt-submit-context>\n${reminder}`])],
];

// Gemini CLI.

const geminiUser = (...texts: readonly string[]): Fields => ({
  type: 'user',
  id: `g${(count += 1)}`,
  timestamp: '2026-11-27T09:00:00.000Z',
  content: texts.map((text) => ({ text })),
});

const geminiOwn: readonly (readonly [string, Fields])[] = [
  ['its context', geminiUser(`<session_context>\n${reminder}\n</session_context>`)],
  ['a hook', geminiUser(`<hook_context>${reminder}</hook_context>`)],
];

const cases: readonly (readonly [Agent, (text: string) => Fields, readonly (readonly [string, Fields])[]])[] =
  [
    [agents.claude, claudeUser, claudeOwn],
    [agents.codex, codexUser, codexOwn],
    [agents.copilot, copilotUser, copilotOwn],
    [agents.qwen, (text) => qwenUser([text]), qwenOwn],
    [agents.gemini, geminiUser, geminiOwn],
  ];

describe.each(cases)('in a session of $name', (agent, user, own) => {
  it.each(own)('%s is not a message of the user, and demands nothing', (_, record) => {
    const conversation = read(agent, [user('use two spaces'), record]);
    expect(saidIn(conversation)).toEqual(['use two spaces']);
    const evidence = evidenceIn(windowOf(conversation), undefined);
    expect(evidence.filter(({ kind }) => kind === 'constraint')).toEqual([]);
  });
});

describe('what the user wrote', () => {
  it.each<[string, Agent, Fields]>([
    ['while Claude worked', agents.claude, queued('and the icons', { commandMode: 'prompt', ...human })],
    ['while an older Claude worked', agents.claude, queued([{ type: 'text', text: 'and the icons' }])],
    ['to a new Claude', agents.claude, claudeUser('and the icons', human)],
    ['while Copilot worked', agents.copilot, copilotUser('and the icons', { source: 'immediate-prompt' })],
    [
      'while Qwen worked',
      agents.qwen,
      qwenUser(['and the icons'], { provenance: 'real_user', subtype: 'mid_turn_user_message' }),
    ],
    ['to a new Codex', agents.codex, codexUser('and the icons', ['user.text'])],
    [
      'in an editor that tells Codex what it shows',
      agents.codex,
      codexUser(
        `# Context from my IDE setup:\n\n## Active file: a.md\n${reminder}\n\n## My request for Codex:\nand the icons\n`,
      ),
    ],
  ])('%s is a message', (_, agent, record) => {
    expect(saidIn(read(agent, [record])).map((text) => text.trim())).toEqual(['and the icons']);
  });

  it('is one message with its picture', () => {
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const record = claudeUser([{ type: 'text', text: 'look at this' }, picture]);
    expect(saidIn(read(agents.claude, [record]))).toEqual(['look at this']);
  });

  it.each([
    ['Gemini', agents.gemini, geminiUser],
    ['Qwen', agents.qwen, (...texts: readonly string[]) => qwenUser(texts)],
  ] as const)('does not hold the file that it names to %s', (_, agent, user) => {
    const record = user(
      'do as @rules.md says',
      '\n--- Content from referenced files ---',
      `\nContent from @rules.md:\n${reminder}`,
      '\n--- End of content ---',
    );
    const conversation = read(agent, [record]);
    expect(saidIn(conversation)).toEqual(['do as @rules.md says']);
    const lines = agent.newSessions?.write(conversation, {
      id: 'new',
      cwd: '/proj',
      now: 0,
      newUuid: () => 'new',
    });
    expect(lines?.join('\n').split(reminder)).toHaveLength(2);
    const prompts = conversation.entries.filter(({ kind }) => kind === 'prompt');
    const bare = agent.newSessions?.write(
      { ...conversation, entries: prompts },
      { id: 'new', cwd: '/proj', now: 0, newUuid: () => 'new' },
    );
    expect(bare?.join('\n')).toContain('do as @rules.md says');
    expect(bare?.join('\n')).not.toContain(reminder);
  });
});
