// How much memory a wrapper takes after output, over a long output, and when ten sessions run at once.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from './numbers.js';
import { catOf, getReady, stop, writeOut } from './output.js';
import { processTree, residentMegabytes, sharedMegabytes } from './processes.js';
import { openTerminal } from './terminal.js';
import { takeTurns } from './turns.js';

const REST_MS = 4_000; // after output: garbage is collected
const SESSIONS = 10;
const LOADED_MS = 10_000; // until all of them have loaded Ink

/** Resident megabytes four seconds after the child has written the file, by candidate. */
export const measureResident = async (candidates, { file }) => {
  const { each, results } = takeTurns(candidates);
  await each(async (entry) => {
    entry.terminal = openTerminal(entry.candidate.words(catOf(file, 1)));
    await getReady(entry.terminal);
    await writeOut(entry.terminal);
  });
  await sleep(REST_MS);
  await each(async (entry) => {
    entry.megabytes = residentMegabytes([entry.terminal.pid, ...entry.candidate.helpers()]);
    await entry.terminal.leave(stop);
  });
  return results(({ megabytes }) => ({ megabytes }));
};

/** Resident megabytes at the start, and after each time that the child has written the file, by candidate. */
export const measureGrowth = async (candidates, { file }, times) => {
  const { each, results } = takeTurns(candidates);
  await each(async (entry) => {
    entry.terminal = openTerminal(entry.candidate.words(catOf(file, times)));
    await getReady(entry.terminal);
    entry.samples = [residentMegabytes([entry.terminal.pid])];
    for (let time = 0; time < times; time += 1) {
      await writeOut(entry.terminal);
      entry.samples.push(residentMegabytes([entry.terminal.pid]));
    }
    await entry.terminal.leave(stop);
  });
  return results(({ samples }) => ({ samples }));
};

const child = (file) => ['sh', '-c', 'stty raw -echo; echo $$ >"$0"; printf READY; exec cat', file];

const openSession = async (candidate, file, terminals) => {
  const terminal = openTerminal(candidate.words(child(file)));
  terminals.push(terminal);
  await terminal.until('READY');
  if (!existsSync(file)) throw new Error('crashed: the child has not run');
  return () => processTree(terminal.pid, Number(readFileSync(file, 'latin1')));
};

const measureSessions = async (candidate, folder) => {
  mkdirSync(folder);
  const terminals = [];
  try {
    const sessions = [];
    for (let number = 0; number < SESSIONS; number += 1)
      sessions.push(await openSession(candidate, join(folder, String(number)), terminals));
    await sleep(LOADED_MS);
    return sharedMegabytes(sessions.flatMap((pids) => pids()));
  } finally {
    await Promise.all(terminals.map((terminal) => terminal.kill()));
  }
};

/**
 * Megabytes of ten sessions at rest, without their children: `ten`, in which a page that several processes share counts once; `session`, a
 * tenth of it; `own`, what one has for itself; and `fifty`: what they share, and fifty times what one has for itself.
 */
export const measureTenSessions = async (candidates, folder) => {
  const { each, results } = takeTurns(candidates);
  await each(async (entry) => {
    const { pss, own } = await measureSessions(entry.candidate, join(folder, `sessions of ${entry.name}`));
    entry.sizes = {
      ten: pss,
      session: pss / SESSIONS,
      own: own / SESSIONS,
      fifty: pss - own + (own / SESSIONS) * 50,
    };
  });
  return results(({ sizes }) => sizes);
};
