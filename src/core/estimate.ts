// Tokens of a text without a tokenizer: four ASCII characters make one, an East Asian character one and a half
// (Qwen Code's rule, which agrees with the 4 characters a token that all agents assume).

const TOKENS_PER_ASCII = 1 / 4;
const TOKENS_PER_WIDE = 1.5;

/** The estimated tokens of a text, rounded up. Exact in nothing; good for "it grew by about this much". */
export const estimateTokens = (text: string): number => {
  let wide = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) wide += 1;
  return Math.ceil((text.length - wide) * TOKENS_PER_ASCII + wide * TOKENS_PER_WIDE);
};
