// What is not understood for long at a full window may be our fault: the user is told what it is about and where to look.
import { describe, expect, it } from 'vitest';
import { playFull } from '../../support/compaction-play.js';

describe('after 60 s at a full window', () => {
  it('an agent that is not understood is named with its version, and so is the doctor', () => {
    const play = playFull();
    play.tell({ type: 'agent-version', version: '2.1.400' });
    play.is('unknown');
    play.wait(59_999);
    expect(play.words()).toBe('waiting: cannot read the screen');
    play.wait(1);
    expect(play.words()).toBe('waiting: cannot read the screen of claude 2.1.400 · ctxwrap doctor');
  });

  it('a draft is still one, with the hint', () => {
    const play = playFull();
    play.is('draft');
    expect(play.words()).toBe('waiting: unsent text in the prompt');
    play.wait(60_000);
    expect(play.words()).toBe('waiting: unsent text in the prompt (none there? claude: ctxwrap doctor)');
  });

  it('what comes in between begins anew, and a dialog or a turn is none of it', () => {
    const play = playFull();
    play.is('unknown');
    play.wait(59_000);
    play.is('dialog');
    play.wait(600_000);
    expect(play.words()).toBe('waiting: a dialog is open');
    play.is('unknown');
    play.wait(59_000);
    expect(play.words()).toBe('waiting: cannot read the screen');
  });

  it('a place that is known is named as long as it lasts, and begins no doubt', () => {
    const play = playFull();
    play.tell({
      type: 'activity',
      report: { activity: 'unknown', witnesses: [], place: "vim's normal mode" },
    });
    play.wait(600_000);
    expect(play.words()).toBe("waiting: vim's normal mode");
    play.is('unknown');
    expect(play.words()).toBe('waiting: cannot read the screen');
    play.tell({
      type: 'activity',
      report: { activity: 'busy', witnesses: [], place: 'a background agent is running' },
    });
    expect(play.words()).toBe('waiting: a background agent is running');
  });
});
