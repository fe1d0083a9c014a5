import { describe, expect, it } from 'vitest';
import { readStatus } from '../../src/agents/claude/locate.js';
import {
  BUSY,
  HINTS,
  IDLE,
  conversation,
  drawn,
  look,
  seenOf,
  watch,
  scrolled,
} from '../support/claude-frame.js';
import { atRight } from '../support/claude-view.js';
import type { Drawn } from '../support/claude-view.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';

describe('the activity of claude', () => {
  const permission = [
    '─'.repeat(100),
    ' Bash command',
    '',
    ' Do you want to proceed?',
    ' ❯ 1. Yes',
    '   2. No',
    '',
    ' Esc to cancel · Tab to amend · ctrl+e to explain',
  ];
  const coloured = (rows: readonly string[]): NonNullable<Drawn['styles']> =>
    rows.map((text, row) => ({ row, column: text.search(/\S|$/), style: { foreground: 246 } }));
  const panel = (...below: readonly string[]): Drawn => {
    const rows = [...conversation, '─'.repeat(100), ...below];
    return { columns: 100, rows, cursor: [8, 2], styles: coloured(rows) };
  };
  const framed = (bar: string, sign: string): Drawn => ({
    ...drawn(),
    rows: [...conversation, bar.repeat(100), `${sign}\u00a0`, bar.repeat(100), HINTS],
  });
  const named = (name: string): Drawn => {
    const bar = '─'.repeat(100);
    return { ...drawn(), rows: [...conversation, `${bar.slice(name.length + 1)}${name}─`, '❯', bar, HINTS] };
  };

  it.each<[string, Drawn, string]>([
    ['an empty prompt', drawn(), 'ready'],
    ['an empty prompt under a status line', drawn({ footer: ['  CTX 50', '  ← for agents'] }), 'ready'],
    ['an empty prompt in plan mode', drawn({ footer: ['  ⏸ plan mode on (shift+tab to cycle)'] }), 'ready'],
    ['a stashed draft', drawn({ footer: [atRight(100, '› stashed', HINTS)] }), 'ready'],
    ['a draft', drawn({ prompt: ['❯ fix the'] }), 'draft'],
    ['a draft of two lines', drawn({ prompt: ['❯ line one', '  line two'] }), 'draft'],
    ['a draft whose lines were deleted', drawn({ prompt: ['❯\u00a0', '  '] }), 'draft'],
    ['a command with its popup', drawn({ prompt: ['❯ /mo'], footer: ['/model    Set the model'] }), 'draft'],
    ['shell mode', drawn({ prompt: ['!\u00a0'], footer: ['  ! for shell mode'] }), 'unknown'],
    ['a command in shell mode', drawn({ prompt: ['! ls'], footer: ['  ! for shell mode'] }), 'unknown'],
    [
      'the search of prompts',
      drawn({ footer: ['  search prompts:   ← for agents'], cursor: [9, 18] }),
      'unknown',
    ],
    ['the list of shortcuts', drawn({ footer: ['  ! for shell mode     ctrl + z to suspend'] }), 'unknown'],
    ['an exit that is half asked for', drawn({ footer: ['  Press Ctrl-C again to exit'] }), 'unknown'],
    ['a cursor outside the prompt', drawn({ cursor: [2, 4] }), 'unknown'],
    ['a permission', panel(...permission.slice(1)), 'dialog'],
    [
      'the rewind picker',
      panel('  Rewind', '  ❯ (current)', '  Enter to continue · Esc to cancel'),
      'dialog',
    ],
    [
      'a question before a model is changed',
      panel('  Switch model?', '  ❯ 1. Yes, switch', '    2. No'),
      'dialog',
    ],
    ['the settings', panel('  Settings  Status', '  Enter/Space to change · Esc to close'), 'dialog'],
    [
      'a picker whose keys are wrapped',
      panel('  Resume session', '  Type to search · Esc to', '  cancel'),
      'dialog',
    ],
    [
      'the details of a shell',
      panel('  Shell details', '  ← to go back · Esc/Enter/Space to close'),
      'dialog',
    ],
    ['the transcript', panel('  Showing detailed transcript · ctrl+o to toggle'), 'unknown'],
    [
      'the question on returning to a long session',
      panel(
        '  This session is 3h 10m old and 240k tokens.',
        '  ❯ 1. Resume from summary (instant, recommended)',
        '    2. Resume full session as-is',
        "    3. Don't ask me again",
      ),
      'dialog',
    ],
    ['a prompt under the name of its session', named(' my-task '), 'ready'],
    ['a prompt under the name of its session in other letters', named(' die erste Änderung '), 'ready'],
    ['cells left over on the upper bar', named('/compact'), 'unknown'],
    ['a draft with more rows than its box', drawn(scrolled), 'draft'],
    ['such a draft in shell mode', drawn({ ...scrolled, footer: ['  ! for shell mode'] }), 'unknown'],
    ['such a bar without the cursor below it', drawn({ ...scrolled, cursor: [2, 4] }), 'unknown'],
    ['bars of another kind', framed('━', '❯'), 'ready'],
    [
      'two bars of two kinds',
      { ...framed('━', '❯'), rows: [...conversation, '━'.repeat(100), '❯', '─'.repeat(100)] },
      'unknown',
    ],
    ['dashed bars, which a dialog has', framed('╌', '❯'), 'unknown'],
    ['another sign that points to the right', framed('─', '›'), 'ready'],
    ['a sign of another kind, as a mode may have', framed('─', '#'), 'unknown'],
    ['half a frame', { ...drawn(), rows: [...conversation, '─'.repeat(100), '❯'] }, 'unknown'],
    [
      'cells left over on a bar',
      {
        ...drawn(),
        rows: [...conversation, '─'.repeat(100), '❯', `──/compact─ <optional>${'─'.repeat(78)}`, HINTS],
      },
      'unknown',
    ],
  ])('at %s is as the name says', (_, screen, activity) => {
    expect(look(seenOf(screen)).activity.activity).toBe(activity);
  });

  it.each([
    ['an empty prompt', { footer: ['  enter to open · space to reply · ? for shortcuts'] }],
    ['a task typed', { prompt: ['❯ some task'], footer: ['  enter to create · esc to clear'] }],
    [
      'a session that is opened',
      { above: ['✶ one    opening… · esc to cancel', ''], footer: ['  enter to open'] },
    ],
  ])('in the view of all agents is unknown, without a title, too: %s', (_, frame) => {
    expect(look(seenOf(drawn(frame), '')).activity.activity).toBe('unknown');
  });

  it('is not read from a draft that is cut off from its upper bar', () => {
    const rows = [...conversation, '─'.repeat(100), '❯ 1. Esc to cancel', '  Do you want to proceed?'];
    const screen: Drawn = { columns: 100, rows, cursor: [8, 10] };
    expect(look(seenOf(screen)).activity.activity).toBe('unknown');
    expect(look(seenOf({ ...screen, styles: coloured(rows) }, BUSY)).activity.activity).toBe('busy');
  });

  it('at a picker that lies over the conversation is a dialog', () => {
    const { rows } = drawn();
    const screen = {
      ...panel(),
      rows: [...rows, '▔'.repeat(100), '   Select model', '     1. Default                ↓'],
    };
    expect(look(seenOf(screen)).activity.activity).toBe('dialog');
  });

  it('at a picker higher than the screen is a dialog where its keys have their colour', () => {
    const rows = ['  ❯ 6. Sonnet 4.6', '', '  Enter to set as default · Esc to', '  cancel'];
    const coloured = [2, 3].map((row) => ({ row, column: 2, style: { foreground: 246 } }));
    const of = (title: string, styles: Drawn['styles'] = []) =>
      look(seenOf({ columns: 100, rows, cursor: [0, 2], styles }, title)).activity.activity;
    expect([of(IDLE, coloured), of(IDLE), of(IDLE, coloured.slice(1)), of(BUSY, coloured)]).toEqual([
      'dialog',
      'unknown',
      'unknown',
      'busy',
    ]);
  });

  it('at a question between two bars is a dialog', () => {
    const rows = [
      ' ☐ Colour',
      '',
      'Which colour?',
      '',
      '❯ 1. Red',
      '  2. Blue',
      '─'.repeat(100),
      '  4. Chat about this',
    ];
    const screen = panel(...rows, 'Enter to select · ↑/↓ to navigate · Esc to cancel');
    expect(look(seenOf(screen)).activity.activity).toBe('dialog');
  });

  const above = (row: string) => [...conversation, '❯ go', '', row, '  ⎿  Tip: Use /memory', ''];

  it.each([
    { row: '✽ Scurrying… (4s · ↓ 391 tokens)', title: BUSY, activity: 'busy' },
    { row: '✻ Moseying… (esc to interrupt)', title: '', activity: 'busy' }, // old versions have no title
    { row: '· Compacting conversation…', title: BUSY, activity: 'compacting' },
    { row: '✻ Compacting conversation… (esc to interrupt)', title: '', activity: 'compacting' },
    { row: '● an answer', title: BUSY, activity: 'busy' },
    { row: '✻ Brewed for 4s', title: IDLE, activity: 'ready' },
    { row: '✽ Scurrying…', title: IDLE, activity: 'unknown' }, // the witnesses disagree
    { row: '✽ Compacting conversation…', title: IDLE, activity: 'unknown' },
    { row: '● an answer', title: '1 awaiting input · claude agents', activity: 'unknown' },
  ])('above which "$row" stands and whose title is "$title" is $activity', ({ row, title, activity }) => {
    const seen = { ...seenOf(drawn({ above: above(row) })), signals: title === '' ? {} : { title } };
    expect(look(seen).activity.activity).toBe(activity);
  });

  it('is busy with a draft, too, which hides the hint to interrupt', () => {
    const screen = drawn({ above: above('✽ Scurrying… (4s)'), prompt: ['❯ half typed'], footer: [''] });
    expect(look(seenOf(screen, BUSY)).activity.activity).toBe('busy');
  });

  it.each([
    { state: 'idle', activity: 'ready' },
    { state: 'busy', activity: 'busy' },
    { state: 'waiting', activity: 'dialog' },
    { state: 'shell', activity: 'ready' },
    { state: 'new', activity: 'unknown' },
    { state: 'something new', activity: 'unknown' },
  ])('at an empty prompt is $activity when the status file says $state', ({ state, activity }) => {
    expect(look(seenOf(drawn(), IDLE, { state })).activity.activity).toBe(activity);
  });

  it('is not ready in vim mode without the insert mode, once that was seen', () => {
    const insert = drawn({ footer: ['  -- INSERT -- ← for agents'] });
    const normal = drawn();
    const steps = watch(
      [normal, insert, normal, drawn({ prompt: ['❯ ct'] }), insert].map((each) => seenOf(each)),
    );
    expect(steps.map(({ activity }) => activity.activity)).toEqual([
      'ready',
      'ready',
      'unknown',
      'unknown',
      'ready',
    ]);
  });

  it('takes a suggestion that is drawn dim for no draft, and anything else for one', () => {
    const text = '❯ run the tests';
    const dim = Array.from({ length: 20 }, (_, column) => ({ row: 7, column, style: { dim: true } }));
    const cursor = { row: 7, column: 2, style: { inverse: true } };
    const at = (styles: Drawn['styles']) =>
      look(seenOf({ ...drawn({ prompt: [text], cursor: [7, 2] }), ...(styles ? { styles } : {}) })).activity
        .activity;
    expect(at([cursor, ...dim])).toBe('ready');
    expect(at(dim)).toBe('ready');
    expect(at([cursor])).toBe('draft');
    expect(at([cursor, ...dim.slice(0, 8)])).toBe('draft');
  });
});

describe('the status file of claude', () => {
  const status = (text: string) =>
    readStatus(
      fakePort({ files: { '/home/me/.claude/sessions/100.json': { modifiedAt: 1, text } } }),
      fakePlace(),
    );

  it('says what the child is doing', async () => {
    const record = { sessionId: 'a1', status: 'waiting', waitingFor: 'permission prompt' };
    expect(await status(JSON.stringify(record))).toEqual({
      state: 'waiting',
      waitingFor: 'permission prompt',
    });
    expect(await status(JSON.stringify({ sessionId: 'a1', status: 'idle' }))).toEqual({ state: 'idle' });
  });

  it.each(['', '{"sessionId":"a1"}', '{"status":', '{"sessionId":"a1","status":7}'])(
    'says nothing as %j',
    async (text) => {
      expect(await status(text)).toBeUndefined();
    },
  );

  it('is told without what the user searches for', () => {
    const screen = drawn({ footer: ['  search prompts: my secret plan'], cursor: [9, 18] });
    expect(look(seenOf(screen)).activity.witnesses).toContain('footer: search prompts:');
  });
});
