/** JSON that is also harmless to a terminal: what a session file or a screen had in it may be printed there. The value is the same. */
export const jsonText = (value: unknown, indent?: number): string =>
  `${JSON.stringify(value, undefined, indent).replace(/[\u007f-\u009f]|\p{Cf}/gu, escaped)}\n`;

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
