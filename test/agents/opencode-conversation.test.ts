// A session of opencode 1.18.33, recorded with `compaction.tail_turns: 1`: tools, a file named with @, a shell command, two compactions.
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { compactionsOf, toolUsesIn, windowOf } from '../../src/core/conversation/conversation.js';
import { receiptOf } from '../../src/core/conversation/receipt.js';
import { readHistory } from '../../src/session-files/read-history.js';
import { linesOf, readContents, readConversation } from '../support/read-log.js';

const { log } = agents.opencode;
if (!log?.conversation) throw new Error('no conversations');

const read = (lines: readonly string[]) => readConversation(agents.opencode, lines);
const recorded = linesOf('opencode', 'tools.jsonl');
const said = (lines: readonly string[]) =>
  windowOf(read(lines)).map((entry) => [entry.kind, 'text' in entry ? entry.text : '']);

/** The recorded lines with the session as it is after the user has gone back to a message, or a part of it. */
const cutFrom = (messageId: string, partId?: string): readonly string[] => {
  const [head = '', ...messages] = recorded;
  return [
    JSON.stringify({ ...JSON.parse(head), isReverted: 1, cutFrom: messageId, cutFromPart: partId ?? null }),
    ...messages,
  ];
};

const rowOf = (test: (row: { readonly [name: string]: unknown }) => boolean): Record<string, unknown> => {
  const rows = recorded.map((line) => JSON.parse(line) as Record<string, unknown>);
  const found = rows.find(test);
  if (!found) throw new Error('no such row');
  return found;
};
const SUMMARY = '<state_snapshot>\n<overall_goal>MOCK-SUMMARY</overall_goal>\n</state_snapshot>';

describe('a session of opencode as a conversation', () => {
  it('has what opencode sends in the window: the summary, the turns that it keeps, and what was said since', () => {
    expect(said(recorded)).toEqual([
      ['summary', SUMMARY],
      ['prompt', 'and my number is 9 #tok=9000'],
      ['answer', 'MOCK-REPLY ok'],
      ['prompt', 'my number is 10'],
      ['answer', 'MOCK-REPLY ok'],
    ]);
    expect(read(recorded).head).toEqual({
      id: 'ses_dec32da41ffeUpkGRMfCHAanrT',
      cwd: '/home/me/project',
      version: '1.18.33',
      model: 'lab-model',
      provider: 'lab',
    });
  });

  it('tells what the tools did: files, commands, errors, and the plan', () => {
    const uses = toolUsesIn(read(recorded).entries);
    expect(
      uses.map(({ call, result }) => [
        call.name,
        call.files.map(({ path, access }) => `${access} ${path}`).join() || call.commands?.join(),
        result?.isError ?? false,
      ]),
    ).toEqual([
      ['read', 'read /home/me/project/notes.txt', false],
      ['edit', 'edit /home/me/project/notes.txt', false],
      ['todowrite', undefined, false],
      ['bash', 'ls /not/there; exit 3', true],
      ['read', 'read nowhere.txt', true],
      ['bash', 'echo from the shell', false],
    ]);
    expect(uses[2]?.call.plan).toMatchObject({
      items: [
        { text: 'write the test', status: 'active' },
        { text: 'ship', status: 'open' },
      ],
    });
  });

  it('takes the text of a file that the user named for the agent’s own words, not the user’s', () => {
    const entries = read(recorded).entries.filter(
      (entry) => 'text' in entry && /End of file/.test(entry.text),
    );
    expect(entries.map(({ kind }) => kind)).toEqual(['context']);
    expect(said(recorded.slice(0, 24)).filter(([kind]) => kind === 'context')).toHaveLength(3);
  });

  it('knows where a compaction begins, who wanted it, and how full the window was', () => {
    const [first, second] = compactionsOf(read(recorded));
    const asks = recorded.findIndex((line) => line.includes('"asks":1'));
    expect(first).toMatchObject({ startLine: asks, boundary: { initiator: 'user', preTokens: 60_040 } });
    expect(second).toMatchObject({ boundary: { preTokens: 9_040 } });
  });

  it('has a receipt: what stays in the window is not lost', () => {
    const whole = read(recorded);
    const [first] = compactionsOf(whole);
    const items = (first && receiptOf(whole, first)?.items) ?? [];
    const texts = (isKept: boolean) => items.filter((each) => each.isKept === isKept).map(({ text }) => text);
    expect(texts(false)).toEqual(expect.arrayContaining(['notes.txt', 'echo from the shell', 'ship']));
    expect(texts(true)).toEqual([]); // a bare number in the turn that stays is no name
  });

  it('is the one from before a compaction that was taken back, and one that is cut within a message', () => {
    const ask = rowOf(({ asks }) => asks === 1);
    expect(said(cutFrom(String(ask['id']))).at(-1)).toEqual(['answer', 'MOCK-REPLY ok']);
    expect(compactionsOf(read(cutFrom(String(ask['id']))))).toEqual([]);
    const named = rowOf(({ parts }) => Array.isArray(parts) && parts.some(({ type }) => type === 'file'));
    const [text, called] = named['parts'] as readonly { readonly id: string }[];
    expect(said(cutFrom(String(named['id']), called?.id)).at(-1)).toEqual([
      'prompt',
      'typed: look at @notes.txt ',
    ]);
    expect(text).not.toEqual(called);
  });

  it('keeps what was said between the request for a compaction and its summary', () => {
    const at = recorded.findIndex((line) => line.includes('"asks":1'));
    const [before, ask = '', summary = ''] = [recorded.slice(0, at), recorded[at], recorded[at + 1]];
    const failed = JSON.parse(summary);
    failed.id = 'failed';
    failed.data.error = { name: 'APIError', data: { message: 'made up' } };
    const meanwhile = JSON.stringify({ ...JSON.parse(before.at(-2) ?? ''), id: 'meanwhile' });
    const plain = JSON.stringify({ ...JSON.parse(summary), keptFrom: null });
    expect(said([...before, ask, JSON.stringify(failed), meanwhile, plain])).toEqual([
      ['summary', SUMMARY],
      ['prompt', 'my number is 8 #tok=60000'],
    ]);
    expect(said([...before, ask, JSON.stringify(failed)]).at(-1)).toEqual(['answer', 'MOCK-REPLY ok']);
  });
});

describe('what fills the window of opencode', () => {
  const toolsIn = (lines: readonly string[]): readonly string[] =>
    readContents(agents.opencode, lines).map(({ name, label }) => `${name} ${label}`);

  it('are the results of its tools until a compaction', () => {
    const asks = recorded.findIndex((line) => line.includes('"asks":1'));
    expect(toolsIn(recorded.slice(0, asks))).toEqual([
      'read /home/me/project/notes.txt',
      'edit /home/me/project/notes.txt',
      'todowrite ',
      'bash ls /not/there; exit 3',
      'read nowhere.txt',
      'bash echo from the shell',
    ]);
    expect(toolsIn(recorded)).toEqual([]);
  });

  it('are after two compactions those of the messages that both keep, from one without results on', () => {
    const bash = recorded.findIndex((line) => line.includes('"tool":"bash"'));
    const { id } = JSON.parse(recorded[bash - 1] ?? '');
    const lines = recorded.map((line) => {
      const row = JSON.parse(line);
      return JSON.stringify({ ...row, ...(row.keptFrom ? { keptFrom: id } : {}) });
    });
    expect(toolsIn(lines)).toEqual([
      'bash ls /not/there; exit 3',
      'read nowhere.txt',
      'bash echo from the shell',
    ]);
  });

  it('are not those that the user has taken back', () => {
    const { id } = rowOf(({ parts }) => Array.isArray(parts) && parts.some(({ tool }) => tool === 'edit'));
    expect(toolsIn(cutFrom(String(id)))).toEqual(['read /home/me/project/notes.txt']);
  });

  it('are of a message that is cut within those before the cut', () => {
    const { id, parts } = rowOf(
      (row) => Array.isArray(row['parts']) && row['parts'].some(({ tool }) => tool === 'read'),
    );
    const [, called, next] = parts as readonly { readonly id: string }[];
    expect(toolsIn(cutFrom(String(id), called?.id))).toEqual([]);
    expect(toolsIn(cutFrom(String(id), next?.id))).toEqual(['read /home/me/project/notes.txt']);
  });
});

describe('the history of a session of opencode', () => {
  it('has the compactions that the user has taken back, too, with their summaries', async () => {
    const lines = cutFrom(String(rowOf(({ asks }) => asks === 1)['id']));
    const source = { agent: agents.opencode, path: '/opencode.db', size: 0, modifiedAt: 0 };
    const open = () => Readable.from([Buffer.from(`${lines.join('\n')}\n`)]);
    const read = await readHistory({ ...source, open }, { isFull: true, withUsage: false, now: 0 });
    expect(read?.history.compactions).toMatchObject([
      { line: 26, summary: { text: SUMMARY }, replaced: [[1, 21]] },
      { line: 30, summary: { text: SUMMARY } },
    ]);
  });
});
