import { describe, expect, it } from 'vitest';
import { opencodeScreen } from '../../src/agents/opencode/screen.js';
import { readScreens, seenAfter } from '../support/drawn-screen.js';

// Screens as opencode draws them (docs/facts/opencode.md), at 100 columns.

interface Frame {
  /** of the panel that a wide terminal shows at the right, on the row with this number from below */
  readonly panel?: Readonly<Record<number, string>>;
  readonly conversation?: readonly string[];
  readonly list?: readonly string[];
  readonly draft?: string;
  readonly mode?: string;
  readonly below?: readonly string[];
  readonly title?: string;
  /** in place of the prompt */
  readonly instead?: readonly string[];
  /** row and column from the upper left, from 0; in the prompt where absent */
  readonly cursor?: readonly [number, number];
}

const COLUMNS = 100;
const ROWS = 24;
const PANEL = 42; // columns
const rest = (number = '55.0K (28%)'): string =>
  `   /home/me/project`.padEnd(60) + `${number}  ctrl+p commands`;
const BUSY = `   ⬝⬝■■■■■■  esc interrupt`.padEnd(60) + '55.0K (28%)  ctrl+p commands';
const ANSWER = '     ▣  Build · Lab Model · 860ms';
const RULE = `  ${'─'.repeat(40)} Compaction ${'─'.repeat(40)}`;

const seen = ({
  conversation = [],
  list = [],
  draft = '',
  mode = 'Build · Lab Model Lab',
  ...more
}: Frame) => {
  const { below = [rest()], title = 'OC | a name', instead } = more;
  const prompt = ['', `  ${draft}`, '', `  ${mode}`].map((text) => `  ┃${text}`);
  const box = instead ?? [...list, ...prompt, `  ╹${'▀'.repeat(COLUMNS - 5)}`, ...below];
  const gap = Array<string>(ROWS - conversation.length - box.length).fill('');
  const bare = [...conversation, ...gap, ...box];
  const { panel } = more;
  const beside = (text: string, index: number): string => {
    const told = panel?.[ROWS - 1 - index];
    return told === undefined ? text : `${text.padEnd(COLUMNS + 3)}${told}`;
  };
  const rows = bare.map(beside);
  const [row, column] = more.cursor ?? [ROWS - below.length - 4, 5 + draft.length];
  const drawn = rows.map((text, index) => `\x1b[${index + 1};1H${text}`).join('');
  return seenAfter(`\x1b]0;${title}\x07\x1b[?1049h${drawn}\x1b[${row + 1};${column + 1}H`, {
    columns: panel ? COLUMNS + PANEL : COLUMNS,
    rows: ROWS,
  });
};

const lookAt = (...frames: readonly Frame[]) => readScreens(opencodeScreen, frames.map(seen));

const lastOf = async (...frames: readonly Frame[]) => (await lookAt(...frames)).at(-1);
const activity = async (...frames: readonly Frame[]) => (await lastOf(...frames))?.activity.activity;
const typesIn = async (...frames: readonly Frame[]) =>
  (await lastOf(...frames))?.facts.map(({ type }) => type);
const reading = async (...frames: readonly Frame[]) =>
  (await lastOf(...frames))?.facts.find((fact) => fact.type === 'reading')?.reading;
const prompt = async (frame: Frame) => opencodeScreen.prompt?.(await seen(frame));

describe('what opencode is doing', () => {
  it('is rest with an empty prompt, and a draft with text in it', async () => {
    expect(await activity({ conversation: [ANSWER] })).toBe('ready');
    expect(await activity({ draft: 'half a thought' })).toBe('draft');
  });

  it.each([
    ['a turn', [BUSY]],
    ['the question whether to stop it', ['   ⬝⬝■■■■■■  esc again to interrupt']],
    [
      'a request that is tried again',
      ['   ■■■■⬝⬝⬝⬝ made up 500 [retrying in 25s attempt #5]   esc interrupt'],
    ],
    [
      'a row that is wrapped',
      ['   ■■■■⬝⬝⬝⬝ a long error of the server', '   [retrying]   esc', '   interrupt'],
    ],
  ])('is work during %s', async (_, below) => {
    expect(await activity({ below })).toBe('busy');
  });

  it('is a compaction only while one runs', async () => {
    expect(
      await activity({ conversation: [RULE, '', '     ▣  Compaction · Lab Model'], below: [BUSY] }),
    ).toBe('compacting');
    const done = [RULE, '', '     ▣  Compaction · Lab Model · 6.4s'];
    expect(await activity({ conversation: done, below: [BUSY] })).toBe('busy');
  });

  const panel = { 23: 'a name', 20: '55,000 tokens', 1: '/home/me/project', 0: '• OpenCode 1.18.33' };

  it('is the same beside the panel of a wide terminal', async () => {
    const frame = { conversation: [ANSWER], panel };
    expect(await activity(frame)).toBe('ready');
    expect(await activity({ ...frame, draft: 'half a thought' })).toBe('draft');
    expect(await prompt({ ...frame, draft: 'half a thought' })).toEqual({ text: 'half a thought' });
    expect(await activity({ ...frame, below: [BUSY] })).toBe('busy');
    expect(await reading(frame)).toMatchObject({ usedTokens: 55_000, usedPercent: 28 });
    const done = [RULE, '', '     ▣  Compaction · Lab Model · 6.4s'];
    const running = [RULE, '', '     ▣  Compaction · Lab Model'];
    const begun = { conversation: running, below: [BUSY], panel };
    expect(await typesIn(begun, { conversation: done, panel: { ...panel, 21: 'beside the row' } })).toContain(
      'boundary',
    );
  });

  it('is a dialog where a window covers the conversation and the panel', async () => {
    const head = '   Select model'.padEnd(COLUMNS + 10) + 'esc';
    expect(await activity({ conversation: [ANSWER, head], panel })).toBe('dialog');
  });

  it('is a dialog where a question stands in place of the prompt', async () => {
    const instead = [
      '  ┃',
      '  ┃  △ Permission required',
      '  ┃    # Shell command',
      '  ┃',
      '  ┃   Allow once   Allow always   Reject      ⇆ select  enter confirm',
      '  ┃',
    ];
    // the hidden cursor is in a row that looks like an empty prompt
    expect(await activity({ instead, cursor: [ROWS - 3, 5] })).toBe('dialog');
    expect(await prompt({ instead, cursor: [ROWS - 3, 5] })).toBeUndefined();
  });

  it('is a dialog where a window covers the conversation, wherever the cursor is', async () => {
    const conversation = [ANSWER, '', `${' '.repeat(30)}Select model${' '.repeat(30)}esc`, '', '   Search'];
    expect(await activity({ conversation })).toBe('dialog');
    expect(await prompt({ conversation })).toBeUndefined();
  });

  it('is unknown in shell mode, with the cursor elsewhere, and without the status', async () => {
    const shell = { mode: 'Shell', below: ['   /home/me/project      esc exit shell mode'] };
    expect(await activity(shell)).toBe('unknown');
    expect(await prompt(shell)).toBeUndefined();
    expect(await activity({ cursor: [3, 5] })).toBe('unknown');
    expect(await prompt({ cursor: [3, 5] })).toBeUndefined();
    expect(await activity({ below: [''] })).toBe('unknown');
  });
});

describe('the prompt of opencode', () => {
  const LIST = ['/compact      Compact session', '/review       review changes'].map(
    (text) => `  ┃ ${text.padEnd(COLUMNS - 8)}┃`,
  );

  it('holds what was typed', async () => {
    expect(await prompt({ draft: '/compact now' })).toEqual({ text: '/compact now' });
  });

  it('lists the command that Enter takes', async () => {
    expect(await prompt({ draft: '/compact', list: LIST })).toEqual({ text: '/compact', listed: '/compact' });
    const second = LIST.map((row, index) => (index === 1 ? `\x1b[38;2;10;10;10m${row}\x1b[39m` : row));
    expect(await prompt({ draft: '/compact', list: second })).toMatchObject({ listed: '/review' });
  });
});

describe('the number on the screen of opencode', () => {
  it('is that of the last answer', async () => {
    expect(await reading({ conversation: [ANSWER] })).toMatchObject({ usedTokens: 55_000, usedPercent: 28 });
  });

  it('may have the cost of the session behind it, or no percentage', async () => {
    expect(await reading({ below: [rest('55.0K (28%) · $1.20')] })).toMatchObject({ usedPercent: 28 });
    const bare = await reading({ below: [rest('55.0K')] });
    expect(bare).toMatchObject({ usedTokens: 55_000 });
    expect(bare).not.toHaveProperty('usedPercent');
  });

  it('is only a percentage where a long path covers its first digits', async () => {
    const covered = await reading({
      below: ['   /home/me/a/very/long/path/project5.0K (28%) ctrl+p commands'],
    });
    expect(covered).toMatchObject({ usedPercent: 28 });
    expect(covered).not.toHaveProperty('usedTokens');
  });

  it('is found in a row that a longer path wraps, and the prompt stays known', async () => {
    const below = [
      '   /home/me/a/very/long/permission-      10.0K (5%)ctrl+p',
      `   dialog${' '.repeat(60)}commands`,
    ];
    expect(await reading({ below })).toMatchObject({ usedTokens: 10_000, usedPercent: 5 });
    expect(await activity({ below })).toBe('ready');
  });

  it('is found in a row that ends behind the prompt', async () => {
    const rest = '/  10.0K (5%) ctrl+p commands';
    const below = [`   /home/me/project`.padEnd(COLUMNS - 1 - rest.length, 'x') + rest, '   project'];
    expect(below[0]).toHaveLength(COLUMNS - 1);
    expect(await activity({ below })).toBe('ready');
    expect(await reading({ below })).toMatchObject({ usedTokens: 10_000, usedPercent: 5 });
  });

  const compacted = [RULE, '', '     the summary', '', '     ▣  Compaction · Lab Model · 6.4s'];

  it('is none after a compaction, when it is that of the request for the summary, until the next answer', async () => {
    expect(await reading({ conversation: compacted })).toBeUndefined();
    const after = [...compacted, '', '     long text'];
    expect(
      await reading({ conversation: compacted }, { conversation: after, below: [BUSY] }),
    ).toBeUndefined();
    expect(await reading({ conversation: compacted }, { conversation: ['     scrolled'] })).toBeUndefined();
    expect(await reading({ conversation: compacted }, { conversation: [...after, ANSWER] })).toBeDefined();
  });

  it('belongs to another view in a new conversation and in another one, and not while the screen is half drawn', async () => {
    const fresh = {
      draft: 'Ask anything… "Fix a TODO"',
      title: 'OpenCode',
      below: ['tab agents  ctrl+p commands'],
    };
    const atStart = [ROWS - 5, 5] as const;
    const types = await typesIn({}, { ...fresh, cursor: atStart });
    expect(types).toContain('view');
    expect(types).not.toContain('reading');
    const hidden = { below: ['   /home/me/so/long/a/path/that/nothing/is/left   ctrl+p', '   commands'] };
    expect(await typesIn(hidden, { ...fresh, cursor: atStart })).toContain('view');
    const other = { title: 'OC | another', below: [rest('3.0K (2%)')] };
    expect(await typesIn({}, other)).toContain('view');
    expect(await typesIn({}, { below: ['   ctrl+p commands'] })).not.toContain('view');
    expect(await typesIn({}, { below: [rest('60.0K (30%)')] })).not.toContain('view');
  });

  it('belongs to another view where a window was open before and it is another one, also under the same name', async () => {
    const window = { conversation: ['                 Sessions                                 esc'] };
    const other = { below: [rest('3.0K (2%)')] };
    expect(await typesIn({}, window, other)).toContain('view');
    expect(await typesIn({}, window, {})).not.toContain('view');
    const hidden = { below: ['   ctrl+p commands'] };
    expect(await typesIn({}, window, hidden)).toContain('view');
    expect(await typesIn({}, window, hidden, hidden)).not.toContain('view');
    const commands = { conversation: ['                 Commands                                 esc'] };
    expect(await typesIn({}, commands, hidden)).not.toContain('view');
    expect(await typesIn({}, commands, hidden, other)).toContain('view');
  });

  it('is not of another view behind a compaction that was chosen in a window', async () => {
    const window = { conversation: ['                 Commands                                 esc'] };
    const running = { conversation: [RULE], below: [BUSY] };
    expect(await typesIn({}, window, running, { below: [rest('3.0K (2%)')] })).not.toContain('view');
  });

  it('is none while messages are taken back, of which the status row still tells', async () => {
    const reverted = {
      conversation: [ANSWER, '', '  ┃  2 messages reverted', '  ┃  ctrl+x r or /redo to restore'],
    };
    expect(await reading({ conversation: [ANSWER] }, reverted)).toBeUndefined();
    expect(await reading(reverted, { conversation: [ANSWER] })).toBeDefined();
  });
});

describe('the end of a compaction on the screen of opencode', () => {
  const running = { conversation: [RULE, '', '     ▣  Compaction · Lab Model'], below: [BUSY] };
  const endOf = async (...conversation: readonly string[]) =>
    (await lastOf(running, { conversation }))?.facts.filter(
      ({ type }) => type === 'boundary' || type === 'compact-result',
    );

  it('is success with its time', async () => {
    expect(await endOf(RULE, '', '     sum', '', '     ▣  Compaction · Lab Model · 1m 4s')).toEqual([
      { type: 'boundary', boundary: { initiator: 'user', source: 'screen', at: 1_000 } },
    ]);
  });

  it('is told as empty where there is no text', async () => {
    expect(await endOf(RULE, '', '     ▣  Compaction · Lab Model · 131ms')).toEqual([
      expect.objectContaining({ boundary: expect.objectContaining({ summary: 'empty' }) }),
    ]);
  });

  it('is a failure with a box above its row, with a time or without', async () => {
    for (const time of ['', ' · 132ms'])
      expect(
        await endOf(RULE, '  ┃', '  ┃  made up 400', '  ┃', `     ▣  Compaction · Lab Model${time}`),
      ).toEqual([
        { type: 'compact-result', result: { kind: 'failed', failure: 'error', text: 'made up 400' } },
      ]);
  });

  it('is interrupted where opencode says so, and not told where nothing shows it', async () => {
    expect(await endOf(RULE, '', '     ▣  Compaction · Lab Model · interrupted')).toEqual([
      { type: 'compact-result', result: { kind: 'interrupted', by: 'the user' } },
    ]);
    expect(await endOf(RULE, '', '     ▣  Compaction · Lab Model')).toEqual([]);
    expect(await endOf('     scrolled away')).toEqual([]);
  });

  it('is not told of a compaction that was not seen to run', async () => {
    const conversation = [RULE, '', '     sum', '     ▣  Compaction · Lab Model · 6.4s'];
    expect(await typesIn({ conversation })).toEqual([]);
  });
});
