import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from './lab/agents/all.js';
import { claude } from './lab/agents/claude.js';
import { readArguments } from './lab/arguments.js';
import { cacheFolder, installed } from './lab/install.js';
import { isolated } from './lab/namespace.js';
import { scenarios } from './lab/scenarios/all.js';
import { tableOf, withPlayed, type Played } from './lab/table.js';

describe('the arguments of the lab', () => {
  it('mean every agent and every scenario, three times each, when there are none', () => {
    const wish = readArguments([]);
    expect(wish.subjects.map(({ agent }) => agent)).toEqual(agents);
    expect(wish).toMatchObject({ scenarios, times: 3, isWritten: false });
  });

  it('name agents, also in another version, and scenarios', () => {
    const wish = readArguments(['codex@0.170.0', 'claude', '--scenario', 'idle', '--times', '20']);
    expect(wish.subjects.map(({ agent, version }) => `${agent.name} ${version}`)).toEqual([
      'codex 0.170.0',
      `claude ${claude.version}`,
    ]);
    expect(wish.scenarios.map(({ name }) => name)).toEqual(['idle']);
    expect(wish.times).toBe(20);
  });

  it.each([
    { words: ['aider'], says: 'no agent aider: claude, codex, gemini, qwen' },
    { words: ['--scenario', 'sleep'], says: 'no scenario "sleep"; --list shows them all' },
    { words: ['--times', '0'], says: '--times is a number from 1, got "0"' },
    { words: ['--jobs', 'many'], says: '--jobs is a number from 1, got "many"' },
    { words: ['--unknown'], says: "Unknown option '--unknown'" },
  ])('that are not known are refused: $says', ({ words, says }) => {
    expect(() => readArguments(words)).toThrow(says);
  });
});

describe('the lab', () => {
  it('has a name of its own for each scenario', () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });

  it('starts everything in a place with a network of its own, in which only the loopback device is up', () => {
    const words = isolated(['node', 'lab.mjs']);
    expect(words.slice(0, 1)).toEqual(['unshare']);
    expect(words).toContain('--net');
    expect(words.join(' ')).toContain('ip link set lo up');
    expect(words.slice(-2)).toEqual(['node', 'lab.mjs']);
  });

  it("keeps agents in the user's cache, never in the project", () => {
    expect(cacheFolder({ XDG_CACHE_HOME: '/c' })).toBe('/c/ctxwrap-lab');
    expect(cacheFolder({ XDG_CACHE_HOME: '/c', CTXWRAP_LAB_CACHE: '/elsewhere' })).toBe('/elsewhere');
  });

  it('does not install an agent that is there', () => {
    const cache = mkdtempSync(join(tmpdir(), 'lab-test-'));
    try {
      const commands = join(cache, 'claude-9.9.9/node_modules/.bin');
      mkdirSync(commands, { recursive: true });
      writeFileSync(join(commands, 'claude'), '');
      expect(installed(claude, '9.9.9', cache)).toBe(commands);
    } finally {
      rmSync(cache, { recursive: true });
    }
  });
});

describe("the lab's table", () => {
  const played = (isGood: boolean, evidence: string, scenario = 'idle'): Played => ({
    agent: 'claude',
    version: '1.0',
    scenario,
    verdict: { isGood, evidence },
  });
  const day = new Date('2026-11-21T12:00:00Z');
  const rowsIn = (text: string): readonly string[] =>
    text.split('\n').filter((line) => line.startsWith('| claude'));

  it('has one row for all times of a scenario, and shows the time that failed', () => {
    const sessions = [played(true, 'fine'), played(false, 'a | key\nof ours'), played(true, 'fine')];
    expect(rowsIn(tableOf(sessions, day))).toEqual([
      String.raw`| claude | 1.0 | idle | FAILED 2/3 | a \| key of ours | 2026-11-21 |`,
    ]);
  });

  it('keeps the rows of what was not played again', () => {
    const first = withPlayed('', [played(true, 'a | b'), played(false, 'slow', 'busy')], day);
    const second = withPlayed(first, [played(true, 'good now', 'busy')], new Date('2026-11-22T12:00:00Z'));
    expect(rowsIn(second)).toEqual([
      String.raw`| claude | 1.0 | idle | ok 1/1 | a \| b | 2026-11-21 |`,
      '| claude | 1.0 | busy | ok 1/1 | good now | 2026-11-22 |',
    ]);
    expect(withPlayed(second, [], day)).toBe(second);
  });
});
