import { describe, expect, it } from 'vitest';
import { codex } from '../../src/agents/codex/agent.js';
import { bold, dim, seenFrame } from '../support/codex-frame.js';
import type { CodexFrame } from '../support/codex-frame.js';
import { seenAfter } from '../support/drawn-screen.js';
import { playScreens } from '../support/screen-play.js';

const textOf = async (frame: CodexFrame) => codex.screen?.prompt?.(await seenFrame(frame))?.text;
const textsIn = async (cast: string, from: number, to: number): Promise<readonly (string | undefined)[]> => {
  const played = await playScreens(cast, codex);
  const texts = played.filter(({ at }) => at >= from && at <= to).map(({ prompt }) => prompt?.text);
  return texts.filter((text, index) => text !== texts[index - 1]);
};

describe('the recipe of codex', () => {
  it('is its own command, pasted, and a key that sends it at rest and queues it behind a turn', () => {
    expect(codex.recipe?.({})).toMatchObject({
      command: '/compact',
      takesFocus: false,
      isPasted: true,
      submit: '\t',
      startMs: 5_000,
      isQueued: true,
    });
    expect(codex.recipe?.({})).not.toHaveProperty('stash');
  });
});

describe('the prompt of codex', () => {
  it.each<[string, CodexFrame, string | undefined]>([
    ['empty', { state: 'idle' }, ''],
    ['empty while it works', { state: 'working' }, ''],
    ['with a draft', { state: 'idle', draft: ['half a thought'] }, 'half a thought'],
    ['with the command and a blank', { state: 'idle', draft: ['/compact '] }, '/compact '],
    ['with blanks alone', { state: 'idle', draft: ['  '] }, '  '],
    ['with lines', { state: 'idle', draft: ['one', '', 'two'] }, 'one\n\ntwo'],
    [
      'with the words of the placeholder',
      { state: 'idle', draft: ['Ask Codex to do anything'] },
      'Ask Codex to do anything',
    ],
    ['in shell mode', { state: 'idle', glyph: '\x1b[91m!', draft: [''] }, undefined],
    ['in shell mode while it works', { state: 'working', glyph: '\x1b[91m!', draft: ['ls'] }, undefined],
    ['in vim normal mode', { state: 'idle', hints: '  ? for shortcuts        Vim: Normal' }, undefined],
    [
      'with a draft in vim normal mode',
      { state: 'idle', draft: ['abc'], hints: '      Vim: Normal' },
      undefined,
    ],
    ['in vim normal mode while it works', { state: 'working', hints: '      Vim: Normal' }, undefined],
    ['in vim insert mode', { state: 'idle', hints: '  ? for shortcuts        Vim: Insert' }, ''],
    ['with the list of shortcuts open', { state: 'idle', hints: '  ? / esc close' }, undefined],
    ['when a dialog is announced', { state: 'blocked' }, undefined],
    [
      'when only the title tells of a dialog',
      { state: 'idle', title: '[ ! ] Action Required | app' },
      undefined,
    ],
    ['after it has left the terminal', { state: 'clear' }, undefined],
    [
      'with a list of files that takes the next keys',
      {
        state: 'idle',
        live: ['  README.md', '', '  enter/tab insert · esc close · ↑/↓ select'],
        draft: ['hi @REA'],
      },
      undefined,
    ],
    [
      'with the list of commands',
      { state: 'idle', live: [`\x1b[1;7m› /compact  summarize\x1b[0m`], draft: ['/compact'] },
      '/compact',
    ],
  ])('%s is read as drawn', async (_, frame, text) => {
    expect(await textOf(frame)).toBe(text);
  });

  it('is none in a picker', async () => {
    const idle = '\x1b]7501;state=idle:app=codex\x1b\\';
    const picker = `${idle}\x1b[1;7m› 1. GPT-5.5\x1b[0m\r\n  2. GPT-6\r\n\r\n  ${bold('enter')} select · ${bold('esc')} back`;
    expect(codex.screen?.prompt?.(await seenAfter(picker))).toBeUndefined();
  });

  it('is no text of the conversation that looks like it', async () => {
    const conversation = [`${dim('• ')}ok`, '  › /compact', '\x1b[1;2m› \x1b[22m/compact'];
    expect(await textOf({ state: 'done', conversation })).toBe('');
  });

  it('in a recording is what was pasted and typed, and none in views, searches and shell mode', async () => {
    expect(await textsIn('codex/modes-of-input', 6, 35)).toEqual([
      '/compact ',
      '',
      '/compact',
      '',
      '/compact keep the names of the tests and everything that was said about them so that nothing of it is lost at all ever ',
      '',
      'line one\nline two  with  blanks\n\nline four',
      '',
      '/mo',
      '',
      undefined, // a list of files
      'hi @REA',
      '',
      undefined, // shell mode
      '',
      undefined, // search
      '',
      undefined, // shortcuts
      '',
      undefined, // agents
      '',
      undefined, // one Escape, and rewind
      '',
      undefined, // one Escape
      '',
      'q',
    ]);
  });
});
