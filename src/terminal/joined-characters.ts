// Widths of characters as Unicode 11 has them, with an end to what may pile up in one cell.
import { Unicode11Addon } from '@xterm/addon-unicode11';
import type headless from '@xterm/headless';

/** Characters on top of the first one in a cell; more are cells of their own. No language needs more: UAX #15, Stream-Safe Text Format. */
const MOST_JOINED = 30;

// What xterm.js knows of a character is one number: does it join the one before it, how wide are both, and bits of the provider's own.
const JOINS = 0b001;
const OWN_SHIFT = 3;
const XTERMS_BITS = 0b111;
const ONE_COLUMN = 0b010;

const VERSION = '11 with an end';

type Provider = Parameters<headless.Terminal['unicode']['register']>[0];

const unicode11 = (): Provider => {
  let provider: Provider | undefined;
  const addon = new Unicode11Addon() as unknown as headless.ITerminalAddon;
  const catching = { unicode: { register: (given: Provider) => (provider = given) } };
  addon.activate(catching as unknown as headless.Terminal);
  if (!provider) throw new Error('the widths of Unicode 11 are missing');
  return provider;
};

/** Without it each combining character that is piled on a cell makes every later look at that cell longer. */
export const limitJoinedCharacters = (terminal: headless.Terminal): void => {
  const provider = unicode11();
  terminal.unicode.register({
    version: VERSION,
    wcwidth: (codePoint) => provider.wcwidth(codePoint),
    charProperties: (codePoint, before) => {
      const properties = provider.charProperties(codePoint, before & XTERMS_BITS);
      if ((properties & JOINS) === 0) return properties;
      const joined = (before >> OWN_SHIFT) + 1;
      return joined > MOST_JOINED ? ONE_COLUMN : properties | (joined << OWN_SHIFT);
    },
  });
  terminal.unicode.activeVersion = VERSION;
};
