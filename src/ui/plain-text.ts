// Text for a terminal of any width. What is shown comes from files and folders of any name.
import stringWidth from 'string-width';

/** One line without anything that a terminal or a reader could take for more than text; letters that are blank are blanks. */
export const plain = (text: string): string =>
  text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u115f\u1160\u2800\u3164\uffa0]+/gu, ' ').trim();

export const widthOf = (text: string): number => stringWidth(text);

/** The text in at most so many columns, its end (or, for a path, its beginning) given up for `…`. */
export const shortened = (text: string, columns: number, side: 'end' | 'start' = 'end'): string => {
  if (widthOf(text) <= columns) return text;
  const characters = [...text];
  while (characters.length > 0 && widthOf(characters.join('')) > columns - 1) {
    if (side === 'end') characters.pop();
    else characters.shift();
  }
  const rest = characters.join('');
  if (columns < 1) return '';
  return side === 'end' ? `${rest}…` : `…${rest}`;
};

/** The words of a text in lines of at most so many columns; a longer word is cut, or stays whole on a line of its own. */
export const wrapped = (
  text: string,
  columns: number,
  longWord: 'cut' | 'whole' = 'cut',
): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && widthOf(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(longWord === 'cut' ? shortened(word, columns) : word);
  }
  return lines;
};
