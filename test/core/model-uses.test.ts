import { describe, expect, it } from 'vitest';
import {
  addModelUse,
  lastUseOf,
  modelUseOf,
  modelUsesRecord,
  parseModelUses,
  rememberedWindows,
  windowOrigin,
  type ModelUse,
} from '../../src/core/report/model-uses.js';
import { footerView } from '../../src/core/footer-view.js';
import { provenance, readingRecord } from '../../src/core/report/report.js';
import { claim, sessionAfter, tokens, type Timed } from '../support/sessions.js';

const OPUS = 'claude-opus-4-8';
const used = (more: Partial<ModelUse> = {}): ModelUse => ({
  agent: 'claude',
  model: OPUS,
  usedAt: 5,
  window: { windowTokens: 1_000_000, windowSource: 'agent', at: 5, agentVersion: '2.1.332' },
  ...more,
});
const bare = (usedTokens: number, model = OPUS): Timed => [
  1,
  { type: 'reading', reading: { usedTokens, source: 'log', at: 1, model } },
];

describe('what a session tells of its model', () => {
  const told = (events: readonly Timed[], isLimited = false) =>
    modelUseOf(sessionAfter(events), isLimited, 7);

  it.each(['agent', 'derived', 'table'] as const)('is a window from the %s', (source) => {
    const version: Timed = [2, { type: 'agent-version', version: '2.1.332' }];
    expect(told([bare(5), [1, claim(1_000_000, source, OPUS)], version])).toEqual({
      agent: 'claude',
      model: OPUS,
      usedAt: 7,
      window: { windowTokens: 1_000_000, windowSource: source, at: 7, agentVersion: '2.1.332' },
    });
  });

  const guesses: readonly (readonly [string, Timed])[] = [
    ['the user has set', [0, { type: 'user-window', windowTokens: 300_000 }]],
    ['the user assumes', [0, { type: 'assumed-window', windowTokens: 300_000 }]],
    [
      'another session knew',
      [
        0,
        {
          type: 'remembered-windows',
          claims: [{ windowTokens: 300_000, windowSource: 'remembered', model: OPUS }],
        },
      ],
    ],
    ['is the agent’s guess', [2, claim(300_000, 'default', OPUS)]],
  ];
  it.each(guesses)('is only its name where the window is one that %s', (_, event) => {
    expect(told([event, bare(5)])).toEqual({ agent: 'claude', model: OPUS, usedAt: 7 });
  });

  it('is the agent’s own window also where the user has set another', () => {
    const events: Timed[] = [
      [0, { type: 'user-window', windowTokens: 300_000 }],
      bare(5),
      [1, claim(1_000_000, 'agent', OPUS)],
    ];
    expect(told(events)).toMatchObject({ window: { windowTokens: 1_000_000 } });
  });

  it('is only its name where settings of the session make windows smaller, and nothing before a number', () => {
    const events: Timed[] = [bare(5), [1, claim(150_000, 'table', OPUS)]];
    expect(told(events, true)).not.toHaveProperty('window');
    expect(told([[1, claim(150_000, 'table', OPUS)]])).toBeUndefined();
  });
});

describe('the list of models', () => {
  it('has the last used one of an agent first, with the window that it had before', () => {
    const uses = [
      used(),
      used({ agent: 'codex', model: 'gpt' }),
      { agent: 'claude', model: OPUS, usedAt: 9 },
    ];
    const list = uses.reduce(addModelUse, []);
    expect(list).toEqual([used({ usedAt: 9 }), used({ agent: 'codex', model: 'gpt' })]);
    expect(lastUseOf(list, 'claude')).toEqual(used({ usedAt: 9 }));
    expect(lastUseOf(list, 'gemini')).toBeUndefined();
  });

  it('forgets what was not used for longest', () => {
    const many = Array.from({ length: 130 }, (_, at) => used({ model: `m${at}`, usedAt: at }));
    const list = many.reduce<readonly ModelUse[]>(addModelUse, []);
    expect(list).toHaveLength(100);
    expect(list[0]?.model).toBe('m129');
    expect(list.at(-1)?.model).toBe('m30');
  });

  it('is read as it was written, without what is damaged in it', () => {
    const list = [used(), used({ agent: 'kimi', model: undefined as never }), { agent: 'qwen', usedAt: 3 }];
    const text = JSON.stringify(modelUsesRecord(list));
    expect(parseModelUses(text)).toEqual(JSON.parse(JSON.stringify(list)));
    const good = used();
    const broken = [
      null,
      7,
      { ...good, agent: '' },
      { ...good, agent: 'x'.repeat(1_000) },
      { ...good, usedAt: 'today' },
    ];
    expect(parseModelUses(JSON.stringify(modelUsesRecord([...(broken as ModelUse[]), good])))).toEqual([
      good,
    ]);
    for (const window of [
      { ...good.window, windowTokens: -5 },
      { ...good.window, windowTokens: 1e15 },
      { ...good.window, windowTokens: '1m' },
      { ...good.window, windowSource: 'user' },
      { ...good.window, at: null },
      [],
    ]) {
      const [read] = parseModelUses(JSON.stringify(modelUsesRecord([{ ...good, window } as ModelUse])));
      expect(read).toEqual({ agent: 'claude', model: OPUS, usedAt: 5 });
    }
    for (const other of [
      '',
      '{',
      '[]',
      '{"models":[]}',
      text.replace('models/1', 'models/2'),
      text.slice(0, -9),
    ])
      expect(parseModelUses(other)).toEqual([]);
  });

  it.each([
    ['agent', 'as claude 2.1.332 reported for claude-opus-4-8 on 2026-11-27'],
    ['derived', 'as derived from the numbers of claude 2.1.332 for claude-opus-4-8 on 2026-11-27'],
    ['table', 'as the model table had it in a session of claude 2.1.332 for claude-opus-4-8 on 2026-11-27'],
  ] as const)('says of a window from the %s where it is from', (windowSource, expected) => {
    const window = {
      windowTokens: 1_000_000,
      windowSource,
      at: Date.UTC(2026, 10, 27),
      agentVersion: '2.1.332',
    };
    expect(windowOrigin(used(), window)).toBe(expected);
  });

  it('says no more of it than is known', () => {
    const window = { windowTokens: 1, windowSource: 'agent', at: 0 } as const;
    expect(windowOrigin({ agent: 'kimi', usedAt: 0 }, window)).toBe('as kimi reported on 1970-01-01');
  });
});

describe('a window that another session knew', () => {
  const remembered: Timed = [
    0,
    { type: 'remembered-windows', claims: rememberedWindows([used(), used({ agent: 'codex' })], 'claude') },
  ];
  const view = (...events: readonly Timed[]) => footerView(sessionAfter([remembered, ...events]), 60_000);

  it('is shown for the same model, with ?, and starts nothing', () => {
    const session = sessionAfter([remembered, bare(990_000)]);
    expect(view(bare(990_000))).toMatchObject({
      windowTokens: 1_000_000,
      windowInferred: true,
      usedPercent: 99,
    });
    expect(session.fused?.tier).toBe('hard');
    expect(session.fused).not.toHaveProperty('actingTier');
    expect(provenance(session, 0)).toMatchObject({
      windowSource: 'remembered',
      windowCertain: false,
      exact: false,
      reason: expect.stringContaining('as last known of this model, from another session'),
    });
    expect(readingRecord(session, 0)).toMatchObject({ windowSource: 'remembered', exact: false });
    expect(readingRecord(session, 0)).not.toHaveProperty('tier'); // a user's hook compacts by it
    expect(view(bare(50_000, 'claude-opus-4-9'))).not.toHaveProperty('windowTokens');
  });

  it('is below whatever this session says, and above an assumption', () => {
    const assumed: Timed = [0, { type: 'assumed-window', windowTokens: 250_000 }];
    expect(view(assumed, bare(5))).toMatchObject({ windowTokens: 1_000_000, windowInferred: true });
    for (const source of ['agent', 'derived', 'table'] as const)
      expect(view(assumed, bare(5), [2, claim(200_000, source, OPUS)])).toMatchObject({
        windowTokens: 200_000,
        windowInferred: false,
      });
    const wish: Timed = [2, { type: 'user-window', windowTokens: 300_000 }];
    expect(view(bare(5), wish)).toMatchObject({ windowTokens: 300_000, windowInferred: false });
  });

  it('is no more than was used, or it was wrong', () => {
    expect(view(bare(1_000_001))).not.toHaveProperty('windowTokens');
  });

  it('stays after a change of the model and of the conversation', () => {
    const other: Timed = [2, { type: 'model', model: 'claude-haiku-4-5' }];
    const back: Timed = [3, { type: 'model', model: OPUS }];
    const cleared: Timed = [4, { type: 'session-changed', sessionId: 'x' }];
    expect(view(bare(5), other)).not.toHaveProperty('windowTokens');
    expect(view(bare(5), other, back, cleared, bare(6))).toMatchObject({ windowTokens: 1_000_000 });
  });

  it('does not make the same size from a reading less certain', () => {
    expect(view([1, tokens('log', 50_000, { model: OPUS })])).toMatchObject({
      windowTokens: 200_000,
      windowInferred: false,
    });
  });
});
