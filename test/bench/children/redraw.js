// Redraws twenty rows thirty times a second, over what is there; with `clear` it clears the whole screen first, as Gemini does.
const FRAME_MS = 33;
const before = process.argv[2] === 'clear' ? '\x1b[2J\x1b[H' : '\x1b[H';
let frame = 0;

const draw = () => {
  frame += 1;
  const rows = Array.from({ length: 20 }, (_, row) => `\x1b[3${row % 8}mrow ${row} of frame ${frame}\x1b[0m`);
  process.stdout.write(before + rows.join('\x1b[K\r\n'));
};

process.stdin.setRawMode(true);
process.stdin.on('data', () => process.exit(0));
process.stdout.write('READY');
setInterval(draw, FRAME_MS);
