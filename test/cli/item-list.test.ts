import { describe, expect, it } from 'vitest';
import { parseItems, readItems } from '../../src/cli/options.js';
import { footerItems } from '../../src/core/format.js';

const parseFooterItems = parseItems('--footer-items', footerItems, 'bar,percent,tier');

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
    [
      ',',
      '--footer-items must be a list of runtime, model, bar, percent, used, tier, compactions, message, got ","',
      'try --footer-items bar,percent,tier',
    ],
  ])('refuses %j and says what is right', (text, message, hint) => {
    expect(() => parseFooterItems(text)).toThrow(expect.objectContaining({ message, hint, exitCode: 2 }));
  });

  it('names the first wrong one also to whoever reads a list from elsewhere', () => {
    expect(readItems(['bar', 'tiers', 'x'], footerItems)).toEqual({ wrong: 'tiers', nearest: 'tier' });
    expect(readItems([], footerItems)).toEqual([]);
  });
});
