// Suggests what was meant by a word with typing mistakes.

/** The known word closest to `given` by typing mistakes, at most one in three letters; undefined when none is close. */
export const nearestWord = (given: string, known: readonly string[]): string | undefined => {
  const alike = known
    .filter((word) => Math.abs(word.length - given.length) <= mostMistakes(given, word))
    .map((word) => ({ word, mistakes: mistakesBetween(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, mistakes }) => mistakes <= mostMistakes(given, word))
    .sort((a, b) => a.mistakes - b.mistakes);
  return alike[0]?.word;
};

const mostMistakes = (given: string, word: string): number =>
  Math.max(1, Math.floor(Math.max(given.length, word.length) / 3));

/** Letters missing, extra, wrong or swapped with a neighbour (optimal string alignment distance). */
const mistakesBetween = (from: string, to: string): number => {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const wrong = from[row - 1] === to[column - 1] ? 0 : 1;
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + wrong,
        swapped ? cell(beforeLast, column - 2) + 1 : Infinity,
      );
    }
    beforeLast = last;
    last = current;
  }
  return cell(last, to.length);
};

const cell = (row: readonly number[], column: number): number => row[column] ?? Infinity;
