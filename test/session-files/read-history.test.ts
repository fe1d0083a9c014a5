// Compactions of recorded sessions, against what was counted by hand, and of made-up ones.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { readHistory } from '../../src/session-files/read-history.js';
import { counted, day, fixture, readBytes, readFixture, recordsOf } from '../support/counted-compactions.js';

describe('the compactions of a recorded session', () => {
  it.each(counted)('of $agent ($file) are those counted by hand', async ({ agent, file, ...told }) => {
    const read = await readFixture(agent, file);
    const history = read?.history;
    expect([history?.sessionId ?? null, history?.project ?? null]).toEqual([told.session, told.project]);
    expect(history?.damagedLines).toBe(0);
    const found = history ? recordsOf(history) : [];
    expect(
      found.map((each) => ({
        at: each.timestamp,
        by: each.initiator,
        sizes: [each.pre_tokens, each.post_tokens, each.next_tokens],
        tookMs: each.duration_ms,
        after: each.after_message_index,
        replaced: each.replaced_message_indices,
        summary: each.summary?.split('\n')[0] ?? (each.summary_kind === 'empty' ? 'empty' : null),
        line: each.line,
      })),
    ).toEqual(told.found);
    expect(found.map((each) => each.trigger)).toEqual(
      told.found.map(({ by }) => (by === null ? null : by === 'agent' ? 'auto' : 'manual')),
    );
  });

  it('of Gemini, nineteen times in a row, are nineteen', async () => {
    const history = (await readFixture('gemini', 'repeated-compactions.jsonl'))?.history;
    const after = history?.compactions.map(({ afterMessage }) => afterMessage);
    expect(after).toEqual([5, 5, 7, 9, 9, 9, 9, 9, 11, 9, 9, 11, 9, 9, 9, 9, 11, 9, 9]);
  });

  it('of Gemini are counted among all messages that it has written anew, also those without words', async () => {
    const messages = [
      { id: '1', type: 'user', content: [{ text: 'do it' }] },
      { id: '2', type: 'user', content: [{ functionResponse: { name: 'ls', response: { output: '' } } }] },
      { id: '3', type: 'gemini', content: 'done', tokens: null },
    ];
    const lines = [{ sessionId: 's' }, { $set: { messages } }].map((record) => JSON.stringify(record));
    expect((await readBytes('gemini', lines.join('\n')))?.messages).toBe(3);
  });

  it('are at the bytes that are said', async () => {
    for (const { agent, file } of counted) {
      const bytes = readFileSync(fixture(agent, file));
      const history = (await readFixture(agent, file))?.history;
      for (const { line, offset } of history?.compactions ?? []) {
        const before = bytes.subarray(0, offset).toString('latin1');
        expect(before.split('\n').length).toBe(line);
        expect(before.endsWith('\n')).toBe(true);
      }
    }
  });

  it('do not depend on how the file is read', async () => {
    for (const { agent, file } of counted) {
      const bytes = readFileSync(fixture(agent, file));
      const whole = await readBytes(agent, bytes);
      expect(await readBytes(agent, bytes, [1, 7, 4096, 13])).toEqual(whole);
    }
  });

  it('bring the chart down to what the agent says is left', async () => {
    const path = fixture('claude', 'session-with-compaction.jsonl');
    const source = { agent: agents.claude, path, size: 1, modifiedAt: 0 };
    const read = await readHistory(source, { isFull: false, withUsage: true, now: 0 });
    const [compaction] = read?.history.compactions ?? [];
    const sample = read?.usage?.history.samples.findLast(({ at }) => at === compaction?.at);
    expect(sample?.fill).toMatchObject({ usedTokens: 777 + (compaction?.fixedTokens ?? 0) });
    expect(sample?.fill?.usedTokens).toBeLessThan(compaction?.preTokens ?? 0);
  });

  it('of a subagent are none of the user’s', async () => {
    expect(await readFixture('gemini', 'subagent.jsonl')).toBeUndefined();
  });

  it('do not count what copilot has said beside its own, nor the user’s messages, as replaced', async () => {
    const [first, second] = (await readFixture('copilot', 'own.jsonl'))?.history.compactions ?? [];
    expect(first).toMatchObject({ afterMessage: 4, replaced: [[2, 2]] });
    expect(second).toMatchObject({
      afterMessage: 13,
      replaced: [
        [4, 4],
        [6, 6],
        [8, 8],
        [10, 10],
      ],
    });
  });

  it('of kimi leave out none of the messages that were said beside them', async () => {
    const message = (id: string) => ({ type: 'context.append_message', message: { role: 'user', id } });
    const begin = { type: 'full_compaction.begin', source: 'auto', time: 1 };
    const end = { type: 'context.apply_compaction', summary: 'all', time: 2 };
    const lines = [message('a'), begin, message('b'), end].map((each) => `${JSON.stringify(each)}\n`);
    const history = await readBytes('kimi', lines.join(''));
    expect(history).toMatchObject({ messages: 2, compactions: [{ afterMessage: 2, initiator: 'agent' }] });
  });

  it('have their summaries whole when asked', async () => {
    const read = await readFixture('qwen', 'old-0.15.10.jsonl', { isFull: true });
    const summary = read?.history.compactions[0]?.summary;
    expect(summary).toMatchObject({ kind: 'text', isCut: false });
    expect(summary?.text.length).toBe(summary?.characters);
  });
});

// Records of a Claude session, shortened.
const claudeLine = (uuid: string, more: object): string =>
  JSON.stringify({
    isSidechain: false,
    uuid,
    cwd: '/p',
    sessionId: 's',
    timestamp: day('10:00:00.000'),
    ...more,
  });
const prompt = (uuid: string, at = '10:00:00.000'): string =>
  claudeLine(uuid, { type: 'user', timestamp: day(at), message: { role: 'user', content: 'do it' } });
const answer = (uuid: string, stop = 'end_turn'): string =>
  claudeLine(uuid, {
    type: 'assistant',
    message: { role: 'assistant', content: [], stop_reason: stop, usage: { input_tokens: 5_000 } },
  });
const boundary = (uuid: string, metadata: object, at = '10:05:00.000'): string =>
  claudeLine(uuid, {
    type: 'system',
    subtype: 'compact_boundary',
    timestamp: day(at),
    compactMetadata: { preTokens: 9_000, trigger: 'auto', ...metadata },
  });
const summary = (uuid: string, content = 'the summary'): string =>
  claudeLine(uuid, { type: 'user', isCompactSummary: true, message: { role: 'user', content } });
const claudeFile = async (...lines: readonly string[]) => {
  const history = await readBytes('claude', `${lines.join('\n')}\n`);
  return history ? recordsOf(history) : [];
};

describe('a compaction of Claude', () => {
  it('that it started while it was at rest is marked as such', async () => {
    const [found] = await claudeFile(prompt('a'), answer('b'), boundary('c', {}), summary('d'));
    expect(found).toMatchObject({ initiator: 'agent-idle', trigger: 'auto' });
  });

  it('within a turn is the agent’s', async () => {
    const [found] = await claudeFile(prompt('a'), answer('b', 'tool_use'), boundary('c', {}), summary('d'));
    expect(found?.initiator).toBe('agent');
  });

  it('at the start of a turn whose prompt is written after it is not one at rest', async () => {
    const late = prompt('e', '10:04:00.000');
    const [found] = await claudeFile(prompt('a'), answer('b'), boundary('c', {}), summary('d'), late);
    expect(found?.initiator).toBe('agent');
  });

  it('that keeps nothing replaces every message since the one before, and its summary', async () => {
    const found = await claudeFile(
      prompt('a'),
      answer('b'),
      boundary('c', {}),
      summary('d'),
      prompt('e', '10:06:00.000'),
      answer('f'),
      boundary('g', { trigger: 'manual' }, '10:07:00.000'),
    );
    expect(found.map((each) => each.replaced_message_indices)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it('that keeps a message which an earlier one has kept says so', async () => {
    const keep = (...uuids: readonly string[]) => ({ preservedMessages: { uuids, allUuids: uuids } });
    const found = await claudeFile(
      prompt('a'),
      answer('b'),
      boundary('c', keep('b')),
      summary('d'),
      prompt('e', '10:06:00.000'),
      boundary('f', keep('b', 'e'), '10:07:00.000'),
      summary('g'),
      boundary('h', keep(), '10:08:00.000'),
    );
    expect(found.map((each) => each.replaced_message_indices)).toEqual([[1], [3], [2, 4, 5]]);
  });

  it('of a version that names only the first and the last message it keeps', async () => {
    const segment = { preservedSegment: { headUuid: 'b', tailUuid: 'e' } };
    const lines = [prompt('a'), prompt('b'), answer('e'), boundary('c', segment)];
    expect((await claudeFile(...lines))[0]?.replaced_message_indices).toEqual([1]);
    const unknown = { preservedSegment: { headUuid: 'system', tailUuid: 'e' } };
    const others = [prompt('a'), prompt('b'), answer('e'), boundary('c', unknown)];
    expect((await claudeFile(...others))[0]?.replaced_message_indices).toBeNull();
  });

  it('of a version without boundaries is known by its summary', async () => {
    const said =
      'This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\nSummary:\nall of it\nPlease continue the conversation from where we left it off without asking the user any further questions.';
    const [found, ...others] = await claudeFile(prompt('a'), answer('b'), summary('c', said), prompt('d'));
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      summary: 'all of it',
      after_message_index: 2,
      pre_tokens: 5_000,
      initiator: null,
    });
    expect(found?.pre_tokens_estimated).toBe(true);
  });

  it('in a subagent’s records is none of this conversation', async () => {
    const side = boundary('c', {}).replace('"isSidechain":false', '"isSidechain":true');
    expect(await claudeFile(prompt('a'), side)).toEqual([]);
  });
});

const codexLine = (type: string, payload: object): string =>
  JSON.stringify({ timestamp: day('10:00:00.000'), type, payload });

it('a compaction of Codex whose summary only the server can read says that it is encrypted', async () => {
  const compacted = (history: readonly object[]): string =>
    codexLine('compacted', { message: '', replacement_history: history });
  const kinds = async (text: string) => {
    const history = await readBytes('codex', `${text}\n`);
    return history && recordsOf(history).map((each) => [each.summary_kind, each.summary]);
  };
  expect(await kinds(compacted([{ type: 'compaction', encrypted_content: 'gAAAA' }]))).toEqual([
    ['encrypted', null],
  ]);
  expect(await kinds(compacted([]))).toEqual([['empty', null]]);
});

it('the summary of a compaction of Codex is its own, whatever else is left in the window', async () => {
  const frame = 'Another language model started to solve this problem and wrote a summary.\n';
  const said = (...content: readonly object[]) => ({ type: 'message', role: 'user', content });
  const text = (words: string) => said({ type: 'input_text', text: words });
  const encrypted = { type: 'compaction', encrypted_content: 'gAAAA' };
  const summaryOf = async (message: string, ...history: readonly object[]) => {
    const line = codexLine('compacted', { message, replacement_history: history });
    const [found] = (await readBytes('codex', `${line}\n`))?.compactions ?? [];
    return found?.summary && [found.summary.kind, found.summary.text];
  };
  const [first, second] = [text(`${frame}the first`), text(`${frame}the second`)];
  expect(await summaryOf(`${frame}the second`, first, text('go on'), second)).toEqual(['text', 'the second']);
  expect(await summaryOf('plain words', text('go on'), text('plain words'))).toEqual(['text', 'plain words']);
  expect(await summaryOf('', first, text('go on'), encrypted)).toEqual(['encrypted', '']);
  const picture = said({ type: 'input_image', image_url: 'data:image/png;base64,AAAA' });
  expect(await summaryOf('', text('go on'), picture, encrypted)).toEqual(['encrypted', '']);
});

it('a file of Codex that ends with a compaction says who asked for it', async () => {
  const started = codexLine('event_msg', { type: 'task_started' });
  const compacted = codexLine('compacted', { message: 'all of it', replacement_history: [] });
  const history = await readBytes('codex', `${started}\n${compacted}\n`);
  expect(history?.compactions).toMatchObject([{ initiator: 'user', line: 2 }]);
});

it('words that begin as a summary of Codex does are no compaction without its record', async () => {
  const text = 'Another language model started to solve this problem.\nGo on!';
  const message = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  const history = await readBytes('codex', `${codexLine('response_item', message)}\n`);
  expect([history?.messages, history?.compactions]).toEqual([1, []]);
});
