/**
 * The text behind the rows of a prompt that breaks its lines between words. A word that would have had room in the row before was put
 * into the next one by a line break; a row that is full to its end may have been cut inside a word.
 */
export const unwrapped = (rows: readonly string[], columns: number): string =>
  rows.slice(1).reduce((text, row, index) => {
    const before = rows[index] ?? '';
    return `${text}${breakBetween(before, row, columns)}${row}`;
  }, rows[0] ?? '');

const breakBetween = (before: string, after: string, columns: number): '' | ' ' | '\n' => {
  const [word = ''] = after.split(' ', 1);
  if (word === '' || before === '') return '\n';
  if (before.length >= columns) return '';
  return before.length + 1 + word.length > columns ? ' ' : '\n';
};
