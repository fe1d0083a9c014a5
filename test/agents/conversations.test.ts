import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { readConversation } from '../support/read-log.js';
import {
  windowOf,
  type Conversation,
  type Entry,
  type NewSession,
} from '../../src/core/conversation/conversation.js';
import { conversationOf } from '../support/generated-conversation.js';
import { readLines } from '../support/read-log.js';
import { runs } from '../support/runs.js';

const folder = join(import.meta.dirname, '../fixtures/logs');
const known: readonly Agent[] = Object.values<Agent>(agents).filter(({ newSessions }) => newSessions);

const files = known.flatMap((agent) =>
  readdirSync(join(folder, agent.name)).map((file) => ({ name: `${agent.name}/${file}`, agent })),
);
const onlyRead = [{ name: 'opencode/tools.jsonl', agent: agents.opencode }];

const linesOf = (name: string): readonly string[] =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '');

const read = (lines: Iterable<string>, agent: Agent): Conversation => readConversation(agent, [...lines]);

const newSession = (): NewSession => {
  let count = 0;
  return {
    id: '0f0f0f0f-1111-4222-8333-444444444444',
    cwd: '/somewhere/else',
    now: Date.UTC(2026, 10, 24, 12, 30),
    newUuid: () => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`,
  };
};

/** What the model gets of an entry. */
const sent = (entry: Entry): unknown => {
  const { kind } = entry;
  if (kind === 'call') return { kind, callId: entry.callId, name: entry.name, input: entry.input };
  if (kind === 'result') return { kind, callId: entry.callId, output: entry.output };
  return kind === 'compaction' ? { kind } : { kind, text: entry.text };
};

const isSent = (entry: Entry): boolean => !('text' in entry && entry.text === '');

describe.each([...files, ...onlyRead])('the conversation in $name', ({ name, agent }) => {
  it('is read without a damaged line', () => {
    const { damaged, entries, incomplete } = read(linesOf(name), agent);
    expect({ damaged, incomplete }).toEqual({ damaged: 0, incomplete: undefined });
    expect(entries.some(({ kind }) => kind === 'prompt')).toBe(true);
  });

  it('never makes the reader throw when it is damaged, cut or shuffled, and every broken line is counted', () => {
    const lines = linesOf(name);
    const damage = fc.record({
      order: fc.shuffledSubarray(lines.map((_, index) => index)),
      cuts: fc.dictionary(fc.nat({ max: lines.length - 1 }).map(String), fc.nat({ max: 2_000 })),
      junk: fc.array(fc.oneof(fc.string(), fc.json(), fc.constant('{"type":"user"}')), { maxLength: 5 }),
    });
    fc.assert(
      fc.property(damage, ({ order, cuts, junk }) => {
        const damaged = order.map((index) => (lines[index] ?? '').slice(0, cuts[String(index)] ?? Infinity));
        const all = [...damaged, ...junk];
        const conversation = read(all, agent);
        expect(conversation.damaged).toBeLessThanOrEqual(all.length);
        windowOf(conversation);
        agent.newSessions?.write(conversation, newSession());
      }),
      runs(40),
    );
  });
});

describe.each(files)('the session file $name', ({ name, agent }) => {
  it('written under a new id gives the same conversation', () => {
    const before = read(linesOf(name), agent);
    const lines = agent.newSessions?.write(before, newSession());
    const mayRefuse = agent.name === 'codex'; // a rollout without the name of the model's service
    expect(lines !== undefined || mayRefuse).toBe(true);
    if (!lines) return;
    const after = read(lines, agent);
    const namesItself = agent.name !== 'kimi'; // the folder of Kimi's file does
    expect(after.head.id).toBe(namesItself ? newSession().id : undefined);
    expect(windowOf(after).filter(isSent).map(sent)).toEqual(expectedAfter(agent, before));
    expect(after.damaged).toBe(0);
  });

  it('written as a shortened session is as full as that one is, not as the whole one was', () => {
    const usedTokens = 4_321;
    const lines = agent.newSessions?.write(read(linesOf(name), agent), { ...newSession(), usedTokens });
    const { facts } = readLines(agent, lines ?? []);
    const sizes = facts.flatMap((fact) => (fact.type === 'reading' ? [fact.reading.usedTokens] : []));
    expect(sizes.filter((size) => size !== undefined && size !== usedTokens)).toEqual([]);
  });
});

it('a session of Gemini names a project, without which Gemini does not find it, even if no entry is its own', () => {
  const made = conversationOf([{ prompt: 'hello', actions: [{ does: 'answers', text: 'so it is' }] }]);
  const [head = ''] = agents.gemini.newSessions?.write(made, newSession()) ?? [];
  expect(JSON.parse(head)).toMatchObject({ projectHash: expect.stringMatching(/./) as string });
});

/** A new session of Copilot's has no record for a summary: the user says it. */
const sentToCopilot = (entry: Entry): unknown =>
  entry.kind === 'summary' ? { kind: 'prompt', text: entry.text } : sent(entry);

/** An agent adds its own context to a new session again. */
const expectedAfter = (agent: Agent, conversation: Conversation): readonly unknown[] => {
  const window = windowOf(conversation).filter(isSent);
  if (agent.name === 'copilot') return window.map(sentToCopilot);
  if (agent.name !== 'gemini') return window.map(sent);
  return window
    .filter((entry) => !(entry.kind === 'context' && entry.text.startsWith('<session_context>')))
    .map((entry) =>
      entry.kind === 'summary'
        ? { kind: 'summary', text: entry.text.slice(entry.text.indexOf('<state_snapshot>')) }
        : sent(entry),
    );
};
