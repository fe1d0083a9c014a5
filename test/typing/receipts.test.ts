// The receipt of the last compaction in a running session: told once, shown in the overview, and put into the prompt when the user asks.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import type { Event } from '../../src/core/event.js';
import { nullLog } from '../../src/storage/log-file.js';
import type { ContextWay } from '../../src/typing/context-way.js';
import { makeReceipts, type ReceiptsOptions } from '../../src/typing/receipts.js';
import { runningSource } from '../../src/session-files/session-sources.js';
import type { DraftOutcome } from '../../src/typing/prompt-draft.js';
import { compacted } from '../support/sessions.js';
import { fixture } from '../support/stored-sessions.js';
import { eventually } from '../support/eventually.js';

const WAIT = { timeout: 20_000, interval: 20 };

let folder: string;
let path: string;
let told: Event[];
let drafts: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-receipts-'));
  path = join(folder, 'session.jsonl');
  copyFileSync(fixture('claude/session-with-compaction.jsonl'), path);
  [told, drafts] = [[], []];
});
afterEach(() => rmSync(folder, { recursive: true }));

const known =
  (path: () => string | undefined): ReceiptsOptions['source'] =>
  () =>
    runningSource(agents.claude, { env: {}, home: folder, cwd: folder }, { path: path() });

const open = (more: Partial<ReceiptsOptions> = {}, result: DraftOutcome = { kind: 'drafted' }) =>
  makeReceipts({
    agent: agents.claude,
    source: known(() => path),
    hotkey: 'Ctrl-]',
    recall: 'ask',
    log: nullLog,
    onEvent: (event) => told.push(event),
    putDraft: async (text) => {
      drafts.push(text());
      return result;
    },
    ...more,
  });

/** As Claude writes a session that goes on in the background: without what was before, but for an answer that stayed in the window. */
const beginsCompacted = (): string => {
  const message = (id: string, role: string, content: unknown) => ({
    type: role,
    uuid: id,
    message: { id, role, content },
  });
  const preservedMessages = { anchorUuid: 's', uuids: ['a', 't'] };
  const boundary = { parentUuid: null, logicalParentUuid: 't', compactMetadata: { preservedMessages } };
  const records = [
    { type: 'system', subtype: 'compact_boundary', uuid: 'b', ...boundary },
    { ...message('s', 'user', 'a summary of it'), parentUuid: 'b', isCompactSummary: true },
    { ...message('a', 'assistant', [{ type: 'text', text: 'heard 2 of you' }]), parentUuid: 's' },
    { type: 'system', subtype: 'turn_duration', uuid: 't', parentUuid: 'a' },
    { ...message('n', 'user', 'my number 3'), parentUuid: 't' },
  ];
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return path;
};

const notices = (): readonly string[] =>
  told.flatMap((event) => (event.type === 'notice' ? [event.text] : []));

describe('the receipt of a running session', () => {
  it('is told once after the compaction that the session file records', async () => {
    const receipts = open();
    receipts.noteEvent(compacted('screen'));
    receipts.noteEvent(compacted('log'));
    receipts.noteEvent(compacted('log')); // read twice
    await eventually(() => expect(notices()).toEqual(['forgot 1 of 1 command · Ctrl-] b']));
    expect(told.at(-1)).toMatchObject({ isOfOutcome: true }); // shown over the outcome, which stays for half a minute
    expect(receipts.keptText()).toBe('forgot 1 of 1 command');
    receipts.noteEvent({ type: 'session-changed', sessionId: 'another' });
    expect(receipts.keptText()).toBeUndefined();
    receipts.stop();
  });

  it('is gone when the compaction is undone', async () => {
    const receipts = open();
    receipts.noteEvent(compacted('log'));
    await vi.waitFor(() => expect(receipts.keptText()).toBe('forgot 1 of 1 command'), WAIT);
    receipts.noteEvent({ type: 'undone' });
    expect(receipts.keptText()).toBeUndefined();
    receipts.stop();
  });

  it('is counted for the report, with the time of the compaction', async () => {
    const counted: unknown[] = [];
    const receipts = open({ onCounts: (at, counts) => counted.push([at, counts]) });
    receipts.noteEvent(compacted('log'));
    await vi.waitFor(() => expect(counted).toHaveLength(1), WAIT);
    expect(counted).toEqual([[1, [{ kind: 'command', kept: 0, of: 1 }]]]);
    receipts.stop();
  });

  it('of an encrypted summary says what was there before, and the draft carries it', async () => {
    const line = (type: string, payload: object): string =>
      JSON.stringify({ timestamp: '2026-07-01T10:00:00.000Z', type, payload });
    const user = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'Never push to main.' }],
    };
    const call = {
      type: 'function_call',
      call_id: 'c',
      name: 'exec_command',
      arguments: '{"cmd":"npm test"}',
    };
    const output = { type: 'function_call_output', call_id: 'c', output: 'Process exited with code 1' };
    const history = [{ type: 'compaction', encrypted_content: 'gAAAA' }];
    const lines = [
      line('session_meta', { id: '019f0000-0000-7000-8000-000000000000', cwd: '/proj' }),
      ...[user, call, output].map((item) => line('response_item', item)),
      line('compacted', { message: '', replacement_history: history }),
    ];
    writeFileSync(path, `${lines.join('\n')}\n`);
    const counted: unknown[] = [];
    const codex = { env: {}, home: folder, cwd: folder };
    const receipts = open({
      agent: agents.codex,
      source: () => runningSource(agents.codex, codex, { path }),
      onCounts: (at, counts) => counted.push([at, counts]),
    });
    receipts.noteEvent(compacted('log'));
    const before = 'in the window before: 1 command, 1 rule';
    await eventually(() => expect(notices()).toEqual([`summary encrypted · ${before} · Ctrl-] b`]));
    expect(receipts.keptText()).toBe(`unknown, summary encrypted · ${before}`);
    expect(counted).toEqual([]); // nothing is known to be kept or lost
    await receipts.brief();
    expect(drafts).toEqual([
      'I cannot read the summary of our conversation. This was in it before:\n\nWhat I asked for:\n- Never push to main.\n\nCommands you ran:\n- npm test (it failed)\n\nAll of this still holds.',
    ]);
    receipts.stop();
  });

  it('comes as a draft when the user asks, also before it was told', async () => {
    expect(await open().brief()).toEqual({ kind: 'drafted' });
    expect(drafts).toEqual([
      'The summary of our conversation left this out:\n\nCommands you ran:\n- touch /srv/zz-lab\n\nAll of this still holds.',
    ]);
  });

  it.each([
    [agents.claude, String.raw`- touch \@secret me\@here \@kept`],
    [{ ...agents.claude, readsMentions: undefined }, String.raw`- touch @secret me@here \@kept`],
  ])('has an agent that reads files at an @ read none', async (agent, line) => {
    const lines = readFileSync(path, 'utf8');
    writeFileSync(path, lines.replaceAll('touch /srv/zz-lab', String.raw`touch @secret me@here \\@kept`));
    await open({ agent: agent as Agent }).brief();
    expect(drafts[0]).toContain(`\n${line}\n`);
  });

  it('stays as short as it may be', async () => {
    const lines = readFileSync(path, 'utf8').split('\n');
    const at = '@'.repeat(300);
    const told = lines.map((line) =>
      line.includes('"hello two"')
        ? line.replace(
            'hello two',
            Array.from({ length: 20 }, (_, index) => `never ${index} ${at}.`).join(' '),
          )
        : line,
    );
    writeFileSync(path, told.join('\n'));
    await open().brief();
    expect(drafts[0]?.length).toBeLessThanOrEqual(4_000);
    expect(drafts[0]?.length).toBeGreaterThan(3_000);
  });

  it.each([
    { kind: 'refused', reason: 'the user types' },
    { kind: 'unknown', reason: 'pasted, but not seen in the prompt' },
  ] as const)('that is $kind is answered as such', async (result) => {
    expect(await open({}, result).brief()).toEqual(result);
  });

  const huge = (): string => {
    truncateSync(path, 65 * 1024 * 1024);
    return path;
  };
  it.each([
    ['no session file is known', () => undefined, 'the session is not known yet'],
    [
      'the session file is gone',
      () => join(folder, 'gone.jsonl'),
      'the session cannot be read (no such file or directory)',
    ],
    ['the session file is huge', huge, 'the session is too large (68 MB)'],
    [
      'the session begins with its compaction',
      () => beginsCompacted(),
      'the file of this session does not hold what was before the compaction',
    ],
    ['there was no compaction', () => (writeFileSync(path, ''), path), 'nothing was compacted yet'],
  ])('is not made up where %s, and the reason is told', async (_, sessionFile, reason) => {
    const receipts = open({ source: known(sessionFile) });
    expect(await receipts.brief()).toEqual({ kind: 'refused', reason });
    expect(drafts).toEqual([]);
    expect(notices()).toEqual([`recall: ${reason}`]);
  });

  it('goes as context where that is asked for and the agent has a way, and as a draft where that is', async () => {
    const sent: string[] = [];
    const context: ContextWay = {
      words: 'with your next message',
      isWaiting: () => false,
      forget: () => undefined,
      takeBack: () => undefined,
      noteEvent: () => undefined,
      send: async (text) => (sent.push(text), { kind: 'sent' }),
      withdraw: () => undefined,
    };
    const receipts = open({ context });
    const words = '1 line given back with your next message';
    expect(await receipts.brief({}, 'context')).toEqual({ kind: 'given', words });
    expect(sent).toEqual([expect.stringContaining('- touch /srv/zz-lab')]);
    expect(drafts).toEqual([]);
    expect(await receipts.brief({}, 'draft')).toEqual({ kind: 'drafted' });
    expect([sent.length, drafts]).toEqual([1, sent]);
  });

  it('is no draft where it was to go as context and the agent has no way', async () => {
    expect(await open().brief({}, 'context')).toEqual({
      kind: 'refused',
      reason: 'this agent takes it only as a draft: ctxwrap recall --into draft',
    });
    expect(drafts).toEqual([]);
  });

  it('names the command where no key opens the overview', async () => {
    const receipts = open({ hotkey: undefined });
    receipts.noteEvent(compacted('log'));
    await vi.waitFor(() => expect(notices()).toEqual(['forgot 1 of 1 command · ctxwrap recall']), WAIT);
    receipts.stop();
  });
});
