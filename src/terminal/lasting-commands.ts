/*
 * Operating system commands (OSC) that leave something behind: titles, hyperlinks, progress bars, agent states, colours (xterm ctlseqs;
 * OSC 8, 9;4 and 7501 as in facts/).
 */

const STRING_END = '\x1b\\';
const NO_LINK = `\x1b]8;;${STRING_END}`;

// Dynamic colours that OSC 10–19 set and 110–119 reset; 4 and 104 are the palette (xterm ctlseqs).
const colourReset = (number: number): string | undefined => {
  if (number === 4) return `\x1b]104${STRING_END}`;
  return number >= 10 && number <= 19 ? `\x1b]${number + 100}${STRING_END}` : undefined;
};

/** An operating system command: its bytes as Latin-1, of a long one the first; `isWhole`: these are all of them. */
export interface LastingCommand {
  readonly text: string;
  readonly isWhole: boolean;
}

const NOT_REPEATABLE = '\0'; // no text of a command holds it

/** Text that brings nothing to life when it is sent to the terminal inside a string. */
export const isHarmless = (text: string): boolean => !/[\x00-\x1f\x7f-\x9f]/.test(text);

/** OSC 8: parameters and address as characters, where they are known whole and can be sent again byte for byte. */
const linkCommand = (rest: string, isWhole: boolean): readonly [string, string] | undefined => {
  if (!isWhole) return ['link', NOT_REPEATABLE];
  const beforeAddress = rest.indexOf(';');
  if (beforeAddress < 0) return undefined;
  if (beforeAddress === rest.length - 1) return ['link', '']; // without an address it closes the one before
  const bytes = Buffer.from(rest, 'latin1');
  const text = bytes.toString();
  return ['link', isHarmless(text) && Buffer.from(text).equals(bytes) ? text : NOT_REPEATABLE];
};

/** Which of the lasting commands this is, with the text that counts, or undefined for one that leaves nothing behind. */
export const commandOf = ({ text, isWhole }: LastingCommand): readonly [string, string] | undefined => {
  const [, digits = '', rest = ''] = /^(\d+);?([^]*)$/.exec(text) ?? [];
  const code = digits === '' ? -1 : Number(digits);
  if (code >= 0 && code <= 2) return ['title', rest];
  if (code === 8) return linkCommand(rest, isWhole);
  if (code === 9 && rest.startsWith('4;')) return ['progress', rest.startsWith('4;0') ? '' : rest];
  if (code === 7501 && rest === '?') return undefined;
  if (code === 7501) return ['agent', rest.includes('state=clear') ? '' : rest];
  if (code === 104 || code === 4) return ['4', code === 4 && !rest.endsWith('?') ? rest : ''];
  if (code >= 10 && code <= 19) return rest === '?' ? undefined : [`${code}`, rest];
  return code >= 110 && code <= 119 ? [`${code - 100}`, ''] : undefined;
};

/** What closes the hyperlink that is open, before something of ours is drawn, and opens it again. Empty where none is. */
export interface LinkPause {
  readonly close: string;
  readonly reopen: string;
}

/** `text` as `commandOf` has it. A link that cannot be repeated stays closed. */
export const linkPause = (text: string | undefined): LinkPause => {
  if (text === undefined) return { close: '', reopen: '' };
  return { close: NO_LINK, reopen: text === NOT_REPEATABLE ? '' : `\x1b]8;${text}${STRING_END}` };
};

export const commandRestore = (name: string, text: string, died: boolean): string => {
  if (name === 'link') return NO_LINK;
  if (name === 'progress') return `\x1b]9;4;0${STRING_END}`;
  if (name === 'title') return died ? `\x1b]0;${STRING_END}` : '';
  if (name === 'agent')
    return died ? `\x1b]7501;state=clear${/:app=[\w.-]+/.exec(text)?.[0] ?? ''}${STRING_END}` : '';
  return colourReset(Number.parseInt(name, 10)) ?? '';
};
