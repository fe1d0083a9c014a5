import { describe, expect, it } from 'vitest';
import { readOption } from '../support/config.js';

describe('--footer-items', () => {
  it.each([
    ['tier,bar,percent', ['tier', 'bar', 'percent']],
    [' percent , tier ', ['percent', 'tier']],
    ['tier,percent,tier', ['tier', 'percent']],
    ['message', ['message']],
  ])('reads %j', (text, items) => {
    expect(readOption('footer.items', text)).toEqual(items);
  });

  it.each([
    ['tier,barr', '--footer-items has no item "barr"', 'did you mean bar?'],
    ['percnet', '--footer-items has no item "percnet"', 'did you mean percent?'],
    [
      'xyzzy',
      '--footer-items has no item "xyzzy"',
      'the items are runtime, model, bar, percent, used, tier, distance, compactions, cache, limits, message',
    ],
    [
      ',',
      '--footer-items must be a list of runtime, model, bar, percent, used, tier, distance, compactions, cache, limits, message, got ","',
      'try --footer-items bar,percent,tier,message',
    ],
  ])('refuses %j and says what is right', (text, message, hint) => {
    expect(() => readOption('footer.items', text)).toThrow(
      expect.objectContaining({ message, hint, exitCode: 2 }),
    );
  });
});
