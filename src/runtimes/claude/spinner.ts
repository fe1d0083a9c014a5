// The row above the prompt that tells of work: in the first column, where no message begins, a sign and words that end in an ellipsis. A
// finished turn reads `✻ Brewed for 4s`, without it.
import { ANY_SIGN, SPINNER, TALK } from './signs.js';

const KNOWN = new RegExp(String.raw`^${SPINNER} \S.*…`);
// With a sign that was never seen, only where nothing but a remark in parentheses follows: Claude begins other rows with signs, too.
const LIKELY = new RegExp(String.raw`^${ANY_SIGN} \S[^…]*…(?: \([^()]*\)?)?$`, 'u');
const TIMED = new RegExp(String.raw`^(?!${TALK})\S \S[^…]*… \((?:\d+[smh]|esc )`);
// Announcements begin with a part of a line, too; they are longer.
const DRAWN = /^[\u2500-\u259f] (?:[^\s…]+ ){0,2}[^\s…]+…(?: \([^()]*\)?)?$/;
const COMPACTION = /^\S (?:Compacting conversation|Running \w*Compact hooks)/;

export const isSpinnerRow = (row: string): boolean =>
  [KNOWN, LIKELY, TIMED, DRAWN].some((pattern) => pattern.test(row));

/** The one of a compaction. */
export const isCompactionRow = (row: string): boolean => isSpinnerRow(row) && COMPACTION.test(row);
