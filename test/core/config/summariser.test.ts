// The summariser's settings decide where conversations go: only the user's own file can set them, and a secret in them is not repeated.
import { describe, expect, it } from 'vitest';
import { keyNames } from '../../../src/core/config/keys.js';
import { findSummariserFault, isLoopback } from '../../../src/core/config/summariser.js';
import { parseSetting } from '../../../src/cli/config/text.js';
import { settingsOf } from '../../support/config.js';

const LOCAL = 'http://127.0.0.1:11434/v1';
const values = {
  'summariser.url': 'agent',
  'summariser.model': 'm',
  'summariser.keyEnv': 'MY_KEY',
  'summariser.timeout': 60,
  'summariser.remote': true,
} as const;

it('these are all of them', () => {
  expect(Object.keys(values)).toEqual(keyNames.filter((name) => name.startsWith('summariser.')));
});

it.each(Object.entries(values))('neither a project nor the environment can set %s', (key, value) => {
  const name = `CTXWRAP_${key.replace('keyEnv', 'key_env').replace('.', '_').toUpperCase()}`;
  const found = settingsOf({ project: { [key]: value }, env: { [name]: String(value) } });
  expect(found.values).toEqual(settingsOf({}).values);
  expect(found.problems).toMatchObject([
    { kind: 'unknown', key: name },
    { kind: 'refused', key, why: 'a project file can only restrict what ctxwrap does' },
  ]);
});

describe('a summariser that cannot be used is a problem with a fix:', () => {
  it.each([
    [
      'another machine',
      { 'summariser.url': 'https://api.example/v1', 'summariser.model': 'm' },
      'remote true',
    ],
    ['no model', { 'summariser.url': LOCAL }, 'model NAME'],
  ])('%s', (_, user, fix) => {
    const [problem, ...more] = settingsOf({ user }).problems;
    expect(more).toEqual([]);
    expect(problem).toMatchObject({
      kind: 'unusable',
      key: 'summariser.url',
      level: 'warning',
      what: 'summariser.url is not used',
      where: '/home/config.jsonc',
      fix: `ctxwrap config set summariser.${fix}`,
    });
  });

  it.each([
    {},
    { 'summariser.url': 'agent' },
    { 'summariser.url': LOCAL, 'summariser.model': 'm' },
    { 'summariser.url': 'https://api.example/v1', 'summariser.model': 'm', 'summariser.remote': true },
  ])('not %j', (user) => {
    const found = settingsOf({ user });
    expect(found.problems).toEqual([]);
    expect(findSummariserFault(found.values)).toBeUndefined();
  });
});

it.each([
  ['127.0.0.1', true],
  ['127.255.0.9', true],
  ['localhost', true],
  ['[::1]', true],
  ['::1', true],
  ['128.0.0.1', false],
  ['127.0.0.1.example', false],
  ['localhost.example', false],
  ['0.0.0.0', false],
  ['[::]', false],
])('%s is this machine: %s', (host, is) => {
  expect(isLoopback(host)).toBe(is);
});

it('a key in the place of its name is not repeated on the command line either', () => {
  const set = (): unknown =>
    parseSetting('summariser.keyEnv', 'sk-made-up-0123456789', { cwd: '/', options: { flags: {} } });
  expect(set).toThrow(/^summariser.keyEnv must be the name of an environment variable/);
  expect(set).toThrow(/^(?!.*0123456789)/);
});

it('a key in the place of its name is refused without being repeated', () => {
  const { problems } = settingsOf({ user: { 'summariser.keyEnv': 'sk-made-up-0123456789' } });
  expect(problems).toHaveLength(1);
  expect(JSON.stringify(problems)).not.toContain('0123456789');
});
