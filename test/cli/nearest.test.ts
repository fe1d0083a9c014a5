import { expect, it } from 'vitest';
import { nearestWord } from '../../src/cli/messages.js';

const agents = ['claude', 'codex', 'gemini', 'qwen', 'demo'];

it.each([
  ['cluade', 'claude'], // swapped
  ['claud', 'claude'], // missing
  ['claudee', 'claude'], // extra
  ['CODEX', 'codex'],
  ['gemni', 'gemini'],
  ['qwne', 'qwen'],
  ['dmeo', 'demo'],
  ['codx', 'codex'],
])('takes %s for %s', (given, expected) => {
  expect(nearestWord(given, agents)).toBe(expected);
});

it.each(['vim', '', 'python3', 'x', 'gem', 'coding', 'opencode'])('takes "%s" for nothing', (given) => {
  expect(nearestWord(given, agents)).toBeUndefined();
});
