import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codexPercent } from '../../src/agents/codex/percent.js';
import { codex } from '../../src/agents/codex/agent.js';
import { compactionsOf } from '../../src/core/conversation/conversation.js';
import { readConversation, readLines } from '../support/read-log.js';
import { runs } from '../support/runs.js';

const event = (payload: unknown): string => JSON.stringify({ type: 'event_msg', payload });
const item = (payload: unknown): string => JSON.stringify({ type: 'response_item', payload });
const count = (total_tokens: number, window: number | undefined = 95_000): string =>
  event({
    type: 'token_count',
    info: {
      total_token_usage: { input_tokens: 999_999, total_tokens: 999_999 },
      last_token_usage: { input_tokens: total_tokens - 50, output_tokens: 50, total_tokens },
      model_context_window: window,
    },
  });
const started = (byUser: boolean): string =>
  event({ type: 'task_started', ...(byUser ? { turn_attribution: { turn_trigger: 'user' } } : {}) });
const ended = (error?: unknown): string => event({ type: 'task_complete', ...(error ? { error } : {}) });
const compacted = JSON.stringify({ type: 'compacted', payload: { message: '' } });

const used = (lines: readonly string[]) =>
  readLines(codex, lines).facts.map((fact) =>
    fact.type === 'reading' ? fact.reading.usedTokens : fact.type,
  );

describe('the percentage of codex', () => {
  it.each([
    // used tokens, window, percent left as seen on the screen (docs/facts/codex.md#percentage-as-a-formula)
    [5_000, 95_000, 100],
    [20_000, 95_000, 90],
    [50_050, 95_000, 54],
    [62_050, 95_000, 40],
    [70_050, 95_000, 30],
    [84_000, 95_000, 13],
    [90_500, 95_000, 5],
    [94_000, 95_000, 1],
    [95_000, 95_000, 0],
    [99_000, 95_000, 0],
    [5_000, 12_000, 0],
  ])('%i tokens of %i leave %i %%', (tokens, window, left) => {
    expect(100 - codexPercent(tokens, window)).toBe(left);
  });
});

describe('the rollout of codex', () => {
  it('gives what the last request used and the window of the agent', () => {
    expect(readLines(codex, [started(true), count(70_050)]).facts).toEqual([
      {
        type: 'reading',
        reading: {
          usedTokens: 70_050,
          windowTokens: 95_000,
          windowSource: 'agent',
          usedPercent: 70,
          basis: 'baseline',
          basisTokens: 83_000,
          source: 'log',
          at: 0,
        },
      },
    ]);
  });

  it('gives what of it was cached', () => {
    const last_token_usage = { input_tokens: 50_000, cached_input_tokens: 40_000, total_tokens: 60_050 };
    const line = event({ type: 'token_count', info: { last_token_usage, model_context_window: 95_000 } });
    expect(readLines(codex, [line]).facts).toMatchObject([
      { reading: { usedTokens: 60_050, cachedTokens: 40_000, inputTokens: 50_000, usedPercent: 58 } },
    ]);
  });

  it('says how much prompts, tool results and their pictures add before the next count, and nothing of answers', () => {
    const text = (length: number) => 'a'.repeat(length);
    const facts = readLines(codex, [
      started(true),
      item({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: text(400) }] }),
      item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: text(40) }] }),
      item({ type: 'function_call', name: 'shell', arguments: text(400) }),
      item({ type: 'function_call_output', call_id: 'call_1', output: text(80) }),
      item({ type: 'custom_tool_call_output', output: [{ type: 'input_text', text: text(120) }, {}] }),
      item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: text(400) }] }),
      item({ type: 'function_call_output', output: [{ type: 'input_image', image_url: text(100_000) }] }),
    ]).facts;
    expect(facts).toEqual([10, 20, 30, 1_600].map((tokens) => ({ type: 'growth', tokens })));
  });

  it('does not take what a compaction asks the model for as growth', () => {
    const asked = item({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'Hand over!' }],
    });
    expect(used([started(false), asked, count(5_060), compacted, ended()])).toEqual(['boundary']);
    expect(used([started(false), asked, event({ type: 'user_message' }), count(5_000)])).toEqual([
      'growth',
      5_000,
    ]);
  });

  it('tells of each compaction the same as the conversation, which knows it at once', () => {
    const said = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] };
    const lines = [
      started(true),
      started(false),
      item(said),
      event({ type: 'user_message' }),
      ended(),
      compacted,
    ];
    const anyLines = fc.array(fc.constantFrom(...lines), { maxLength: 20 });
    fc.assert(
      fc.property(anyLines, (some) => {
        const records = [...some, count(5_000)].map((line, number) => ({
          ...(JSON.parse(line) as object),
          timestamp: new Date(number).toISOString(),
        }));
        const written = records.map((record) => JSON.stringify(record));
        const told = readLines(codex, written).facts.flatMap((fact) =>
          fact.type === 'boundary' ? [fact.boundary] : [],
        );
        const made = compactionsOf(readConversation(codex, written)).map(({ boundary }) => boundary);
        expect(told).toEqual(made);
      }),
      runs(200),
    );
  });

  it('takes the window of the turn when the count has none, and the model of the turn', () => {
    const lines = [
      event({ type: 'task_started', turn_attribution: {}, model_context_window: 258_400 }),
      JSON.stringify({ type: 'turn_context', payload: { model: 'gpt-5.5' } }),
      event({ type: 'token_count', info: { last_token_usage: { input_tokens: 1, total_tokens: 5_000 } } }),
    ];
    expect(readLines(codex, lines).facts).toMatchObject([
      { reading: { windowTokens: 258_400, model: 'gpt-5.5' } },
    ]);
  });

  it('never shows the usage of the compaction request itself', () => {
    expect(used([started(false), count(70_050), count(5_060), compacted, count(8_241), ended()])).toEqual([
      'boundary',
      8_241,
    ]);
  });

  it('keeps the number of before when a compaction fails or is cancelled', () => {
    const failed = [
      started(true),
      count(70_050),
      ended(),
      started(false),
      count(5_060),
      ended({ codex_error_info: 'other' }),
    ];
    expect(used(failed)).toEqual([70_050, 'compact-result']);
    const cancelled = [
      started(true),
      count(70_050),
      ended(),
      started(false),
      count(5_060),
      event({ type: 'turn_aborted' }),
    ];
    expect(used(cancelled)).toEqual([70_050, 'compact-result']);
  });

  it('reads the turns of versions that do not say who started them', () => {
    const oldest = [count(40_000), event({ type: 'user_message' }), count(41_000)];
    expect(used(oldest)).toEqual([40_000, 41_000]);
    const middle = [started(false), event({ type: 'user_message', message: 'hi' }), count(40_000), ended()];
    expect(used(middle)).toEqual([40_000]);
    expect(used([started(false), count(40_000), ended()])).toEqual([40_000]);
  });

  it('is full when the agent says that the window is exceeded, whatever it counts then', () => {
    const refused = event({
      type: 'token_count',
      info: {
        total_token_usage: { input_tokens: 0, total_tokens: 95_000 },
        last_token_usage: { input_tokens: 0, output_tokens: 0, total_tokens: 44_950 },
        model_context_window: 95_000,
      },
    });
    const full = {
      type: 'reading',
      reading: {
        usedPercent: 100,
        basis: 'baseline',
        windowTokens: 95_000,
        windowSource: 'agent',
        basisTokens: 83_000,
        source: 'log',
        at: 0,
      },
    };
    const lines = [started(true), refused, ended({ codex_error_info: 'context_window_exceeded' })];
    expect(readLines(codex, lines).facts).toEqual([full, full]);
  });

  it('ignores the count of before the first answer, and text that looks like a record', () => {
    const none = event({ type: 'token_count', info: null });
    const quoted = JSON.stringify({ type: 'response_item', payload: { type: 'message', content: count(5) } });
    expect(readLines(codex, [none, quoted])).toEqual({ facts: [], misfits: [] });
  });

  it.each([
    ['{"a":1}', 'not a Codex record'],
    ['{"type":"event_msg","payload":{"type":"token_count"', 'not JSON'],
    [event({ type: 'token_count', info: { tokens: 5 } }), 'a token count without last_token_usage'],
  ])('does not fit when a line is %s', (line, misfit) => {
    expect(readLines(codex, [line])).toEqual({ facts: [], misfits: [misfit] });
  });
});

describe('a model that the user chooses', () => {
  const turn = (model: string) => JSON.stringify({ type: 'turn_context', payload: { model } });
  const settings = (model: string) => event({ type: 'thread_settings_applied', thread_settings: { model } });
  const changes = (lines: readonly string[]) =>
    readLines(codex, lines).facts.filter(({ type }) => type === 'model');
  const begun = (window: number) => [
    settings('gpt-5.5'),
    turn('gpt-5.5'),
    started(true),
    count(9_000, window),
  ];

  it('is told once, with 95 % of its window in the list of Codex', () => {
    const lines = [...begun(258_400), settings('gpt-5.5'), settings('gpt-6.2-sol'), settings('gpt-6.2-sol')];
    expect(changes(lines)).toEqual([
      {
        type: 'model',
        model: 'gpt-6.2-sol',
        claim: { windowTokens: 475_000, windowSource: 'table', model: 'gpt-6.2-sol' },
      },
    ]);
    expect(changes([...lines, settings('gpt-6-astra')]).at(-1)).toMatchObject({
      claim: { windowTokens: 258_400 },
    });
  });

  it('has no known window before its first turn where the configuration has set another than the list', () => {
    const lines = [...begun(95_000), settings('gpt-6.2-sol')];
    expect(changes(lines)).toEqual([{ type: 'model', model: 'gpt-6.2-sol' }]);
  });

  it('has none where the list does not name it', () => {
    const lines = [...begun(258_400), settings('constructor')];
    expect(changes(lines)).toEqual([{ type: 'model', model: 'constructor' }]);
  });
});
