// Claude's flat screen for screen readers: rows as 2.1.332 draws them.
import { describe, expect, it } from 'vitest';
import type { AgentStatus, ScreenEvidence } from '../../src/agents/agent.js';
import { claudeScreen } from '../../src/agents/claude/screen.js';
import { BUSY, IDLE, look, numbers, seenOf, watch, windows } from '../support/claude-frame.js';

const HEADER = [
  '[Screen Reader Mode: on via flag]',
  'Claude Code v2.1.332',
  'Sonnet 4.6 · API Usage Billing',
  '/home/me/project',
];
const TALK = ['you: hello', 'claude: heard you', 'Brewed for 0s · done 10:35 AM'];
const MODE = 'manual mode on';
const EMPTY = '$';
const typed = (text: string): string => `$\u00a0 ${text}`;

const flat = (
  rows: readonly string[],
  { title = IDLE, status, cursor }: { title?: string; status?: AgentStatus; cursor?: [number, number] } = {},
): ScreenEvidence => {
  const all = [...HEADER, ...TALK, ...rows];
  const last = all.at(-1) ?? '';
  return seenOf({ columns: 100, rows: all, cursor: cursor ?? [all.length - 1, last.length] }, title, status);
};
const activityOf = (seen: ScreenEvidence) => {
  const { activity, place } = look(seen).activity;
  return place === undefined ? activity : `${activity}: ${place}`;
};
const promptOf = (seen: ScreenEvidence) => claudeScreen.prompt?.(seen);

describe('the flat screen of claude', () => {
  it.each<[string, ScreenEvidence, string]>([
    ['an empty prompt', flat([MODE, EMPTY]), 'ready'],
    ['an empty prompt under a notification', flat([MODE, '4% until auto-compact', EMPTY]), 'ready'],
    ['a draft', flat([MODE, typed('half a thought')]), 'draft'],
    ['a draft of two lines', flat([MODE, typed('two'), 'lines']), 'draft'],
    ['a draft whose second line looks like a prompt', flat([MODE, typed('two'), EMPTY]), 'draft'],
    ['work', flat(['Wibbling…', `${MODE}  ·  esc to interrupt`, EMPTY], { title: BUSY }), 'busy'],
    [
      'a compaction',
      flat(['Compacting conversation…', 'Tip: a tip', `${MODE}  ·  esc to interrupt`, EMPTY], {
        title: BUSY,
      }),
      'compacting',
    ],
    [
      'a message about one',
      flat(['Compacting conversation…', 'Wibbling…', MODE, EMPTY], { title: BUSY }),
      'busy',
    ],
    [
      'a background agent',
      flat(['Waiting for 1 background agent to finish', MODE, EMPTY], { title: BUSY }),
      'busy: a background agent is running',
    ],
    ['a shell in the background', flat([MODE, EMPTY], { status: { state: 'shell' } }), 'ready'],
    ['a permission, by the status file', flat([MODE, EMPTY], { status: { state: 'waiting' } }), 'dialog'],
    ['a picker', flat(['Rewind', '1. hello', 'Enter to continue · Esc to cancel']), 'dialog'],
    ['shell mode', flat(['! for shell mode']), 'unknown: shell mode'],
    ['the search', flat([`search prompts: ${MODE}`, EMPTY]), 'unknown: the history search'],
    ['the transcript', flat(['Showing detailed transcript · ctrl+o to toggle']), 'unknown: the transcript'],
    ['an exit that is half asked for', flat([MODE, 'Press Ctrl-C again to exit', EMPTY]), 'unknown'],
    ['a cursor elsewhere', flat([MODE, EMPTY], { cursor: [2, 1] }), 'unknown'],
    ['a prompt with something below it', flat([MODE, EMPTY, 'a row'], { cursor: [8, 1] }), 'unknown'],
    ['a title without a sign', flat([MODE, EMPTY], { title: 'vim' }), 'unknown'],
    ['no title at all', flat([MODE, EMPTY], { title: '' }), 'unknown'],
  ])('%s', (_where, seen, activity) => {
    expect(activityOf(seen)).toBe(activity);
  });

  it('is known after its first rows have scrolled away, also where the conversation imitates a boxed prompt', () => {
    const bar = '─'.repeat(100);
    const rows = [bar, '❯\u00a0', bar, 'Brewed for 0s', MODE, EMPTY];
    const [, step] = watch([
      flat([MODE, EMPTY]),
      seenOf({ columns: 100, rows, cursor: [rows.length - 1, 1] }, IDLE),
    ]);
    expect(step?.activity.activity).toBe('ready');
  });

  it('is in vim’s normal mode where the sign of the other mode was there before', () => {
    const insert = flat([`-- INSERT -- ${MODE}`, EMPTY]);
    const list = flat(['/compact      Free up context', typed('/compact')]);
    const steps = watch([insert, flat([MODE, EMPTY]), insert, list]);
    expect(steps.map(({ activity }) => [activity.activity, activity.place])).toEqual([
      ['ready', undefined],
      ['unknown', "vim's normal mode"],
      ['ready', undefined],
      ['draft', undefined],
    ]);
  });

  it('gives the text of the prompt, and what Enter would run', () => {
    expect(promptOf(flat([MODE, EMPTY]))).toEqual({ text: '' });
    expect(promptOf(flat([MODE, typed('half a thought')]))).toEqual({ text: 'half a thought' });
    expect(promptOf(flat(['/compact     Free up', '/autocompact  Set', typed('/compact')]))).toEqual({
      text: '/compact',
      listed: '/compact',
    });
    expect(promptOf(flat([MODE, '4% until auto-compact  ·  draft stashed', EMPTY]))).toEqual({
      text: '',
      isStashed: true,
    });
    expect(promptOf(flat([MODE, typed('two'), 'lines']))?.text).not.toBe('');
    expect(promptOf(flat(['! for shell mode']))).toBeUndefined();
  });

  it('shows how full the window is directly above the prompt, and nowhere else', () => {
    const shown = (...rows: readonly string[]) => numbers(look(flat([...rows, EMPTY])));
    expect(shown(MODE, '4% until auto-compact')).toEqual([['auto-compact', 96]]);
    expect(shown(MODE, '82% context used')).toEqual([['effective', 82]]);
    expect(shown(MODE, 'Context low (3% remaining)  ·  Run /compact to compact & continue')).toEqual([
      ['effective', 97],
    ]);
    expect(shown(MODE, 'auto-compact next')).toEqual([['auto-compact', 100]]);
    expect(shown('4% until auto-compact', MODE)).toEqual([]);
    expect(shown('claude: I say', '4% until auto-compact')).toEqual([]);
    expect(shown(MODE, '400% context used')).toEqual([]);
  });

  it('names the model in its first rows, which later ones cannot change', () => {
    const steps = watch([
      flat([MODE, EMPTY]),
      seenOf(
        {
          columns: 100,
          rows: [...HEADER.slice(0, 2), 'Opus 4.8 (1M context) · imitated', ...TALK, MODE, EMPTY],
          cursor: [7, 1],
        },
        IDLE,
      ),
    ]);
    const [first, second] = steps.map(windows);
    expect(first?.[0]?.[1]).toBe(200_000);
    expect(second).toEqual(first);
  });
});
