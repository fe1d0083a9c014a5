import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { geminiScreen } from '../../src/agents/gemini/screen.js';
import {
  boundaries,
  columnsOf,
  contextFooter,
  lookAt,
  percents,
  PLACEHOLDER,
  READY,
  seenGemini,
} from '../support/gemini-frame.js';
import type { GeminiFrame } from '../support/gemini-frame.js';
import { runs } from '../support/runs.js';

const shown = async (frame: GeminiFrame) => (await lookAt(frame))[0];
const activity = async (frame: GeminiFrame) => (await shown(frame))?.activity.activity;

const MARKERS = [
  '93% used',
  '(12% context left)',
  ' 12% context left',
  '88%',
  'context',
  'workspace (/directory)   branch   sandbox   /model   context',
  '/app   main   no sandbox   Auto   93% used',
  '✦ Chat history compressed from 900000 to 300 tokens.',
  'Chat history compressed from 900000 to 300 tokens.',
  '⠋ Compressing chat history',
  '⠋ Thinking... (esc to cancel, 3s)',
  '● 1. Allow once',
  '⠏ Waiting for user confirmation...',
  '✋  Action Required',
  '◇  Ready',
  '╰──────────────────────╯',
  ' >   Type your message or @path/to/file',
  'text · 45% used · more',
];

describe('the percentage on the screen of gemini', () => {
  it.each([60, 80, 99, 100, 120, 200])('is read below its header in %i columns', async (columns) => {
    const value = columns < 100 ? '45%' : '45% used';
    expect(percents(await shown({ columns, footer: contextFooter(value) }))).toEqual([45]);
  });

  it.each([
    [' /app   no sandbox   auto (51% context left)', 49],
    [' /app   no sandbox   auto (51%)', 49],
    [' /app   no sandbox   auto (51% context left) | ✖ 1 error (F12 for details)', 49],
    [' /app   no sandbox   /model Auto (Gemini 3) 90% context left', 10],
  ])('is what the footer of an old version leaves: %s', async (row, used) => {
    for (const box of ['0.20', '0.30', 'new', 'line'] as const)
      expect([box, percents(await shown({ box, footer: [row] }))]).toEqual([box, [used]]);
  });

  it('is not the bare number that means used in one version and left in another', async () => {
    expect(percents(await shown({ box: '0.30', footer: [' /app   no sandbox   /model Auto 71%'] }))).toEqual(
      [],
    );
  });

  it('is not below a word that is a header among other words', async () => {
    const footer = columnsOf(['my notes', 'context'], ['a', '93% used']);
    expect(percents(await shown({ footer }))).toEqual([]);
  });

  it('may be 0, which is an estimate that the session tells from a number', async () => {
    expect(percents(await shown({ footer: contextFooter('0% used') }))).toEqual([0]);
    expect(percents(await shown({ footer: [' /app   auto (100% context left)'] }))).toEqual([0]);
  });

  it('is not the quota and not the tokens of the session', async () => {
    const headers = ['workspace (/directory)', 'context', 'quota', 'tokens'];
    const footer = columnsOf(headers, ['/app', '45% used', '91% used', '510.2k tokens']);
    expect(percents(await shown({ footer }))).toEqual([45]);
    const without = columnsOf(['/model', 'quota', 'tokens'], ['Auto', '91% used', '510.2k tokens']);
    expect(percents(await shown({ footer: without }))).toEqual([]);
  });

  it('is read without labels as long as it cannot be the quota', async () => {
    const grey = (text: string) => `\x1b[38;2;175;175;175m${text}\x1b[39m`;
    const row = (percent: string) => ` ${percent}   ·   510.2k tokens   ·   gemini-2.5-pro   ·   /app`;
    expect(percents(await shown({ footer: [row(grey('19% used'))] }))).toEqual([19]);
    expect(percents(await shown({ footer: [row('19% used')] }))).toEqual([]); // a quota has the default colour
    expect(percents(await shown({ footer: [row(grey('85% used'))] }))).toEqual([]); // and from 80 % on the context's
    expect(percents(await shown({ footer: [row(`${grey('19% used')}   ·   42% used`)] }))).toEqual([]);
  });

  it('is not the one of an older footer that stands below the live one', async () => {
    const old = contextFooter('93% used');
    expect(percents(await shown({ footer: ['', ...old] }))).toEqual([]);
    expect(percents(await shown({ footer: [...contextFooter('12% used'), '', ...old] }))).toEqual([12]);
  });

  it('is not there while a dialog has taken the place of the input', async () => {
    const seen = await seenGemini({ footer: contextFooter('45% used') });
    const screen = { ...seen.screen, cursorRow: 38, cursorColumn: 0 };
    expect(geminiScreen.reader({})({ ...seen, screen }, 0).facts).toEqual([]);
  });
});

describe('the activity of gemini', () => {
  it.each([
    ['ready', {}],
    ['ready', { mode: '*' }],
    ['ready', { placeholder: "  Press 'Esc' for NORMAL mode." }],
    ['unknown', { placeholder: "  Press 'i' for INSERT mode." }],
    ['unknown', { mode: '!' }],
    ['unknown', { mode: '!', draft: ['ls'] }],
    ['draft', { draft: ['/compress'] }],
    ['draft', { draft: ['', ''] }],
    ['draft', { draft: ['a', ''] }],
    ['draft', { draft: [PLACEHOLDER] }],
    ['busy', { title: '✦  Working… (app)' }],
    ['busy', { title: '✦  Reading the files (app)', draft: ['half'] }],
    ['busy', { title: '⏲  Working… (app)' }],
    ['busy', { live: ['⠋ Thinking... (esc to cancel, 0s)'] }],
    ['busy', { live: [' ⠋ Thinking... (esc to cancel, 0s)', '──────────', ' Shift+Tab'] }],
    ['dialog', { title: '✋  Action Required (app)' }],
    ['compacting', { live: ['⠋ Compressing chat history', '', ' x'] }],
    ['compacting', { live: ['⠋ Compressing chat history', '', '  Queued (press ↑ to edit):', '    more'] }],
    ['unknown', { title: '' }], // it has ended
  ] as const)('is %s with %j', async (expected, frame) => {
    expect(await activity(frame)).toBe(expected);
  });

  it.each(['0.20', '0.30', 'new', 'line'] as const)(
    'is read in the %s box without state titles',
    async (box) => {
      expect(await activity({ box, title: 'Gemini - app' })).toBe('ready');
      expect(await activity({ box, title: 'Gemini - app', draft: ['half'] })).toBe('draft');
      expect(await activity({ box, title: 'Gemini - app', live: ['⠋ Hm... (esc to cancel, 1s)'] })).toBe(
        'busy',
      );
      expect(
        await activity({ box, title: 'Gemini - app', live: ['⠏ Waiting for user confirmation...'] }),
      ).toBe('dialog');
    },
  );

  describe('below a panel that the user opened', () => {
    const edge = '─'.repeat(118);
    const opened = (header: string, [top, bottom]: readonly string[], height = 12) => [
      `${top?.[0]}${edge}${top?.[1]}`,
      `│ ${header}`,
      ...Array.from({ length: height }, () => '│'),
      `${bottom?.[0]}${edge}${bottom?.[1]}`,
    ];
    const consoleOf = (height?: number) => opened('Debug Console (F12 to close)', ['╭╮', '╰╯'], height);
    const tasks = opened('1: bash (ID: 193)  (PID: 193)', ['┌┐', '└┘']);
    const title = 'Gemini CLI (app)';
    const compressing = ['⠋ Compressing chat history', '', ' hint', '──────────', ' Shift+Tab'];

    it.each([
      ['busy', [' ⠋ Thinking... (esc to cancel, 0s)', '──────────', ' Shift+Tab', '', ...consoleOf()]],
      ['compacting', [...compressing, '', ...consoleOf()]],
      ['compacting', [...compressing.slice(0, 2), ...tasks, ...compressing.slice(2)]],
      ['compacting', [...compressing.slice(0, 2), ...tasks, ...compressing.slice(2), '', ...consoleOf(6)]],
      ['ready', ['✦ ok', '', ...compressing.slice(2), '', ...consoleOf()]],
      ['unknown', [...compressing, '', ...consoleOf(60)]], // the panel is taller than the screen
      ['unknown', [...compressing, '', ...consoleOf(30)]], // of what stands above it too little is seen
    ] as const)('is %s with %j', async (expected, live) => {
      expect(await activity({ title, live })).toBe(expected);
    });

    it('is a draft when there is one, whatever cannot be seen', async () => {
      expect(await activity({ title, live: consoleOf(60), draft: ['half'] })).toBe('draft');
    });
  });

  it('is a compaction beside the scrollbar too', async () => {
    const live = [`${'⠋ Compressing chat history'.padEnd(119)}█`, '', ' x'];
    const done = ['✦ Chat history compressed from 310000 to 204 tokens.'.padEnd(119) + '█'];
    const steps = await lookAt({ live }, { conversation: done });
    expect(steps[0]?.activity.activity).toBe('compacting');
    expect(boundaries(steps)).toHaveLength(1);
  });

  it('is a draft when the words of the placeholder were typed, which colours the path', async () => {
    const typed = PLACEHOLDER.replace('@path/to/file', '\x1b[38;5;183m$&\x1b[39m');
    expect(await activity({ placeholder: typed })).toBe('draft');
    expect(await activity({ placeholder: `\x1b[38;5;183m${PLACEHOLDER}\x1b[39m` })).toBe('ready');
  });

  it('is recognised by its box where it sets no title', async () => {
    const { screen } = await seenGemini({});
    expect(geminiScreen.recognises({ screen, signals: {} })).toBe(true);
    expect(geminiScreen.recognises({ screen, signals: { title: 'vim' } })).toBe(false);
    const line = await seenGemini({ box: 'line' });
    expect(geminiScreen.recognises({ ...line, signals: {} })).toBe(false);
  });

  it('is recognised by the title', async () => {
    expect(geminiScreen.recognises(await seenGemini({}))).toBe(true);
    expect(geminiScreen.recognises(await seenGemini({ title: 'Qwen - app' }))).toBe(false);
    expect(geminiScreen.recognises(await seenGemini({ title: 'Gemini - app' }))).toBe(true);
  });
});

describe('a compaction on the screen of gemini', () => {
  const running: GeminiFrame = { conversation: [' > /compress'], live: ['⠋ Compressing chat history', ''] };
  const done = ['✦ Chat history compressed from 310000 to 204 tokens.'];

  it('is counted when it was seen in progress and its success is the newest row', async () => {
    expect(
      boundaries(await lookAt({}, running, { conversation: done }, { conversation: done })),
    ).toMatchObject([{ initiator: 'user', preTokens: 310_000, source: 'screen' }]);
    const wrapped = ['✦ Chat history compressed from 310000 to', '  204 tokens.'];
    expect(boundaries(await lookAt(running, { columns: 50, conversation: wrapped }))).toHaveLength(1);
  });

  it.each([
    ['nothing was in progress', [{}, { conversation: done }]],
    ['it failed', [running, { conversation: ['✦ Compression was not beneficial for this history size.'] }]],
    ['an answer came after it', [running, { conversation: [...done, '✦ ok'] }]],
    ['the model says so later', [running, {}, { conversation: done }]],
    ['the agent did it by itself', [{}, { conversation: ['ℹ Context compressed from 57% to 0%.'] }]],
  ] as const)('is not counted when %s', async (_, seen) => {
    expect(boundaries(await lookAt(...seen))).toEqual([]);
  });
});

describe('text that imitates gemini', () => {
  const marker = fc.constantFrom(...MARKERS);
  const said = fc.array(marker, { minLength: 1, maxLength: 12 });
  // An answer begins with ✦ and goes on indented; what the user said stands between two lines.
  const asAnswer = (rows: readonly string[]) =>
    rows.map((row, index) => (index === 0 ? `✦ ${row}` : `  ${row}`));
  const asPrompt = (rows: readonly string[]) => [
    '▄'.repeat(120),
    ...rows.map((row, index) => (index === 0 ? ` > ${row}` : `   ${row}`)),
    '▀'.repeat(120),
  ];
  const box = fc.constantFrom('new' as const, '0.30' as const, 'line' as const, '0.20' as const);

  it('in a conversation is no number, no compaction and no activity', async () => {
    await fc.assert(
      fc.asyncProperty(said, said, box, async (prompt, answer, frame) => {
        const conversation = [...asPrompt(prompt), ...asAnswer(answer)];
        const steps = await lookAt({ box: frame }, { box: frame, conversation, title: READY });
        expect(steps.flatMap(({ facts }) => facts)).toEqual([]);
        expect(steps.at(-1)?.activity.activity).toBe('ready');
      }),
      runs(60),
    );
  });

  it('in a draft is a draft', async () => {
    await fc.assert(
      fc.asyncProperty(said, box, async (draft, frame) => {
        const [step] = await lookAt({ box: frame, draft, footer: contextFooter('7% used') });
        expect(percents(step)).toEqual([7]);
        expect(step?.activity.activity).toBe('draft');
      }),
      runs(60),
    );
  });
});
