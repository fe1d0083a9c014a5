// The launch is read without commander, which must never read anything else in the same arguments.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentWords } from '../../src/agents/launches.js';
import { listedCommands } from '../../src/cli/commands.js';
import { parseArguments } from '../../src/cli/program.js';
import { keysWithOption, readLaunch } from '../../src/cli/read-launch.js';
import { configKey } from '../../src/core/config/keys.js';

const options = keysWithOption.flatMap((key) => configKey(key).option ?? []);
const flags = options.flatMap(({ flag, short }) => [flag, ...(short === undefined ? [] : [short])]);
const values = keysWithOption.flatMap((key) => {
  const { type, example, fallback } = configKey(key);
  return [...(type.choices ?? []), String(example ?? fallback ?? '')];
});
const others = ['--record', '--record-input', '--config', '--runtime', '--control', '--help', '-h', '-V'];
const odd = [
  '',
  '-',
  '--',
  '---',
  '-qV',
  '--quiet=1',
  '--auto=80%',
  '--foot',
  'no,such',
  '0',
  '120%',
  '-1',
  'x.json',
];
const word = fc.oneof(
  ...[flags, values, others, odd, agentWords, listedCommands].map((words) => fc.constantFrom(...words)),
  fc.string(),
);
/** An option with a value that may be its own. */
const pair = fc.constantFrom(...keysWithOption).chain((key) => {
  const { type, example, fallback, option } = configKey(key);
  const own = [...(type.choices ?? []), String(example ?? fallback ?? '')];
  const value = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...own) }, word);
  const flag = option?.flag ?? '';
  return option?.takes === undefined ? fc.constant<string[]>([flag]) : value.map((text) => [flag, text]);
});
const launched = fc.oneof(fc.constantFrom(...agentWords), fc.constant('--'), word).map((each) => [each]);
const lines = fc.oneof(
  fc.array(word, { maxLength: 6 }),
  fc
    .tuple(fc.array(pair, { maxLength: 4 }), launched, fc.array(word, { maxLength: 4 }))
    .map(([before, agent, after]) => [...before.flat(), ...agent, ...after]),
);

describe('a launch that is read without commander', () => {
  it('is what commander reads, or is left to it', () => {
    let read = 0;
    fc.assert(
      fc.property(lines, (argv) => {
        const launch = readLaunch(argv);
        if (!launch) return;
        read += 1;
        expect(launch).toStrictEqual(parseArguments(argv, '0.0.0'));
      }),
      { numRuns: 600 },
    );
    expect(read).toBeGreaterThan(100);
  });

  it.each<[readonly string[]]>([
    [['claude']],
    [['claude', '--help']],
    [['codex', '-p', '--', 'x']],
    [['--mode', 'ask', '--no-footer', '-q', 'gemini', '--auto', '1']],
    [['--warn', '70%', '--warn', '100k', 'qwen']],
    [['--', 'bash', '-c', 'true']],
    [['--runtime', 'claude', '--', 'claude-beta']],
    [['--runtime', './mine.json', '--record', 'a.cast', '--', 'mine']],
    [['--config', 'x', 'claude']],
  ])('is read from %j', (argv) => {
    expect(readLaunch(argv)).toStrictEqual(parseArguments(argv, '0.0.0'));
  });

  it.each<[readonly string[]]>([
    [[]],
    [['ps']],
    [['clade']],
    [['--help']],
    [['--mode', 'sometimes', 'claude']],
    [['--mode=ask', 'claude']],
    [['--mode']],
    [['--mode', '--', 'claude']],
    [['--']],
    [['--config', '', 'claude']],
    [['--record-input', 'claude']],
  ])('is left to commander: %j', (argv) => {
    expect(readLaunch(argv)).toBeUndefined();
  });
});
