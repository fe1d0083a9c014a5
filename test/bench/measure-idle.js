// What a wrapper costs while nothing happens, and what it paints under a child that redraws all the time.
import { join } from 'node:path';
import { echo, quit } from './echo.js';
import { sleep } from './numbers.js';
import { cpuSeconds, residentMegabytes } from './processes.js';
import { openTerminal, ROWS } from './terminal.js';
import { takeTurns } from './turns.js';

const BEFORE_INK_MS = 1_500; // after two quiet seconds it is loaded
const REST_MS = 22_000; // before that, the garbage collector still works, and files are looked at more often
const SPAN_MS = 25_000;

const megabytesOf = ({ pids }) => residentMegabytes(pids);

/** Resident megabytes before and with Ink, and percent of one core from 22 s after the start on, all candidates at the same time. */
export const measureIdle = async (candidates) => {
  const { each, results } = takeTurns(candidates);
  const early = [];
  await each(async (entry) => {
    entry.terminal = openTerminal(entry.candidate.words(echo));
    await entry.terminal.until('READY');
    entry.pids = [entry.terminal.pid, ...entry.candidate.helpers()];
    early.push(sleep(BEFORE_INK_MS).then(() => (entry.beforeInk = megabytesOf(entry))));
  });
  await Promise.all(early);
  await sleep(REST_MS);
  await each((entry) => Object.assign(entry, { cpu: cpuSeconds(entry.pids), at: performance.now() }));
  await sleep(SPAN_MS);
  await each(async (entry) => {
    const seconds = (performance.now() - entry.at) / 1000;
    entry.cpuPercent = ((cpuSeconds(entry.pids) - entry.cpu) / seconds) * 100;
    entry.megabytes = megabytesOf(entry);
    await entry.terminal.leave(quit);
  });
  return results(({ cpuPercent, megabytes, beforeInk }) => ({ cpuPercent, megabytes, beforeInk }));
};

const redraw = (how) => [process.execPath, join(import.meta.dirname, 'children/redraw.js'), how];
const PAINTS_AFTER_MS = 3_000;
const PAINTS_SPAN_MS = 5_000;

const countIn = async (entry, how) => {
  const terminal = openTerminal(entry.candidate.words(redraw(how)));
  entry.terminal = terminal;
  await terminal.until('READY');
  await sleep(PAINTS_AFTER_MS);
  let text = '';
  terminal.listen((bytes) => (text += bytes.toString('latin1')));
  await sleep(PAINTS_SPAN_MS);
  await terminal.leave(quit);
  // a paint goes to the row with attributes and character set off; only erasing the row leaves the set alone
  return (text.split(`\x1b[${ROWS};1H\x1b[0m\x1b(B`).length - 1) / (PAINTS_SPAN_MS / 1000);
};

/** Paints of the footer row a second, under a child that draws over its screen and one that clears it each time. */
export const countPaints = async (candidates) => {
  const { each, results } = takeTurns(candidates);
  await each(async (entry) => {
    entry.paints = { over: await countIn(entry, 'over'), clear: await countIn(entry, 'clear') };
  });
  return results(({ paints }) => paints);
};
