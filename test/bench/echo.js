// The child that shows each key, and how long one takes to be seen.
import { join } from 'node:path';

const KEYS = '~^|#'; // never part of the sequences that tmux draws with
const LOST_MS = 2_000;

export const echo = [process.execPath, join(import.meta.dirname, 'children/echo.js')];
export const quit = 'q';

/** Writes the key of this number; milliseconds until it is seen, undefined if that takes longer than two seconds. */
export const timeKey = (terminal, number) =>
  new Promise((resolve) => {
    const key = KEYS[number % KEYS.length];
    const byte = key.charCodeAt(0);
    const finish = (milliseconds) => {
      clearTimeout(timer);
      terminal.listen(() => undefined);
      resolve(milliseconds);
    };
    const timer = setTimeout(finish, LOST_MS);
    terminal.listen((bytes) => {
      if (bytes.includes(byte)) finish(performance.now() - sentAt);
    });
    const sentAt = performance.now();
    terminal.write(key);
  });
