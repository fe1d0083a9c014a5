import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startSession } from '../../src/core/session.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { agents } from '../../src/agents/index.js';
import { openPublisher } from '../../src/wrap/publish.js';
import { endedFor } from '../support/requester.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'outside-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const log = { info: () => undefined, warn: () => undefined, error: () => undefined, close: () => undefined };

const open = () =>
  openPublisher(
    {
      file: '/bin/cat',
      args: [],
      env: { HOME: home },
      cwd: home,
      agent: agents.claude,
      wrapper: { id: 'me', pid: process.pid, version: '1' },
      values: defaultValues,
      isModeGiven: false,
      recording: undefined,
      log,
    },
    { pid: process.pid, startedAt: Date.now() },
    { onEvent: () => undefined },
  );

describe('the audit log of a session', () => {
  it('has every key of the wrapper: those of an attempt in its line, and those of a late retraction', async () => {
    const outside = open();
    const state = startSession({ agent: 'claude' }, 0);
    outside?.onEffect({ type: 'type-compact', isQueued: false }, state);
    outside?.onStroke(Buffer.from('/compact'));
    outside?.onEffect(endedFor('one'), state);
    outside?.onStroke(Buffer.from('\x7f\x7f'));
    const path = join(home, '.local/state/ctxwrap/audit.jsonl');
    const lines = (): readonly string[] =>
      existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
    await vi.waitFor(() => expect(lines()).toHaveLength(2), { timeout: 20_000 });
    await outside?.end({ kind: 'code', code: 0 });
    expect(lines().map((line): unknown => JSON.parse(line))).toMatchObject([
      { schema: 'ctxwrap.attempt/1', request: 'one', strokes: [{ keys: '/compact' }] },
      { schema: 'ctxwrap.late-stroke/1', session: 'me', keys: String.raw`\u007f\u007f` },
    ]);
  });
});
