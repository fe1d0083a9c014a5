import { spawnSync } from 'node:child_process';
import { readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeTerminal, makeEmulator } from '../support/emulator.js';
import { programPath, publishedBin } from '../support/programs.js';
import { LINE_BYTES, linesTo, makeTorrent, type Torrent } from '../support/torrent.js';
import {
  linesIn,
  openPausableTerminal,
  processGone,
  type PausableTerminal,
} from '../support/pausable-terminal.js';
import { openWindow, type Window } from '../support/window.js';
import { FOOTER, footerShown, inFolder, lastRow, plainEnv, withWrapped } from '../support/wrapped.js';

const MEGABYTE = 1024 * 1024;
const wrapped = (command: readonly string[]): string[] => [process.execPath, publishedBin, '--', ...command];

/** A command under the built program, in a terminal that can stop reading. */
const withValve = (
  command: (torrent: Torrent, folder: string) => readonly string[],
  act: (valve: PausableTerminal, torrent: Torrent, folder: string) => Promise<void>,
  launcher: readonly string[] = [],
): Promise<void> =>
  inFolder(async (folder) => {
    const torrent = makeTorrent(folder);
    const env = { ...plainEnv(folder), ...torrent.env };
    const whole = [...launcher, ...wrapped(command(torrent, folder))];
    const valve = openPausableTerminal({ command: whole, cwd: folder, env });
    try {
      await act(valve, torrent, folder);
    } finally {
      torrent.close();
      valve.close();
    }
  });

const keyArrives = async (valve: PausableTerminal, torrent: Torrent): Promise<void> => {
  const { length } = torrent.received();
  valve.type('k');
  await torrent.until(() => torrent.received().length > length);
};

/** Writes to the terminal that does not read, until several keys in a row leave the child's output position unchanged. */
const pourUntilStuck = async (valve: PausableTerminal, torrent: Torrent): Promise<void> => {
  torrent.order({ do: 'pour' });
  await torrent.until(() => torrent.lines() > 0);
  for (let still = 0, lines = 0; still < 50; still += 1) {
    await keyArrives(valve, torrent);
    if (torrent.lines() > lines) still = 0;
    lines = torrent.lines();
  }
};

const torrentAlone = ({ command }: Torrent): readonly string[] => command;
const running = (torrent: Torrent): Promise<void> => torrent.until(() => torrent.size() !== undefined);

/** Resolves when a file of this name is put into the folder from now on. */
const fileMade = (folder: string, name: string): Promise<void> =>
  new Promise((resolve) => {
    const watching = watch(folder, (_, changed) => {
      if (changed !== name) return;
      watching.close();
      resolve();
    });
  });

const NODE_PTY_GIVES_UP_MS = 200; // after the child's exit the wrapper closes a terminal that does not read

/** Keys are forwarded while the terminal does not read, and the session can end. */
const endWhileStuck = async (valve: PausableTerminal, torrent: Torrent) => {
  await running(torrent);
  valve.stopReading();
  await pourUntilStuck(valve, torrent);
  expect(torrent.lines() * LINE_BYTES).toBeLessThan(MEGABYTE);
  process.kill(valve.pid(), 'SIGTERM');
  await processGone(valve.pid());
  valve.readOn();
  return valve.ended();
};

// As after `sudo -u`: the descriptors are open, but the terminal cannot be opened by its name. Root can, unless it drops that right.
const isRoot = process.getuid?.() === 0;
const canGiveUp = isRoot ? spawnSync('setpriv', ['--version']).status === 0 : true;
const giveUp = isRoot ? 'setpriv --bounding-set=-dac_override,-dac_read_search' : '';
const anothers = ['sh', '-c', `chmod 000 "$(tty)"; exec ${giveUp} "$@"`, 'sh'];

describe.concurrent('a terminal that has stopped reading', () => {
  it('delays neither the keys nor the end, and no more than a megabyte is buffered', async () => {
    await withValve(torrentAlone, async (valve, torrent) => {
      expect(await endWhileStuck(valve, torrent)).toEqual({ code: null, signal: 'SIGTERM' });
    });
  });

  it.runIf(canGiveUp)(
    'delays nothing either where it belongs to another user (without setpriv root cannot try it)',
    async () => {
      const end = async (valve: PausableTerminal, torrent: Torrent): Promise<void> =>
        expect(await endWhileStuck(valve, torrent)).toEqual({ code: null, signal: 'SIGTERM' });
      await withValve(torrentAlone, end, anothers);
    },
  );

  it('gets everything when it continues to read, also from a child that has ended meanwhile', async () => {
    const count = Math.ceil(85_000 / LINE_BYTES); // more than the wrapper buffers (64 KB); each PTY on the way holds another 19 KB
    const script = `'${process.execPath}' '${programPath('torrent.js')}' ${count}; echo $$ >pid.new; mv pid.new pid; exit 7`;
    const command = (): readonly string[] => ['sh', '-c', `stty -opost; read go; ${script}`];
    await withValve(command, async (valve, _torrent, folder) => {
      await valve.started();
      valve.stopReading();
      const hasWritten = fileMade(folder, 'pid');
      valve.type('\r');
      await hasWritten;
      await processGone(Number(readFileSync(join(folder, 'pid'), 'latin1')));
      await pause(2 * NODE_PTY_GIVES_UP_MS);
      valve.readOn();
      expect(await valve.ended()).toEqual({ code: 7, signal: null });
      expect(linesIn(valve).startsWith(linesTo(count).toString())).toBe(true);
    });
  });
});

// one after the other: each of these loads the machine on its own
describe('a terminal that reads slowly', () => {
  it('gets every line once and in order, while little is buffered and keys are forwarded', async () => {
    const count = Math.ceil((10 * MEGABYTE) / LINE_BYTES);
    await withValve(torrentAlone, async (valve, torrent) => {
      let seen = 0;
      let waiting = 0;
      let keys = 0;
      await running(torrent);
      valve.onBytes((bytes) => {
        seen += bytes.length;
        waiting = Math.max(waiting, torrent.lines() * LINE_BYTES - seen);
        if (seen > (keys + 1) * MEGABYTE) valve.type(`${(keys += 1) % 10}`);
        valve.stopReading();
        setImmediate(valve.readOn);
      });
      torrent.order({ do: 'pour', lines: count });
      await torrent.until(() => torrent.lines() === count && torrent.received().length >= keys);
      torrent.order({ do: 'exit', code: 0 });
      expect(await valve.ended()).toEqual({ code: 0, signal: null });
      expect(linesIn(valve).startsWith(linesTo(count).toString())).toBe(true);
      expect(torrent.received()).toMatch(/^12345678/);
      expect(waiting).toBeLessThan(MEGABYTE);
    });
  });
});

describe.concurrent('a child that closes its output early', () => {
  it('still gives its exit status', async () => {
    const script = 'exec >&- 2>&- <&-; sleep 0.5; exit 5';
    await withValve(
      () => ['sh', '-c', script],
      async (valve) => expect(await valve.ended()).toEqual({ code: 5, signal: null }),
    );
  });
});

/** A flood of output under the built program in a drawn window. */
const withTorrent = (act: (window: Window, torrent: Torrent) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    const torrent = makeTorrent(folder);
    const [file = '', ...args] = wrapped(torrent.command);
    const env = { ...plainEnv(folder), ...torrent.env };
    const window = openWindow({ file, args, cwd: folder, env, columns: 80, rows: 24 });
    try {
      await footerShown(window);
      await act(window, torrent);
    } finally {
      torrent.close();
      window.close();
    }
  });

const painted = (rows: number): string[] =>
  Array.from({ length: rows }, (_, row) => `row ${row + 1} of ${rows}`);

const fits = (torrent: Torrent, rows: number, columns: number) => (): boolean =>
  torrent.size()?.[0] === rows && torrent.size()?.[1] === columns;

describe('a window whose size changes', () => {
  it('a hundred times under a flood ends with one footer below what the child painted last', async () => {
    await withTorrent(async (window, torrent) => {
      torrent.order({ do: 'pour' });
      const size = fc.tuple(fc.integer({ min: 20, max: 120 }), fc.integer({ min: 8, max: 40 }));
      for (const [columns, rows] of fc.sample(size, 100)) {
        window.resize(columns, rows);
        await window.emulator.write(''); // everything received so far is drawn
      }
      window.resize(70, 20);
      await torrent.until(fits(torrent, 19, 70));
      const lines = torrent.lines();
      await torrent.until(() => torrent.lines() > lines); // the flood has gone on
      torrent.order({ do: 'stopAndPaint' });
      await window.until('row 19 of 19');
      await footerShown(window);
      expect(window.rows().slice(0, -1)).toEqual(painted(19));
      expect(lastRow(window)).toMatch(FOOTER);
    });
  });

  it('leaves every row to the child where eight are not there', async () => {
    await withTorrent(async (window, torrent) => {
      for (const rows of [8, 7, 6, 5, 4, 3, 2, 1, 2, 7, 8, 1, 8]) {
        const childRows = rows < 8 ? rows : rows - 1;
        window.resize(80, rows);
        await torrent.until(fits(torrent, childRows, 80));
        torrent.order({ do: 'paint' });
        await window.until(`row ${childRows} of ${childRows}`);
        if (rows >= 8) await footerShown(window);
        expect(window.rows().slice(0, childRows)).toEqual(painted(childRows));
      }
    });
  });
});

const sequences = [
  '\x1b[2;5r\x1b[5;1Hab\ncd\ne\x1b[r',
  '\x1b[38;2;1;200;3mcolour\x1b[0m',
  '\x1b]0;a title\x07\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\',
  '\x1bP$qm\x1b\\\x1b[?1049h\x1b[99;99Hxy\x1b[?1049l',
  '漢字e\u0301🙂\x1b[999;1H\x1bD\x1b7\x1b[H\x1b8z',
];

describe.concurrent('an escape sequence cut in two', () => {
  it.each(sequences)('at any byte has the effect of the whole sequence: %j', async (sequence) => {
    const bytes = Buffer.from(sequence);
    const plain = makeEmulator(60, 15);
    await withWrapped({ columns: 60, rows: 16 }, async ({ player, window, started, caughtUp }) => {
      await started();
      for (let cut = 1; cut < bytes.length; cut += 1) {
        await plain.write(Buffer.from(sequence));
        await player.write(bytes.subarray(0, cut));
        const { length } = player.received();
        window.type('k'); // so that the first part passes the wrapper on its own
        await player.until(() => player.received().length > length);
        await player.write(bytes.subarray(cut));
      }
      await caughtUp();
      await footerShown(window);
      expect(describeTerminal(window.emulator.terminal, 1)).toEqual(describeTerminal(plain.terminal));
    });
  });
});
