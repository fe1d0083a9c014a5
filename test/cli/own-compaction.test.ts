import { describe, expect, it } from 'vitest';
import { buildLadder } from '../../src/core/build-ladder.js';
import { findNativeProblems } from '../../src/core/config/check.js';
import type { LadderChoice } from '../../src/core/ladder.js';
import { nativeTriggerNotice } from '../../src/core/build-ladder.js';
import { sessionLadder } from '../../src/core/report/report.js';
import { agents } from '../../src/agents/index.js';
import { contextOf, doctorOf, overviewOf, ownOf, record } from '../support/boundaries.js';
import { claim, sessionAfter, shows, tokens } from '../support/sessions.js';

describe('the own compaction of the agent', () => {
  it('a window of the user moves nothing of the agent, and has the plain ladder', () => {
    const { nativeTrigger } = agents.claude;
    const of = (userTokens: number) => {
      const state = sessionAfter(
        [
          [0, { type: 'user-window', windowTokens: userTokens }],
          [1, tokens('log', 12_000, { model: 'claude-sonnet-4-6' })],
        ],
        { native: nativeTrigger({}) },
      );
      const { warn, auto, hard, native } = sessionLadder(state);
      return [warn.value, auto?.value, hard.value, native?.tokens];
    };
    expect(of(50_000)).toEqual([30_000, 35_000, 35_000, 167_000]);
    expect(of(64_000)).toEqual([38_400, 44_800, 44_800, 167_000]);
    expect(of(200_000)).toEqual([142_000, 162_000, 177_000, 167_000]); // the agent's own one, too
    expect(of(210_000)).toEqual([157_000, 177_000, 187_000, 167_000]);
    expect(of(1_000_000)).toEqual([947_000, 967_000, 977_000, 167_000]);
  });

  it('leaves no buffer in a window of the user that ends before it', () => {
    const shown = (userTokens: number) =>
      contextOf(
        sessionAfter(
          [
            [0, { type: 'user-window', windowTokens: userTokens }],
            [1, tokens('log', 12_000, { model: 'claude-sonnet-4-6' })],
          ],
          { native: agents.claude.nativeTrigger({}) },
        ),
      ).join('\n');
    expect(shown(50_000)).not.toContain('Compaction buffer');
    expect(shown(200_000)).toContain('Compaction buffer');
  });

  it('moved, a screen that was not believed is read anew', () => {
    const counted = [
      [0, claim(200_000, 'agent', 'claude-sonnet-4-6')],
      [1, tokens('log', 100_000, { model: 'claude-sonnet-4-6' })],
      [2, shows(90, 'auto-compact')], // of 111 000
      [20_000, shows(90, 'auto-compact')],
      [40_000, { type: 'alarm' }],
    ] as const;
    const trigger = { share: 1, reserveTokens: 89_000 };
    const native = agents.claude.nativeTrigger({});
    expect(sessionAfter(counted, { native }).evidence.disagreement.phase).toBe('ignored');
    const after = sessionAfter([...counted, [40_001, { type: 'own-compaction', trigger }]], { native });
    expect(after.evidence.disagreement.phase).not.toBe('ignored');
  });

  it('a user window tells nothing of an agent whose own is not known', () => {
    const state = sessionAfter(
      [
        [0, { type: 'user-window', windowTokens: 50_000 }],
        [1, tokens('log', 12_000, { windowSource: 'default' })],
      ],
      { native: agents.claude.nativeTrigger({}) },
    );
    expect(sessionLadder(state)).toMatchObject({ auto: { value: 35_000 } });
    expect(sessionLadder(state).native).toBeUndefined();
    expect(state.fused?.tier).toBe('safe');
  });

  it.each([
    ['qwen', 8_192, 5_734],
    ['qwen', 131_072, 93_072],
    ['codex', 64_000, 44_800],
    ['claude', 200_000, 162_000],
  ] as const)('%s in its own window of %i has auto at %i', (name, window, auto) => {
    const native = agents[name].nativeTrigger({});
    expect(buildLadder({ agent: name, windowTokens: window, native }).auto?.value).toBe(auto);
  });
});

describe('the last answer', () => {
  const native = agents.claude.nativeTrigger({});
  const at = (usedTokens: number, answerTokens?: number) =>
    sessionAfter(
      [
        [
          0,
          tokens('log', usedTokens, {
            model: 'claude-sonnet-4-6',
            ...(answerTokens ? { answerTokens } : {}),
          }),
        ],
      ],
      { native },
    );

  it('counts for the tier and not for the percentage', () => {
    expect(record(at(161_000)).reading).toMatchObject({ tier: 'warn', usedPercent: 80.5 });
    expect(record(at(161_000, 1_000)).reading).toMatchObject({ tier: 'auto', usedPercent: 80.5 });
    expect(record(at(161_000, 999)).reading).toMatchObject({ tier: 'warn', usedPercent: 80.5 });
  });

  it('is told beside the used tokens, and has its part of the window', () => {
    const shown = contextOf(at(161_000, 1_000)).join('\n');
    expect(shown).toContain('Used  161,000 tokens + 1,000 in the last answer');
    expect(shown).toMatch(/Last answer +1,000 +0\.5%/);
    expect(shown).toMatch(/Free +5,000 +2\.5%/);
    expect(shown).toMatch(/Total +200,000 +100\.0%/);
  });

  it('makes no screen wrong that counts it, too', () => {
    const state = sessionAfter(
      [
        [0, claim(200_000, 'agent', 'claude-sonnet-4-6')],
        [1, tokens('log', 100_000, { model: 'claude-sonnet-4-6', answerTokens: 40_000 })],
        [2, shows(84, 'auto-compact')], // of 167 000
        [20, { type: 'alarm' }],
      ],
      { native },
    );
    expect(state.evidence.disagreement.phase).toBe('agreeing');
  });
});

describe('without a window and without a percentage', () => {
  const { nativeTrigger } = agents.claude;
  const windowless = tokens('log', 90_000, { windowSource: 'default' });

  it('nothing names boundaries', () => {
    const state = sessionAfter([[0, windowless]], { native: nativeTrigger({}) });
    expect(record(state).thresholds).toEqual([]);
    const { sections } = overviewOf(state);
    expect(sections.find(({ title }) => title === 'Thresholds')?.rows).toEqual([]);
    expect(sections.find(({ bar }) => bar)?.bar?.marks).toEqual([]);
    expect(contextOf(state).join('\n')).not.toContain('Threshold');
    expect(record(sessionAfter([])).thresholds).toEqual([]);
  });

  it('those in tokens hold, and those in percent of a percentage', () => {
    const ladder = { auto: { value: 150_000, unit: 'tokens' } } as const;
    const counted = sessionAfter([[0, windowless]], { ladder });
    expect(record(counted).thresholds.map(({ value }) => value)).toEqual([130_000, 150_000, 170_000]);
    const shown = sessionAfter([[0, shows(60)]], { agent: 'gemini' });
    expect(record(shown).thresholds.map(({ value }) => value)).toEqual([70, 85, 95]);
  });
});

describe('auto above where the agent compacts', () => {
  const native = agents.claude.nativeTrigger({});
  const noticeOf = (choice: LadderChoice) =>
    nativeTriggerNotice(buildLadder({ agent: 'claude', windowTokens: 200_000, native, choice }), 'claude');
  const pct = { auto: { value: 90, unit: 'percent', yields: true } } as const;
  const own = { auto: { value: 90, unit: 'percent' } } as const;

  it('gives way, COMPACTION_THRESHOLD_PCT also where it would only just come first', () => {
    const said = 'auto 162,000, not 180,000: claude compacts on its own at 167,000';
    expect([noticeOf(pct), noticeOf(own)]).toEqual([said, said]);
    expect(noticeOf({ auto: { value: 70, unit: 'percent', yields: true } })).toBeUndefined();
    const between = { value: 83, unit: 'percent' } as const;
    expect(noticeOf({ auto: between })).toBeUndefined();
    expect(noticeOf({ auto: { ...between, yields: true } })).toContain('auto 162,000, not 166,000');
  });

  it('says nothing of a limit that is meant for larger windows', () => {
    expect(noticeOf({ auto: { value: 300_000, unit: 'tokens' } })).toBeUndefined();
  });

  it('is told by doctor', async () => {
    const compaction = await ownOf('claude', undefined);
    const told = (choice: LadderChoice, windowTokens?: number) =>
      doctorOf('claude', compaction, { choice, windowTokens }).find(({ name }) => name === 'own compaction');
    for (const choice of [pct, own])
      expect(told(choice)).toMatchObject({ status: 'ok', text: noticeOf(choice) });
    expect(told({})).toBeUndefined();
    expect(told({ auto: { value: 300_000, unit: 'tokens' } }, 400_000)).toMatchObject({
      status: 'warn',
      text: 'claude compacts on its own at 167,000, before auto at 300,000',
    });
  });

  it('is told by config check for the usual windows', () => {
    const agents = [{ name: 'claude', usualTokens: 200_000, trigger: { share: 1, reserveTokens: 33_000 } }];
    const problems = (auto: NonNullable<LadderChoice['auto']>) =>
      findNativeProblems([{ key: 'auto', value: auto, origin: { layer: 'user' } }], agents);
    expect(problems(pct.auto)).toMatchObject([
      {
        level: 'warning',
        what: 'auto is 90%, but claude may compact first',
        why: 'claude compacts on its own at 167,000 in its usual window of 200,000; there it counts as 162,000',
      },
    ]);
    expect(problems(own.auto)).toEqual(problems(pct.auto));
    expect(problems({ value: 70, unit: 'percent' })).toEqual([]);
    expect(problems({ value: 180_000, unit: 'tokens' })).toMatchObject([
      { what: expect.stringContaining('180000') },
    ]);
    expect(problems({ value: 300_000, unit: 'tokens' })).toEqual([]); // for larger windows
  });
});
