import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bin, programPath } from '../support/programs.js';
import { inFolder } from '../support/wrapped.js';

const isInstalled = ['Xvfb', 'xterm'].every(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0,
);

const COLUMNS = 24;
const ROWS = 9; // of the program

interface Place {
  readonly text: string;
  readonly place: string;
  readonly sums: string;
}

const margins = '\x1b[?69h\x1b[5;10s';
const full = `\x1b[4;1H${'*'.repeat(COLUMNS)}`;
const wide = `\x1b[4;1H${'*'.repeat(2 * COLUMNS + 5)}`;
/** Not from the first two rows: patches 397 to 401 of xterm leave the screen there. */
const moves = [
  '\x1b[1;23Hab\bX',
  '\x1b[6;23Hab\b\bX',
  `${margins}\x1b[5;5H\bX`,
  `${margins}\x1b[5;1H\bX`,
  `${margins}\x1b[5;9Hab\bX`,
  `${margins}\x1b[5;12H\x1b[8DX`,
  '\x1b[5;1H\bX',
  '\x1b[5;24H\bX',
  '\x1b[3;6r\x1b[3;1H\bX',
  '\x1b[3;6r\x1b[8;1H\bX',
  '\x1b[6;3H\x1b[30DX',
  `${margins}\x1b[5;23Habc\b\bX`,
  `${wide}\r\b\bX`,
  `${wide}\x1b[40DX`,
  `${wide}\x1b7\x1b[60D\x1b8X`,
  '\x1b[5;23Hab\x1b[3DX',
  '\x1b[4;8r\x1b[?6h\x1b[3;1H\bX',
  ...['\x1b[K', '\x1b[1J', '\x1b[?2K', '\x1b[3J'].map((erase) => `${full}${erase}X`),
  ...['\x1b[K', '\x1b[1J', '\x1b[?2K', '\x1b[3J'].map((erase) => `${full}${erase}\bX`),
];
const texts = ['\x1b[?45h', '\x1b[?1045h', '\x1b[?45;1045h', '\x1b[?45h\x1b[?7l'].flatMap((mode) =>
  moves.map((move) => mode + move),
);

describe.runIf(isInstalled)('the real xterm (skipped where xterm or Xvfb is not installed)', () => {
  let server: ChildProcess | undefined;
  let display = '';

  beforeAll(async () => {
    server = spawn('Xvfb', ['-displayfd', '3', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    const [number] = (await once(server.stdio[3] as Readable, 'data')) as [Buffer];
    display = `:${number.toString().trim()}`;
  });
  afterAll(() => server?.kill());

  const placesIn = async (folder: string, rows: number, wrapper: readonly string[]): Promise<Place[]> => {
    const file = join(folder, `${rows}.json`);
    const size = ['-geometry', `${COLUMNS}x${rows}`, '-u8', '-fn', 'fixed', '-xrm', '*allowWindowOps: true'];
    const program = [process.execPath, programPath('cursor-places.js'), file, JSON.stringify(texts)];
    const env = { PATH: process.env['PATH'], HOME: folder, DISPLAY: display, LC_ALL: 'C.UTF-8' };
    await once(spawn('xterm', [...size, '-e', ...wrapper, ...program], { env, stdio: 'ignore' }), 'exit');
    return JSON.parse(readFileSync(file, 'utf8')) as Place[];
  };

  it('wraps backwards as without the wrapper', () =>
    inFolder(async (folder) => {
      const [bare, wrapped] = await Promise.all([
        placesIn(folder, ROWS, []),
        placesIn(folder, ROWS + 1, [process.execPath, bin, '--no-tips', '--']),
      ]);
      expect(bare).toHaveLength(texts.length);
      expect(wrapped).toEqual(bare);
    }));
});
