// Loaded before a program: the wall clock and the time of the session stand where a file says, so that every run shows the same ages.
// Timers, and what is measured with `performance.now`, run on.
const { readFileSync } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const os = require('node:os');

const file = process.env.HAND_CLOCK ?? '';
const now = () => Number(readFileSync(file, 'latin1'));
const start = now();
Date.now = now;
process.hrtime.bigint = () => BigInt(now() - start) * 1_000_000n;
// it would count the seconds in which the others stand as sleep of the machine
os.uptime = () => (now() - start) / 1000;
syncBuiltinESMExports();
