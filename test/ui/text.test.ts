// How wide a text is in a terminal.
import { eastAsianWidth } from 'get-east-asian-width';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { widthOf } from '../../src/ui/text.js';
import { runs } from '../support/runs.js';

it('a text is as wide as string-width says, whatever its characters are', () => {
  const signs = fc.constantFrom(
    ...'▰▱╵▶→×·✓✗⟳…aZ ~',
    '日',
    'é',
    '\u0301',
    '\ufe0f',
    '\u200d',
    '👍',
    '\t',
    '\x1b[1m',
  );
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 12 }), (characters) => {
      const text = characters.join('');
      expect(widthOf(text)).toBe(stringWidth(text));
    }),
    runs(300),
  );
});

it('an emoji of one UTF-16 unit is two columns wide also by its East Asian width: the build has nothing else asked', () => {
  const units = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
  const isEmoji = new RegExp(String.raw`^\p{RGI_Emoji}$`, 'v');
  const emoji = units.filter((unit) => isEmoji.test(unit));
  expect(emoji.length).toBeGreaterThan(50);
  for (const unit of emoji) expect(eastAsianWidth(unit.charCodeAt(0))).toBe(2);
});
