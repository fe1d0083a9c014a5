// How large the window is. opencode takes it from its catalogue of models or its configuration and shows only a rounded percentage, so a
// size is taken for certain where it is the only usual one that the percentage allows.

const USUAL_TOKENS: readonly number[] = [
  8_192, 16_384, 32_000, 32_768, 64_000, 65_536, 100_000, 128_000, 131_072, 160_000, 163_840, 200_000,
  202_752, 204_800, 256_000, 262_144, 272_000, 400_000, 500_000, 1_000_000, 1_047_576, 1_048_576, 1_050_000,
  2_000_000, 2_097_152, 10_000_000,
];

const HALF = 0.5; // percent, by which a rounded percentage may differ

/** The usual windows that agree with all numbers so far of one model. */
export interface WindowSearch {
  /** as the screen names it */
  readonly model: string;
  readonly possible: readonly number[];
}

/** After one more number: so many tokens are this rounded percentage. */
export const narrowed = (
  before: WindowSearch | undefined,
  {
    model,
    usedTokens,
    usedPercent,
  }: Omit<WindowSearch, 'possible'> & { usedTokens: number; usedPercent: number },
): WindowSearch => {
  const agrees = (tokens: number): boolean => Math.abs((usedTokens * 100) / tokens - usedPercent) <= HALF;
  const held = before?.model === model ? before.possible.filter(agrees) : [];
  return { model, possible: held.length > 0 ? held : USUAL_TOKENS.filter(agrees) };
};

/** The only one left; undefined where several are, or none. */
export const foundWindow = ({ possible }: WindowSearch): number | undefined =>
  possible.length === 1 ? possible[0] : undefined;
