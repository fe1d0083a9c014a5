// How wide a text is in a terminal.
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
