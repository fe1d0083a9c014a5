// The table of three windows in docs/footer.md, drawn anew.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { footerView } from '../../src/core/footer-view.js';
import type { LadderChoice } from '../../src/core/ladder.js';
import { drawnFooter } from '../support/drawn-footer.js';
import { sessionAfter, tokens } from '../support/sessions.js';

const rows = readFileSync(new URL('../../docs/footer.md', import.meta.url), 'utf8').split('\n');
const native = { share: 1, reserveTokens: 33_000 };
const limit: LadderChoice = { auto: { value: 300_000, unit: 'tokens' } };

const footer = (windowTokens: number, ladder: LadderChoice): string => {
  const reading = tokens('log', 160_000, { windowTokens, windowSource: 'agent' });
  const state = sessionAfter([[0, reading]], { agent: 'claude', native, ladder });
  const row = drawnFooter(footerView(state, 0, { mode: 'auto', isKnown: true, key: 'Ctrl-] c' }), {
    columns: 80,
    colorLevel: 0,
    ascii: false,
  });
  return row.trim().replace(/^claude +/, '');
};

it.each([
  ['200k', 200_000],
  ['400k', 400_000],
  ['1M', 1_000_000],
])('docs/footer.md has the footer of a window of %s, with a limit and without', (name, windowTokens) => {
  const cells = rows.find((row) => row.startsWith(`| ${name} | \`▰`))?.split(/ ?\| ?/) ?? [];
  const [usual, own] = [footer(windowTokens, {}), footer(windowTokens, limit)];
  expect(cells.slice(2, 4)).toEqual([
    `\`${usual}\``,
    own === usual ? 'the same: 300k cannot be reached' : `\`${own}\``,
  ]);
});
