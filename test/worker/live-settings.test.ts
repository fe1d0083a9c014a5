import { describe, expect, it } from 'vitest';
import type { CompactSettings, Mode } from '../../src/core/compaction/state.js';
import type { Event } from '../../src/core/event.js';
import type { LadderChoice } from '../../src/core/ladder.js';
import { sessionLadder } from '../../src/core/report/report.js';
import { toAgentFacts } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { followSettings } from '../../src/worker/session-loop.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { startFlow, stepFlow, type SessionFlow } from '../../src/core/session-flow.js';
import type { SettingsListener, WrapSession } from '../../src/session/options.js';
import { tokens } from '../support/sessions.js';

const compact = (mode: Mode = 'auto', focus?: string): CompactSettings => ({
  mode,
  command: '/compact',
  startMs: 5_000,
  finishMs: 120_000,
  isProactive: true,
  ...(focus === undefined ? {} : { focus }),
});

const start = (settings = compact()): SessionFlow =>
  startFlow({ agent: toAgentFacts(agents.claude, {}), window: 200_000, compact: settings }, 0);

const settingsEvent = (
  settings: CompactSettings,
  ladder: LadderChoice = {},
  windowTokens?: number,
): Event => ({
  type: 'settings',
  settings: { compact: settings, ladder, ...(windowTokens === undefined ? {} : { windowTokens }) },
});

const play = (flow: SessionFlow, ...events: readonly (readonly [number, Event])[]): SessionFlow =>
  events.reduce((state, [now, event]) => stepFlow(state, event, now), flow);

const ready: Event = { type: 'activity', report: { activity: 'ready', witnesses: [] } };
const alarm: Event = { type: 'alarm' };
const full = tokens('log', 190_000);
const emptier = tokens('log', 20_000);

/** Advances the countdown in small steps. */
const counted = [4_000, 6_000, 8_000, 10_000].map((now) => [now, alarm] as const);

const bare = (usedTokens: number): Event => ({
  type: 'reading',
  reading: { usedTokens, source: 'log', at: 1 },
});

/** An attempt of the wrapper that was just sent. */
const sent = (settings?: CompactSettings): SessionFlow =>
  play(
    start(settings),
    [1, ready],
    [2, full],
    [2_000, alarm],
    ...counted,
    [12_500, alarm],
    [12_600, { type: 'typed', result: { kind: 'sent', isQueued: false, evidence: [] } }],
  );

describe('settings that change', () => {
  it('apply at once where no compaction is due', () => {
    const flow = play(
      start(),
      [1, ready],
      [2, emptier],
      [3, settingsEvent(compact('ask', 'tests'), { auto: { value: 40, unit: 'percent' } }, 100_000)],
    );
    expect(flow.waiting).toBeUndefined();
    expect(flow.compaction).toMatchObject({ mode: 'ask', settings: { focus: 'tests' } });
    expect(sessionLadder(flow.session).auto).toMatchObject({ value: 40_000, custom: true });
  });

  it('remove a window that is not set any more', () => {
    const flow = play(start(), [1, settingsEvent(compact())]);
    expect(flow.session.windows.userTokens).toBeUndefined();
  });

  it('wait for the end of the episode: what is under way ends as it began', () => {
    const before = sent(compact('auto', 'the old'));
    expect(before.compaction.phase.kind).toBe('sent');
    const changed = play(before, [12_700, settingsEvent(compact('auto', 'the new'), { preset: 'percent' })]);
    expect(changed.compaction).toMatchObject({ phase: { kind: 'sent' }, settings: { focus: 'the old' } });
    expect(changed.session.ladder).toEqual({});
    const boundary: Event = {
      type: 'boundary',
      boundary: { at: 13_000, preTokens: 190_000, postTokens: 20_000 },
    };
    const after = play(changed, [13_000, boundary], [13_100, emptier]);
    expect(after.waiting).toBeUndefined();
    expect(after.compaction).toMatchObject({
      last: { outcome: { kind: 'verified' } },
      settings: { focus: 'the new' },
    });
    expect(after.session.ladder).toEqual({ preset: 'percent' });
  });

  it('of a window and boundaries apply at once where a compaction is only due: they may be the reason', () => {
    const counting = play(start(), [1, ready], [2, full], [2_000, alarm]);
    expect(counting.compaction.phase.kind).toBe('countdown');
    const changed = play(
      counting,
      [3_000, settingsEvent(compact('auto', 'the new'), {}, 1_000_000)],
      [3_100, alarm],
    );
    expect(changed.compaction).toMatchObject({ phase: { kind: 'rest' }, mode: 'auto' });
    expect(changed.session.fused?.tier).toBe('safe');
    const shown = play(start(compact('warn')), [1, ready], [2, full], [2_000, alarm]);
    const mended = play(shown, [3_000, settingsEvent(compact('warn'), {}, 1_000_000)]);
    expect(mended.session.fused?.tier).toBe('safe');
  });

  it('lose no pending effect when they begin to apply', () => {
    const boundary: Event = {
      type: 'boundary',
      boundary: { at: 13_000, preTokens: 190_000, postTokens: 20_000 },
    };
    const changed = play(sent(), [12_700, settingsEvent(compact('ask'))]);
    const steps = [stepFlow(changed, boundary, 13_000)];
    steps.push(stepFlow(steps[0] ?? changed, emptier, 13_100));
    const ended = steps.flatMap(({ compaction }) =>
      compaction.effects.filter(({ type }) => type === 'ended'),
    );
    expect(ended).toHaveLength(1);
  });

  it('that are reported twice do nothing twice', () => {
    const orders = play(start(), [1, ready], [2, full], [2_000, alarm], ...counted);
    const typing = stepFlow(orders, alarm, 12_500);
    expect(typing.compaction.effects).toMatchObject([{ type: 'type-compact' }]);
    expect(stepFlow(typing, settingsEvent(compact()), 12_501).compaction.effects).toEqual([]);
  });

  it('that restrict compacting end a countdown at once, and those that extend it wait', () => {
    const counting = play(start(), [1, ready], [2, full], [2_000, alarm]);
    expect(counting.compaction.phase.kind).toBe('countdown');
    for (const mode of ['ask', 'warn', 'off'] as const) {
      const less = play(counting, [3_000, settingsEvent(compact(mode))]);
      expect(less.compaction).toMatchObject({ mode, phase: { kind: mode === 'ask' ? 'proposed' : 'rest' } });
      expect(less.waiting).toBeDefined();
    }
    const shown = play(start(compact('warn')), [1, ready], [2, full], [2_000, alarm]);
    const more = play(shown, [3_000, settingsEvent(compact('auto'))], [30_000, alarm]);
    expect(more.compaction).toMatchObject({ mode: 'warn', phase: { kind: 'rest' } });
  });

  it('leave a mode that was chosen by a key, unless the user has written another one', () => {
    const chosen = play(start(), [1, { type: 'mode', mode: 'warn' }]);
    expect(play(chosen, [2, settingsEvent(compact('auto', 'x'))]).compaction.mode).toBe('warn');
    expect(play(chosen, [2, settingsEvent(compact('ask'))]).compaction.mode).toBe('ask');
  });
});

describe('an assumed window', () => {
  const withAssumed = (...events: readonly (readonly [number, Event])[]): SessionFlow =>
    play(
      startFlow({ agent: toAgentFacts(agents.generic, {}), assumedWindow: 8_192, compact: compact() }, 0),
      ...events,
    );

  it('is used where no source reports one, and causes no compaction', () => {
    const flow = withAssumed([1, ready], [2, bare(8_000)], [2_000, alarm], [30_000, alarm]);
    expect(flow.session.fused?.window).toEqual({
      windowTokens: 8_192,
      windowSource: 'default',
      certain: false,
    });
    expect(flow.compaction.phase.kind).toBe('doubted');
  });

  it('comes before a default, gives way to everything else, and is given up when it is disproved', () => {
    const claim = (windowSource: 'default' | 'table'): Event => ({
      type: 'window',
      claim: { windowTokens: 200_000, windowSource },
    });
    const windowAfter = (...events: readonly (readonly [number, Event])[]) =>
      withAssumed(...events).session.fused?.window?.windowTokens;
    expect(windowAfter([1, claim('default')], [2, bare(5_000)])).toBe(8_192);
    expect(windowAfter([1, claim('table')], [2, bare(5_000)])).toBe(200_000);
    expect(windowAfter([2, bare(9_000)])).toBeUndefined();
  });
});

describe('a change that is reported to the wrapper', () => {
  it('becomes settings of the core, with the draft as it was and without `off`', () => {
    const taken: Event[] = [];
    let tell: SettingsListener | undefined;
    let stopped = false;
    const session = {
      values: defaultValues,
      log: { info: () => undefined },
      watchSettings: (listener: SettingsListener) => {
        tell = listener;
        return () => {
          stopped = true;
        };
      },
      agent: agents.claude,
    } as unknown as WrapSession;
    const changed: (readonly string[])[] = [];
    const stop = followSettings(
      session,
      agents.claude.recipe?.({}),
      (event) => taken.push(event),
      (keys) => changed.push(keys),
    );
    tell?.onChange({
      values: { ...defaultValues, window: 1_000, mode: 'off', ladder: 'percent', draft: 'stash', focus: 'x' },
      isModeGiven: false,
    });
    expect(taken).toMatchObject([
      {
        type: 'settings',
        settings: {
          windowTokens: 1_000,
          ladder: { preset: 'percent' },
          compact: { mode: 'warn', focus: 'x', mayStash: false, command: '/compact' },
        },
      },
    ]);
    expect(changed).toEqual([expect.arrayContaining(['window', 'mode', 'ladder', 'draft', 'focus'])]);
    tell?.onNotice('see ctxwrap config check: 2 problems');
    expect(taken[1]).toMatchObject({ type: 'notice', text: 'see ctxwrap config check: 2 problems' });
    stop();
    expect(stopped).toBe(true);
  });
});
