// Clears and redraws its whole screen thirty times a second, as agents with a spinner do at their worst.
const FRAME_MS = 33;
let frame = 0;

const draw = () => {
  frame += 1;
  const rows = Array.from({ length: 20 }, (_, row) => `\x1b[3${row % 8}mrow ${row} of frame ${frame}\x1b[0m`);
  process.stdout.write(`\x1b[2J\x1b[H${rows.join('\r\n')}`);
};

process.stdin.setRawMode(true);
process.stdin.on('data', () => process.exit(0));
process.stdout.write('READY');
setInterval(draw, FRAME_MS);
