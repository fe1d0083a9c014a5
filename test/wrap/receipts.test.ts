// The receipt of the last compaction in a running session: told once, shown in the overview, and put into the prompt when the user asks.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { Event } from '../../src/core/event.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeReceipts, type ReceiptsOptions } from '../../src/wrap/receipts.js';
import type { DraftResult } from '../../src/wrap/typist.js';
import { compacted } from '../support/sessions.js';
import { fixture } from '../support/stored-sessions.js';

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

const open = (more: Partial<ReceiptsOptions> = {}, result: DraftResult = { kind: 'there' }) =>
  makeReceipts({
    agent: agents.claude,
    sessionFile: () => path,
    hotkey: 'Ctrl-]',
    log: nullLog,
    onEvent: (event) => told.push(event),
    putDraft: async (text) => {
      drafts.push(text);
      return result;
    },
    ...more,
  });

const notices = (): readonly string[] =>
  told.flatMap((event) => (event.type === 'notice' ? [event.text] : []));

describe('the receipt of a running session', () => {
  it('is told once after the compaction that the session file records', async () => {
    const receipts = open();
    receipts.noteEvent(compacted('screen'));
    receipts.noteEvent(compacted('log'));
    receipts.noteEvent(compacted('log')); // read twice
    await vi.waitFor(() => expect(notices()).toEqual(['kept 0 of 1 command · Ctrl-] b: brief']), WAIT);
    expect(told.at(-1)).toMatchObject({ isOfOutcome: true }); // shown over the outcome, which stays for half a minute
    expect(receipts.keptText()).toBe('0 of 1 command');
    receipts.noteEvent({ type: 'session-changed', sessionId: 'another' });
    expect(receipts.keptText()).toBeUndefined();
    receipts.stop();
  });

  it('names the command for a brief where no key opens the overview', async () => {
    open({ hotkey: undefined }).noteEvent(compacted('log'));
    await vi.waitFor(() => expect(notices()).toEqual(['kept 0 of 1 command · ctxwrap brief']), WAIT);
  });

  it('comes as a draft when the user asks, also before it was told', async () => {
    expect(await open().brief()).toEqual({ kind: 'drafted' });
    expect(drafts).toEqual([
      'The summary of our conversation left this out. Keep it in mind:\n\nCommands you ran:\n- touch /srv/zz-lab',
    ]);
  });

  it.each([
    {
      result: { kind: 'skipped', reason: 'the user types' },
      is: { kind: 'refused', reason: 'the user types' },
    },
    { result: { kind: 'unseen' }, is: { kind: 'unknown', reason: 'pasted, but not seen in the prompt' } },
  ] as const)('that is $result.kind is answered as $is.kind', async ({ result, is }) => {
    expect(await open({}, result).brief()).toEqual(is);
  });

  it.each([
    ['no session file is known', () => ({ sessionFile: () => undefined })],
    ['the session file is gone', () => ({ sessionFile: () => join(folder, 'gone.jsonl') })],
    ['there was no compaction', () => ({ sessionFile: () => (writeFileSync(path, ''), path) })],
  ])('is not made up where %s', async (_, more) => {
    const receipts = open(more());
    expect(await receipts.brief()).toEqual({ kind: 'refused', reason: 'nothing is known to be lost' });
    expect(drafts).toEqual([]);
    expect(notices()).toEqual(['brief: nothing is known to be lost']);
  });
});
