import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { contextSections } from '../../src/cli/context-text.js';
import { contextReport } from '../../src/core/report/context-report.js';
import type { ContextFacts } from '../../src/core/report/context-report.js';
import { sessionLadder } from '../../src/core/report/report.js';
import { readingRecord } from '../../src/core/report/report.js';
import { startSession, stepSession } from '../../src/core/session.js';
import { readLook } from '../../src/core/look.js';
import { renderReport } from '../../src/ui/Report.js';
import { runs } from '../support/runs.js';
import { listThresholds } from '../../src/core/ladder.js';

process.env['TZ'] = 'UTC'; // times are shown as the user's clock shows them

const factsAt = (usedTokens: number, more: Partial<ContextFacts> = {}) => {
  const native = { share: 1, reserveTokens: 33_000 };
  const window = { windowTokens: 200_000, windowSource: 'table' } as const;
  const reading = { usedTokens, ...window, source: 'log', model: 'claude-haiku-4-5', at: 1 } as const;
  const state = stepSession(startSession({ agent: 'claude', native }, 0), { type: 'reading', reading }, 1);
  return {
    runtime: 'claude',
    path: '/home/u/.claude/projects/-proj/11111111-2222-4333-8444-555555555555.jsonl',
    reading: readingRecord(state, 1),
    thresholds: listThresholds(sessionLadder(state)),
    compactions: [{ at: 1_795_250_232_289, preTokens: 131_023, postTokens: 777, initiator: 'user' as const }],
    toolResults: [
      {
        name: 'Read',
        label: '/src/a-file-with-a-rather-long-name-in-a-deep-folder/index.ts',
        tokens: 12_345,
        at: 1,
      },
      { name: 'Bash', label: '\u001b[31mevil\u0007 \u202e日本語', tokens: 12, at: 1 },
    ],
    ...more,
  } satisfies ContextFacts;
};

const textOf = (facts: ContextFacts, width: number): readonly string[] =>
  renderReport(contextSections(contextReport(facts)), { columns: width, colorLevel: 0, ascii: false });

describe('the context of a session as text', () => {
  it('is readable at a glance', () => {
    expect(textOf(factsAt(150_000, { cachedTokens: 149_000 }), 100)).toMatchInlineSnapshot(`
      [
        "claude · claude-haiku-4-5",
        "File    /home/u/.claude/projects/-proj/11111111-2222-4333-8444-555555555555.jsonl",
        "",
        "▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▱▱▱▱▱▱▱╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌   75%  warn",
        "                                                          warn╵    auto╵     ╵hard",
        "",
        "Used    150,000 tokens (session file)",
        "Window  200,000 tokens (from the model table)",
        "",
        "What fills it",
        "  ▰ Cached input       149,000   74.5%",
        "  ▮ Fresh input          1,000    0.5%",
        "  ▱ Free                17,000    8.5%",
        "  ╌ Compaction buffer   33,000   16.5%",
        "    Total              200,000  100.0%",
        "",
        "Thresholds",
        "  ▶ Warn              142,000  20,000 before auto 162,000",
        "    Auto              162,000  5,000 before claude compacts on its own at 167,000",
        "    Agent's own       167,000  claude compacts on its own 33,000 below the window of 200,000",
        "    Hard              177,000  not reached: the agent compacts first",
        "    Effective window  180,000  the window of 200,000 less 20,000 kept free for the answer",
        "",
        "Compactions: 1",
        "  2026-11-21 08:37  131k → 777, by you",
        "",
        "Largest tool results since the compaction",
        "  Read    ~12,345  /src/a-file-with-a-rather-long-name-in-a-deep-folder/index.ts",
        "  Bash        ~12  [31mevil 日本語",
      ]
    `);
  });

  it('fits into any width, and marks one boundary at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 40, max: 200 }), fc.nat(250_000), (width, used) => {
        const lines = textOf(factsAt(used, { cachedTokens: Math.floor(used / 2) }), width);
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
        expect(lines.filter((line) => line.trimStart().startsWith('▶'))).toHaveLength(used < 142_000 ? 0 : 1);
        expect(lines.join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
      }),
      runs(40),
    );
  });

  it.each([20, 30, 38])('shows its numbers whole in %d columns', (width) => {
    const lines = textOf(factsAt(150_000), width);
    expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
    for (const number of ['150,000   75.0%', '180,000', '142,000', '162,000', '177,000'])
      expect(lines.filter((line) => line.includes(number)).length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.trimStart().startsWith('▶'))).toHaveLength(1);
  });

  it('says before the first answer that there is none, without a number', () => {
    const { reading: _, ...facts } = factsAt(1);
    const lines = textOf(
      { ...facts, path: undefined, compactions: [], toolResults: [], note: 'waiting for the first turn' },
      80,
    );
    expect(lines).toEqual(['claude', '', 'No number yet: the first answer brings it.']);
  });

  it('is styled in a terminal only, and has colours where they are wanted', () => {
    const painted = (isTerminal: boolean, env: Record<string, string>): boolean =>
      renderReport(
        contextSections(contextReport(factsAt(150_000))),
        readLook({ env, isTTY: isTerminal, columns: 80 }),
      )
        .join('')
        .includes('\u001b');
    expect(painted(true, { TERM: 'xterm' })).toBe(true);
    expect(painted(true, { TERM: 'xterm', NO_COLOR: '1' })).toBe(true); // bold and dim
    expect(painted(true, { TERM: 'dumb' })).toBe(false);
    expect(painted(false, { TERM: 'xterm' })).toBe(false);
  });
});
