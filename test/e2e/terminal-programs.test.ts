// What the programs around a terminal see: tmux, window managers, process lists, shells' prompt marks.
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { hasPs } from '../support/programs.js';
import { withWrapped } from '../support/wrapped.js';

const ST = '\x1b\\';

describe.concurrent('around the wrapped program', () => {
  it.runIf(hasPs)('process lists name the program and its arguments, and not Node', async () => {
    await withWrapped({}, async ({ player, pid, started }) => {
      await started();
      const args = execFileSync('ps', ['-o', 'args=', '-p', `${pid()}`], { encoding: 'utf8' }).trim();
      const [file = '', ...others] = player.command;
      expect(args).toBe([file.split('/').at(-1), ...others].join(' '));
    });
  });

  it.each([
    { what: 'a title', sequence: `\x1b]2;✳ fix the parser${ST}` },
    { what: 'an icon name', sequence: '\x1b]1;claude\x07' },
    { what: 'the start of a prompt', sequence: `\x1b]133;A${ST}` },
    { what: 'the end of a command', sequence: '\x1b]133;D;0\x07' },
    { what: 'the working folder', sequence: `\x1b]7;file://host/home/me/a%20b${ST}` },
  ])('$what set by the program reaches the terminal unchanged', async ({ sequence }) => {
    await withWrapped({}, async ({ player, window, started, passed }) => {
      await started();
      const output = Buffer.from(`${sequence}done-here`);
      await player.write(output);
      await passed(output);
      expect(window.bytes().includes(Buffer.from(sequence))).toBe(true);
    });
  });
});
