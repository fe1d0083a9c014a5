import { expect, it } from 'vitest';
import { readOption } from '../support/config.js';
import { defaultValues } from '../../src/core/config/keys.js';

it.each([
  ['Ctrl-]', 0x1d],
  ['ctrl-]', 0x1d],
  ['Ctrl+]', 0x1d],
  ['C-]', 0x1d],
  ['^]', 0x1d],
  ['ctrl-g', 0x07],
  ['^G', 0x07],
  ['c-a', 0x01],
  ['^@', 0x00],
  ['^\\', 0x1c],
  ['^^', 0x1e],
  ['Ctrl-_', 0x1f],
  ['none', 'none'],
])('reads %s', (text, expected) => {
  expect(readOption('hotkey', text)).toBe(expected);
});

it('is Ctrl-] where nothing else was asked for', () => {
  expect(defaultValues.hotkey).toBe(readOption('hotkey', 'Ctrl-]'));
});

it.each(['C', 'D', 'Z', 'M', 'I', 'J', 'H', '['])('refuses Ctrl-%s, which the agent needs', (key) => {
  expect(() => readOption('hotkey', `Ctrl-${key}`)).toThrow(
    '--hotkey must be a key the agent can do without',
  );
  expect(() => readOption('hotkey', `^${key.toLowerCase()}`)).toThrow('can do without');
});

it.each(['', 'g', 'F1', 'Ctrl-', 'Ctrl-1', 'Alt-x', 'Ctrl-ä', '\u001d'])('refuses "%s"', (text) => {
  expect(() => readOption('hotkey', text)).toThrow(
    expect.objectContaining({ exitCode: 2, hint: 'try --hotkey Ctrl-]' }),
  );
});
