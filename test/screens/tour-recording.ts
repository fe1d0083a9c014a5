// The tour of the demo as it looks in a terminal: recorded from the built program in a real shell, and kept as asciicast v2.
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { makeEmulator, type Emulator } from '../support/emulator.js';
import { publishedBin } from '../support/programs.js';
import { openWindow, rowsOf } from '../support/window.js';
import { inFolder } from '../support/wrapped.js';
import { pieceRows } from './cells.js';
import type { Frame } from './svg.js';

const [COLUMNS, ROWS] = [80, 24];
const COMMAND = 'ctxwrap demo';
const KEY_MS = 70;
const REST_MS = 400; // of the prompt, before and after the command is typed

export interface Recording {
  readonly columns: number;
  readonly rows: number;
  /** milliseconds since the start, and what the terminal got then */
  readonly output: readonly (readonly [number, string])[];
}

/** Runs the tour in a shell, in a home of its own, until its three lines and the shell's prompt are there. */
export const recordTour = async (): Promise<Recording> => {
  const output: [number, string][] = [];
  await inFolder(async (folder) => {
    const programs = join(folder, 'bin');
    mkdirSync(programs);
    symlinkSync(process.execPath, join(programs, 'node'));
    writeFileSync(join(programs, 'ctxwrap'), `#!/bin/sh\nexec node ${publishedBin} "$@"\n`);
    chmodSync(join(programs, 'ctxwrap'), 0o755);
    writeFileSync(join(programs, 'claude'), '#!/bin/sh\n', { mode: 0o755 }); // the last lines name an agent that is there
    const began = performance.now();
    const decoder = new TextDecoder();
    const window = openWindow({
      file: 'bash',
      args: ['--norc', '--noprofile', '-i'],
      cwd: folder,
      env: {
        PATH: `${programs}:/usr/bin:/bin`,
        HOME: folder,
        TERM: 'xterm-256color',
        COLORTERM: 'truecolor',
        LANG: 'C.UTF-8',
        PS1: '$ ',
        SHELL: '/bin/bash',
        INPUTRC: '/dev/null',
        BASH_SILENCE_DEPRECATION_WARNING: '1',
      },
      columns: COLUMNS,
      rows: ROWS,
      onOutput: (bytes) => output.push([performance.now() - began, decoder.decode(bytes, { stream: true })]),
    });
    try {
      await window.until('$');
      await pause(REST_MS);
      for (const key of COMMAND) {
        window.type(key);
        await pause(KEY_MS);
      }
      await pause(REST_MS);
      window.type('\r');
      await window.until(() => isOver(window.emulator), 'the three lines and a prompt');
    } finally {
      window.close();
    }
  });
  return { columns: COLUMNS, rows: ROWS, output };
};

const isOver = (emulator: Emulator): boolean => {
  const rows = rowsOf(emulator);
  const next = rows.findIndex((row) => row.startsWith('Next:'));
  return next >= 0 && rows[next + 3]?.trimEnd() === '$';
};

const headerOf = ({ columns, rows }: Recording): string =>
  JSON.stringify({
    version: 2,
    width: columns,
    height: rows,
    env: { TERM: 'xterm-256color', SHELL: '/bin/bash' },
  });

export const writeRecording = (path: string, recording: Recording): void => {
  const lines = recording.output.map(([ms, text]) => JSON.stringify([Math.round(ms) / 1000, 'o', text]));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${[headerOf(recording), ...lines].join('\n')}\n`);
};

/** Also a packed one; undefined where there is none yet. */
export const readRecording = (path: string): Recording | undefined => {
  let text: string;
  try {
    const bytes = readFileSync(path);
    text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  } catch {
    return undefined;
  }
  const [header = '', ...lines] = text.trimEnd().split('\n');
  const { width, height } = JSON.parse(header) as { width: number; height: number };
  const output = lines.map((line): readonly [number, string] => {
    const [seconds, , bytes] = JSON.parse(line) as [number, string, string];
    return [seconds * 1000, bytes];
  });
  return { columns: width, rows: height, output };
};

/** Calls back with the screen at every tick at which something has been written. */
const replay = async (
  { columns, rows, output }: Recording,
  tickMs: number,
  onTick: (atMs: number, emulator: Emulator) => void,
): Promise<void> => {
  const emulator = makeEmulator(columns, rows);
  let next = 0;
  for (let at = 0; next < output.length; at += tickMs) {
    const first = next;
    while (next < output.length && (output[next]?.[0] ?? 0) <= at) next += 1;
    if (next === first) continue;
    await emulator.write(
      output
        .slice(first, next)
        .map(([, text]) => text)
        .join(''),
    );
    onTick(at, emulator);
  }
};

const FRAME_MS = 100;

export const framesOf = async (recording: Recording): Promise<readonly Frame[]> => {
  const frames: Frame[] = [];
  await replay(recording, FRAME_MS, (atMs, { terminal }) => frames.push({ atMs, rows: pieceRows(terminal) }));
  return frames.map((frame, index) => (index === 0 ? { ...frame, atMs: 0 } : frame));
};

/** What a recording tells, without what depends on the speed of the machine. */
export interface Story {
  /** the different rows below the agent, in order */
  readonly footers: readonly string[];
  /** everything that is on the normal screen in the end */
  readonly text: readonly string[];
  /** the overview, without its chart */
  readonly overview: readonly string[];
}

const SMALLEST_MS = 10;
const FOOTER = /^(?:demo|~?\d+%) /; // in a row with a long message the agent's name is left out

const EARLY = /(?:before your|waiting for the) first turn/; // how long they stand depends on when the first record is read

/** `minMs`: rows that were there for less are left out. */
export const storyOf = async (recording: Recording, minMs = 0): Promise<Story> => {
  const footers: { row: string; atMs: number; ms: number }[] = [];
  let text: readonly string[] = [];
  let overview: readonly string[] = [];
  await replay(recording, SMALLEST_MS, (atMs, emulator) => {
    const isOverview = emulator.terminal.buffer.active.type === 'alternate';
    const rows = rowsOf(emulator);
    const row = timeless(rows.at(-1) ?? '');
    const last = footers.at(-1);
    if (last) last.ms = atMs - last.atMs;
    if (!isOverview && FOOTER.test(row) && !EARLY.test(row) && row !== last?.row)
      footers.push({ row, atMs, ms: 0 });
    if (isOverview) overview = rows.filter((each) => !/[\u2800-\u28ff╌]/.test(each)).map(timeless);
    text = rowsOf(emulator, 'all');
  });
  const kept = footers.filter(({ ms }) => ms >= minMs).map(({ row }) => row);
  return {
    footers: [...new Set(kept)],
    text: text.map((row) => row.trimEnd()).filter((row) => row !== ''),
    overview,
  };
};

/** Without the demo's id, without seconds, without the sizes on the way up, of which a slow machine shows others, and without the hint, which comes when it is known. */
const timeless = (row: string): string =>
  row
    .trim()
    .replaceAll(/\b[\da-f]{8}\b/g, 'ID')
    .replaceAll(/\b\d+ s\b/g, 'N s')
    .replaceAll(/\s+/g, ' ')
    .replace(/ Ctrl-\] overview$/, '')
    .replace(/[▰▱]+ \d+% \d+k\/200k (?=(?:safe|warn)\b)/, '');

export const tourPath = fileURLToPath(new URL('../fixtures/screens/tour.cast', import.meta.url));
