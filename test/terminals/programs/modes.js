// Prints the state of the private modes that an agent turns on, as far as the terminal answers (DECRQM), and the termios.
import { execFileSync } from 'node:child_process';

const MODES = [1, 7, 25, 1000, 1004, 1006, 1049, 2004];
const termios = execFileSync('stty', ['-g'], { stdio: ['inherit', 'pipe', 'ignore'] })
  .toString()
  .trim();
let answers = '';
process.stdin.setRawMode(true);
process.stdin.on('data', (bytes) => {
  answers += bytes.toString('latin1');
  if (!/\x1b\[\d+;\d+R/.test(answers)) return;
  process.stdin.setRawMode(false);
  const states = [...answers.matchAll(/\x1b\[\?(\d+);(\d+)\$y/g)].map(
    ([, mode, state]) => `${mode}=${state}`,
  );
  console.log(`modes: ${states.join(' ')} ${termios.split(':').slice(0, 4).join(':')} end`);
  process.exit(0);
});
process.stdout.write(`${MODES.map((mode) => `\x1b[?${mode}$p`).join('')}\x1b[6n`);
