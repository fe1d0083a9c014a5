import { describe, expect, it } from 'vitest';
import { claude } from '../../src/agents/claude/agent.js';
import type { ScreenEvidence } from '../../src/agents/agent.js';
import { BUSY, HINTS, IDLE, conversation, drawn, seenOf, watch, scrolled } from '../support/claude-frame.js';
import { atRight } from '../support/claude-view.js';
import type { Drawn } from '../support/claude-view.js';
import { playScreens } from '../support/screen-play.js';

const promptOf = (seen: ScreenEvidence) => claude.screen?.prompt?.(seen);
const textsIn = async (cast: string, from = 0, to = Infinity): Promise<readonly (string | undefined)[]> => {
  const played = await playScreens(cast, claude);
  const texts = played.filter(({ at }) => at >= from && at <= to).map(({ prompt }) => prompt?.text);
  return texts.filter((text, index) => text !== texts[index - 1]);
};
const styled = (screen: Drawn, styles: NonNullable<Drawn['styles']>): Drawn => ({ ...screen, styles });

describe('the recipe of claude', () => {
  it('is its own command with a key that submits it, and a key that puts a draft aside before', () => {
    expect(claude.recipe?.({})).toMatchObject({
      command: '/compact',
      takesFocus: true,
      isPasted: false,
      submit: '\r',
      stash: { keys: '\x13' },
    });
  });

  it.each(['1', 'true', ' YES ', 'on'])('is none when the command is switched off by %j', (value) => {
    expect(claude.recipe?.({ DISABLE_COMPACT: value })).toBeUndefined();
  });

  it.each(['', '0', 'false'])('is there when the switch is %j', (value) => {
    expect(claude.recipe?.({ DISABLE_COMPACT: value })).toBeDefined();
  });
});

describe('the prompt of claude', () => {
  const popup = ['/compact                      Free up context by summarizing', '/workflows   Browse'];
  const command = drawn({ prompt: ['❯ /compact'], footer: popup });

  it.each<[string, Drawn, string | undefined]>([
    ['empty', drawn(), ''],
    ['with a draft', drawn({ prompt: ['❯ fix the'] }), 'fix the'],
    ['with the command and its list', command, '/compact'],
    ['with a blank behind the command', drawn({ prompt: ['❯ /compact'], cursor: [7, 11] }), '/compact '],
    ['with two lines', drawn({ prompt: ['❯ line one', '  line  two'] }), 'line one\nline  two'],
    ['with more rows than its box', drawn(scrolled), 'and the rest\nof it'],
    ['with an old glyph', drawn({ prompt: ['> fix'] }), 'fix'],
    ['in shell mode', drawn({ prompt: ['!\u00a0'], footer: ['  ! for shell mode'] }), undefined],
    ['with a shell command', drawn({ prompt: ['! ls'], footer: ['  ! for shell mode'] }), undefined],
    ['under the search of prompts', drawn({ footer: ['  search prompts:'] }), undefined],
    ['where the cursor is elsewhere', drawn({ cursor: [2, 4] }), undefined],
    ['with an exit half asked for', drawn({ footer: ['  Press Ctrl-C again to exit'] }), undefined],
  ])('%s is read as drawn', (_, screen, text) => {
    expect(promptOf(seenOf(screen))?.text).toBe(text);
  });

  it('is none in a dialog, and where the agent or another program says that it is not at rest', () => {
    const panel = {
      ...drawn(),
      rows: [...conversation, '─'.repeat(100), ' Do you want to proceed?', ' ❯ 1. Yes'],
    };
    expect(promptOf(seenOf(panel))).toBeUndefined();
    expect(promptOf(seenOf(drawn(), IDLE, { state: 'waiting' }))).toBeUndefined();
    expect(promptOf(seenOf(drawn(), IDLE, { state: 'new' }))).toBeUndefined();
    expect(promptOf(seenOf(drawn(), IDLE, { state: 'shell' }))).toEqual({ text: '' });
    expect(promptOf(seenOf(drawn(), '1 awaiting input · claude agents'))).toBeUndefined();
  });

  it('is none in shell mode while a turn runs, and is one otherwise', () => {
    expect(promptOf(seenOf(drawn({ prompt: ['! ls'] }), BUSY))).toBeUndefined();
    expect(promptOf(seenOf(drawn(), BUSY))).toEqual({ text: '' });
  });

  it('holds no suggestion that is drawn in it or behind the text', () => {
    const dimFrom = (first: number, last: number) =>
      Array.from({ length: last - first }, (_, index) => ({
        row: 7,
        column: first + index,
        style: { dim: true },
      }));
    const cursor = (column: number) => ({ row: 7, column, style: { inverse: true } });
    const whole = styled(drawn({ prompt: ['❯ run the tests'], cursor: [7, 2] }), [
      cursor(2),
      ...dimFrom(3, 20),
    ]);
    expect(promptOf(seenOf(whole))).toEqual({ text: '' });
    const rest = styled(drawn({ prompt: ['❯ /compact'], cursor: [7, 5] }), [cursor(5), ...dimFrom(6, 20)]);
    expect(promptOf(seenOf(rest))).toEqual({ text: '/co' });
    const moved = styled(drawn({ prompt: ['❯ fix it'], cursor: [7, 4] }), [cursor(4)]);
    expect(promptOf(seenOf(moved))).toEqual({ text: 'fix it' });
  });

  it('holds no hint for what may follow a command, but all that was written behind it', () => {
    const grey = (first: number) =>
      Array.from({ length: 60 }, (_, index) => ({
        row: 7,
        column: first + index,
        style: { foreground: 246 },
      }));
    const hint = '❯ /compact  <optional custom summarization instructions>';
    expect(promptOf(seenOf(styled(drawn({ prompt: [hint], cursor: [7, 10] }), grey(12))))?.text).toBe(
      '/compact',
    );
    expect(promptOf(seenOf(drawn({ prompt: [hint], cursor: [7, 10] })))?.text).toBe(hint.slice(2));
    const moved = styled(drawn({ prompt: ['❯ /compact'], cursor: [7, 4] }), grey(2));
    expect(promptOf(seenOf(moved))?.text).toBe('/compact');
  });

  it('holds no hint behind the cursor that old versions draw themselves, and park the real one elsewhere', () => {
    const hint = '> /compact  <optional custom summarization instructions>';
    const styles = [
      { row: 7, column: 10, style: { inverse: true } },
      ...Array.from({ length: 60 }, (_, index) => ({
        row: 7,
        column: 11 + index,
        style: { foreground: 246 },
      })),
    ];
    const screen = drawn({ prompt: [hint], cursor: [12, 0] });
    expect(promptOf(seenOf(styled(screen, styles), ''))?.text).toBe('/compact');
    expect(promptOf(seenOf(styled(screen, styles.slice(0, 1)), ''))?.text).toBe(hint.slice(2));
  });

  it('tells the command that is chosen in a list above it, as the fullscreen renderer draws it', () => {
    const list = [
      '  ❯ /compact                  Free up context',
      '    /autocompact              Set how full',
    ];
    const above = [...conversation, ...list];
    const prompt = { above, prompt: ['❯ /compact'], alternate: true };
    const chosen = [{ row: 6, column: 2, style: { foreground: 4 } }];
    expect(promptOf(seenOf(styled(drawn(prompt), chosen)))).toEqual({ text: '/compact', listed: '/compact' });
    expect(promptOf(seenOf(drawn(prompt)))).toEqual({ text: '/compact' }); // said by somebody
    const other = drawn({ ...prompt, above: [...conversation, list[1] ?? '', '  ❯ /context       Shows'] });
    const last = [{ row: 7, column: 2, style: { foreground: 4 } }];
    expect(promptOf(seenOf(styled(other, last)))?.listed).toBe('/context');
  });

  it('tells of a draft that was put aside, beside it and nowhere else', () => {
    const aside = (footer: string) => promptOf(seenOf(drawn({ footer: [footer] })));
    expect(aside(atRight(100, '› stashed', HINTS))).toEqual({ text: '', isStashed: true });
    expect(aside(atRight(100, 'Ctrl+Y to paste deleted text · › stashed', HINTS))).toEqual({
      text: '',
      isStashed: true,
    });
    expect(aside(atRight(100, '10% until auto-compact · draft stashed', HINTS))?.isStashed).toBe(true);
    expect(aside(atRight(100, 'draft restored', HINTS))?.isStashed).toBeUndefined();
    expect(aside(atRight(100, 'main · 2 stashed', HINTS))?.isStashed).toBeUndefined(); // the user's own status line
    const old = drawn({ above: [...conversation, '  › Stashed (auto-restores after submit)'] });
    const grey = Array.from({ length: 40 }, (_, column) => ({ row: 6, column, style: { foreground: 246 } }));
    expect(promptOf(seenOf(styled(old, grey)))?.isStashed).toBe(true);
    const above = [...conversation, atRight(100, '10% until auto-compact · draft stashed', '', 2)];
    expect(promptOf(seenOf(drawn({ above, alternate: true })))?.isStashed).toBe(true);
    const said = drawn({ above: [...conversation, '  › stashed'] });
    expect(promptOf(seenOf(said))).toEqual({ text: '' });
    expect(promptOf(seenOf(drawn({ prompt: ['❯ › stashed'] })))).toEqual({ text: '› stashed' });
  });

  it('takes the command in vim, too, whose list hides the mark of the insert mode', () => {
    const insert = drawn({ footer: ['  -- INSERT -- ← for agents'] });
    const steps = watch([insert, command, drawn({ prompt: ['❯ /compact'] })].map((each) => seenOf(each)));
    expect(steps.map(({ activity }) => activity.activity)).toEqual(['ready', 'draft', 'unknown']);
  });

  it('in a recording of vim is the command in insert mode alone', async () => {
    const played = await playScreens('claude/vim-compact', claude);
    const during = (from: number, to: number) => {
      const looks = played.filter(({ at }) => at > from && at < to);
      return [...new Set(looks.map(({ activity, prompt }) => `${activity.activity} ${prompt?.text}`))];
    };
    expect(during(8.7, 11.7)).toEqual(['draft /compact']); // with its list, and after an Escape that closes the list
    expect(during(11.75, 16)).toEqual(['unknown /compact', 'unknown /compac', 'unknown ']); // the next one leads to normal mode
    expect(during(16.2, 18.6)).toEqual(['ready ', 'draft /compact']);
  });

  it('in a recording is the command, its hint left out, a draft put aside and given back', async () => {
    expect(await textsIn('claude/compact-stash', 11, 35)).toEqual([
      '/comp',
      '/compact',
      '/compact keep the names of the tests and everything that was said about them so that nothing of it is lost at all',
      '/compact keep the names of the tests and everything that was said about them so that nothing of ',
      '',
      'line one\\',
      'line one\n',
      'line one\nline two  with  blanks',
      '',
      '/compact',
      '', // it compacts
      undefined,
      '/compact ', // stopped by Esc
      '',
      '/compact',
      '',
      undefined,
      'line one\nline two  with  blanks',
      '',
    ]);
    const played = await playScreens('claude/compact-stash', claude);
    const aside = played.filter(({ prompt }) => prompt?.isStashed === true).map(({ at }) => at);
    expect(Math.min(...aside)).toBeGreaterThan(17);
    expect(Math.max(...aside)).toBeLessThan(29.4); // then it was given back
  });

  it('in a recording is a command of three rows, with a word that is longer than one', async () => {
    const words =
      'keep the names of the tests and everything that was said about them so that nothing of it is lost at all,';
    const long =
      'a_very_long_word_that_does_not_fit_into_what_is_left_of_the_row_it_is_in_because_it_has_more_than_one_hundred_characters';
    expect(await textsIn('claude/modes-of-input', 8, 12)).toContain(`/compact ${words} and ${long}`);
  });
});
