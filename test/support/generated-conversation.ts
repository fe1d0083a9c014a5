// Conversations of any shape: turns of the user with answers, thoughts, and tool calls, some at the same time, some without a result.
import fc from 'fast-check';
import type { Conversation, Entry, PlanItem } from '../../src/core/conversation/conversation.js';
import { estimateTokens } from '../../src/core/reading.js';

type Action =
  | { readonly does: 'answers'; readonly text: string }
  | { readonly does: 'thinks' }
  | { readonly does: 'reminds'; readonly text: string }
  /** several at the same time, all calls before all results; those in `unfinished` have none */
  | { readonly does: 'calls'; readonly sizes: readonly number[]; readonly unfinished: readonly number[] }
  | { readonly does: 'edits'; readonly path: string }
  | { readonly does: 'plans'; readonly items: readonly PlanItem[] }
  /** the user writes while a tool runs */
  | { readonly does: 'is told'; readonly text: string };

export interface Turn {
  readonly prompt: string;
  readonly actions: readonly Action[];
}

const word = fc.constantFrom(
  'build',
  'parser',
  'never push',
  'cache',
  'test',
  'must keep 512',
  'déjà',
  '文件',
  '\n',
);
const words = (most: number): fc.Arbitrary<string> =>
  fc.array(word, { minLength: 1, maxLength: most }).map((list) => `say ${list.join(' ')}.`);

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ does: fc.constant('answers' as const), text: words(60) }),
  fc.record({ does: fc.constant('thinks' as const) }),
  fc.record({ does: fc.constant('reminds' as const), text: words(5) }),
  fc.record({
    does: fc.constant('calls' as const),
    sizes: fc.array(fc.nat({ max: 4_000 }), { minLength: 1, maxLength: 3 }),
    unfinished: fc.array(fc.nat({ max: 2 }), { maxLength: 1 }),
  }),
  fc.record({
    does: fc.constant('edits' as const),
    path: fc.constantFrom('/proj/a.ts', '/proj/b.ts', '/etc/x'),
  }),
  fc.record({
    does: fc.constant('plans' as const),
    items: fc.array(
      fc.record({
        text: words(3),
        status: fc.constantFrom('open' as const, 'active' as const, 'done' as const),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  fc.record({ does: fc.constant('is told' as const), text: words(4) }),
);

export const anyTurns = (most = 40): fc.Arbitrary<readonly Turn[]> =>
  fc.array(fc.record({ prompt: words(30), actions: fc.array(action, { maxLength: 6 }) }), {
    minLength: 1,
    maxLength: most,
  });

/** The conversation of these turns, in /proj, as its reader would give it. */
export const conversationOf = (turns: readonly Turn[]): Conversation => {
  const entries: Entry[] = [];
  const source = (): Entry['source'] => ({ line: entries.length, id: `r${entries.length}` });
  const add = (entry: Entry): void => void entries.push(entry);
  const say = (kind: 'prompt' | 'answer' | 'reasoning' | 'context', text: string): void =>
    add({ kind, text, source: source(), tokens: estimateTokens(text) });
  const act = (each: Action): void => {
    const id = `c${entries.length}`;
    const base = { name: 'tool', input: { id }, files: [], tokens: 10 };
    const result = (callId: string, output: string): void =>
      add({ kind: 'result', callId, output, source: source(), tokens: estimateTokens(output) });
    switch (each.does) {
      case 'answers':
        return say('answer', each.text);
      case 'thinks':
        return say('reasoning', 'hm');
      case 'reminds':
        return say('context', each.text);
      case 'is told':
        add({ ...base, kind: 'call', callId: id, source: source() });
        say('prompt', each.text);
        return result(id, 'done');
      case 'edits':
        add({
          ...base,
          kind: 'call',
          callId: id,
          source: source(),
          files: [{ path: each.path, access: 'edit' }],
        });
        return result(id, 'edited');
      case 'plans':
        add({
          ...base,
          kind: 'call',
          callId: id,
          source: source(),
          plan: { kind: 'whole', items: each.items },
        });
        return result(id, 'planned');
      case 'calls':
        for (const index of each.sizes.keys())
          add({ ...base, kind: 'call', callId: `${id}-${index}`, source: source() });
        for (const [index, size] of each.sizes.entries())
          if (!each.unfinished.includes(index)) result(`${id}-${index}`, 'x'.repeat(size));
    }
  };
  say('context', 'instructions of the agent');
  for (const { prompt, actions } of turns) {
    say('prompt', prompt);
    actions.forEach(act);
  }
  return { head: { id: 's', cwd: '/proj', provider: 'mock' }, entries, abandoned: 0, damaged: 0 };
};
