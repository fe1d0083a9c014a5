import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { casts } from '../support/casts.js';
import { describeTerminal, makeEmulator } from '../support/emulator.js';
import { watchLeftovers } from '../support/leftovers.js';
import { buildWithOverview } from '../support/changed-program.js';
import { programPath } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { footerShown, inFolder, plainEnv, withWrapped, type Wrapped } from '../support/wrapped.js';

const [COLUMNS, ROWS] = [80, 24];
const HOTKEY = '\x1d';
const MEGABYTE = 1024 * 1024;

let folder: string;
let program: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-overview-'));
  program = await buildWithOverview(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hasOverview = (window: Window): boolean => {
  const { cols, rows } = window.emulator.terminal;
  return window.rows().every((row, index) => row.startsWith(`overview ${cols}x${rows} row ${index}`));
};

const open = async ({ window }: Wrapped): Promise<void> => {
  window.type(HOTKEY);
  await window.until(() => hasOverview(window), 'the overview');
};

const close = async ({ window }: Wrapped): Promise<void> => {
  window.type('q');
  await window.until(() => !window.rows().some((row) => row.startsWith('overview ')), 'the child’s screen');
};

const expectSame = async (wrapped: Wrapped, plain: ReturnType<typeof makeEmulator>): Promise<void> => {
  await wrapped.caughtUp();
  await footerShown(wrapped.window);
  expect(describeTerminal(wrapped.window.emulator.terminal, 1)).toEqual(describeTerminal(plain.terminal));
};

const SOME = 12; // of the recordings; test/main-thread/overview-recordings plays all of them without processes
const PARTS = 11;
const recordings = casts().filter((_, index) => index % SOME === 0);

describe.concurrent('under the built program', () => {
  it.each(recordings)('the recording $name is the same when an overview comes and goes', async (cast) => {
    const { columns, rows, output } = cast;
    const plain = makeEmulator(columns, rows);
    await plain.write(output);
    await withWrapped({ program, columns, rows: rows + 1 }, async (wrapped) => {
      const { player, window } = wrapped;
      await wrapped.started();
      const part = Math.ceil(output.length / PARTS);
      for (let turn = 0; turn < PARTS; turn += 1) {
        await player.write(output.subarray(turn * part, (turn + 1) * part), [4096]);
        window.type(turn % 2 === 0 ? HOTKEY : 'q');
      }
      window.type('q');
      await expectSame(wrapped, plain);
      const answers = (): string => player.received().replaceAll(/[q\x1d]/g, ''); // keys pressed where no overview opened
      await player.until(() => answers().length >= plain.answers().length);
      expect(answers()).toBe(plain.answers());
    });
  });

  it('keys go to the overview until it is closed, and to the child from there on', async () => {
    await withWrapped({ program, columns: COLUMNS, rows: ROWS }, async (wrapped) => {
      const { window, player } = wrapped;
      await wrapped.started();
      window.type('before');
      await open(wrapped);
      for (const keys of ['abc\r', '\x03\x1a', '\x1b[200~pasted q\r\x1b[201~', '\x1b[A']) window.type(keys);
      expect(hasOverview(window)).toBe(true);
      window.type('qafter');
      await player.until(() => player.received().endsWith('after'));
      expect(player.received()).toBe('beforeafter');
    });
  });

  it.each([
    { where: 'the main screen', before: 'hello\r\n' },
    { where: 'the alternate screen', before: '\x1b[?1049h\x1b[5;5Hhello' },
  ])(
    'three megabytes written over $where while it is open are there when it is closed',
    async ({ before }) => {
      const output = Array.from(
        { length: (3 * MEGABYTE) / 64 },
        (_, line) => `${line} ${'.'.repeat(50)}\r\n`,
      ).join('');
      const plain = makeEmulator(COLUMNS, ROWS - 1);
      await plain.write(before + output);
      await withWrapped({ program, columns: COLUMNS, rows: ROWS }, async (wrapped) => {
        await wrapped.started();
        await wrapped.player.write(before);
        await wrapped.caughtUp();
        await open(wrapped);
        await wrapped.player.write(output);
        expect(hasOverview(wrapped.window)).toBe(true);
        await close(wrapped);
        await expectSame(wrapped, plain);
      });
    },
  );

  it('comes again in the new size when the window is resized, and stays away when it is too small', async () => {
    await withWrapped({ program, columns: COLUMNS, rows: ROWS }, async (wrapped) => {
      const { window, player } = wrapped;
      await wrapped.started();
      await player.write('hello');
      await open(wrapped);
      window.resize(100, 30);
      await window.until(() => hasOverview(window), 'the overview in the new size');
      await player.until(() => isDeepStrictEqual(player.size(), [29, 100]));
      window.resize(39, 30);
      await player.until(() => isDeepStrictEqual(player.size(), [29, 39]));
      await footerShown(window);
      expect(window.rows()[0]).toMatch(/^hello *$/);
      window.type('q');
      await player.until(() => player.received() === 'q');
    });
  });
});

const isCursorHidden = (terminal: object): boolean =>
  (terminal as { _core: { coreService: { isCursorHidden: boolean } } })._core.coreService.isCursorHidden;

const tidyState = ({ window }: Wrapped, leftovers: () => readonly string[]) => ({
  leftovers: leftovers(),
  buffer: window.emulator.terminal.buffer.active.type,
  modes: { ...window.emulator.terminal.modes },
  cursorHidden: isCursorHidden(window.emulator.terminal),
  ours: window.rows('all').filter((row) => /^(?: generic |overview )/.test(row)),
});

const tidy = {
  leftovers: [],
  buffer: 'normal',
  modes: { ...makeEmulator(COLUMNS, ROWS).terminal.modes },
  cursorHidden: false,
  ours: [],
};

const places = [
  { where: 'the main screen', before: 'its first words\r\n\x1b[?2004h\x1b[?25l\x1b[>1u' },
  { where: 'the alternate screen', before: 'its first words\r\n\x1b[?1049h\x1b[?1003h\x1b[?1006h\x1b[?25l' },
];

const ways: readonly { what: string; end: (wrapped: Wrapped) => void }[] = [
  { what: 'the child exits', end: ({ player }) => player.exit(3) },
  { what: 'the child is killed', end: ({ player }) => player.kill('SIGKILL') },
  { what: 'the wrapper gets TERM', end: ({ pid }) => void process.kill(pid(), 'SIGTERM') },
  { what: 'the wrapper gets HUP', end: ({ pid }) => void process.kill(pid(), 'SIGHUP') },
  { what: 'the wrapper is killed', end: ({ pid }) => void process.kill(pid(), 'SIGKILL') },
];

describe.concurrent.each(places)('with the overview open over $where', ({ before }) => {
  it.each(ways)('the terminal is as the shell needs it when $what', async ({ end }) => {
    await withWrapped({ program, columns: COLUMNS, rows: ROWS, before: 'old line\\n' }, async (wrapped) => {
      const { window, player } = wrapped;
      const leftovers = watchLeftovers(window.emulator.terminal);
      await wrapped.started();
      await player.write(before);
      await wrapped.caughtUp();
      await open(wrapped);
      await player.write('\x1b[?1004h\x1b[?1049hmeanwhile');
      end(wrapped);
      await wrapped.ended();
      await window.until(() => isDeepStrictEqual(tidyState(wrapped, leftovers), tidy), 'a tidy terminal');
      expect(
        window
          .rows('all')
          .slice(0, 2)
          .map((row) => row.trim()),
      ).toEqual(['old line', 'its first words']);
      await vi.waitFor(() => expect(window.termios()).toBe(wrapped.termios), 30_000); // the stty process's last output
    });
  });

  it('a stop gives the shell its terminal, and fg brings the child back', async () => {
    await inFolder(async (home) => {
      const window = openWindow({
        file: 'bash',
        args: ['--norc', '--noprofile', '-i'],
        cwd: home,
        env: { ...plainEnv(home), PS1: 'PROMPT ', HISTFILE: '/dev/null' },
        columns: COLUMNS,
        rows: ROWS,
      });
      const isAlternate = before.includes('1049');
      const leftovers = watchLeftovers(window.emulator.terminal);
      const suspender = [process.execPath, programPath('suspender.js'), isAlternate ? 'alt' : 'main'];
      await window.until('PROMPT');
      window.type("bind 'set enable-bracketed-paste off'\r");
      window.type(`${[process.execPath, program, '--', ...suspender].join(' ')}\r`);
      await footerShown(window);
      await window.until(() => /parent \d+/.test(window.rows().join('\n')), 'the pid of the wrapper');
      const [, wrapper] = /parent (\d+)/.exec(window.rows().join('\n')) ?? [];
      window.type(HOTKEY);
      await window.until(() => hasOverview(window), 'the overview');
      process.kill(Number(wrapper), 'SIGTSTP');
      await window.until('Stopped');
      expect(leftovers()).toEqual([]);
      expect(window.emulator.terminal.buffer.active.type).toBe('normal');
      expect(window.rows('all').filter((row) => row.startsWith('overview '))).toEqual([]);
      window.type('fg\r');
      await window.until(() => /resumed [1-9]/.test(window.rows().join('\n')), 'the child after SIGCONT');
      await footerShown(window);
      window.type('yo');
      await window.until('typed <yo>');
      window.close();
    });
  });
});
