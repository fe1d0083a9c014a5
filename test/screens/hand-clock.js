// Loaded before a program: the wall clock and the time of the session stand where a file says, so that every run shows the same ages.
// Timers, and what is measured with `performance.now`, run on.
import { readFileSync } from 'node:fs';

const file = process.env.HAND_CLOCK ?? '';
const now = () => Number(readFileSync(file, 'latin1'));
const start = now();
Date.now = now;
process.hrtime.bigint = () => BigInt(now() - start) * 1_000_000n;
