import { expect, it } from 'vitest';
import { listedCommands } from '../../src/cli/commands.js';
import { agentWords } from '../../src/agents/launches.js';
import { nearestWord } from '../../src/core/text.js';

const words = [...agentWords, ...listedCommands];

it.each([
  ['cluade', 'claude'], // swapped
  ['claud', 'claude'], // missing
  ['claudee', 'claude'], // extra
  ['CODEX', 'codex'],
  ['gemni', 'gemini'],
  ['qwne', 'qwen'],
  ['dmeo', 'demo'],
  ['codx', 'codex'],
  ['dcotor', 'doctor'],
  ['comapct', 'compact'],
  ['contxt', 'context'],
  ['verfy', 'verify'],
  ['confg', 'config'],
])('takes %s for %s', (given, expected) => {
  expect(nearestWord(given, words)).toBe(expected);
});

it.each(['vim', '', 'python3', 'x', 'gem', 'coding', 'crush', 'hodl'])('takes "%s" for nothing', (given) => {
  expect(nearestWord(given, words)).toBeUndefined();
});
