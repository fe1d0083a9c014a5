// What a dump of screen and scrollback says about the footer and about the rows of the child.

/** In every footer of a program that is no agent, also in a narrow one. */
const FOOTER = /\bgeneric\b/;

export const rowsOf = (dump) => {
  const rows = dump.split('\n').map((row) => row.trimEnd());
  while (rows.at(-1) === '') rows.pop();
  return rows;
};

export const withoutFooter = (rows) => rows.filter((row) => !FOOTER.test(row));
export const footersIn = (rows) => rows.length - withoutFooter(rows).length;

const shown = (rows) => `${rows.length} (${JSON.stringify(rows[0].slice(0, 40))})`;

/** One footer and it is the last row. */
export const footerProblem = (rows) => {
  const count = footersIn(rows);
  if (count !== 1) return `${count} footers`;
  return FOOTER.test(rows.at(-1)) ? undefined : 'the footer is not the last row';
};

/** Rows of `some` that `others` lacks, counting how often each is there. */
const lacking = (some, others) => {
  const left = new Map();
  for (const row of others) left.set(row, (left.get(row) ?? 0) + 1);
  return some.filter((row) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0 && row !== '';
  });
};

const isBox = (row) => /^[+|]|--|hint:/.test(row);

/** The box of the child: how often its text is there (a narrower screen leaves copies behind, also bare), and its last rows. */
const boxOf = (rows) => {
  const copies = rows.join('\n').split('> type here').length - 1;
  const start = rows.findLastIndex((row) => row.includes('> type here'));
  const live = start < 0 ? [] : [rows[start - 1]?.slice(-5), ...rows.slice(start, start + 3)];
  return { copies, live: live.join('\n') };
};

/** A line of the program that is there once; where it is gone in the bare terminal, that one has lost it. */
const isKept = (row, rows) =>
  /^row \d{3} stays$/.test(row) && rows.filter((each) => each === row).length === 1;

const WHOLE_BOX = /^-+\+\n\| > type here +\|\n\+-+\+\n {2}hint: \? for shortcuts$/;

/** How many sizes of a storm a program sees is a matter of chance, and with it the number of copies, and what the bare one leaves. */
const isAfterStorm = (step) => step === 'storm' || step === 'tall';

/** The child's rows under the wrapper against those of the same program in a terminal of one row fewer. */
export const rowProblems = (wrapped, bare, step) => {
  const rows = withoutFooter(wrapped);
  const [text, bareText] = [rows, bare].map((some) => some.filter((row) => !isBox(row)));
  const lost = lacking(bareText, text);
  const extra = lacking(text, bareText).filter((row) => !isKept(row, text));
  const [box, bareBox] = [boxOf(rows), boxOf(bare)];
  return [
    ...(lost.length > 0 ? [`lost ${shown(lost)}`] : []),
    ...(extra.length > 0 ? [`more than bare: ${shown(extra)}`] : []),
    ...(box.live === bareBox.live || (isAfterStorm(step) && WHOLE_BOX.test(box.live))
      ? []
      : [`another box: ${JSON.stringify(box.live)}`]),
    ...(box.copies <= bareBox.copies || isAfterStorm(step)
      ? []
      : [`${box.copies} copies of the box, bare ${bareBox.copies}`]),
  ];
};

/** L001 … L100, each once and in order. */
export const scrollProblems = (rows) => {
  const numbers = rows.flatMap((row) => /^L(\d{3}) scrolled$/.exec(row)?.[1] ?? []).map(Number);
  const wanted = Array.from({ length: 100 }, (_, index) => index + 1);
  return numbers.join() === wanted.join()
    ? []
    : [`${numbers.length} lines: ${numbers.join(' ').slice(0, 60)}…`];
};
