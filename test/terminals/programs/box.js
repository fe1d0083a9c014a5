// Draws a box below its lines and redraws it with relative moves, as agents built on Ink do.
//   box.js bottom   the cursor below the box; redrawn at every change of size
//   box.js still    the same, but a change of the height alone is ignored (Gemini)
//   box.js prompt   the cursor in the prompt, two rows above the end; redrawn at every change (Claude)
//   box.js parked   the same, but a change of the height alone is ignored
//   box.js wild     turns on what an agent may leave behind, on the alternate screen
const [kind = 'bottom', lines = '40'] = process.argv.slice(2);
const out = (text) => process.stdout.write(text);
const isPrompt = kind === 'prompt' || kind === 'parked';
const isLazy = kind === 'still' || kind === 'parked';
const below = isPrompt ? 2 : 0; // rows of ours under the cursor
const HEIGHT = 4;
let columns = process.stdout.columns;

const draw = () => {
  const bar = `+${'-'.repeat(columns - 2)}+`; // no line drawing characters: the hard copy of GNU screen has one byte a cell
  const row = (text) => `| ${text.padEnd(columns - 4)} |`;
  const box = [bar, row('> type here'), bar, '  hint: ? for shortcuts'];
  out(isPrompt ? `${box.join('\n')}\x1b[2A\r\x1b[4C` : `${box.join('\n')}\n`);
};
const erase = () => {
  if (isPrompt) out(`\x1b[${below}B`);
  out(isPrompt ? '\x1b[2K' : '');
  out('\x1b[1A\x1b[2K'.repeat(isPrompt ? HEIGHT - 1 : HEIGHT));
  out('\x1b[G');
};
process.stdout.on('resize', () => {
  const isWider = process.stdout.columns !== columns;
  columns = process.stdout.columns;
  if (isLazy && !isWider) return;
  erase();
  draw();
});
const end = () => {
  out(isPrompt ? '\n\n\n' : '');
  process.stdin.setRawMode(false);
  process.exit(0);
};
for (let line = 1; line <= Number(lines); line += 1) out(`row ${String(line).padStart(3, '0')} stays\n`);
if (kind === 'wild')
  out('\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b[?1h\x1b[>1u\x1b[31mwild\n');
draw();
process.stdin.setRawMode(true);
process.stdin.on('data', (data) => data.includes('q') && end()); // a terminal also reports its focus
setInterval(() => undefined, 60_000);
