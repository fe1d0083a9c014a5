import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { watchLeftovers } from '../support/leftovers.js';
import { bin, programPath } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { inFolder, lastRow, plainEnv } from '../support/wrapped.js';

const [COLUMNS, ROWS] = [100, 24];
const command = (kind: string): string[] => [
  process.execPath,
  bin,
  '--runtime',
  'claude',
  '--',
  process.execPath,
  programPath('suspender.js'),
  kind,
];

const footerShown = (window: Window): Promise<void> =>
  window.until(() => lastRow(window).startsWith(' claude '), 'the footer on the last row');

const text = (window: Window): string => window.rows().join('\n');

/** What the fixture prints about itself. */
const pids = (window: Window): { child: number; wrapper: number } => {
  const [, child = '', wrapper = ''] = /pid (\d+) parent (\d+)/.exec(text(window)) ?? [];
  return { child: Number(child), wrapper: Number(wrapper) };
};

const isAtPrompt = ({ emulator: { terminal } }: Window): boolean => {
  const { active } = terminal.buffer;
  const line = active.getLine(active.baseY + active.cursorY)?.translateToString(true);
  return line?.endsWith('PROMPT ') ?? false;
};

interface Shell {
  readonly window: Window;
  /** of the shell, as `stty -g` prints it there; the name is for the file */
  termios: (name: string) => Promise<string>;
  leftovers: () => readonly string[];
}

/** An interactive bash in a window; PROMPT is its prompt. */
const withShell = (
  act: (shell: Shell) => Promise<void>,
  onAnswer: (send: () => void) => void = (send) => send(),
): Promise<void> =>
  inFolder(async (folder) => {
    const window = openWindow({
      file: 'bash',
      args: ['--norc', '--noprofile', '-i'],
      cwd: folder,
      env: { ...plainEnv(folder), PS1: 'PROMPT ', HISTFILE: '/dev/null' },
      columns: COLUMNS,
      rows: ROWS,
      onAnswer,
    });
    const leftovers = watchLeftovers(window.emulator.terminal);
    const termios = async (name: string): Promise<string> => {
      window.type(`stty -g > ${name}; echo told $((40 + 2)) ${name}\r`);
      await window.until(`told 42 ${name}`);
      return readFileSync(join(folder, name), 'utf8');
    };
    try {
      await window.until('PROMPT');
      window.type("bind 'set enable-bracketed-paste off'\r"); // otherwise bash turns the mode on at each prompt
      await act({ window, termios, leftovers });
    } finally {
      window.close();
    }
  });

const ways: readonly {
  readonly what: string;
  readonly kind: string;
  readonly stop: (window: Window) => void;
}[] = [
  { what: 'Ctrl-Z at the main screen', kind: 'main', stop: (window) => window.type('\x1a') },
  { what: 'Ctrl-Z at the alternate screen', kind: 'alt', stop: (window) => window.type('\x1a') },
  {
    what: 'a stop of the child',
    kind: 'main',
    stop: (window) => void process.kill(pids(window).child, 'SIGSTOP'),
  },
  {
    what: 'a stop of the child in the alternate screen',
    kind: 'alt',
    stop: (window) => void process.kill(pids(window).child, 'SIGSTOP'),
  },
  {
    what: 'TSTP to the wrapper',
    kind: 'main',
    stop: (window) => void process.kill(pids(window).wrapper, 'SIGTSTP'),
  },
  {
    what: 'TSTP to the wrapper at the alternate screen',
    kind: 'alt',
    stop: (window) => void process.kill(pids(window).wrapper, 'SIGTSTP'),
  },
];

describe.concurrent('under an interactive shell', () => {
  it.each(ways)(
    '$what gives the shell its terminal, and fg brings everything back',
    async ({ kind, stop }) => {
      await withShell(async ({ window, termios, leftovers }) => {
        const { terminal } = window.emulator;
        const before = await termios('before');
        window.type(`${command(kind).join(' ')}\r`);
        await footerShown(window);
        window.type('hi');
        await window.until('typed <hi>');
        const modes = { ...terminal.modes };
        const left = leftovers();
        const buffer = terminal.buffer.active.type;

        stop(window);
        await window.until('Stopped');
        expect(leftovers()).toEqual([]);
        expect(terminal.buffer.active.type).toBe('normal');
        expect(window.rows('all').filter((row) => row.startsWith(' claude '))).toEqual([]);
        expect(await termios('stopped')).toBe(before);

        window.type('fg\r');
        await window.until(() => /resumed [1-9]/.test(text(window)), 'the child after SIGCONT');
        await footerShown(window);
        expect(terminal.modes).toEqual(modes);
        expect(leftovers()).toEqual(left);
        expect(terminal.buffer.active.type).toBe(buffer);
        window.type('yo');
        await window.until('typed <hiyo>');
        await window.until(`${COLUMNS}x${ROWS - 1} pid`);

        window.type('q');
        await window.until(() => isAtPrompt(window), 'the prompt');
        expect(text(window)).toMatch(/PROMPT fg[^]*PROMPT \s*$/); // below all earlier output
        window.type('echo ended with $?\r');
        await window.until('ended with 0');
        expect(leftovers()).toEqual([]);
        expect(await termios('after')).toBe(before);
      });
    },
  );
});

describe('in a terminal that answers late', () => {
  it('the prompt after a child in the alternate screen is below what the shell has printed at the stop', async () => {
    let late: (() => void)[] | undefined;
    await withShell(
      async ({ window }) => {
        window.type(`${command('alt').join(' ')}\r`);
        await footerShown(window);
        process.kill(pids(window).child, 'SIGSTOP');
        await window.until('Stopped');
        const answers: (() => void)[] = (late = []);
        window.type('fg\r');
        await window.until(() => /resumed [1-9]/.test(text(window)), 'the child after SIGCONT');
        late = undefined;
        answers.forEach((send) => send());
        await footerShown(window);
        window.type('q');
        await window.until(() => isAtPrompt(window), 'the prompt');
        expect(text(window)).toMatch(/Stopped[^]*PROMPT fg[^]*PROMPT \s*$/);
      },
      (send) => (late ? void late.push(send) : send()),
    );
  });
});

describe('without a shell that could continue the wrapper', () => {
  it('Ctrl-Z of a child that cannot be stopped does not freeze its keyboard', async () => {
    await inFolder(async (folder) => {
      const [file = '', ...args] = command('main');
      const window = openWindow({
        file,
        args,
        cwd: folder,
        env: plainEnv(folder),
        columns: COLUMNS,
        rows: ROWS,
      });
      await footerShown(window);
      window.type('hi');
      await window.until('typed <hi>');
      window.type('\x1a');
      await window.until(() => /resumed [1-9]/.test(text(window)), 'the child after SIGCONT');
      await footerShown(window);
      window.type('yo');
      await window.until('typed <hiyo>');
      expect(text(window)).toContain('resumed 1');
      window.close();
    });
  });
});
