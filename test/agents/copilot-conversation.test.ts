import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { compactionsOf, type NewSession, windowOf } from '../../src/core/conversation/conversation.js';
import { linesOf, readConversation } from '../support/read-log.js';

const { newSessions: form } = agents.copilot;

const read = (lines: readonly string[]) => readConversation(agents.copilot, lines);

const said = (lines: readonly string[]) =>
  windowOf(read(lines)).map((entry) => [entry.kind, 'text' in entry ? entry.text : '']);

const turns = linesOf('copilot', 'turns.jsonl');
let count = 0;
const as: NewSession = { id: 'new-1', cwd: '/elsewhere', now: 9, newUuid: () => `u${(count += 1)}` };

describe('a session file of copilot as a conversation', () => {
  it('has the user’s messages, the summary and what was said after it in the window', () => {
    expect(said(turns)).toEqual([
      ['prompt', 'my number is 1'],
      ['prompt', 'my number is 2: use a tool'],
      ['prompt', 'my number is 3: use a tool'],
      ['summary', '<overview>MOCK SUMMARY of it</overview>'],
      ['prompt', 'my number is 4'],
      ['answer', 'MOCK-REPLY ok'],
    ]);
    expect(read(turns).head).toMatchObject({ cwd: '/home/me/project', version: '1.0.102', model: 'gpt-4.1' });
  });

  it('keeps the first three and the last sixteen messages of the user beside the summary, through another one, too', () => {
    const message = (index: number): string =>
      JSON.stringify({ type: 'user.message', data: { content: `my number ${index}` }, id: `m${index}` });
    const compaction = (id: string): string =>
      JSON.stringify({
        type: 'session.compaction_complete',
        data: { success: true, trigger: 'manual', summaryContent: 'a summary' },
        id,
      });
    const first = Array.from({ length: 25 }, (_, index) => message(index + 1));
    const last = Array.from({ length: 5 }, (_, index) => message(index + 26));
    const numbers = said([...first, compaction('c1'), ...last, compaction('c2')]);
    expect(numbers.map(([, text]) => text)).toEqual([
      ...[1, 2, 3, ...Array.from({ length: 16 }, (_, index) => index + 15)].map(
        (each) => `my number ${each}`,
      ),
      'a summary',
    ]);
  });

  it('knows where a compaction of the user begins', () => {
    const [compaction] = compactionsOf(read(turns));
    const begun = turns.findIndex((line) => line.startsWith('{"type":"session.compaction_start"'));
    expect(compaction).toMatchObject({ startLine: begun, boundary: { initiator: 'user' } });
  });

  it('keeps what was said beside a compaction of its own', () => {
    const lines = linesOf('copilot', 'own.jsonl');
    const end = lines.findIndex((line) => line.startsWith('{"type":"session.compaction_complete"'));
    expect(said(lines.slice(0, end + 1)).map(([kind]) => kind)).toEqual(
      expect.arrayContaining(['summary', 'answer']),
    );
    expect(compactionsOf(read(lines.slice(0, end + 1)))).toMatchObject([
      { startLine: end, boundary: { initiator: 'agent' } },
    ]);
  });

  it('has the files of a patch that is the only argument, as a text or in a record', () => {
    const patch =
      '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** Add File: b.ts\n+b\n*** End Patch';
    const call = (args: unknown, index: number): string =>
      JSON.stringify({
        type: 'assistant.message',
        data: {
          content: '',
          toolRequests: [{ toolCallId: `c${index}`, name: 'apply_patch', arguments: args }],
        },
        id: `m${index}`,
        timestamp: '2026-11-21T08:37:12.289Z',
        parentId: null,
      });
    const files = [patch, { input: patch }].map((args, index) =>
      read([call(args, index)]).entries.flatMap((entry) =>
        entry.kind === 'call' ? entry.files.map(({ path, access }) => [path, access]) : [],
      ),
    );
    const both = [
      ['src/a.ts', 'edit'],
      ['b.ts', 'edit'],
    ];
    expect(files).toEqual([both, both]);
  });

  it('becomes another session as a copy with another id', () => {
    const id = read(turns).head.id ?? '';
    const copy = turns.map((line) => form?.copyLine(line, new Set([id]), as) ?? '');
    expect(read(copy).head.id).toBe('new-1');
    expect(said(copy)).toEqual(said(turns));
    expect(copy.filter((line) => line.includes(`"sessionId":"${id}"`))).toEqual([]);
  });

  it('is written with each call beside its result, and read again as the same', () => {
    const end = turns.findIndex((line) => line.startsWith('{"type":"session.compaction_start"'));
    const before = turns.slice(0, end);
    const lines = form?.write(read(before), as) ?? [];
    expect(said(lines)).toEqual(said(before));
    const records = lines.map((line) => JSON.parse(line) as { id: string; parentId: string | null });
    expect(records.map(({ parentId }) => parentId)).toEqual([
      null,
      ...records.map(({ id }) => id).slice(0, -1),
    ]);
    expect(read(lines).head).toMatchObject({ id: 'new-1', cwd: '/elsewhere' });
  });

  it('is not written without anything said', () => {
    expect(form?.write(read(turns.slice(0, 2)), as)).toBeUndefined();
  });
});
