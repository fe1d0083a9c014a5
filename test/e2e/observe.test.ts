import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { casts } from '../support/casts.js';
import { eventually } from '../support/eventually.js';
import { inFolder, lastRow, withWrapped } from '../support/wrapped.js';

const outputOf = (name: string): Uint8Array => {
  const cast = casts().find((each) => each.name === name);
  if (!cast) throw new Error(`no recording ${name}`);
  return cast.output;
};

const wrapClaude = (log: string) => ({
  columns: 120,
  rows: 31,
  options: ['--runtime', 'claude', '--log', log],
});

describe('what a wrapped agent shows', () => {
  it('is in the footer: the number of its screen, when it has no session file', () =>
    inFolder((folder) =>
      withWrapped(wrapClaude(join(folder, 'log')), async ({ window, player, ended }) => {
        await player.ready();
        await window.until(() => lastRow(window).startsWith(' claude'), 'the footer');
        expect(lastRow(window)).not.toContain('%');
        await player.write(outputOf('claude/climb-s46-120'), [1000]);
        await window.until(() => /2% until auto-compact/.test(lastRow(window)), 'the number of the screen');
        player.exit(0);
        await ended();
      }),
    ));

  it('is in the log: what the agent does, also that it has ended', () =>
    inFolder(async (folder) => {
      const log = join(folder, 'log');
      await withWrapped(wrapClaude(log), async ({ player, ended, window }) => {
        await player.ready();
        await player.write(outputOf('claude/climb-s46-120'));
        await window.until(() => readFileSync(log, 'utf8').includes('activity ready'), 'the log of it');
        player.exit(0);
        await ended();
      });
      const activities = readFileSync(log, 'utf8').match(/activity \w+/g);
      expect(activities?.at(-1)).toBe('activity dead');
    }));

  it('is read after a flood of output of which not all was read, as it stands there at its end', () =>
    inFolder(async (folder) => {
      const log = join(folder, 'log');
      const activities = (): readonly string[] => readFileSync(log, 'utf8').match(/activity \w+/g) ?? [];
      await withWrapped(wrapClaude(log), async ({ player, ended }) => {
        await player.ready();
        const screen = Buffer.from(outputOf('claude/climb-s46-120'));
        await player.write(screen);
        await eventually(() => expect(activities().at(-1)).toBe('activity ready'));
        await player.write('\x1b]0;⠂ Claude Code\x07');
        await eventually(() => expect(activities().at(-1)).toBe('activity busy'));
        const flood = Buffer.from(`${'a row of a long conversation '.repeat(4)}\r\n`.repeat(40_000));
        await player.write(Buffer.concat([flood, screen]));
        await eventually(() => expect(activities().at(-1)).toBe('activity ready'));
        player.exit(0);
        await ended();
      });
    }));
});
