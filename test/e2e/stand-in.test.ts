// An agent's query for agent states (OSC 7501) through the built program: on a terminal that does not answer it, and on one that does.
import { describe, expect, it } from 'vitest';
import { withWrapped, type Wrapped } from '../support/wrapped.js';

const ANSWER = '\x1b]7501;?\x1b\\';
const START = '\x1b]0;✳ Claude Code\x07\x1b]7501;?\x07\x1b[c';
const ATTRIBUTES = /\x1b\[\?[\d;]*c/;
const WORKING = '\x1b]7501;state=working:app=claude-code\x07\x1b]0;Fancy\x07';
const REST = '\x1b]7501;state=done:app=claude-code\x07';
const asClaude = { options: ['--runtime', 'claude'] };

const output = ({ window }: Wrapped): string => window.bytes().toString();
const countOf = (text: string, part: string): number => text.split(part).length - 1;

describe('an agent that asks whether the terminal understands states', () => {
  it('is answered once before anything later, and the terminal gets the titles with their signs', () =>
    withWrapped(asClaude, async (wrapped) => {
      const { player, window } = wrapped;
      await player.ready();
      await player.write(START, [5]);
      await player.until(() => ATTRIBUTES.test(player.received()));
      expect(player.received().search(ATTRIBUTES)).toBe(ANSWER.length);
      window.type('keys');
      await player.write(WORKING, [3]);
      await window.until(() => output(wrapped).includes('\x1b]0;◑ Fancy\x07'), 'the second sign');
      await player.write(REST);
      await window.until(() => output(wrapped).includes('\x1b]0;✳ Fancy\x07'), 'the sign at rest');
      expect(output(wrapped)).toContain('\x1b]0;◐ Fancy\x07');
      expect(output(wrapped)).not.toContain('7501;state');
      await player.until(() => player.received().endsWith('keys'));
      expect(countOf(player.received(), ANSWER)).toBe(1);
    }));

  it('gets the answer of a terminal that understands, which gets its states and titles as they are', () =>
    withWrapped(asClaude, async (wrapped) => {
      const { player, window } = wrapped;
      window.emulator.terminal.parser.registerOscHandler(7501, (text) => {
        if (text === '?') window.type('\x1b]7501;?\x07');
        return true;
      });
      await player.ready();
      await player.write(START);
      await player.until(() => ATTRIBUTES.test(player.received()));
      expect(player.received()).toMatch(/^\x1b\]7501;\?\x07\x1b\[/);
      await player.write(WORKING);
      await window.until(() => output(wrapped).includes(WORKING), 'its state and its title');
      expect(player.received()).not.toContain(ANSWER);
    }));

  it('gets no answer from the wrapper with --mode off, nor where the child is no agent that asks', async () => {
    for (const options of [['--runtime', 'claude', '--mode', 'off'], []]) {
      await withWrapped({ options }, async ({ player }) => {
        await player.ready();
        await player.write(START);
        await player.until(() => ATTRIBUTES.test(player.received()));
        expect(player.received()).not.toContain('7501');
      });
    }
  });
});
