// From a key to its echo. All candidates are open at the same time and asked in turn, so that noise hits all of them alike.
import { join } from 'node:path';
import { median, percentile, sleep } from './numbers.js';
import { openTerminal } from './terminal.js';

const KEYS = '~^|#'; // never part of the sequences that tmux draws with
const IDLE_ROUNDS = 600;
const FLOOD_ROUNDS = 10;
const FLOOD_KEYS = 50; // a round
const PAUSE_MS = 4;
const LOST_MS = 2_000;
const SETTLE_MS = 700; // ctxwrap loads its footer, tmux draws

const echo = [process.execPath, join(import.meta.dirname, 'children/echo.js')];

const open = async (candidate) => {
  const terminal = openTerminal(candidate.words(echo));
  await terminal.until('READY');
  return { candidate, terminal, idle: [], flood: [], lost: 0, keys: 0 };
};

const nextKey = (subject) => KEYS[(subject.keys += 1) % KEYS.length];

const time = async (subject, into) => {
  const key = nextKey(subject);
  const byte = key.charCodeAt(0);
  await new Promise((resolve) => {
    const finish = (milliseconds) => {
      clearTimeout(timer);
      subject.terminal.listen(() => undefined);
      if (milliseconds === undefined) subject.lost += 1;
      else into.push(milliseconds);
      resolve();
    };
    const timer = setTimeout(finish, LOST_MS);
    subject.terminal.listen((bytes) => {
      if (bytes.includes(byte)) finish(performance.now() - sentAt);
    });
    const sentAt = performance.now();
    subject.terminal.write(key);
  });
};

const timeFlood = async (subject) => {
  subject.terminal.write('g');
  await sleep(100);
  for (let count = 0; count < FLOOD_KEYS; count += 1) {
    await time(subject, subject.flood);
    await sleep(Math.random() * 2 * PAUSE_MS);
  }
  subject.terminal.write('s');
  await sleep(150);
};

const summary = ({ candidate, idle, flood, lost }) => ({
  name: candidate.name,
  idleP50: median(idle),
  idleP99: percentile(idle, 0.99),
  floodP50: median(flood),
  floodP99: percentile(flood, 0.99),
  lost,
});

/** Milliseconds from key to echo, by candidate. */
export const measureLatency = async (candidates) => {
  const subjects = [];
  for (const candidate of candidates) subjects.push(await open(candidate));
  await sleep(SETTLE_MS);
  for (const { terminal } of subjects) terminal.stopAnswering();
  for (let round = 0; round < IDLE_ROUNDS; round += 1) {
    for (const subject of subjects) await time(subject, subject.idle);
    await sleep(Math.random() * 2 * PAUSE_MS);
  }
  for (let round = 0; round < FLOOD_ROUNDS; round += 1)
    for (const subject of subjects) await timeFlood(subject);
  for (const { terminal } of subjects) terminal.write('q');
  await Promise.all(subjects.map(({ terminal }) => terminal.ended));
  return subjects.map(summary);
};
