/** A text without anything that a terminal could take for more than text; its blanks stay as they are. */
export const harmless = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '\ufffd');
