import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../src/core/reading.js';
import { agents } from '../../src/agents/index.js';
import { linesOf, readContents } from '../support/read-log.js';

const AT = '2026-11-21T08:00:00.000Z';

const shortly = (results: readonly ToolResult[]): readonly string[] =>
  results.map(({ name, label, tokens }) => `${name} · ${label} · ~${tokens}`);

/** Each record names the one before, where it has an id. */
const lines = (...records: readonly Readonly<Record<string, unknown>>[]): readonly string[] =>
  records.map((record, index) => {
    const parentUuid = records[index - 1]?.['uuid'] ?? null;
    return JSON.stringify({
      timestamp: AT,
      ...(record['uuid'] === undefined ? {} : { parentUuid }),
      ...record,
    });
  });

const claudeCall = (id: string, name: string, input: object) => ({
  type: 'assistant',
  uuid: `call ${id}`,
  message: {
    content: [
      { type: 'text', text: 'on it' },
      { type: 'tool_use', id, name, input },
    ],
  },
});
const claudeResult = (tool_use_id: string, content: unknown) => ({
  type: 'user',
  uuid: `result of ${tool_use_id}`,
  message: { content: [{ type: 'tool_result', tool_use_id, content }] },
});

describe('the tool results of claude', () => {
  it('in a recorded session are those since its compaction', () => {
    const lines = linesOf('claude', 'session-with-compaction.jsonl');
    const place = lines.findIndex((line) => line.includes('"compact_boundary"'));
    expect(shortly(readContents(agents.claude, lines.slice(0, place)))).toEqual([
      'Bash · touch /srv/zz-lab · ~8',
    ]);
    expect(readContents(agents.claude, lines)).toEqual([]);
  });

  it('are gone with the branch that the user has left', () => {
    const [first, left, other] = [
      claudeCall('a', 'Read', {}),
      claudeResult('a', 'left'),
      claudeResult('a', 'other one'),
    ];
    const found = readContents(
      agents.claude,
      lines(first, { ...left, uuid: 'left' }, { ...other, parentUuid: first.uuid }),
    );
    expect(shortly(found)).toEqual(['Read ·  · ~3']);
  });

  it('stay where a compaction keeps the record that holds them', () => {
    const boundary = (uuids: readonly string[]) => ({
      type: 'system',
      subtype: 'compact_boundary',
      uuid: 'b',
      compactMetadata: { preservedMessages: { uuids } },
    });
    const found = readContents(
      agents.claude,
      lines(
        claudeCall('a', 'Read', { file_path: '/src/app.ts' }),
        claudeResult('a', 'y'.repeat(4000)),
        claudeCall('b', 'Bash', { command: 'ls' }),
        claudeResult('b', 'y'.repeat(400)),
        boundary(['result of b']),
      ),
    );
    expect(shortly(found)).toEqual(['Bash · ls · ~100']);
  });

  it('are measured by their text and named by what the call was about', () => {
    const found = readContents(
      agents.claude,
      lines(
        claudeCall('a', 'Read', { file_path: '/src/app.ts', limit: 10 }),
        claudeCall('b', 'Grep', { pattern: 'TODO' }),
        claudeResult('b', [{ type: 'text', text: 'x'.repeat(400) }]),
        claudeResult('a', 'y'.repeat(4000)),
        claudeResult('unknown', 'zzzz'),
        { ...claudeResult('a', 'of a subagent'), uuid: 'side', isSidechain: true },
        { ...claudeResult('a', 'y'.repeat(4000)), uuid: 'blob', type: 'api-request-blob' }, // a repetition, in 2.1.331
      ),
    );
    expect(shortly(found)).toEqual(['Grep · TODO · ~100', 'Read · /src/app.ts · ~1000', 'tool ·  · ~1']);
  });

  it('count a picture as a picture, not as the length of its encoding', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(100_000) };
    const found = readContents(agents.claude, lines(claudeResult('a', [{ type: 'image', source }])));
    expect(shortly(found)).toEqual(['tool ·  · ~1600']);
  });
});

describe('the tool results of codex', () => {
  const call = (payload: object) => ({ type: 'response_item', payload });

  it('are found by the call id, whatever kind of call it was', () => {
    const found = readContents(
      agents.codex,
      lines(
        call({ type: 'function_call', name: 'exec_command', call_id: '1', arguments: '{"cmd":"ls -R"}' }),
        call({ type: 'function_call_output', call_id: '1', output: 'a'.repeat(40) }),
        call({ type: 'custom_tool_call', name: 'apply_patch', call_id: '2', input: '*** Begin Patch' }),
        call({ type: 'custom_tool_call_output', call_id: '2', output: 'done' }),
        call({ type: 'local_shell_call', call_id: '3', action: { type: 'exec', command: ['git', 'log'] } }),
        call({ type: 'function_call_output', call_id: '3', output: 'log!' }),
      ),
    );
    expect(shortly(found)).toEqual([
      'exec_command · ls -R · ~10',
      'apply_patch · *** Begin Patch · ~1',
      'shell · git log · ~1',
    ]);
  });

  it('in a recorded session are those since its compaction', () => {
    const records = linesOf('codex', 'old-0.137.0.jsonl');
    const place = records.findIndex((line) => line.includes('"compacted"'));
    expect(shortly(readContents(agents.codex, records.slice(0, place)))).toEqual([
      'exec_command · touch approved · ~7',
    ]);
    expect(readContents(agents.codex, records)).toEqual([]);
  });

  it('stay where a compaction repeats them', () => {
    const output = { type: 'function_call_output', call_id: '1', output: 'a'.repeat(40) };
    const asked = { type: 'function_call', name: 'exec_command', call_id: '1', arguments: '{"cmd":"ls -R"}' };
    const replacement_history = [asked, output];
    const found = readContents(
      agents.codex,
      lines(call(asked), call(output), { type: 'compacted', payload: { message: '', replacement_history } }),
    );
    expect(shortly(found)).toEqual(['exec_command · ls -R · ~10']);
  });
});

describe('the tool results of gemini', () => {
  const answer = (id: string, output: string) => ({
    id,
    type: 'gemini',
    toolCalls: [
      {
        id,
        name: 'read_file',
        args: { absolute_path: '/a.ts' },
        result: [{ functionResponse: { id, name: 'read_file', response: { output } } }],
      },
    ],
  });

  it('are told once, though the answer is written again', () => {
    const found = readContents(
      agents.gemini,
      lines(
        { id: '1', type: 'gemini', toolCalls: [{ id: '1', name: 'read_file', args: {} }] },
        answer('1', 'x'.repeat(80)),
        answer('1', 'x'.repeat(80)),
      ),
    );
    expect(shortly(found)).toEqual(['read_file · /a.ts · ~20']);
  });

  it('are those of the new history when all messages are written anew', () => {
    const found = readContents(
      agents.gemini,
      lines(answer('1', 'x'.repeat(80)), answer('2', 'kept')).concat(
        JSON.stringify({ $set: { messages: [{ type: 'user', content: 'summary' }, answer('2', 'kept')] } }),
      ),
    );
    expect(shortly(found)).toEqual(['read_file · /a.ts · ~1']);
  });
});

describe('the tool results of qwen', () => {
  const session = linesOf('qwen', 'tools.jsonl');
  const compaction = linesOf('qwen', 'ladder.jsonl').filter((line) => line.includes('"chat_compression"'));
  const failed = linesOf('qwen', 'compress-cancelled.jsonl').filter((line) =>
    line.includes('"compressionStatus":2'),
  );
  let count = 0;
  const part = (type: string, inner: object) => {
    count += 1;
    return { uuid: `q${count}`, type, message: { parts: [inner] } };
  };
  const call = (inner: object) => part('assistant', { functionCall: { name: 'read_file', ...inner } });
  const answer = (inner: object) =>
    part('tool_result', {
      functionResponse: { name: 'read_file', response: { output: 'x'.repeat(80) }, ...inner },
    });

  it('in a recorded session are named by what was called, refused and blocked ones too', () => {
    expect(shortly(readContents(agents.qwen, session))).toEqual([
      'run_shell_command · touch y · ~15',
      expect.stringMatching(/^run_shell_command · sleep 6; echo 131k Context 55% used · ~\d+$/),
    ]);
  });

  it('are gone after a recorded compaction, and stay after one that failed', () => {
    expect(failed).not.toEqual([]);
    expect(readContents(agents.qwen, [...session, ...failed])).toHaveLength(2);
    expect(readContents(agents.qwen, [...session, ...compaction.slice(0, 1)])).toEqual([]);
  });

  it('are tied to their calls by the id, or by the name where there is none', () => {
    const asked = [call({ id: '1', args: { path: '/a' } }), call({ id: '2', args: { path: '/b' } })];
    const told = [answer({ id: '2' }), answer({ id: '1' }), answer({ id: '3' })];
    expect(shortly(readContents(agents.qwen, lines(...asked, ...told)))).toEqual([
      'read_file · /b · ~20',
      'read_file · /a · ~20',
      'read_file ·  · ~20',
    ]);
    expect(shortly(readContents(agents.qwen, lines(call({ args: { path: '/c' } }), answer({}))))).toEqual([
      'read_file · /c · ~20',
    ]);
  });
});

describe('any tool result', () => {
  it('has a label of one line that can be shown in a terminal', () => {
    const wicked = fc.constantFrom('\u202e', '\u200f', '\u2028', '\ud800', '\u001b', '\u0085', '\n', 'a');
    const wild = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({ unit: wicked, maxLength: 400 }),
    );
    fc.assert(
      fc.property(wild, wild, (name, command) => {
        const found = readContents(
          agents.claude,
          lines(claudeCall('a', name, { command }), claudeResult('a', 'abcd')),
        );
        expect(shortly(found).join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
        expect(shortly(found).join('').length).toBeLessThan(300);
      }),
    );
  });

  it.each(['claude', 'codex', 'gemini', 'qwen'] as const)(
    'of %s is never an exception, whatever the line is',
    (name) => {
      const words = fc.constantFrom(
        'tool_use',
        'tool_result',
        'function_call',
        'toolCalls',
        'functionCall',
        'functionResponse',
        '$set',
        'messages',
      );
      const json = fc.json().chain((text) => words.map((word) => `{"${word}":${text},"type":"${word}"}`));
      fc.assert(
        fc.property(fc.array(fc.oneof(fc.string(), json)), (texts) => {
          expect(readContents(agents[name], texts)).toBeInstanceOf(Array);
        }),
      );
    },
  );
});

it('a picture counts as one, however its file is named', () => {
  const recorded = readFileSync(new URL('../fixtures/kimi-picture/agents/main/wire.jsonl', import.meta.url));
  const found = readContents(agents.kimi, recorded.toString().split('\n'));
  const pictures = found.filter(({ name }) => name === 'ReadMediaFile');
  expect(pictures.length).toBeGreaterThan(0);
  for (const each of pictures)
    expect(each).toMatchObject({ tokens: expect.toSatisfy((n: number) => n >= 1_600) });
});

it.each([
  { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'A'.repeat(400_000) } },
  { type: 'resource', resource: { uri: 'file:///a', blob: 'A'.repeat(400_000) } },
  { type: 'audio', data: 'A'.repeat(400_000) },
])('encoded data of the kind $type does not count as text', (part) => {
  const [result] = readContents(agents.claude, lines(claudeResult('a', [part])));
  expect(result?.tokens).toBeLessThan(5_000);
});
