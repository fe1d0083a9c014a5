// Loaded before a program: its clock stands where a file says, so that it shows the same ages in every run. Timers run on.
import { readFileSync } from 'node:fs';

const file = process.env.HAND_CLOCK ?? '';
Date.now = () => Number(readFileSync(file, 'latin1'));
