import stringWidth from 'string-width';

/** A note leads with its fact (`waiting for the first turn`, `holding: you have a draft`): in a narrow row that word stays. */
export const firstWord = (note: string): string =>
  stringWidth(note) <= 12 ? note : note.split(/[\s:]+/, 1)[0] || note;

/** What is done comes first (`compacting in 8 s, any key postpones`): in a narrow row the rest goes. */
export const firstClause = (words: string): string => words.split(/[:,]/, 1)[0] || words;

export const cut = (text: string, most: number): string => {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
};

/** Signs of our own that are no letters, and what stands for them in ASCII. */
const signs: Readonly<Record<string, string>> = { '→': '->', '×': 'x', '…': '...' };

/**
 * Names and words come from outside; only letters, digits and signs may reach the terminal, of one column or two. About the width of
 * an emoji, and of what joins the character before it, terminals disagree.
 */
export const drawable = (text: string, ascii: boolean): string =>
  Array.from(text.normalize('NFC'), (char) => {
    if (/[\x20-\x7e]/.test(char)) return char;
    const sign = signs[char];
    if (sign !== undefined) return ascii ? sign : char;
    return !ascii && isLetter(char) ? char : '_';
  }).join('');

const HANGUL_PARTS = /[\u1100-\u11ff\u3164\ud7b0-\ud7ff\uffa0]/; // and its fillers, which are letters, too

/** A letter that takes as many columns beside others as alone. */
const isLetter = (char: string): boolean => {
  if (!/\p{L}/u.test(char) || HANGUL_PARTS.test(char)) return false;
  const columns = stringWidth(char);
  return columns > 0 && stringWidth(`a${char}b`) === columns + 2;
};
