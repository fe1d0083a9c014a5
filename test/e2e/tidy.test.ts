import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { casts } from '../support/casts.js';
import { describeRows, makeEmulator } from '../support/emulator.js';
import { makeFault, type Fault } from '../support/fault.js';
import { watchLeftovers } from '../support/leftovers.js';
import { bin } from '../support/programs.js';
import { makeScriptedChild } from '../support/scripted-child.js';
import { openWindow } from '../support/window.js';
import {
  footerShown,
  inFolder,
  plainEnv,
  withWrapped,
  type Ending,
  type Wrapped,
} from '../support/wrapped.js';

const [COLUMNS, ROWS] = [80, 24];
const OLD = Array.from({ length: 60 }, (_, index) => `old line ${index}`);

/** Every mode that a program can turn on and that must not stay on, and an incomplete sequence at the end. */
const everyMode = (buffer: string): string =>
  [
    'the first words\r\n\x1b[>1u\x1b]0;its title\x07\x1b]8;;http://example.org\x07a link',
    buffer,
    '\x1b[>5u\x1b[=3;1u\x1b[>4;2m\x1b[5 q\x1b=\x1b[?1h\x1b[4h\x1b[20h\x1b[?5h\x1b[?7l\x1b[?25l',
    ...[9, 1000, 1002, 1003, 1005, 1006, 1015, 1016, 1004, 2004, 2031, 2048, 1007].map(
      (mode) => `\x1b[?${mode}h`,
    ),
    '\x1b]12;red\x07\x1b[31;44m\x1b(0\x0e\x1b[3;7r\x1b[?6h\x1b[2;2Hinside\r\n\n\n\n\n\x1b[?2026hlast',
    '\x1b]52;c;aGFsZg',
  ].join('');

interface Point {
  readonly at: string;
  readonly output: Uint8Array;
  readonly columns: number;
  readonly rows: number;
}

/** Random places in some recordings, the same ones in each run. */
const somewhere: readonly Point[] = fc
  .sample(fc.tuple(fc.constantFrom(...casts()), fc.double({ min: 0.05, max: 1, noNaN: true })), {
    numRuns: 3,
    seed: 20,
  })
  .map(([{ name, columns, rows, output }, share]) => {
    const bytes = Math.ceil(output.length * share);
    return { at: `at byte ${bytes} of ${name}`, columns, rows, output: output.subarray(0, bytes) };
  });

const points: readonly Point[] = [
  { at: 'with every mode on', columns: COLUMNS, rows: ROWS, output: Buffer.from(everyMode('')) },
  {
    at: 'with every mode on in the alternate screen',
    columns: COLUMNS,
    rows: ROWS,
    output: Buffer.from(everyMode('\x1b[?1049h\x1b[2J')),
  },
  ...somewhere,
];

const died = (signal: NodeJS.Signals): Ending => ({ code: null, signal });
const exited = (code: number): Ending => ({ code, signal: null });
const tell = (signal: NodeJS.Signals) => (wrapped: Wrapped) => void process.kill(wrapped.pid(), signal);

const endings: readonly {
  readonly what: string;
  readonly ending: Ending;
  readonly end: (wrapped: Wrapped, fault: Fault) => void | Promise<void>;
}[] = [
  { what: 'the child exits with 0', ending: exited(0), end: ({ player }) => player.exit(0) },
  { what: 'the child exits with 3', ending: exited(3), end: ({ player }) => player.exit(3) },
  { what: 'the child dies of TERM', ending: died('SIGTERM'), end: ({ player }) => player.kill('SIGTERM') },
  { what: 'the child dies of KILL', ending: died('SIGKILL'), end: ({ player }) => player.kill('SIGKILL') },
  { what: 'the child dies of SEGV', ending: died('SIGSEGV'), end: ({ player }) => player.kill('SIGSEGV') },
  { what: 'the wrapper gets HUP', ending: died('SIGHUP'), end: tell('SIGHUP') },
  { what: 'the wrapper gets TERM', ending: died('SIGTERM'), end: tell('SIGTERM') },
  { what: 'the wrapper gets INT', ending: died('SIGINT'), end: tell('SIGINT') },
  { what: 'the wrapper gets QUIT', ending: died('SIGQUIT'), end: tell('SIGQUIT') },
  {
    what: 'code of ours throws',
    ending: exited(3),
    end: async ({ player }, fault) => {
      await fault.make('throw');
      player.exit(3);
    },
  },
  {
    what: 'the filter throws',
    ending: exited(3),
    end: async ({ player }, fault) => {
      await fault.make('filter');
      await player.write('\x1b[1m');
      player.exit(3);
    },
  },
];

const parentOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
};

/** An environment in which `sleep` only notes for how long. */
const withSleep = (folder: string): { readonly PATH: string } => {
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'sleep'), `#!/bin/sh\necho "$1" >>'${folder}/slept'\n`, { mode: 0o755 });
  return { PATH: `${programs}:${process.env['PATH']}` };
};

const mainRows = ({ terminal }: { terminal: Wrapped['window']['emulator']['terminal'] }): string[] => {
  const { normal } = terminal.buffer;
  const rows = Array.from(
    { length: normal.baseY + terminal.rows },
    (_, row) => normal.getLine(row)?.translateToString(true) ?? '',
  );
  return rows.join('\n').trimEnd().split('\n');
};

const isCursorHidden = (terminal: object): boolean =>
  (terminal as { _core: { coreService: { isCursorHidden: boolean } } })._core.coreService.isCursorHidden;

/** The terminal state that a shell takes over: everything but the text on the screen. */
const stateOf = ({ window }: Wrapped, leftovers: () => readonly string[]) => {
  const { terminal } = window.emulator;
  return {
    leftovers: leftovers(),
    buffer: terminal.buffer.active.type,
    modes: { ...terminal.modes },
    cursorHidden: isCursorHidden(terminal),
    footers: window.rows('all').filter((row) => row.startsWith(' generic ')),
  };
};

const fresh = (columns: number, rows: number) => ({
  leftovers: [],
  buffer: 'normal',
  modes: { ...makeEmulator(columns, rows).terminal.modes },
  cursorHidden: false,
  footers: [],
});

const cursorRow = ({ window }: Wrapped): number => window.emulator.terminal.buffer.active.cursorY;

const lastTextRow = ({ window }: Wrapped): number => window.rows().findLastIndex((row) => row.trim() !== '');

/** Prints more lines than the screen has: every row must scroll, and show unstyled letters. */
const expectWholeScreenScrolls = async ({ window }: Wrapped, rows: number): Promise<void> => {
  const lines = Array.from({ length: rows + 1 }, (_, index) => `probe ${index} qqq`);
  await window.emulator.write(lines.map((line) => `\r\n${line}`).join(''));
  expect(describeRows(window.emulator.terminal).slice(-rows)).toEqual(lines.slice(1));
};

/** Plays the recording up to this point in a window with old lines, and in a terminal of the child's size without the wrapper. */
const upTo = (
  { output, columns, rows }: Point,
  env: Readonly<Record<string, string>>,
  act: (wrapped: Wrapped, rows: string[], leftovers: () => readonly string[]) => Promise<void>,
): Promise<void> =>
  withWrapped({ columns, rows: rows + 1, env, before: OLD.join('\\n') + '\\n' }, async (wrapped) => {
    const plain = makeEmulator(columns, rows);
    await plain.write(`${OLD.join('\r\n')}\r\n`);
    await plain.write(output);
    const leftovers = watchLeftovers(wrapped.window.emulator.terminal);
    await wrapped.started();
    await wrapped.player.write(output, [4096]);
    await wrapped.passed(output);
    const answers = plain.answers().length; // these answers would otherwise be typed into the shell, as without the wrapper
    await wrapped.player.until(() => wrapped.player.received().length >= answers);
    await act(wrapped, mainRows(plain), leftovers);
  });

describe.concurrent('the terminal is as the shell needs it', () => {
  for (const point of points)
    it.each(endings)(`when $what ${point.at}`, async ({ what, ending, end }) => {
      await inFolder(async (folder) => {
        const fault = makeFault(folder);
        const isFault = what.endsWith('throws');
        await upTo(point, isFault ? fault.env : {}, async (wrapped, rows, leftovers) => {
          await end(wrapped, fault);
          expect(await wrapped.ended()).toEqual(ending);
          expect(stateOf(wrapped, leftovers)).toEqual(fresh(point.columns, point.rows + 1));
          expect(mainRows(wrapped.window.emulator)).toEqual(rows);
          expect(cursorRow(wrapped)).toBeGreaterThan(lastTextRow(wrapped));
          expect(wrapped.window.termios()).toBe(wrapped.termios);
          await expectWholeScreenScrolls(wrapped, point.rows + 1);
        });
        fault.close();
      });
    });

  it.each(points)('when the wrapper is killed $at', async (point) => {
    await upTo(point, {}, async (wrapped, rows, leftovers) => {
      const { window } = wrapped;
      window.type('k'); // when the child has it, the wrapper has written all output, and the stty process has ended
      await wrapped.player.until(() => wrapped.player.received().endsWith('k'));
      process.kill(wrapped.pid(), 'SIGKILL');
      expect(await wrapped.ended()).toEqual(died('SIGKILL'));
      await wrapped.player.ended();
      const state = fresh(point.columns, point.rows + 1);
      const isTidy = (): boolean => isDeepStrictEqual(stateOf(wrapped, leftovers), state);
      await window.until(() => isTidy() && cursorRow(wrapped) > lastTextRow(wrapped), 'a tidy terminal');
      await vi.waitFor(() => expect(window.termios()).toBe(wrapped.termios), 30_000); // the stty process's last output
      const kept = mainRows(window.emulator).filter((row) => row.startsWith('old line'));
      expect(kept).toEqual(expect.arrayContaining(rows.filter((row) => row.startsWith('old line'))));
      expect(new Set(kept).size).toBe(kept.length);
      await expectWholeScreenScrolls(wrapped, point.rows + 1);
    });
  });

  it('at once when the wrapper is killed under a parent without job control, which never restores it', async () => {
    await inFolder(async (folder) => {
      const env = withSleep(folder);
      await withWrapped({ rows: ROWS, env }, async (wrapped) => {
        await wrapped.started();
        process.kill(wrapped.pid(), 'SIGKILL');
        await wrapped.ended();
        await vi.waitFor(() => expect(wrapped.window.termios()).toBe(wrapped.termios), 30_000);
        expect(existsSync(join(folder, 'slept'))).toBe(false);
      });
    });
  });

  it('soon when the wrapper is killed under a shell with job control, which may restore it first', async () => {
    await inFolder(async (folder) => {
      const player = makeScriptedChild(folder);
      const command = [process.execPath, bin, '--', ...player.command].map((word) => `'${word}'`).join(' ');
      const window = openWindow({
        file: 'sh',
        args: ['-mc', `stty -g >termios; ${command}; read line`],
        cwd: folder,
        env: { ...plainEnv(folder), ...player.env, ...withSleep(folder) },
        columns: COLUMNS,
        rows: ROWS,
      });
      const { pid } = await player.ready();
      await footerShown(window);
      process.kill(parentOf(pid), 'SIGKILL');
      const before = readFileSync(join(folder, 'termios'), 'utf8').trim();
      await vi.waitFor(() => expect(window.termios()).toBe(before), 30_000);
      expect(readFileSync(join(folder, 'slept'), 'utf8')).toBe('0.03\n');
      window.close();
      player.close();
    });
  });

  it('with the cursor where a child that cleaned up has left it', async () => {
    const output = Buffer.from('\x1b[?2004h\x1b[?25lone\r\ntwo\x1b[?25h\x1b[?2004l\r\nthree \x1b[A');
    await upTo({ at: '', output, columns: COLUMNS, rows: ROWS }, {}, async (wrapped, rows) => {
      const { terminal } = wrapped.window.emulator;
      wrapped.player.exit(0);
      await wrapped.ended();
      expect(mainRows(wrapped.window.emulator)).toEqual(rows);
      expect([cursorRow(wrapped), terminal.buffer.active.cursorX]).toEqual([ROWS - 2, 6]);
    });
  });

  it('below the last row of a child that had all rows and died', async () => {
    await withWrapped({ options: ['--no-footer'], rows: ROWS }, async (wrapped) => {
      const lines = Array.from({ length: ROWS }, (_, row) => `line ${row}`);
      const { player } = wrapped;
      await player.ready();
      await player.write('\x1b[6n');
      await player.until(() => player.received().endsWith('R')); // behind the answer to the wrapper's own question
      await player.write(`\x1b[?2004h\x1b[H${lines.join('\r\n')}\x1b[H`);
      player.kill('SIGTERM');
      await wrapped.ended();
      expect(mainRows(wrapped.window.emulator)).toEqual(lines);
      expect(cursorRow(wrapped)).toBeGreaterThan(lastTextRow(wrapped));
    });
  });
});
