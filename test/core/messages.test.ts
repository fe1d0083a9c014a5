// What stands in the footer beside the numbers, through the whole flow of a session.
import { describe, expect, it } from 'vitest';
import { currentMessage } from '../../src/core/messages.js';
import type { CompactSettings } from '../../src/core/compaction/state.js';
import type { Event } from '../../src/core/event.js';
import { recapNoticeEvent, type FlowContext, type SessionFlow } from '../../src/core/session-flow.js';
import { AUTO_TOKENS, HARD_TOKENS, NOON, playCompaction } from '../support/compaction-play.js';

const WARN_TOKENS = 150_000;
const ask = 'Ctrl-] c';

const playMessages = (
  wish: Partial<CompactSettings> = {},
  more: Partial<FlowContext> = { tips: { ask } },
) => {
  let flow: SessionFlow | undefined;
  const said: string[] = [];
  const play = playCompaction(wish, more, ({ after, now }) => {
    flow = after;
    const text = currentMessage(after.messages, after.compaction, now, ask)?.text;
    if (text !== undefined && text !== said.at(-1)) said.push(text);
  });
  const shown = () => flow && currentMessage(flow.messages, flow.compaction, NOON + play.at(), ask);
  return {
    ...play,
    shown,
    message: () => shown()?.text,
    /** everything that was said so far, in order */
    said,
    turns: (count: number, used: number): void => {
      for (let each = 0; each < count; each += 1) {
        play.turn(used);
        play.wait(20_000);
      }
    },
  };
};

describe('an offer', () => {
  it('of what was forgotten has fewer words for a narrow row, with the key, beside the outcome and alone', () => {
    const play = playMessages({}, {});
    const words = 'forgot 2 of 3 rules, 1 of 4 open plan items · Ctrl-] b';
    play.tell(recapNoticeEvent(words));
    expect(play.shown()).toEqual({ text: words, short: 'forgot 2 of 3 rules · Ctrl-] b' });
    play.turn(AUTO_TOKENS);
    play.wait(11_900);
    play.sent();
    play.is('compacting');
    play.boundary({ preTokens: 167_000, postTokens: 12_000 });
    play.is('ready');
    play.wait(1_000);
    play.tell(recapNoticeEvent(words));
    expect(play.shown()).toEqual({
      text: `✓ compacted 165k → 12k · ${words}`,
      short: '✓ compacted · forgot 2 of 3 rules · Ctrl-] b',
      tone: 'success',
    });
    play.tell({ type: 'undone', isOtherSession: true });
    expect(play.message() ?? '').not.toMatch(/compacted|forgot/);
  });

  it('does not stand before what a compaction waits for', () => {
    const play = playMessages({}, {});
    const offer: Event = { type: 'notice', text: 'an offer', priority: 120, isOffer: true };
    play.tell(offer);
    expect(play.message()).toBe('an offer');
    play.turn(AUTO_TOKENS);
    play.is('dialog');
    expect(play.message()).toBe('waiting: a dialog is open');
  });
});

describe('a tip', () => {
  it('comes at warn after the fifth prompt, for five seconds', () => {
    const play = playMessages();
    play.turns(5, WARN_TOKENS);
    expect(play.said).toEqual([]);
    play.turn(WARN_TOKENS);
    expect(play.message()).toBe('Ctrl-] c compacts now');
    play.wait(4_999);
    expect(play.message()).toBeDefined();
    play.wait(1);
    expect(play.message()).toBeUndefined();
  });

  it('counts the prompts of this conversation', () => {
    const play = playMessages();
    play.tell({ type: 'session-changed', sessionId: 'one' });
    play.turns(4, 10_000);
    play.tell({ type: 'session-changed', sessionId: 'two' });
    play.turns(5, WARN_TOKENS);
    expect(play.said).toEqual([]);
    play.turns(1, WARN_TOKENS);
    expect(play.said).toHaveLength(1);
  });

  it.each([
    [AUTO_TOKENS, 'Ctrl-] c compacts now'],
    [HARD_TOKENS, '/compact frees space'],
  ])('comes at %d tokens at once where nothing is typed by itself', (used, text) => {
    const play = playMessages({ mode: 'warn' });
    play.turn(used);
    expect(play.message()).toBe(text);
  });

  it('is one in ten prompts at the most, whatever the tiers do', () => {
    const play = playMessages({ mode: 'warn' });
    const at: number[] = [];
    for (let prompt = 1; prompt <= 40; prompt += 1) {
      const before = play.said.length;
      play.turns(1, prompt % 28 === 1 ? HARD_TOKENS : AUTO_TOKENS);
      if (play.said.length > before) at.push(prompt);
    }
    expect(at).toEqual([1, 11, 29, 39]);
  });

  it('is not repeated before its own time: 40 prompts at warn', () => {
    const play = playMessages();
    play.turns(45, WARN_TOKENS);
    expect(play.said).toHaveLength(1);
    play.turns(1, WARN_TOKENS);
    expect(play.message()).toBeUndefined(); // it has gone again
    expect(play.done).toEqual([]);
  });

  it('does not come while the agent works, or while a compaction is waited for, made or told', () => {
    const play = playMessages();
    play.turns(6, 10_000);
    play.is('busy');
    play.used(WARN_TOKENS);
    expect(play.message()).toBeUndefined();
    play.used(AUTO_TOKENS);
    play.is('ready');
    play.wait(11_600);
    play.sent();
    play.is('compacting');
    play.boundary();
    play.used(12_000);
    play.is('ready');
    play.wait(60_000);
    expect(play.said.filter((text) => /compacts now|frees space/.test(text))).toEqual([]);
  });

  it('does not come for a number that is only an estimate', () => {
    const play = playMessages({ mode: 'warn' });
    play.is('ready');
    play.tell({
      type: 'reading',
      reading: {
        usedTokens: AUTO_TOKENS,
        windowTokens: 200_000,
        windowSource: 'table',
        source: 'estimate',
        at: 1,
      },
    });
    play.turns(1, 10_000);
    expect(play.said).toEqual([]);
  });

  it.each<[string, Partial<FlowContext>]>([
    ['they are switched off', { tips: undefined }],
    [
      'the agent has no command',
      { tips: { ask }, compact: { mode: 'warn', startMs: 0, finishMs: 0, isProactive: false } },
    ],
  ])('never comes where %s', (_when, more) => {
    const play = playMessages({ mode: 'warn' }, more);
    play.turns(30, HARD_TOKENS);
    expect(play.said).toEqual([]);
  });

  it('names the command where there is no key to ask with', () => {
    const play = playMessages({ mode: 'warn' }, { tips: { ask: undefined } });
    play.turn(AUTO_TOKENS);
    expect(play.message()).toBe('run ctxwrap compact');
  });
});

describe('a notice', () => {
  const notice = { type: 'notice', text: 'the disk is full', priority: 1 } as const;

  it('stands in the place of what is waited for, and then that comes back', () => {
    const play = playMessages();
    play.is('ready');
    play.turn(AUTO_TOKENS);
    play.is('draft');
    expect(play.message()).toBe('waiting: unsent text in the prompt');
    play.tell(notice);
    expect(play.message()).toBe('the disk is full');
    play.wait(5_000);
    expect(play.message()).toBe('waiting: unsent text in the prompt');
  });

  it('never hides that a command is about to be typed: it waits', () => {
    const play = playMessages();
    play.is('ready');
    play.turn(AUTO_TOKENS);
    play.wait(3_000);
    expect(play.message()).toMatch(/^compacting in \d+ s/);
    play.tell(notice);
    expect(play.message()).toMatch(/^compacting in \d+ s/);
    play.wait(6_000);
    expect(play.message()).toMatch(/^compacting in \d+ s/);
    play.keys();
    play.wait(1_000);
    expect(play.message()).toBe('the disk is full');
    play.wait(3_500);
    expect(play.message()).toMatch(/^compacting in \d+ s/);
  });
});

describe('what helps after a failure', () => {
  it('is told before the failure itself, which follows', () => {
    const play = playMessages({}, { rescueKeys: 'Ctrl-] r', handoffAfter: 4 });
    play.turn(HARD_TOKENS);
    while (play.phase().kind !== 'typing') play.wait(500);
    play.sent();
    play.is('busy');
    play.wait(2_000);
    play.failed('conversation could not be reduced below the context limit');
    play.is('ready');
    expect(play.message()).toBe('compacting fails · Ctrl-] r: rescue');
    play.wait(10_000);
    expect(play.message()).toMatch(/^✗ compaction failed after .*below the context limit$/);
  });
});
