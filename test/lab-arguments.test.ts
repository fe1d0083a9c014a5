import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from './lab/agents/all.js';
import { claude } from './lab/agents/claude.js';
import { readArguments } from './lab/arguments.js';
import { cacheFolder, installed } from './lab/install.js';
import { isolatedCommand } from '../src/verify/sandbox.js';
import { groups, scenarios } from './lab/scenarios/all.js';
import { withPlayed, withVersions } from './lab/page.js';
import { tableOf, type Played } from './lab/table.js';
import { projectFolder, readOwn } from './support/pages.js';

const unasked = (): string => {
  throw new Error('npm was asked');
};

describe('the arguments of the lab', () => {
  it('mean every agent and every scenario, three times each, when there are none', () => {
    const wish = readArguments([], unasked);
    expect(wish.subjects.map(({ agent }) => agent)).toEqual(agents);
    expect(wish).toMatchObject({ scenarios, times: 3, isWritten: false });
  });

  it('name agents, also in another version, and scenarios', () => {
    const wish = readArguments(['codex@0.170.0', 'claude', '--scenario', 'idle', '--times', '20'], unasked);
    expect(wish.subjects.map(({ agent, version }) => `${agent.name} ${version}`)).toEqual([
      'codex 0.170.0',
      `claude ${claude.version}`,
    ]);
    expect(wish.scenarios.map(({ name }) => name)).toEqual(['idle']);
    expect(wish.times).toBe(20);
  });

  it('take what npm offers today with --newest, where no version is named', () => {
    const wish = readArguments(['codex@0.170.0', 'claude', '--newest'], ({ npmName }) => `newest ${npmName}`);
    expect(wish.subjects.map(({ version }) => version)).toEqual(['0.170.0', `newest ${claude.npmName}`]);
  });

  it('name any scenario in a terminal that understands OSC 7501', () => {
    const { scenarios: wanted } = readArguments(['--scenario', 'breaker, OSC 7501'], unasked);
    expect(wanted).toMatchObject([{ name: 'breaker, OSC 7501', hearsState: true }]);
  });

  it.each([
    { words: ['aider'], says: 'no agent aider: claude, codex, gemini, qwen, opencode' },
    { words: ['--scenario', 'sleep'], says: 'no scenario "sleep"; --list shows them all' },
    { words: ['--scenario', 'sleep, OSC 7501'], says: 'no scenario "sleep, OSC 7501"' },
    { words: ['--write', '--with=--window=200k'], says: 'leave out --with' },
    { words: ['--times', '0'], says: '--times is a number from 1, got "0"' },
    { words: ['--jobs', 'many'], says: '--jobs is a number from 1, got "many"' },
    { words: ['--unknown'], says: "Unknown option '--unknown'" },
  ])('that are not known are refused: $says', ({ words, says }) => {
    expect(() => readArguments(words, unasked)).toThrow(says);
  });
});

describe('the lab', () => {
  it('has a name of its own for each scenario', () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });

  it('starts everything in a place with a network of its own, in which only the loopback device is up', () => {
    const words = isolatedCommand(['node', 'lab.mjs']);
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
  const played = (isGood: boolean, evidence: string, scenario = 'idle', version = '1.0'): Played => ({
    agent: 'claude',
    version,
    scenario,
    verdict: { isGood, evidence },
  });
  const day = new Date('2026-11-21T12:00:00Z');
  const nextDay = new Date('2026-11-22T12:00:00Z');
  const linesIn = (text: string, pattern: RegExp): readonly string[] =>
    text.split('\n').filter((line) => pattern.test(line));

  it('has one row for all times of a scenario, and shows the time that failed', () => {
    const sessions = [played(true, 'fine'), played(false, 'a | key\nof ours'), played(true, 'fine')];
    expect(linesIn(tableOf(sessions, day), /^\| claude/)).toEqual([
      String.raw`| claude | 1.0 | idle | FAILED 2/3 | a \| key of ours | 2026-11-21 |`,
    ]);
  });

  it('keeps the rows of what was not played again', () => {
    const first = withPlayed('', [played(true, 'a | b'), played(false, 'slow', 'busy')], day);
    const second = withPlayed(first, [played(true, 'good now', 'busy')], nextDay);
    expect(linesIn(second, /^\| (?:idle|busy)/)).toEqual([
      String.raw`| idle | ok 1/1 | a \| b | 2026-11-21 |`,
      '| busy | ok 1/1 | good now | 2026-11-22 |',
    ]);
    expect(withPlayed(second, [], day)).toBe(second);
  });

  it('has a row in its matrix for each version, the newest first, with the sessions of each group', () => {
    const first = withPlayed('', [played(true, 'fine'), played(false, 'no', 'busy')], day);
    const other = [played(true, 'fine', 'slow', '1.10'), played(true, 'fine', 'idle', '1.9')];
    const second = withPlayed(first, other, nextDay);
    const others = groups
      .slice(2)
      .map(() => '–')
      .join(' | ');
    expect(linesIn(second, /^\| claude/)).toEqual([
      `| claude | 1.10 | – | 1 ok | ${others} | 2026-11-22 |`,
      `| claude | 1.9 | 1 ok | – | ${others} | 2026-11-22 |`,
      `| claude | 1.0 | 1 ok, **1 failed** | – | ${others} | 2026-11-21 |`,
    ]);
    expect(linesIn(second, /^## claude/)).toEqual(['## claude 1.10', '## claude 1.9', '## claude 1.0']);
  });

  it('writes what it has read, for every scenario', () => {
    const all = scenarios.map(({ name }) => played(true, `what | \\ was seen`, name));
    const text = withPlayed('', all, day);
    expect(linesIn(text, /^\| .* \| ok 1\/1 \|/)).toHaveLength(scenarios.length);
    expect(withPlayed(text, [], nextDay)).toBe(text);
  });

  it('is what docs/agents.md has of each version', async () => {
    const page = join(projectFolder, 'docs/agents.md');
    const text = withVersions(readOwn('docs/agents.md'), readOwn('docs/internals/evidence.md'));
    await expect(text).toMatchFileSnapshot(page);
  });
});
