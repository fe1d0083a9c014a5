import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { Event } from '../../src/core/event.js';
import { nullLog } from '../../src/storage/log-file.js';
import { readModelUses, writeModelUses } from '../../src/storage/model-uses.js';
import { makeModelMemory } from '../../src/worker/model-memory.js';
import { claim, sessionAfter, tokens, type Timed } from '../support/sessions.js';

const OPUS = 'claude-opus-4-8';
const { claude } = agents;
const known = (usedTokens: number): readonly Timed[] => [
  [0, tokens('log', usedTokens, { model: OPUS, windowTokens: 1_000_000 })],
];

let [outer, state] = ['', ''];
beforeEach(() => {
  outer = mkdtempSync(join(tmpdir(), 'model-memory-'));
  state = join(outer, 'ctxwrap');
});
afterEach(() => rmSync(outer, { recursive: true, force: true }));

const memory = (env = {}, log = nullLog) => {
  const told: Event[] = [];
  return { told, ...makeModelMemory({ agent: claude, env, log }, state, (event) => void told.push(event)) };
};
const written = () => vi.waitFor(async () => expect(await readModelUses(state)).toHaveLength(1));

describe('the memory of windows', () => {
  it('is told to the next session', async () => {
    const first = memory();
    first.onState(sessionAfter(known(5)));
    await written();
    expect(first.told).toEqual([]);
    const next = memory();
    await vi.waitFor(() =>
      expect(next.told).toEqual([
        {
          type: 'remembered-windows',
          claims: [{ windowTokens: 1_000_000, windowSource: 'remembered', model: OPUS }],
        },
      ]),
    );
  });

  it('is not told to a session that has ended, or to one of another agent', async () => {
    await writeModelUses(state, [{ agent: 'codex', model: OPUS, usedAt: 1 }]);
    const other = memory();
    const ended = memory();
    ended.stop();
    other.onState(sessionAfter(known(5)));
    await vi.waitFor(async () => expect(await readModelUses(state)).toHaveLength(2));
    expect([other.told, ended.told]).toEqual([[], []]);
  });

  it('is written when the window or the model changes, and not with every number', async () => {
    const { onState } = memory();
    onState(sessionAfter(known(5)));
    await written();
    const [first] = await readModelUses(state);
    await writeModelUses(state, [{ ...first, agent: 'claude', model: OPUS, usedAt: 42 }]);
    onState(sessionAfter(known(6)));
    onState(sessionAfter(known(900_000)));
    onState(sessionAfter([[0, tokens('log', 1, { model: 'claude-haiku-4-5' })]]));
    await vi.waitFor(async () => expect(await readModelUses(state)).toHaveLength(2));
    expect((await readModelUses(state))[1]).toMatchObject({ model: OPUS, usedAt: 42 });
    onState(sessionAfter([...known(7), [1, claim(500_000, 'agent', OPUS)]]));
    await vi.waitFor(async () =>
      expect((await readModelUses(state))[0]).toMatchObject({
        model: OPUS,
        window: { windowTokens: 500_000 },
      }),
    );
  });

  it('has no window of a session whose environment makes windows smaller', async () => {
    const { onState } = memory({ CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' });
    onState(sessionAfter(known(5)));
    await written();
    expect((await readModelUses(state))[0]).not.toHaveProperty('window');
  });

  it('is left out where nothing can be written, which the log says once', async () => {
    writeFileSync(state, 'a file in the place of the folder');
    const lines: string[] = [];
    const { onState } = memory({}, { ...nullLog, info: (line) => void lines.push(line) });
    onState(sessionAfter(known(5)));
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    onState(sessionAfter([[0, tokens('log', 1, { model: 'claude-haiku-4-5' })]]));
    onState(sessionAfter(known(5)));
    expect(readFileSync(state, 'utf8')).toBe('a file in the place of the folder');
    expect(lines).toEqual([expect.stringContaining('the windows of models are not remembered')]);
  });
});
