// Tokens of a text without a tokenizer: four ASCII characters make one, an East Asian character one and a half
// (Qwen Code's rule, which agrees with the 4 characters a token that all agents assume). Letters of other alphabets count as ASCII.

const TOKENS_PER_NARROW = 1 / 4;
const TOKENS_PER_WIDE = 1.5;

/** Characters as the estimate tells them apart. Counts of many rows can be added up, rounded tokens can't. */
export interface Characters {
  /** ASCII, and letters of other alphabets */
  readonly ascii: number;
  /** East Asian characters and everything beyond the basic plane, emoji among them */
  readonly wide: number;
}

/** The estimated tokens of a text, rounded up. Exact in nothing; good for "it grew by about this much". */
export const estimateTokens = (text: string): number => tokensOf(charactersOf(text));

/** The estimated tokens of so many characters, rounded up. */
export const tokensOf = ({ ascii, wide }: Characters): number =>
  Math.ceil(ascii * TOKENS_PER_NARROW + wide * TOKENS_PER_WIDE);

export const charactersOf = (text: string): Characters => {
  let wide = 0;
  let doubled = 0; // the second halves of surrogate pairs
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < FIRST_WIDE) continue;
    if (isPair(code, text.charCodeAt(index + 1))) {
      doubled += 1;
      wide += 1;
      index += 1;
    } else if (isWide(code)) wide += 1;
  }
  return { ascii: text.length - wide - doubled, wide };
};

const FIRST_WIDE = 0x1100;

// NaN, which is what comes after the end of a text, is no second half.
const isPair = (first: number, second: number): boolean =>
  first >= 0xd800 && first <= 0xdbff && second >= 0xdc00 && second <= 0xdfff;

/** Blocks of Unicode: Hangul Jamo, CJK to Yi, Hangul, compatibility ideographs and forms, full-width forms. */
const isWide = (code: number): boolean =>
  code <= 0x115f ||
  (code >= 0x2e80 && code <= 0xa4cf) ||
  (code >= 0xac00 && code <= 0xd7a3) ||
  (code >= 0xf900 && code <= 0xfaff) ||
  (code >= 0xfe30 && code <= 0xfe4f) ||
  (code >= 0xff01 && code <= 0xff60) ||
  (code >= 0xffe0 && code <= 0xffe6);
