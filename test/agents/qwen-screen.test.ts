import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { qwenScreen } from '../../src/agents/qwen/screen.js';
import { atRight, grey, lookAt, PLACEHOLDER, seenQwen } from '../support/qwen-frame.js';
import { seenAfter } from '../support/drawn-screen.js';
import type { QwenFrame } from '../support/qwen-frame.js';
import { runs } from '../support/runs.js';

const percents = async (frame: QwenFrame) =>
  ((await lookAt(frame))[0]?.facts ?? []).map((fact) => fact.type === 'reading' && fact.reading.usedPercent);
const activity = async (...frames: readonly QwenFrame[]) =>
  (await lookAt(...frames)).at(-1)?.activity.activity;
const boundaries = async (...frames: readonly QwenFrame[]) =>
  (await lookAt(...frames)).flatMap(({ facts }) => facts.filter(({ type }) => type === 'boundary'));

const MARKERS = [
  '· 131.1k Context 88.8% used',
  'x · 131.1k Context 88.8% used',
  '61.0% context used',
  '61.0% used',
  '◆︎ Chat history compressed from 70000 to ~800 tokens.',
  '⠦ Compressing chat history',
  '⠋ Loading wit.exe... (0s · esc to cancel)',
  'Enter to steer · Ctrl+Q to queue',
  '⏳ 1 queued',
  '› 1. Yes, allow once',
  '────────────────────────────────',
  '> ',
  PLACEHOLDER,
];

describe('the percentage on the screen of qwen', () => {
  it.each([
    ['  ➜ app · git:(main) · qwen3-coder-plus · 131.1k Context 53.4% used', 53.4],
    ['  ➜ app · qwen3-coder-plus · 131.1k Context 62% used', 62],
    ['  ➜ app · qwen3-coder-plus · 1m Context 0.6% used', 0.6],
    ['  qwen3-coder-plus · 131.1k Context 45.8% used · #12', 45.8],
    ['  ➜ app · Context 46.6% left', 53.4],
  ])('has the one decimal of %s', async (row, used) => {
    for (const columns of [80, 100, 200])
      expect([columns, await percents({ columns, footer: [row] })]).toEqual([columns, [used]]);
  });

  it.each([
    [120, '61.0% context used', 61],
    [100, '61.0% context used', 61],
    [99, '61.5% used', 61.5],
    [80, '61.5% used', 61.5],
    [120, 'Debug Mode | 61.0% context used', 61],
    [120, '>100% context used', 101],
  ])(
    'is at the right end beside a status line of the user, in %i columns: %s',
    async (columns, text, used) => {
      expect(await percents({ columns, footer: [atRight(columns, 'mine', text)] })).toEqual([used]);
    },
  );

  it('is not in a line that a command of the user printed, which is dim', async () => {
    const line = 'mine · 131.1k Context 44% used';
    expect(await percents({ footer: [`  \x1b[2m${line}\x1b[22m`] })).toEqual([]);
    expect(await percents({ footer: [`  \x1b[38;5;183m${line}\x1b[39m`] })).toEqual([44]);
  });

  it("is Qwen's own in one column too, not the same words of the user's status line", async () => {
    const footer = ['  mine · 131k Context 44% used', '  Auto mode', '  22.9% used'];
    const seen = await seenQwen({ columns: 70, footer });
    const { text } = seen.screen;
    const rows = Array.from({ length: 34 }, (_, row) => text(row));
    const end = rows.findLastIndex((row) => row === footer[2]);
    const screen = { ...seen.screen, text: (row: number) => (row > end ? '' : text(row)) };
    const { facts } = qwenScreen.reader({})({ ...seen, screen }, 0);
    expect(facts).toMatchObject([{ reading: { usedPercent: 22.9 } }]);
  });

  it('comes last where the footer is one column', async () => {
    const footer = ['  ➜ app · 131.1k Context 19.1%', '  used'];
    expect(await percents({ columns: 60, footer })).toEqual([]);
    const seen = await seenQwen({ columns: 60, footer });
    const text = seen.screen.text;
    const last = Array.from({ length: 34 }, (_, row) => row).findLast((row) => text(row) !== '') ?? 0;
    const screen = { ...seen.screen, text: (row: number) => (row === last + 1 ? '  19.1% used' : text(row)) };
    expect(qwenScreen.reader({})({ ...seen, screen }, 0).facts).toMatchObject([
      { reading: { usedPercent: 19.1 } },
    ]);
  });

  it.each([
    ['before the first answer', '  ➜ app · qwen3-coder-plus'],
    ['in a status line of the user that says so in the middle', '  61.0% context used by me'],
    ['in one that ends with it, but not at the right end', '  mine   61.0% context used'],
    ['for the totals of the session', '  ➜ app · 510.2k used · 900k total in'],
    ['for a share that cannot be', '  ➜ app · 131.1k Context 153.4% used'],
  ])('is not there %s', async (_, row) => {
    expect(await percents({ footer: [row] })).toEqual([]);
  });
});

describe('the activity of qwen', () => {
  const suggestion: QwenFrame = { suggestion: 'run the tests' };
  it.each([
    ['ready', [{}]],
    ['ready', [{ mode: '*' }]],
    ['ready', [{ label: 'my session' }]],
    ['ready', [{}, suggestion]],
    ['draft', [suggestion]], // before the colour of such texts is known
    ['draft', [{}, { draft: ['run the tests'] }]],
    ['draft', [{}, { draft: [PLACEHOLDER] }]],
    ['draft', [{}, { draft: ['two', 'rows'] }]],
    ['unknown', [{ mode: '!' }]],
    ['unknown', [{}, { mode: '!', suggestion: 'run the tests' }]],
    ['busy', [{ title: '◐︎ Qwen - app' }]],
    ['busy', [{ title: '◐︎ my session', draft: ['steer'] }]],
    ['busy', [{ live: ['  ⠋ Loading wit.exe... (0s · esc to cancel)'] }]],
    ['busy', [{ footer: ['  ➜ app', '  Enter to steer · Ctrl+Q to queue · Auto mode'] }]],
    ['dialog', [{ title: '✳︎ Qwen - app' }]],
    ['dialog', [{ title: 'none', live: ['  ⠏ Waiting for user confirmation...'] }]],
    [
      'compacting',
      [{ title: '◐︎ Qwen - app', live: ['  ⠋ Compressing chat history', '', '  ⠋ Hm (0s · esc to cancel)'] }],
    ],
    ['compacting', [{ live: ['  ⠋ Compressing chat history', ''] }]], // the title is plain a moment too early
    ['unknown', [{ title: '' }]],
  ] as const)('is %s after %j', async (expected, frames) => {
    expect(await activity(...frames)).toBe(expected);
  });

  it('takes a command that was typed and coloured for a draft, wherever the cursor is', async () => {
    const seen = await seenQwen({ draft: ['\x1b[38;2;137;180;250m/clear\x1b[39m'] });
    const [first] = await lookAt({});
    const screen = { ...seen.screen, cursorColumn: 2 };
    expect(first?.next({ ...seen, screen }, 0).activity.activity).toBe('draft');
    const plain = await seenQwen({ draft: ['clear'] });
    const home = { ...plain.screen, cursorColumn: 2 };
    expect(qwenScreen.reader({})({ ...plain, screen: home }, 0).activity.activity).toBe('draft');
    const ghost = await seenQwen({ draft: [grey('/clear')] });
    const same = { ...ghost.screen, cursorColumn: 2 };
    expect(first?.next({ ...ghost, screen: same }, 0).activity.activity).toBe('ready');
  });

  it('is a draft when the words of the placeholder were typed, which colours the path', async () => {
    const typed = PLACEHOLDER.replace('@path/to/file', '\x1b[38;5;183m$&\x1b[39m');
    const seen = await seenQwen({ draft: [typed] });
    const screen = { ...seen.screen, cursorColumn: 2 };
    const [first] = await lookAt({});
    expect(first?.next({ ...seen, screen }, 0).activity.activity).toBe('draft');
  });

  it.each([
    ['╰', '╯'],
    ['└', '┘'],
  ])('is a dialog when a box ends the screen: %s%s', async (left, right) => {
    const footer = [`  ${left}${'─'.repeat(80)}${right}`];
    const seen = await seenQwen({ footer });
    const rows = Array.from({ length: seen.screen.rows }, (_, row) => seen.screen.text(row));
    const last = rows.findIndex((row) => row === footer[0]);
    const text = (row: number) => (row > last || (rows[row] ?? '').startsWith('─') ? '' : (rows[row] ?? ''));
    const [step] = [qwenScreen.reader({})({ ...seen, screen: { ...seen.screen, text } }, 0)];
    expect(step.activity.activity).toBe('dialog');
  });

  it('is recognised by the title', async () => {
    expect(qwenScreen.recognises(await seenQwen({}))).toBe(true);
    expect(qwenScreen.recognises(await seenQwen({ title: '◐︎ Qwen - app' }))).toBe(true);
    expect(qwenScreen.recognises(await seenQwen({ title: '◇  Ready (app)' }))).toBe(false);
  });
});

describe('a compaction on the screen of qwen', () => {
  const running: QwenFrame = { live: ['  ⠋ Compressing chat history', ''] };
  const done = { conversation: ['  > /compress', '  ◆︎ Chat history compressed from 70000 to ~800 tokens.'] };

  it('is counted when it was seen in progress and its success is the newest row', async () => {
    expect(await boundaries({}, running, done, done)).toMatchObject([
      { boundary: { initiator: 'user', preTokens: 70_000, source: 'screen' } },
    ]);
  });

  it.each([
    ['nothing was in progress', [{}, done]],
    ['it was cancelled', [running, { conversation: ['  ●︎ Request cancelled.'] }]],
    [
      'the model says so, over two rows',
      [running, { conversation: ['  ◆︎ ok', '    ◆︎ Chat history compressed from 1 to 1 tokens.'] }],
    ],
  ] as const)('is not counted when %s', async (_, frames) => {
    expect(await boundaries(...frames)).toEqual([]);
  });
});

describe('text that imitates qwen', () => {
  const said = fc.array(fc.constantFrom(...MARKERS), { minLength: 1, maxLength: 12 });
  const asAnswer = (rows: readonly string[]) =>
    rows.map((row, index) => (index === 0 ? `  ◆︎ ${row}` : `    ${row}`));
  const asPrompt = (rows: readonly string[]) =>
    rows.map((row, index) => (index === 0 ? `  > ${row}` : `     ${row}`));

  it('in a conversation is no number, no compaction and no activity', async () => {
    await fc.assert(
      fc.asyncProperty(said, said, async (prompt, answer) => {
        const conversation = [...asPrompt(prompt), '', ...asAnswer(answer)];
        const steps = await lookAt({}, { conversation });
        expect(steps.flatMap(({ facts }) => facts)).toEqual([]);
        expect(steps.at(-1)?.activity.activity).toBe('ready');
      }),
      runs(60),
    );
  });

  it('in a draft is a draft', async () => {
    await fc.assert(
      fc.asyncProperty(said, async (draft) => {
        const [step] = await lookAt({ draft, footer: ['  ➜ app · 131.1k Context 7.5% used'] });
        expect(step?.facts).toMatchObject([{ reading: { usedPercent: 7.5, basis: 'window' } }]);
        expect(step?.activity.activity).toBe('draft');
      }),
      runs(60),
    );
  });
});

describe('the versions before 0.16', () => {
  const bar = '─'.repeat(100);
  /** The cursor is drawn, and the terminal's own stands below. */
  const seenOld = (input: string, below: readonly string[], live: readonly string[] = []) =>
    seenAfter([...live, bar, `> ${input}`, bar, ...below, ''].join('\r\n'), { columns: 100, rows: 34 });

  it.each([
    ['  compress  Compresses the context', '/compress'],
    ['  compress (summarize)  Compresses the context', '/compress'],
    ['  ? for shortcuts          42.0% context used', undefined],
  ])('list below a command what Enter takes: %s', async (row, listed) => {
    const seen = await seenOld('/compress\x1b[7m \x1b[27m\u200b', [row]);
    const look = qwenScreen.prompt?.({ ...seen, status: { state: 'idle' } });
    expect([look?.text, look?.listed]).toEqual(['/compress', listed]);
  });

  it.each([
    [[], 'idle', 'ready'],
    [[], 'busy', 'unknown'],
    [['⠴ Brewing fresh bytes... (esc to cancel, 7s)'], 'idle', 'busy'], // 0.12
    [['  ⠴ Rebooting the humor module... (5s · ↓ 20 tokens · esc to cancel)'], 'idle', 'busy'],
    [['⠴ Compressing chat history'], 'idle', 'compacting'],
  ])('with %j above the empty prompt, and a session file that says %s: %s', async (live, state, activity) => {
    const seen = await seenOld(
      `\x1b[7m \x1b[27m${grey(' Type your message or @path/to/file')}`,
      ['  ? for shortcuts'],
      live,
    );
    const step = qwenScreen.reader({})({ ...seen, status: { state } }, 0);
    expect(step.activity.activity).toBe(activity);
  });
});
