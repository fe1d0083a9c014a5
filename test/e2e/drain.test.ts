import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { rowsOf } from '../support/window.js';
import { withWrapped } from '../support/wrapped.js';

// More bytes than a pseudo-terminal holds (Linux: up to 64 KB and 4), but fewer than the limit at which the child is paused (64 KB, and
// what the pseudo-terminal holds at least).
const TEXT_SIZE = 72_000;
const EXIT_NOTICED_MS = 600; // the test cannot see when the wrapper learns of the child's exit; it must not matter

it('shows everything of a child that exits while the terminal does not read', async () => {
  const lines = Array.from({ length: TEXT_SIZE / 100 }, (_, index) => `line ${index} `.padEnd(98, '.'));
  await withWrapped({ columns: 120, rows: 24 }, async ({ started, window, player, ended }) => {
    await started();
    window.pause();
    void player.write(lines.map((line) => `${line}\r\n`).join(''), [4096]);
    player.exit(3);
    await player.ended();
    await wait(EXIT_NOTICED_MS);
    window.resume();
    expect(await ended()).toEqual({ code: 3, signal: null });
    expect(rowsOf(window.emulator, 'all').filter((row) => row.startsWith('line'))).toEqual(lines);
  });
});
