// Shows each key at the left edge as soon as it comes. With `g` it floods the screen with the last key until `s`.
import { writeSync } from 'node:fs';

const LINES = 50; // written at once: 4 KB, what a pseudo-terminal holds
let key = '-';
let flooding = false;

const write = (text) => {
  try {
    writeSync(1, text);
  } catch (error) {
    if (error.code === 'EAGAIN') return write(text);
    throw error;
  }
};
const flood = () => {
  if (!flooding) return;
  write(`${key.repeat(78)}\r\n`.repeat(LINES));
  setImmediate(flood);
};

process.stdin.setRawMode(true);
process.stdin.on('data', (bytes) => {
  const text = bytes.toString('latin1');
  if (text === 's') flooding = false;
  else if (text === 'g') {
    flooding = true;
    flood();
  } else if (text === 'q') process.exit(0);
  else {
    key = text;
    if (!flooding) write(`\r${text}`);
  }
});
write('READY');
