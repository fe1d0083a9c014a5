import { barOf } from '../ui/footer.js';
import { readLook } from '../ui/look.js';
import { progressLine } from './text.js';

// How far a command that reads much has come, on standard error of a terminal.

const LATE_MS = 1_000; // nothing is shown of what is done by then
const STEP_MS = 100;
const CELLS = 20;
const MEGABYTE = 1_000_000;

export interface ByteProgress {
  readonly add: (bytes: number) => void;
  readonly clear: () => void;
}

/** `totalBytes` is what is expected; more may come, as of packed files. */
export const byteProgress = (totalBytes: number): ByteProgress => {
  const line = progressLine();
  const startedAt = performance.now();
  let [shownAt, bytes] = [0, 0];
  return {
    add: (count) => {
      bytes += count;
      const now = performance.now();
      if (!process.stderr.isTTY || now - startedAt < LATE_MS || now - shownAt < STEP_MS) return;
      shownAt = now;
      line.say(progressText(bytes, totalBytes));
    },
    clear: line.clear,
  };
};

const progressText = (bytes: number, total: number): string => {
  const { ascii } = readLook({ env: process.env, isTTY: true, columns: 0 });
  const percent = total > 0 ? Math.min(100, (bytes * 100) / total) : 100;
  const { text, rest = '' } = barOf(percent, CELLS, { ascii });
  return `reading session files  ${text}${rest}  ${Math.floor(percent)}% of ${Math.ceil(total / MEGABYTE)} MB`;
};
