/** A text as one line of at most so many characters, without anything that a terminal or a prompt could take for more than text. */
export const oneLine = (text: string, mostCharacters: number): string => {
  const line = text
    .replace(/[\p{Cf}\p{Cs}]/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  // by characters: half of one would be no text
  return line.length <= mostCharacters ? line : [...line].slice(0, mostCharacters).join('').trim();
};
