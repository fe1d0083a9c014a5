// What the kernel says about processes. Linux only: elsewhere the numbers are NaN, and their cells stay empty.
import { readdirSync, readFileSync } from 'node:fs';

const read = (path) => {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    return '';
  }
};

const list = (path) => {
  try {
    return readdirSync(`/proc/${path}`);
  } catch {
    return [];
  }
};

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const kilobytes = (text, field) => Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? NaN);

/** Megabytes that are resident in all these processes. */
export const residentMegabytes = (pids) =>
  sum(pids.map((pid) => kilobytes(read(`${pid}/status`), 'VmRSS') / 1024));

/** The most megabytes that have been resident in this process. */
export const peakMegabytes = (pid) => kilobytes(read(`${pid}/status`), 'VmHWM') / 1024;

/** Megabytes of these processes: `pss`, where a page that several processes share counts in parts, and `own`, which no other one has. */
export const sharedMegabytes = (pids) => {
  const texts = pids.map((pid) => read(`${pid}/smaps_rollup`));
  const total = (field) => sum(texts.map((text) => kilobytes(text, field))) / 1024;
  return { pss: total('Pss'), own: total('Private_Clean') + total('Private_Dirty') };
};

const threadSeconds = (pid) => {
  const threads = list(`${pid}/task`);
  if (threads.length === 0) return NaN;
  return sum(threads.map((thread) => Number(read(`${pid}/task/${thread}/schedstat`).split(' ')[0]))) / 1e9;
};

/** Seconds of processor time, to the microsecond, that the threads which these processes have now have used. */
export const cpuSeconds = (pids) => sum(pids.map(threadSeconds));

/** This process and all that it has started, but not what `except` is and has started. */
export const processTree = (pid, except) => {
  if (pid === except) return [];
  const children = read(`${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap((child) => processTree(child, except))];
};
