import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import {
  compactionsOf,
  type NewSession,
  toolUsesIn,
  windowOf,
} from '../../src/core/conversation/conversation.js';
import { linesOf, readConversation } from '../support/read-log.js';

const { newSessions: form, resumeArgs } = agents.kimi;
if (!form) throw new Error('no conversations');

const read = (lines: readonly string[]) => readConversation(agents.kimi, lines);

const said = (lines: readonly string[]) =>
  windowOf(read(lines))
    .filter(({ kind }) => kind !== 'context')
    .map((entry) => [entry.kind, 'text' in entry ? entry.text : '']);

const turns = linesOf('kimi', 'turns.jsonl');
const begun = turns.findIndex((line) => line.startsWith('{"type":"full_compaction.begin"'));
let count = 0;
const as: NewSession = { id: 'new-1', cwd: '/elsewhere', now: 9, newUuid: () => `u${(count += 1)}` };

const record = (type: string, fields: object) => JSON.stringify({ type, agentId: 'main', ...fields });
const message = (text: string, kind = 'user') =>
  record('context.append_message', {
    message: { role: 'user', content: [{ type: 'text', text }], id: text, origin: { kind } },
  });
const compaction = (kept: number, first?: number) =>
  record('context.apply_compaction', {
    summary: 'SUM',
    compactedCount: 9,
    keptUserMessageCount: kept,
    ...(first === undefined ? {} : { keptHeadUserMessageCount: first }),
    time: 5,
  });
const undo = (turnCount: number) => record('context.undo', { count: turnCount });

describe('a session file of kimi as a conversation', () => {
  it("has the user's messages that a compaction kept, then the summary and what was said after it", () => {
    expect(said(turns)).toEqual([
      ['prompt', 'hello #tok=60000'],
      ['prompt', 'second #slow=5000 #tok=90000'],
      ['prompt', 'do it #tool=touch approved'],
      ['summary', 'SUMMARY: the user said hello.'],
      ['prompt', 'third #tok=30000'],
      ['answer', 'MOCK reply ok'],
    ]);
    expect(read(turns).head).toMatchObject({ cwd: '/home/user/project', model: 'lab' });
  });

  it('knows where a compaction begins, who asked for it and how large it was', () => {
    expect(compactionsOf(read(turns))).toMatchObject([
      { startLine: begun, boundary: { initiator: 'user', preTokens: 90_020, postTokens: 20_718 } },
    ]);
  });

  it('has the tool calls with their results', () => {
    expect(toolUsesIn(read(turns).entries)).toMatchObject([
      { call: { name: 'Bash', commands: ['touch approved'] }, result: { isError: true } },
    ]);
  });

  it('has the first and the last messages where a compaction left out those between', () => {
    const lines = ['a', 'b', 'c', 'd', 'e'].map((text) => message(text));
    expect(said([...lines, compaction(3, 1)]).map(([, text]) => text)).toEqual(['a', 'd', 'e', 'SUM']);
    expect(said([...lines, compaction(5)]).map(([, text]) => text)).toEqual([...'abcde', 'SUM']);
    const twice = [...lines, compaction(3, 1), message('f'), compaction(2)];
    expect(said(twice).map(([, text]) => text)).toEqual(['e', 'f', 'SUM']);
  });

  it('is without what the user has undone', () => {
    const lines = ['a', 'b', 'c'].map((text) => message(text));
    expect(said([...lines, undo(2), message('d')]).map(([, text]) => text)).toEqual(['a', 'd']);
    expect(said([...lines, undo(2), compaction(1)]).map(([, text]) => text)).toEqual(['a', 'SUM']);
  });

  it('counts only what the user has typed as said by the user', () => {
    expect(
      said([message('typed'), message('a reminder', 'injection'), message('of a hook', 'hook_result')]),
    ).toEqual([['prompt', 'typed']]);
  });

  it('counts what was said beside a compaction as before it', () => {
    const begins = record('full_compaction.begin', { source: 'auto', time: 1 });
    const [found] = compactionsOf(read([message('a'), begins, message('b'), compaction(2)]));
    expect(found).toMatchObject({ startLine: 3, boundary: { initiator: 'agent' } });
  });

  it('is written with each call beside its result in a step of its turn, and read again as the same', () => {
    const before = turns.slice(0, begun);
    const lines = form.write(read(before), as) ?? [];
    expect(said(lines)).toEqual(said(before));
    const records = lines.map((line) => JSON.parse(line) as { type: string; event?: { type: string } });
    const turn = 'turn.prompt context.append_message';
    const answer = 'step.begin content.part step.end';
    expect(records.map(({ type, event }) => event?.type ?? type).join(' ')).toBe(
      [
        `metadata ${turn} context.append_message ${answer} turn.ended`,
        `${turn} ${answer} turn.ended`,
        `${turn} step.begin tool.call tool.result step.end ${answer} turn.ended`,
      ].join(' '),
    );
  });

  it('is written with the pictures and the results of tools as Kimi has recorded them', () => {
    const path = join(import.meta.dirname, '../fixtures/kimi-picture/agents/main/wire.jsonl');
    const recorded = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    const before = recorded.slice(
      0,
      recorded.findIndex((line) => line.includes('"full_compaction.begin"')),
    );
    const resultsIn = (lines: readonly string[]) =>
      lines.flatMap((line) => {
        const { event } = JSON.parse(line) as { event?: { type: string; result?: unknown } };
        return event?.type === 'tool.result' ? [event.result] : [];
      });
    const written = form.write(read(before), as) ?? [];
    expect(resultsIn(written)).toEqual(resultsIn(before));
    expect(resultsIn(written)).toMatchObject([{ output: [{}, { type: 'image_url' }, {}] }]);
    expect(written.flatMap((line) => form.filesOf?.(line) ?? [])).toEqual([
      'blobs/3666a0fb2385a19757b339217e38f5f274ac37b02b26230f4717f8a0087592ad',
    ]);
  });

  it('is written with a message that is nothing but a picture', () => {
    const url = `blobref:image/png;${'0a'.repeat(32)}`;
    const content = [{ type: 'image_url', imageUrl: { url } }];
    const picture = record('context.append_message', {
      message: { role: 'user', content, id: 'p', origin: { kind: 'user' } },
    });
    const lines = form.write(read([message('look'), picture]), as) ?? [];
    expect(
      lines.filter((line) => line.includes(url)).map((line) => JSON.parse(line) as object),
    ).toMatchObject([
      { type: 'turn.prompt', input: content },
      { type: 'context.append_message', message: { content } },
    ]);
  });

  it('takes no text of the conversation for the name of a picture', () => {
    const text = `"blobref:image/png;${'0a'.repeat(32)}" and blobref:image/png;../../secret`;
    expect(form.filesOf?.(message(text))).toEqual([]);
    expect(form.filesOf?.('{"url":"blobref:image/png;../../secret"}')).toEqual([]);
  });

  it('is not written without anything said', () => {
    expect(form.write(read(turns.slice(0, 4)), as)).toBeUndefined();
  });

  it('is found by Kimi in a folder of its own, by a file that tells where it belongs', () => {
    const path = '/k/wd_a_1/session_new-1/agents/main/wire.jsonl';
    expect(form.fileName(as)).toBe('../../../session_new-1/agents/main/wire.jsonl');
    const [file] = form.beside?.(path, as) ?? [];
    expect(file?.path).toBe('/k/wd_a_1/session_new-1/state.json');
    expect(JSON.parse(file?.text ?? '')).toMatchObject({
      id: 'session_new-1',
      version: 2,
      cwd: '/elsewhere',
      agents: { main: { homedir: '/k/wd_a_1/session_new-1/agents/main', type: 'main' } },
    });
    expect(resumeArgs?.({ id: 'new-1', path })).toEqual(['--resume', 'session_new-1']);
  });
});
