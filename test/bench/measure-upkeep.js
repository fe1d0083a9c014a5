// What a wrapper costs while nothing happens, over a long output, and under a child that redraws all the time.
import { join } from 'node:path';
import { runOutput } from './measure-throughput.js';
import { median, sleep } from './numbers.js';
import { cpuSeconds, residentMegabytes } from './processes.js';
import { openTerminal, ROWS } from './terminal.js';

const children = join(import.meta.dirname, 'children');
const SETTLE_MS = 3_000;
const REST_MS = 45_000; // before that, the garbage collector still works, and files are looked at more often

const pidsOf = (candidate, terminal) => [terminal.pid, ...candidate.helpers()];

/** Resident megabytes and percent of one core, all candidates idle at the same time. */
export const measureIdle = async (candidates, seconds) => {
  const subjects = [];
  for (const candidate of candidates) {
    const terminal = openTerminal(candidate.words([process.execPath, join(children, 'echo.js')]));
    await terminal.until('READY');
    subjects.push({ candidate, terminal, pids: pidsOf(candidate, terminal) });
  }
  await sleep(REST_MS);
  const before = subjects.map(({ pids }) => cpuSeconds(pids));
  await sleep(seconds * 1000);
  const results = subjects.map(({ candidate, pids }, index) => ({
    name: candidate.name,
    cpuPercent: ((cpuSeconds(pids) - before[index]) / seconds) * 100,
    megabytes: residentMegabytes(pids),
  }));
  for (const { terminal } of subjects) terminal.write('q');
  await Promise.all(subjects.map(({ terminal }) => terminal.ended));
  return results;
};

/** Resident megabytes while the child writes; one sample for each tenth of the output. */
export const measureMemory = async (candidate, { file, bytes, times }) => {
  const samples = [];
  let next = 0;
  await runOutput(candidate, {
    file,
    times,
    onProgress: (done, terminal) => {
      if (done < next) return;
      samples.push(residentMegabytes([terminal.pid]));
      next += (bytes * times) / 10;
    },
  });
  return samples;
};

/** Resident megabytes when the child has written so many bytes, the median of three sessions, by candidate. */
export const measureResident = async (candidates, { file, bytes, after }) => {
  const samples = new Map(candidates.map(({ name }) => [name, []]));
  for (let round = 0; round < 3; round += 1)
    for (const candidate of candidates) {
      let found;
      const onProgress = (done, terminal) => {
        if (done >= after) found ??= residentMegabytes([terminal.pid, ...candidate.helpers()]);
      };
      await runOutput(candidate, { file, times: Math.ceil((after * 1.1) / bytes), onProgress });
      samples.get(candidate.name).push(found);
    }
  return candidates.map(({ name }) => ({ name, megabytes: median(samples.get(name)) }));
};

const countIn = async (candidate, how, seconds) => {
  const terminal = openTerminal(candidate.words([process.execPath, join(children, 'redraw.js'), how]));
  await terminal.until('READY');
  await sleep(SETTLE_MS);
  let text = '';
  terminal.listen((bytes) => (text += bytes.toString('latin1')));
  await sleep(seconds * 1000);
  terminal.write('q');
  await terminal.ended;
  // a paint goes to the row with attributes and character set off; only erasing the row leaves the set alone
  return (text.split(`\x1b[${ROWS};1H\x1b[0m\x1b(B`).length - 1) / seconds;
};

/** Paints of the footer row a second, under a child that draws over its screen and one that clears it each time. */
export const countPaints = async (candidate, seconds) => ({
  over: await countIn(candidate, 'over', seconds),
  clear: await countIn(candidate, 'clear', seconds),
});
