/*
 * Operating system commands (OSC) that leave something behind: titles, hyperlinks, progress bars, agent states, colours (xterm ctlseqs;
 * OSC 8, 9;4 and 7501 as in facts/).
 */

const STRING_END = '\x1b\\';

// Dynamic colours that OSC 10–19 set and 110–119 reset; 4 and 104 are the palette (xterm ctlseqs).
const colourReset = (number: number): string | undefined => {
  if (number === 4) return `\x1b]104${STRING_END}`;
  return number >= 10 && number <= 19 ? `\x1b]${number + 100}${STRING_END}` : undefined;
};

/** Which of the lasting commands this is, with the text that counts, or undefined for one that leaves nothing behind. */
export const commandOf = (text: string): readonly [string, string] | undefined => {
  const [, code = '', rest = ''] = /^(\d+);?([^]*)$/.exec(text) ?? [];
  if (code === '0' || code === '1' || code === '2') return ['title', rest];
  if (code === '8') return ['link', rest.endsWith(';') ? '' : rest];
  if (code === '9' && rest.startsWith('4;')) return ['progress', rest.startsWith('4;0') ? '' : rest];
  if (code === '7501') return ['agent', rest.includes('state=clear') ? '' : rest];
  if (code === '104' || code === '4') return ['4', code === '4' && !rest.endsWith('?') ? rest : ''];
  const number = Number.parseInt(code, 10);
  if (number >= 10 && number <= 19) return rest === '?' ? undefined : [code, rest];
  return number >= 110 && number <= 119 ? [`${number - 100}`, ''] : undefined;
};

export const commandRestore = (name: string, text: string, died: boolean): string => {
  if (name === 'link') return `\x1b]8;;${STRING_END}`;
  if (name === 'progress') return `\x1b]9;4;0${STRING_END}`;
  if (name === 'title') return died ? `\x1b]0;${STRING_END}` : '';
  if (name === 'agent')
    return died ? `\x1b]7501;state=clear${/:app=[\w.-]+/.exec(text)?.[0] ?? ''}${STRING_END}` : '';
  return colourReset(Number.parseInt(name, 10)) ?? '';
};
