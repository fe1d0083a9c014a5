// What the screens say of the boundaries and of where the agent compacts by itself, put against each other.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentSection } from '../../src/cli/doctor/agent-checks.js';
import type { AgentFacts } from '../../src/cli/doctor/agent-checks.js';
import { contextText } from '../../src/cli/context-text.js';
import { paintFor } from '../../src/cli/paint.js';
import { ladderOf } from '../../src/core/build-ladder.js';
import { nativeProblems } from '../../src/core/config/native-problems.js';
import { contextReport } from '../../src/core/context-report.js';
import type { LadderChoice } from '../../src/core/ladder.js';
import { nativeNotice } from '../../src/core/native-notice.js';
import { fullness } from '../../src/core/overlay/fill.js';
import { parseSessionRecord } from '../../src/core/parse-session-record.js';
import { sessionLadder } from '../../src/core/provenance.js';
import { grouped } from '../../src/core/rung.js';
import { sessionRecord } from '../../src/core/session-record.js';
import type { Session } from '../../src/core/session-state.js';
import type { Threshold } from '../../src/core/thresholds.js';
import { runtimes } from '../../src/runtimes/index.js';
import type { OwnCompaction } from '../../src/runtimes/own-compaction.js';
import { findingOf } from '../../src/cli/config/findings.js';
import { claim, sessionAfter, shows, tokens } from '../support/sessions.js';

const names = ['claude', 'codex', 'gemini', 'qwen'] as const;
type Name = (typeof names)[number];

const files: Readonly<Record<Name, (share: number) => readonly [string, string]>> = {
  claude: (share) => ['/h/.claude/settings.json', `{"autoCompactWindow":${Math.round(share * 1_000_000)}}`],
  codex: (share) => [
    '/h/.codex/config.toml',
    `model_auto_compact_token_limit = ${Math.round(share * 300_000)}`,
  ],
  gemini: (share) => ['/h/.gemini/settings.json', `{"model":{"compressionThreshold":${share}}}`],
  qwen: (share) => ['/h/.qwen/settings.json', `{"context":{"autoCompactThreshold":${share}}}`],
};

const ownOf = async (name: Name, share: number | undefined): Promise<OwnCompaction> => {
  const [path, text] = share === undefined ? ['', ''] : files[name](share);
  const port = {
    text: (asked: string) => Promise.resolve(asked === path ? text : undefined),
    names: () => Promise.resolve([]),
  };
  const found = await runtimes[name].ownCompaction?.read(port, { env: {}, home: '/h', cwd: '/p', args: [] });
  return found ?? { trigger: undefined, said: [] };
};

/** As other programs read it. */
const record = (state: Session) => {
  const identity = {
    id: 'a',
    version: '1',
    pid: 1,
    childPid: 2,
    runtime: state.runtime,
    cwd: '/',
    startedAt: 0,
  };
  const found = parseSessionRecord(JSON.stringify(sessionRecord(identity, state, {}, 0)));
  if (!found) throw new Error('the record of a session cannot be read');
  return found;
};

const contextOf = (state: Session): readonly string[] => {
  const { runtime, reading, thresholds } = record(state);
  const report = contextReport({ runtime, reading, thresholds, compactions: [], toolResults: [] });
  return contextText(report, { width: 400, paint: paintFor(false, { NO_COLOR: '1' }) });
};

const valueOf = (all: readonly Threshold[], name: Threshold['name']): number | undefined =>
  all.find((each) => each.name === name)?.value;

const doctorOf = (name: Name, own: OwnCompaction, more: Partial<AgentFacts> = {}) => {
  const { home } = runtimes[name];
  if (!home) throw new Error(`nothing is known of ${name}`);
  const section = agentSection({
    runtime: runtimes[name],
    home,
    found: { kind: 'found', file: '/bin/x', shims: [] },
    version: { kind: 'silent' },
    verified: undefined,
    sessions: { folder: '/h', state: 'readable' },
    own,
    official: undefined,
    windowTokens: undefined,
    choice: {},
    ...more,
  });
  return section.checks;
};

/** No figure is negative or nothing, and each sentence names its own number first. */
const expectSound = (all: readonly Threshold[]): void => {
  for (const { name, value, unit, reason } of all) {
    expect(value).toBeGreaterThan(0);
    expect(reason).toMatch(new RegExp(`^${name} ${unit === 'percent' ? `${value}%` : grouped(value)}: `));
    expect(reason).not.toMatch(/-\d|\b0\b(?!\.)|NaN|Infinity|undefined/);
    const [, lead, agentAt] = /([\d,]+) before \w+ compacts by itself at ([\d,]+)/.exec(reason) ?? [];
    if (lead !== undefined && agentAt !== undefined) {
      expect(number(agentAt) - number(lead)).toBe(value);
      expect(number(agentAt)).toBe(valueOf(all, 'native'));
    }
  }
  const [warn = 0, hard = 0] = [valueOf(all, 'warn'), valueOf(all, 'hard')];
  const auto = valueOf(all, 'auto') ?? hard;
  expect(warn <= auto && auto <= hard).toBe(true);
};

const number = (text: string): number => Number(text.replaceAll(',', ''));

const windowSizes = fc.oneof(
  fc.integer({ min: 1_000, max: 100_000 }),
  fc.integer({ min: 1_000, max: 10_000_000 }),
  fc.constantFrom(8_192, 32_000, 64_000, 128_000, 200_000, 258_400, 1_000_000, 1_048_576),
);
const percent = fc.integer({ min: 50, max: 99 });
const choices: fc.Arbitrary<LadderChoice> = fc.oneof(
  fc.constant({}),
  percent.map((value) => ({ auto: { value, unit: 'percent', yields: true } as const })),
  percent.map((value) => ({ auto: { value, unit: 'percent' } as const })),
  fc.integer({ min: 1_000, max: 10_000_000 }).map((value) => ({ auto: { value, unit: 'tokens' } as const })),
  fc.constant({ preset: 'percent' as const }),
  fc.constant({ preset: 'handoff' as const }),
);
const setups = fc.record({
  name: fc.constantFrom(...names),
  window: windowSizes,
  userWindow: fc.option(windowSizes, { nil: undefined }),
  share: fc.option(fc.double({ min: 0.01, max: 1, noNaN: true }), { nil: undefined }),
  choice: choices,
  fill: fc.double({ min: 0, max: 1.2, noNaN: true }),
  answer: fc.integer({ min: 1, max: 60_000 }),
  model: fc.constantFrom('claude-sonnet-4-6', 'claude-haiku-4-5', 'claude-sonnet-5', 'other'),
});

describe('in any window, with any settings, for every agent', () => {
  it('no screen names a number that another contradicts', async () => {
    await fc.assert(
      fc.asyncProperty(setups, async (setup) => {
        const { name, window, userWindow, share, choice, fill, answer, model } = setup;
        const own = await ownOf(name, share);
        const used = Math.max(1, Math.round((userWindow ?? window) * fill));
        const state = sessionAfter(
          [
            [
              0,
              tokens('log', used, {
                windowTokens: window,
                windowSource: 'agent',
                model,
                answerTokens: answer,
              }),
            ],
            ...(userWindow === undefined
              ? []
              : [[1, { type: 'user-window', windowTokens: userWindow }] as const]),
            [2, { type: 'own-compaction', trigger: own.trigger }],
          ],
          { runtime: name, ladder: choice },
        );
        const { thresholds, tier } = record(state);
        expectSound(thresholds);
        const value = (which: Threshold['name']): number => valueOf(thresholds, which) ?? Infinity;

        // the tier is that of what the agent counts, its last answer included
        const counted = used + answer;
        const isOwnHard = value('hard') > value('auto') || !Number.isFinite(value('auto'));
        const expected =
          isOwnHard && counted >= value('hard')
            ? 'hard'
            : counted >= value('auto')
              ? 'auto'
              : counted >= value('warn')
                ? 'warn'
                : 'safe';
        expect(tier).toBe(expected);

        // the screens agree
        const shown = contextOf(state);
        for (const { name: each, value: at } of thresholds)
          expect(
            shown.some((row) => row.includes(` ${grouped(at)}  `)),
            `${each} ${at}\n${shown.join('\n')}`,
          ).toBe(true);
        expect(shown.join('\n')).not.toMatch(/(?<![\w,.])-\d|NaN|Infinity|undefined/);
        const overlay = fullness(state, 0).thresholds;
        expect(overlay.map(({ reason }) => reason)).toEqual(
          thresholds.filter(({ name: each }) => each !== 'hard' || isOwnHard).map(({ reason }) => reason),
        );

        // auto comes before the agent, or it is said that it does not
        const ladder = sessionLadder(state);
        const notice = nativeNotice(ladder, name);
        const { auto, native } = ladder;
        if (auto && native)
          expect(auto.value >= native.tokens || auto.asked !== undefined).toBe(notice !== undefined);
        else expect(notice).toBeUndefined();
        for (const figure of notice?.match(/\d[\d,]*/g) ?? []) expect(number(figure)).toBeGreaterThan(0);
        if (userWindow !== undefined && !choice.auto?.yields)
          expect(auto?.value).toBe(ladderOf({ runtime: name, windowTokens: userWindow, choice }).auto?.value);

        // doctor, for the same settings
        const checks = doctorOf(name, own, { windowTokens: userWindow, choice });
        expect(checks.map(({ text }) => text).join('\n')).not.toMatch(
          /(?<![\w,.])-\d|\b0 (?:tokens|before)|NaN|Infinity/,
        );
      }),
      { numRuns: 1_500 },
    );
  }, 60_000);

  it('a window of the user moves nothing of the agent, and has the plain ladder', () => {
    const { nativeTrigger } = runtimes.claude;
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
    expect(of(200_000)).toEqual([147_000, 167_000, 177_000, 167_000]);
    expect(of(1_000_000)).toEqual([947_000, 967_000, 977_000, 167_000]);
  });

  it('a user window tells nothing of an agent whose own is not known', () => {
    const state = sessionAfter(
      [
        [0, { type: 'user-window', windowTokens: 50_000 }],
        [1, tokens('log', 12_000, { windowSource: 'default' })],
      ],
      { native: runtimes.claude.nativeTrigger({}) },
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
    const native = runtimes[name].nativeTrigger({});
    expect(ladderOf({ runtime: name, windowTokens: window, native }).auto?.value).toBe(auto);
  });
});

describe('the last answer', () => {
  const native = runtimes.claude.nativeTrigger({});
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
    expect(shown).toContain('Used 161,000 tokens and 1,000 of the last answer');
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
    expect(state.evidence.drift.phase).toBe('agreeing');
  });
});

describe('without a window and without a percentage', () => {
  const { nativeTrigger } = runtimes.claude;
  const windowless = tokens('log', 90_000, { windowSource: 'default' });

  it('nothing names boundaries', () => {
    const state = sessionAfter([[0, windowless]], { native: nativeTrigger({}) });
    expect(record(state).thresholds).toEqual([]);
    expect(fullness(state, 0)).toMatchObject({ thresholds: [], fill: { marks: [] } });
    expect(contextOf(state).join('\n')).not.toContain('Threshold');
    expect(record(sessionAfter([])).thresholds).toEqual([]);
  });

  it('those in tokens hold, and those in percent of a percentage', () => {
    const ladder = { auto: { value: 150_000, unit: 'tokens' } } as const;
    const counted = sessionAfter([[0, windowless]], { ladder });
    expect(record(counted).thresholds.map(({ name, value }) => [name, value])).toEqual([['auto', 150_000]]);
    const shown = sessionAfter([[0, shows(60)]], { runtime: 'gemini' });
    expect(record(shown).thresholds.map(({ value }) => value)).toEqual([70, 85, 95]);
  });
});

describe('auto above where the agent compacts', () => {
  const native = runtimes.claude.nativeTrigger({});
  const noticeOf = (choice: LadderChoice) =>
    nativeNotice(ladderOf({ runtime: 'claude', windowTokens: 200_000, native, choice }), 'claude');
  const pct = { auto: { value: 90, unit: 'percent', yields: true } } as const;
  const own = { auto: { value: 90, unit: 'percent' } } as const;

  it('gives way where it comes from COMPACTION_THRESHOLD_PCT, and holds where it is meant for us', () => {
    expect(noticeOf(pct)).toBe('auto 162,000, not 180,000: claude compacts by itself at 167,000');
    expect(noticeOf(own)).toBe('claude compacts by itself at 167,000, before auto at 180,000');
    expect(noticeOf({ auto: { value: 70, unit: 'percent', yields: true } })).toBeUndefined();
  });

  it('is told by doctor', async () => {
    const compaction = await ownOf('claude', undefined);
    const told = (choice: LadderChoice) =>
      doctorOf('claude', compaction, { choice }).find(({ name }) => name === 'own compaction');
    expect(told(pct)).toMatchObject({ status: 'ok', text: noticeOf(pct) });
    expect(told(own)).toMatchObject({ status: 'warn', text: noticeOf(own) });
    expect(told({})).toBeUndefined();
  });

  it('is told by config check for the usual windows', () => {
    const agents = [{ name: 'claude', usualTokens: 200_000, trigger: { share: 1, reserveTokens: 33_000 } }];
    const problems = (auto: NonNullable<LadderChoice['auto']>) =>
      nativeProblems([{ key: 'auto', value: auto, origin: { layer: 'user' } }], agents).map(findingOf);
    expect(problems(pct.auto)).toMatchObject([
      {
        level: 'warning',
        what: 'auto is 90%, and claude may compact first',
        why: 'claude compacts by itself at 167,000 in a window of 200,000, its usual one: it counts as 162,000 there',
      },
    ]);
    expect(problems(own.auto)).toMatchObject([{ why: expect.stringContaining('yours holds there') }]);
    expect(problems({ value: 70, unit: 'percent' })).toEqual([]);
  });
});
