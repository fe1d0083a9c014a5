// How long until the child runs, and until its first byte is on the terminal.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './numbers.js';
import { openTerminal } from './terminal.js';

const child = (file) => ['sh', '-c', 'date +%s%N >"$0"; printf "~^~"; read -r stop', file];

const startOnce = async (candidate, { folder, answers }) => {
  const file = join(folder, 'started');
  const terminal = openTerminal(candidate.words(child(file)), { answers });
  const seenAt = performance.timeOrigin + (await terminal.until('~^~'));
  terminal.write('\r');
  await terminal.ended;
  return {
    child: Number(readFileSync(file, 'latin1')) / 1e6 - terminal.startedAt,
    byte: seenAt - terminal.startedAt,
  };
};

/** Milliseconds by candidate; `answers: false` is a terminal that does not say where its cursor is. */
export const measureStart = async (candidates, options) => {
  const samples = candidates.map((candidate) => ({ candidate, all: [] }));
  for (let round = 0; round < options.rounds; round += 1)
    for (const { candidate, all } of samples) all.push(await startOnce(candidate, options));
  return samples.map(({ candidate, all }) => ({
    name: candidate.name,
    child: median(all.map((each) => each.child)),
    byte: median(all.map((each) => each.byte)),
  }));
};
