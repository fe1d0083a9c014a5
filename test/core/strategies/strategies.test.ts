// What every strategy keeps to, with any conversation.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/agents/agent.js';
import { agents } from '../../../src/agents/index.js';
import { readConversation } from '../../support/read-log.js';
import {
  tokensOf,
  windowOf,
  type Conversation,
  type Entry,
} from '../../../src/core/conversation/conversation.js';
import { changeBetween, checkShortened, obstacleIn } from '../../../src/core/strategies/check.js';
import { MOST_BLOCK_TOKENS } from '../../../src/core/strategies/evidence-block.js';
import { strategyNames } from '../../../src/core/strategies/names.js';
import { strategies, type StrategyOptions } from '../../../src/core/strategies/strategy.js';
import { anyTurns, conversationOf, type Turn } from '../../support/generated-conversation.js';

const { signal } = new AbortController();
const summarise: StrategyOptions['summarise'] = async ({ text }) =>
  `## Goal\n\nall of ${text.length} characters`;

const options = (keepRecent: number, budgetTokens: number): StrategyOptions => ({
  keepRecent,
  budgetTokens,
  summarise,
  signal,
});

const promptsOf = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap((entry) => (entry.kind === 'prompt' ? [entry.text] : []));

const orphansIn = (entries: readonly Entry[]): readonly string[] => {
  const open = new Set<string>();
  const orphans: string[] = [];
  for (const entry of entries) {
    if (entry.kind === 'call') open.add(entry.callId);
    if (entry.kind === 'result' && !open.delete(entry.callId)) orphans.push(entry.callId);
  }
  return [...orphans, ...open];
};

/** A conversation that the strategies can be asked to shorten, and how far. */
const asked = fc
  .record({
    turns: anyTurns(),
    keepRecent: fc.integer({ min: 1, max: 25 }),
    share: fc.double({ min: 0.1, max: 0.9, noNaN: true }),
  })
  .map(({ turns, keepRecent, share }) => {
    const conversation = conversationOf(turns);
    const budgetTokens = 3_000 + Math.floor(tokensOf(windowOf(conversation)) * share);
    return { conversation, keepRecent, budgetTokens };
  });

describe.each(strategyNames)('the strategy %s', (name) => {
  const shorten = strategies[name];

  it('keeps the last messages of the user word for word, in their order, whatever the budget', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ conversation, keepRecent, budgetTokens }) => {
        const after = await shorten(conversation, options(keepRecent, budgetTokens));
        const before = promptsOf(windowOf(conversation));
        expect(promptsOf(windowOf(after))).toEqual(before.slice(-keepRecent));
      }),
    );
  });

  it('never separates a tool call from its result, and keeps what stays in its order', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ conversation, keepRecent, budgetTokens }) => {
        const after = windowOf(await shorten(conversation, options(keepRecent, budgetTokens)));
        expect(orphansIn(after)).toEqual([]);
        const kept = after.filter(({ kind }) => kind !== 'summary');
        const order = kept.map((entry) => conversation.entries.indexOf(entry));
        expect(order).toEqual(order.toSorted((a, b) => a - b));
        expect(order).not.toContain(-1);
        const isLed = kept.map(({ kind }, index) => kind !== 'reasoning' || kept[index + 1] !== undefined);
        expect(isLed.every(Boolean) || kept.at(-1) === windowOf(conversation).at(-1)).toBe(true);
      }),
    );
  });

  it('stays within the budget, unless the messages that must stay need more, which is refused', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ conversation, keepRecent, budgetTokens }) => {
        const after = await shorten(conversation, options(keepRecent, budgetTokens));
        const reason = checkShortened(conversation, after, { keepRecent, budgetTokens });
        const [was, is] = [conversation, after].map((each) => tokensOf(windowOf(each)));
        expect(reason === undefined).toBe((is ?? 0) <= budgetTokens && (is ?? 0) < (was ?? 0));
        const own = tokensOf(windowOf(after).filter(({ kind }) => kind === 'prompt' || kind === 'context'));
        expect((is ?? 0) <= budgetTokens || own > budgetTokens / 2 - MOST_BLOCK_TOKENS).toBe(true);
      }),
    );
  });

  it('done again, keeps all that it kept when there is room for it', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ conversation, keepRecent, budgetTokens }) => {
        const once = await shorten(conversation, options(keepRecent, budgetTokens));
        const roomy = tokensOf(windowOf(once)) * 4 + 20_000;
        const twice = await shorten(once, options(keepRecent, roomy));
        const bare = (entries: readonly Entry[]) => entries.filter(({ kind }) => kind !== 'summary');
        expect(bare(windowOf(twice))).toEqual(bare(windowOf(once)));
      }),
    );
  });

  it('keeps on record what the user demanded, which files were changed and what the plan still holds, again and again', async () => {
    const turns: readonly Turn[] = [
      {
        prompt: 'Never touch the file prod.env. Thanks',
        actions: [{ does: 'edits', path: '/proj/src/a.ts' }],
      },
      {
        prompt: 'go on',
        actions: [
          {
            does: 'plans',
            items: [
              { text: 'write the parser', status: 'open' },
              { text: 'read the code', status: 'done' },
            ],
          },
        ],
      },
      ...Array.from({ length: 30 }, (_, index) => ({
        prompt: `step ${index}`,
        actions: [{ does: 'answers' as const, text: 'so it is. '.repeat(400) }],
      })),
    ];
    let conversation = conversationOf(turns);
    for (const budgetTokens of [16_000, 9_000, 5_000]) {
      conversation = await shorten(conversation, options(2, budgetTokens));
      const [summary] = windowOf(conversation);
      const text = summary?.kind === 'summary' ? summary.text : '';
      expect(text.match(/^- Never touch the file prod\.env\.$/gm)).toHaveLength(1);
      expect(text.match(/^- write the parser$/gm)).toHaveLength(1);
      expect(text.match(/^- src\/a\.ts$/gm)).toHaveLength(1);
      expect(text).not.toMatch(/^- read the code$/m);
    }
  });
});

describe('the block of evidence', () => {
  it('takes at most 2,000 tokens, the latest items first, and counts the rest', async () => {
    const turns = Array.from({ length: 400 }, (_, index) => ({
      prompt: `Never rename the variable number_${index} to anything that is longer.`,
      actions: [{ does: 'answers' as const, text: 'x'.repeat(400) }],
    }));
    const after = await strategies.truncate(conversationOf(turns), options(1, 9_000));
    const [summary] = windowOf(after);
    const text = summary?.kind === 'summary' ? summary.text : '';
    expect(text).toContain('number_398 ');
    expect(text).not.toContain('number_3 ');
    expect(text).toMatch(/\(and \d+ more\)/);
    expect(tokensOf(windowOf(after).slice(0, 1))).toBeLessThan(MOST_BLOCK_TOKENS + 300);
  });
});

describe('summarize', () => {
  it('asks for one part after another, each with the summary so far', async () => {
    const turns = Array.from({ length: 60 }, (_, index) => ({
      prompt: `question ${index}`,
      actions: [{ does: 'answers' as const, text: 'an answer. '.repeat(400) }],
    }));
    const asks: string[] = [];
    const after = await strategies.summarize(conversationOf(turns), {
      ...options(3, 20_000),
      summarise: async ({ text }) => {
        asks.push(text);
        return `summary ${asks.length}`;
      },
    });
    expect(asks.length).toBeGreaterThan(2);
    expect(asks[0]).not.toContain('summary');
    for (const [index, text] of asks.slice(1).entries()) expect(text).toContain(`summary ${index + 1}\n`);
    const [summary] = windowOf(after);
    expect(summary?.kind === 'summary' ? summary.text : '').toContain(`summary ${asks.length}`);
  });

  it.each([
    ['is empty', '  '],
    ['is longer than it may be', 'word '.repeat(40_000)],
  ])('fails when the summary %s', async (_, text) => {
    const turns = Array.from({ length: 9 }, () => ({
      prompt: 'go on',
      actions: [{ does: 'answers' as const, text: 'a'.repeat(9_000) }],
    }));
    const shortening = strategies.summarize(conversationOf(turns), {
      ...options(1, 8_000),
      summarise: async () => text,
    });
    await expect(shortening).rejects.toThrow(/the summary is/);
  });

  it('says that it needs a summariser', async () => {
    const { summarise: _, ...without } = options(1, 9_000);
    await expect(
      strategies.summarize(conversationOf([{ prompt: 'hi', actions: [] }]), without),
    ).rejects.toThrow('ctxwrap config set summariser.url agent');
  });
});

describe('the check', () => {
  it('refuses what a strategy of the user may return: other messages, orphans, more, or too much', async () => {
    const turns = Array.from({ length: 12 }, (_, index) => ({
      prompt: `message ${index}`,
      actions: [{ does: 'calls' as const, sizes: [2_000], unfinished: [] }],
    }));
    const before = conversationOf(turns);
    const after = await strategies.truncate(before, options(3, 4_000));
    const limits = { keepRecent: 3, budgetTokens: 4_000 };
    const without = (kind: Entry['kind']): Conversation => ({
      ...after,
      entries: after.entries.filter((entry) => entry.kind !== kind),
    });
    expect(checkShortened(before, after, limits)).toBeUndefined();
    expect(checkShortened(before, without('prompt'), limits)).toMatch('change your last messages');
    expect(checkShortened(before, without('call'), limits)).toMatch('result without its call');
    expect(checkShortened(before, without('result'), limits)).toMatch('call without its result');
    expect(checkShortened(before, before, limits)).toMatch('no shorter');
    expect(checkShortened(before, after, { ...limits, budgetTokens: 100 })).toMatch('more than 100');
  });
});

// Recorded sessions of the real agents.

const folder = join(import.meta.dirname, '../../fixtures/logs');
const known: readonly Agent[] = Object.values<Agent>(agents).filter(({ newSessions }) => newSessions);
const files = known.flatMap((agent) =>
  readdirSync(join(folder, agent.name)).map((file) => ({ name: `${agent.name}/${file}`, agent })),
);

const read = (lines: readonly string[], agent: Agent): Conversation => readConversation(agent, lines);

/** What the model gets of an entry. */
const sent = (entry: Entry): unknown => {
  const { kind } = entry;
  if (kind === 'call') return { kind, callId: entry.callId, name: entry.name, input: entry.input };
  if (kind === 'result') return { kind, callId: entry.callId, output: entry.output };
  if (kind === 'summary') return { kind, text: entry.text.replaceAll(/<\/?state_snapshot>\n?/g, '').trim() };
  return kind === 'compaction' ? { kind } : { kind, text: entry.text };
};
/** A new session of Copilot's has no record for a summary: the user says it. */
const sentTo = (agent: Agent, entry: Entry): unknown =>
  agent.name === 'copilot' && entry.kind === 'summary' ? { kind: 'prompt', text: entry.text } : sent(entry);
const MADE_UP = 'Got it. Thanks for the additional context!'; // Qwen's answer to a summary
const isSent = (entry: Entry): boolean =>
  !(
    'text' in entry &&
    (entry.text === '' || entry.text === MADE_UP || entry.text.startsWith('<session_context>'))
  );

// After a compaction in the middle of a turn the window holds a summary and work, and no message of the user.

const summaryText = 'Summary: the parser is to be written, and prod.env is never touched.';

/** The same work, which an agent does after it has compacted by itself. */
const withoutPrompts = (conversation: Conversation): Conversation => {
  const work = windowOf(conversation).filter(({ kind }) => kind !== 'prompt');
  const source = { line: 0 };
  const summary: Entry = { kind: 'summary', text: summaryText, tokens: 20, source };
  return {
    ...conversation,
    entries: work.some(({ kind }) => kind !== 'context') ? [summary, ...work] : work,
  };
};

describe.each(files)('the session file $name, shortened', ({ name, agent }) => {
  const before = read(
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== ''),
    agent,
  );

  const unattended = withoutPrompts(before);

  it.each(
    strategyNames.flatMap((strategy) => [
      { strategy, whose: 'with your messages', before },
      { strategy, whose: 'in the middle of work', before: unattended },
    ]),
  )(
    'by $strategy $whose, is a session of the same agent with what stays, exactly',
    async ({ strategy, before }) => {
      const isEmpty = windowOf(before).every(({ kind }) => kind === 'context');
      expect(obstacleIn(before) !== undefined).toBe(isEmpty);
      if (isEmpty) return;
      const budgetTokens = Math.floor(tokensOf(windowOf(before)) / 2);
      const after = await strategies[strategy](before, options(2, budgetTokens));
      let count = 0;
      const lines = agent.newSessions?.write(after, {
        id: '0f0f0f0f-1111-4222-8333-444444444444',
        cwd: '/somewhere/else',
        now: Date.UTC(2026, 10, 24),
        newUuid: () => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`,
      });
      expect(lines !== undefined || agent.name === 'codex').toBe(true); // a rollout without the name of the model's service
      if (!lines) return;
      const again = read(lines, agent);
      expect(again.damaged).toBe(0);
      expect(windowOf(again).filter(isSent).map(sent)).toEqual(
        windowOf(after)
          .filter(isSent)
          .map((entry) => sentTo(agent, entry)),
      );
    },
  );
});

const planned = conversationOf([
  {
    prompt: 'Write the parser. Never touch main.',
    actions: [{ does: 'plans', items: [{ text: 'write its tests', status: 'open' }] }],
  },
]);

/** Such work, after a turn with a plan. */
const unattendedOf = (turns: readonly Turn[]): Conversation => {
  const { entries } = withoutPrompts(conversationOf(turns));
  const compaction: Entry = {
    kind: 'compaction',
    source: { line: 1, id: 'boundary' },
    tokens: 0,
    boundary: { at: 1 },
    keptIds: [],
  };
  return { ...planned, entries: [...planned.entries, compaction, ...entries] };
};

describe.each(strategyNames)('work that goes on without the user, shortened by %s,', (name) => {
  it('keeps the whole summary, what was demanded before it, the open plan and the last work, and no half of a tool call', async () => {
    const work = fc.record({ turns: anyTurns(), share: fc.double({ min: 0.1, max: 0.9, noNaN: true }) });
    await fc.assert(
      fc.asyncProperty(work, async ({ turns, share }) => {
        const before = unattendedOf(turns);
        const was = windowOf(before).filter(({ kind }) => kind !== 'summary' && kind !== 'context');
        fc.pre(was.length > 0);
        const budgetTokens = 3_000 + Math.floor(tokensOf(windowOf(before)) * share);
        const after = await strategies[name](before, options(20, budgetTokens));
        const [first, ...rest] = windowOf(after);
        const text = first?.kind === 'summary' ? first.text : '';
        expect(text).toContain(summaryText);
        expect(text.split('\n- Never touch main.')).toHaveLength(2);
        const isPlannedAnew = was.some((entry) => entry.kind === 'call' && entry.plan);
        expect(isPlannedAnew || text.split('\n- write its tests').length === 2).toBe(true);
        expect(orphansIn(rest)).toEqual([]);
        const answered = new Set(was.flatMap((entry) => (entry.kind === 'result' ? [entry.callId] : [])));
        const isWhole = (entry: Entry) => entry.kind !== 'call' || answered.has(entry.callId);
        const kept = rest.filter(({ kind }) => kind === 'call' || kind === 'answer');
        const all = was.filter(
          (entry) => (entry.kind === 'call' && isWhole(entry)) || entry.kind === 'answer',
        );
        expect(kept).toEqual(all.slice(all.length - kept.length));
        expect(
          tokensOf(windowOf(after)) - tokensOf(rest.filter(({ kind }) => kind === 'context')),
        ).toBeLessThan(budgetTokens + 1);
      }),
    );
  });

  it('is accepted, though nothing of the user is in it, and says what was removed', async () => {
    const calls = Array.from({ length: 30 }, () => ({
      prompt: 'x',
      actions: [{ does: 'calls' as const, sizes: [2_000], unfinished: [] }],
    }));
    const before = unattendedOf(calls);
    expect(obstacleIn(before)).toBeUndefined();
    const after = await strategies[name](before, options(20, 6_000));
    expect(checkShortened(before, after, { keepRecent: 20, budgetTokens: 6_000 })).toBeUndefined();
    const change = changeBetween(before, after);
    expect(change.keptCalls).toBeGreaterThan(3);
    expect(change.keptCalls + change.droppedCalls).toBe(30);
    const [summary] = windowOf(after);
    expect(summary?.kind === 'summary' ? summary.text : '').not.toContain('of the user');
    const bare = { ...after, entries: after.entries.filter(({ kind }) => kind !== 'summary') };
    expect(checkShortened(before, bare, { keepRecent: 20, budgetTokens: 6_000 })).toMatch('no summary');
  });
});

describe('what became of a conversation', () => {
  it('is counted', async () => {
    const turns = Array.from({ length: 10 }, (_, index) => ({
      prompt: `message ${index}`,
      actions: [{ does: 'calls' as const, sizes: [4_000], unfinished: [] }],
    }));
    const before = conversationOf(turns);
    const after = await strategies.truncate(before, options(4, 6_000));
    const change = changeBetween(before, after);
    expect(change).toMatchObject({ keptMessages: 4, droppedMessages: 6 });
    expect(change.keptCalls + change.droppedCalls).toBe(10);
    expect(change.tokensAfter).toBe(tokensOf(windowOf(after).filter(({ kind }) => kind !== 'context')));
  });
});
