import { describe, expect, it } from 'vitest';
import { parseFooterItems, readFooterItems } from '../../src/cli/footer-items.js';

describe('--footer-items', () => {
  it.each([
    ['tier,bar,percent', ['tier', 'bar', 'percent']],
    [' percent , tier ', ['percent', 'tier']],
    ['tier,percent,tier', ['tier', 'percent']],
    ['message', ['message']],
  ])('reads %j', (text, items) => {
    expect(parseFooterItems(text)).toEqual(items);
  });

  it.each([
    ['tier,barr', '--footer-items knows no "barr"', 'did you mean bar?'],
    ['percnet', '--footer-items knows no "percnet"', 'did you mean percent?'],
    [
      'xyzzy',
      '--footer-items knows no "xyzzy"',
      'the items are runtime, model, bar, percent, used, tier, compactions, message',
    ],
    [',', '--footer-items must be a list of items, got ","', 'try --footer-items bar,percent,tier'],
  ])('refuses %j and says what is right', (text, message, hint) => {
    expect(() => parseFooterItems(text)).toThrow(expect.objectContaining({ message, hint, exitCode: 2 }));
  });

  it('names the first wrong one also to whoever reads a list from elsewhere', () => {
    expect(readFooterItems(['bar', 'tiers', 'x'])).toEqual({ wrong: 'tiers', nearest: 'tier' });
    expect(readFooterItems([])).toEqual([]);
  });
});
