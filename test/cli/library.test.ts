import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import {
  type AgentName,
  analyzeContextUsage,
  analyzeSessionUsage,
  createHandoffBuilder,
  followEvents,
  getBackendName,
  getCompactionThreshold,
  getContextWindowSize,
  getLadder,
  needsCustomCompaction,
  readSession,
  type SessionEvent,
  shouldTriggerCompaction,
} from '../../src/cli/library.js';
import type { EventContent, EventKey } from '../../src/core/report/published-event.js';
import { openEventJournal } from '../../src/storage/event-journal.js';
import { userFileOf, writeConfig } from './config/config-file.js';

// the compiler reports one that the library does not name
const { demo: _demo, generic: _generic, ...named } = agents;
const names = Object.keys(named) as readonly (keyof typeof named)[];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'library-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** An empty home, the folder of a project, and what the environment says. */
const at = (env: Readonly<Record<string, string>> = {}) => ({ env: { HOME: folder, ...env }, cwd: folder });

describe('the settings, for another program', () => {
  it('are Claude’s where nobody says anything', () => {
    expect(getBackendName(at())).toBe('claude');
    expect(getContextWindowSize(at())).toBe(200_000);
    expect(getCompactionThreshold(at())).toBe(170_000);
    expect(needsCustomCompaction(at())).toBe(true);
  });

  it.each([
    ['openai', 128_000],
    ['gemini', 1_000_000],
    ['ollama', 8_192],
    ['vllm', 32_768],
    ['custom', 32_768],
    ['no such thing', 32_768],
  ])('have the window of the backend %s', (backend, window) => {
    expect(getContextWindowSize(at({ BACKEND: backend }))).toBe(window);
  });

  it.each([
    [{ BACKEND: 'ollama', CONTEXT_WINDOW_SIZE: '8192' }, 6_963],
    [{ CONTEXT_WINDOW_SIZE: '100000' }, 85_000],
    [{ CTXWRAP_AUTO: '150k' }, 150_000],
    [{ BACKEND: 'ollama', CONTEXT_WINDOW_SIZE: '8192', COMPACTION_THRESHOLD_PCT: '85' }, 6_963],
    [{ COMPACTION_THRESHOLD_PCT: '85' }, 170_000],
    [{ CONTEXT_WINDOW_SIZE: '100000', COMPACTION_THRESHOLD_PCT: '90' }, 90_000],
    [{ ANTHROPIC_1M_CONTEXT: 'true', COMPACTION_THRESHOLD_PCT: '50' }, 500_000],
  ])('say where a compaction is due: %j', (env, threshold) => {
    expect(getCompactionThreshold(at(env))).toBe(threshold);
    expect(shouldTriggerCompaction(threshold - 1, at(env))).toBe(false);
    expect(shouldTriggerCompaction(threshold, at(env))).toBe(true);
  });

  it('know that without a footer only a mode that was said types by itself', () => {
    expect(needsCustomCompaction(at({ CTXWRAP_FOOTER: 'false', CTXWRAP_MODE: 'auto' }))).toBe(true);
  });

  it.each([
    { CUSTOM_CONTEXT_COMPACTION: 'false' },
    { CTXWRAP_MODE: 'ask' },
    { CTXWRAP_LADDER: 'handoff' },
    { CTXWRAP_FOOTER: 'false' },
  ])('say when nothing is typed by itself: %j', (env) => {
    expect(needsCustomCompaction(at(env))).toBe(false);
  });

  it('have no boundary where the ladder has none', () => {
    expect(getCompactionThreshold(at({ CTXWRAP_LADDER: 'handoff' }))).toBeUndefined();
    expect(shouldTriggerCompaction(10_000_000, at({ CTXWRAP_LADDER: 'handoff' }))).toBe(false);
  });

  it('come from the files, too, of which a wrong one prevents nothing', () => {
    const bench = { ...at(), folder, program: () => '', remove: () => undefined };
    writeConfig(bench, '{ "window": "64k", "mode": "atuo" }');
    expect(getContextWindowSize(at())).toBe(64_000);
    expect(needsCustomCompaction(at())).toBe(false);
    writeFileSync(userFileOf(bench), 'not a configuration');
    expect(getContextWindowSize(at())).toBe(200_000);
  });
});

describe('characters of a conversation, for another program', () => {
  it.each([
    [0, 0, 'none'],
    [1, 1, 'none'],
    [559_996, 139_999, 'none'],
    [560_000, 140_000, 'prepare_handoff'], // boundaries are inclusive
    [679_996, 169_999, 'prepare_handoff'],
    [680_000, 170_000, 'force_return'],
    [4_000_000, 1_000_000, 'force_return'],
  ])('%d are %d tokens of 200,000: %s', (characters, tokens, action) => {
    expect(analyzeContextUsage(characters)).toEqual({
      totalTokens: tokens,
      usageRatio: tokens / 200_000,
      isWarning: action !== 'none',
      isCritical: action === 'force_return',
      action,
    });
  });

  it('have thresholds and a window of the caller’s', () => {
    expect(analyzeContextUsage(400_000, 0.5, 0.9)).toMatchObject({
      usageRatio: 0.5,
      action: 'prepare_handoff',
    });
    expect(analyzeContextUsage(400_000, 0.5, 0.9, 100_000)).toMatchObject({
      usageRatio: 1,
      action: 'force_return',
    });
  });
});

describe('what a supervisor needs', () => {
  const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

  it('has the ladder of a window, before the agent compacts by itself', () => {
    const values = getLadder('claude', 200_000).map(({ name, value }) => [name, value]);
    expect(Object.fromEntries(values)).toMatchObject({ warn: 142_000, auto: 162_000, hard: 177_000 });
    expect(getLadder('codex').every(({ unit }) => unit === 'percent')).toBe(true);
    expect(() => getLadder('nobody' as 'claude')).toThrow(RangeError);
  });

  it('names every agent that is built in, and takes no window that is none', () => {
    const all: readonly AgentName[] = names;
    expect(all.map((name) => getLadder(name, 200_000).length > 0)).toEqual(all.map(() => true));
    for (const wrong of [NaN, Infinity, 0, -1, 1.5])
      expect(() => getLadder('claude', wrong)).toThrow('whole number of tokens above 0');
  });

  it.each(['../events/mine', '', 'a/b', 'x'.repeat(65)])(
    'follows nothing that is no id: %j',
    async (session) => {
      const events = followEvents({ session, env: { HOME: folder } });
      await expect(events.next()).rejects.toThrow(RangeError);
    },
  );

  it('has a type for every event that a session writes', () => {
    type Written = EventKey & Exclude<EventContent, { type: 'error' }>; // that is only for the parent
    const published = (event: Written): SessionEvent => event;
    const key = { schema: 'ctxwrap.event/1', session: 'mine', seq: 1, at: 1 } as const;
    const event = published({ ...key, type: 'tier', tier: 'hard', before: 'auto' });
    expect(event.type === 'tier' && event.tier).toBe('hard');
  });

  it('reads a session file: its number, its boundaries and its compactions', async () => {
    const folder = fixture('logs/claude');
    const found = await Promise.all(
      readdirSync(folder)
        .filter((name) => name.endsWith('.jsonl'))
        .map((name) => readSession(join(folder, name))),
    );
    const read = found.filter((each) => each !== undefined);
    expect(read.length).toBeGreaterThan(1);
    expect(new Set(read.map(({ agent }) => agent))).toEqual(new Set(['claude']));
    expect(read.some(({ reading }) => (reading?.usedTokens ?? 0) > 0)).toBe(true);
    const compactions = read.flatMap((each) => each.compactions);
    expect(compactions.some(({ summary, at }) => (summary ?? '') !== '' && at > 0)).toBe(true);
  });

  it('rejects for a file that is not there, and knows no agent of a strange one', async () => {
    await expect(readSession(join(folder, 'nothing.jsonl'))).rejects.toThrow('ENOENT');
    writeFileSync(join(folder, 'strange.jsonl'), '{"a":1}\n');
    expect(await readSession(join(folder, 'strange.jsonl'))).toBeUndefined();
  });

  it('follows a session that begins, until it ends', async () => {
    const env = { HOME: folder };
    const journal = openEventJournal({
      stateFolder: join(folder, '.local/state/ctxwrap'),
      session: 'mine',
      snapshot: () => ({ type: 'session-end' }),
      onFailure: (reason) => {
        throw new Error(reason);
      },
    });
    journal.append({ type: 'session-start', state: { id: 'mine', pid: process.pid } as never }, 1);
    await journal.flushed();
    const types: string[] = [];
    for await (const { type } of followEvents({ session: 'mine', env })) {
      types.push(type);
      if (types.length === 1) journal.append({ type: 'session-end', exit: { code: 0 } }, 2);
    }
    expect(types).toEqual(['state', 'session-end']);
    await journal.close();
  });

  it('is left by a signal, also where nothing happens', async () => {
    const stop = new AbortController();
    const events = followEvents({ env: { HOME: folder }, signal: stop.signal });
    const next = events.next();
    stop.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

describe('a running session, for another program', () => {
  const reading = {
    schema: 'ctxwrap.reading/1',
    at: 1,
    runtime: 'claude',
    source: 'log',
    basis: 'window',
  } as const;
  it('is judged by its own number in its own window', () => {
    const state = { reading: { ...reading, usedTokens: 90_000, windowTokens: 100_000, exact: true } };
    expect(analyzeSessionUsage(state)).toMatchObject({ totalTokens: 90_000, action: 'force_return' });
    expect(analyzeSessionUsage(state, 0.7, 0.95)?.action).toBe('prepare_handoff');
  });

  it('without a number or a window is not judged', () => {
    expect(analyzeSessionUsage({})).toBeUndefined();
    expect(analyzeSessionUsage({ estimatedTokens: 90_000 })).toBeUndefined();
    expect(analyzeSessionUsage({ reading: { ...reading, usedTokens: 1, exact: true } })).toBeUndefined();
  });
});

describe('the builder of a handoff', () => {
  it('lists what was added, each text and file once', () => {
    const built = createHandoffBuilder({ runtime: 'claude', cwd: '/proj' })
      .addCompleted({ file: 'a.ts', status: 'done', notes: 'tests passed' })
      .addRemaining({ description: 'write the page' })
      .addDecision('keep the name')
      .addDecision('keep the name')
      .addPattern('one file a concept')
      .addIssue('slow start')
      .addFile('a.ts')
      .addFile('a.ts')
      .build('task_complete');
    expect(built.warning).toBeUndefined();
    expect(built.handoff).toMatchObject({
      schema: 'ctxwrap.handoff/1',
      cwd: '/proj',
      reason: 'task_complete',
      completed: [{ file: 'a.ts', status: 'done', notes: 'tests passed' }],
      remaining: [{ description: 'write the page', priority: 'normal' }],
      context: {
        decisions: ['keep the name'],
        patterns: ['one file a concept'],
        issues: ['slow start'],
        filesModified: ['a.ts'],
      },
    });
  });

  it('warns of more than 4,000 characters', () => {
    const builder = createHandoffBuilder({ runtime: 'claude' });
    const { characters, handoff } = builder.addIssue('').build();
    expect(characters).toBe(JSON.stringify(handoff).length);
    const full = builder.addDecision('x'.repeat(4_000 - characters - 2));
    expect(full.build()).toMatchObject({ characters: 4_000 });
    expect(full.build().warning).toBeUndefined();
    expect(full.addFile('b').build().warning).toContain('more than the recommended 4,000');
  });
});
