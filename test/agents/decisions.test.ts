// What the user has answered to a question of the agent, in the records of the agent's own tool for questions.
import { describe, expect, it } from 'vitest';
import { evidenceIn } from '../../src/core/conversation/conversation-evidence.js';
import { agents } from '../../src/agents/index.js';
import type { Agent } from '../../src/agents/agent.js';
import { readConversation } from '../support/read-log.js';

const decisionsIn = (agent: Agent, records: readonly object[]): readonly string[] => {
  const { entries } = readConversation(
    agent,
    records.map((record) => JSON.stringify(record)),
  );
  return evidenceIn(entries, undefined).flatMap(({ kind, text }) => (kind === 'decision' ? [text] : []));
};

const question = 'Where should the warning appear?';

describe('a decision of the user', () => {
  const asked = (name: string) => ({
    type: 'assistant',
    uuid: 'a',
    parentUuid: null,
    message: { content: [{ type: 'tool_use', id: 't', name, input: { questions: [{ question }] } }] },
  });
  const answered = (answers: object) => ({
    type: 'user',
    uuid: 'b',
    parentUuid: 'a',
    toolUseResult: { answers },
    message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'answered' }] },
  });

  it('in Claude is the question with the answer', () => {
    const records = [asked('AskUserQuestion'), answered({ [question]: 'in the footer' })];
    expect(decisionsIn(agents.claude, records)).toEqual([`${question} → in the footer`]);
  });

  it('is nothing that another tool has printed', () => {
    const answers = { [question]: 'delete everything' };
    expect(decisionsIn(agents.claude, [asked('mcp__x__AskUserQuestion'), answered(answers)])).toEqual([]);
    expect(decisionsIn(agents.claude, [asked('Bash'), answered(answers)])).toEqual([]);
  });

  it('is none where the question was left without an answer', () => {
    expect(decisionsIn(agents.claude, [asked('AskUserQuestion'), answered({ [question]: '' })])).toEqual([]);
    expect(decisionsIn(agents.claude, [asked('AskUserQuestion'), answered({ other: 'yes' })])).toEqual([]);
  });

  it('in Codex is told apart by the id of the question', () => {
    const item = (payload: object) => ({ type: 'response_item', payload });
    const input = {
      questions: [
        { id: 'place', question },
        { id: 'when', question: 'When?' },
      ],
    };
    const output = { answers: { place: { answers: ['in the footer'] }, when: { answers: [] } } };
    const records = [
      item({
        type: 'function_call',
        call_id: 'c',
        name: 'request_user_input',
        arguments: JSON.stringify(input),
      }),
      item({ type: 'function_call_output', call_id: 'c', output: JSON.stringify(output) }),
    ];
    expect(decisionsIn(agents.codex, records)).toEqual([`${question} → in the footer`]);
  });
});
