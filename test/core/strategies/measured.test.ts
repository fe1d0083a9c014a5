// How much strategies keep of facts that were planted in 200 turns: the table in docs/internals/strategies.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tokensOf, windowOf } from '../../../src/core/conversation/conversation.js';
import { formatTokens } from '../../../src/core/format.js';
import { strategies } from '../../../src/core/strategies/strategy.js';
import { plantedConversation, plantedFactsIn } from '../../support/planted-turns.js';

type Name = 'truncate' | 'clustering' | 'summarize';

/** The worst summary that is one: whatever is kept beside it is kept by the strategy. */
const summariseNothing = () => Promise.resolve('Some work was done.');

const rowFor = async (name: Name, budgetTokens: number): Promise<string> => {
  const before = plantedConversation();
  const { signal } = new AbortController();
  const summarise = name === 'summarize' ? summariseNothing : undefined;
  const after = await strategies[name](before, { keepRecent: 20, budgetTokens, summarise, signal });
  const sizes = [before, after].map((each) => formatTokens(tokensOf(windowOf(each))));
  return `| ${name} | ${formatTokens(budgetTokens)} | ${sizes.join(' → ')} | ${plantedFactsIn(windowOf(after))} |`;
};

it.each([
  ['truncate', 40_000],
  ['summarize', 40_000],
  ['clustering', 40_000],
  ['clustering', 10_000],
] as const)('is what the documentation says of %s with %i tokens', async (name, budgetTokens) => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/internals/strategies.md'), 'utf8');
  expect(page.split('\n')).toContain(await rowFor(name, budgetTokens));
});
