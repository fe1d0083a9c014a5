// How long until the child runs, and until its first byte is on the terminal.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTerminal } from './terminal.js';
import { measureInTurn } from './turns.js';

const child = (file) => ['sh', '-c', 'date +%s%N >"$0"; printf "~^~"; read -r stop', file];

/** Milliseconds by candidate; `answers: false` is a terminal that does not say where its cursor is. */
export const measureStart = (candidates, { folder, rounds, answers }) => {
  const file = join(folder, 'started');
  return measureInTurn(candidates, rounds, (candidate) =>
    withTerminal(candidate.words(child(file)), { answers }, async (terminal) => {
      const seenAt = performance.timeOrigin + (await terminal.until('~^~'));
      await terminal.leave('\r');
      const startedAt = Number(readFileSync(file, 'latin1')) / 1e6;
      return { child: startedAt - terminal.startedAt, byte: seenAt - terminal.startedAt };
    }),
  );
};
