// A child that writes a file each time it is told to, so many times; told once more, it ends.
import { sleep } from './numbers.js';

const END = '~^END^~';
const SETTLE_MS = 600;

// The terminal is reset before the end: a recording may leave it where the end would not be drawn. What a line says does not count:
// recordings ask questions, and so many answers stand before it that the line discipline drops the rest.
const script = `stty -echo; printf READY; i=0; while read -r go && [ $i -lt $1 ]; do
  i=$((i+1)); cat "$0"; printf '\\033c~^%s^~' END
done`;

export const catOf = (file, times) => ['sh', '-c', script, file, String(times)];
export const stop = '\r';

/** Waits until a terminal with this child can be told to write. */
export const getReady = async (terminal) => {
  await terminal.until('READY');
  await sleep(SETTLE_MS);
  terminal.stopAnswering();
};

/** Milliseconds until the last byte of the file has come out. */
export const writeOut = async (terminal) => {
  const before = performance.now();
  terminal.write('\r');
  await terminal.readUntil(END);
  return performance.now() - before;
};
