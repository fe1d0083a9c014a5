import { describe, expect, it } from 'vitest';
import type { AgentStatus } from '../../src/agents/agent.js';
import { copilotScreen } from '../../src/agents/copilot/screen.js';
import { readScreens, seenAfter } from '../support/drawn-screen.js';

// Screens as Copilot draws them (docs/facts/copilot.md), at 100 columns: with a box around the prompt, or with two lines.

interface Drawing {
  readonly conversation?: readonly string[];
  /** directly above the prompt: a list, or the row of a compaction with the row of the folder */
  readonly above?: readonly string[];
  /** rows of the prompt, without bar or sign */
  readonly draft?: readonly string[];
  readonly footer?: string;
  /** in place of the prompt */
  readonly instead?: readonly string[] | undefined;
  /** column of the cursor, in the last row of the draft */
  readonly column?: number;
  readonly isPlain?: boolean;
  readonly sign?: string;
  readonly status?: AgentStatus;
}

const COLUMNS = 100;
const ROWS = 24;
const REST =
  ' ← open sidebar · Interactive · Manual Approval · / commands · ? help · tab next tab        gpt-4.1';
const FOLDER = ' ~/project [⎇ master]';
const RUNNING = '◎ Compacting conversation history (3s)';

const promptOf = ({
  draft = [''],
  footer = REST,
  isPlain = false,
  sign = '❯',
}: Drawing): readonly string[] => {
  const bar = isPlain ? sign : '┃';
  const edge = (corner: string, line: string): string =>
    isPlain ? '─'.repeat(COLUMNS) : corner + line.repeat(COLUMNS - 1);
  const rows = draft.map((text, index) => `${index === 0 || !isPlain ? bar : ' '} ${text}`);
  return [edge('╻', '▄'), ...rows, edge('╹', '▀'), footer];
};

const seen = async (drawing: Drawing) => {
  const { conversation = [], above = [FOLDER], draft = [''], instead, status } = drawing;
  const box = instead ?? [...above, ...promptOf(drawing)];
  const gap = Array<string>(ROWS - conversation.length - box.length).fill('');
  const rows = [...conversation, ...gap, ...box];
  const drawn = rows.map((text, index) => `\x1b[${index + 1};1H${text}`).join('');
  const column = drawing.column ?? 2 + (draft.at(-1)?.length ?? 0);
  const row = instead ? ROWS : ROWS - 2;
  const output = `\x1b]0;a name - GitHub Copilot\x07\x1b[?1049h${drawn}\x1b[${row};${column + 1}H`;
  return { ...(await seenAfter(output, { columns: COLUMNS, rows: ROWS })), ...(status ? { status } : {}) };
};

const lookAt = async (...drawings: readonly Drawing[]) =>
  (await readScreens(copilotScreen, drawings.map(seen))).at(-1);

const activity = async (...drawings: readonly Drawing[]) => (await lookAt(...drawings))?.activity.activity;
const facts = async (...drawings: readonly Drawing[]) => (await lookAt(...drawings))?.facts;
const prompt = async (drawing: Drawing) => copilotScreen.prompt?.(await seen(drawing));

describe.each([
  ['in a box', false],
  ['between two lines', true],
])('what copilot is doing, with its prompt %s,', (_, isPlain) => {
  it('is rest with an empty prompt, and a draft with text in it', async () => {
    expect(await activity({ isPlain })).toBe('ready');
    expect(await prompt({ isPlain })).toEqual({ text: '' });
    const draft = ['half a', 'thought'];
    expect(await activity({ isPlain, draft })).toBe('draft');
    expect(await prompt({ isPlain, draft })).toEqual({ text: 'half a\nthought' });
  });

  it.each([
    ' ◉ Working esc esc edit prompt                              gpt-4.1',
    ' ○ Working · 4 B esc esc interrupt · ctrl+q enqueue         gpt-4.1',
    ' ◉ Working · 68 B esc interrupt                             gpt-4.1', // 1.0.92
    ' ◎ Working · 13 B esc again to interrupt                    gpt-4.1',
  ])('is work while the status row says:%s', async (footer) => {
    expect(await activity({ isPlain, footer })).toBe('busy');
    expect(await activity({ isPlain, footer, draft: ['next'] })).toBe('busy');
    expect(await prompt({ isPlain, footer })).toBeUndefined();
  });

  it('is a compaction while its row stands above the prompt, and not when a conversation has the words', async () => {
    expect(await activity({ isPlain, above: [RUNNING, FOLDER] })).toBe('compacting');
    expect(await activity({ isPlain, above: [RUNNING, FOLDER], draft: ['next'] })).toBe('compacting');
    expect(await activity({ isPlain, above: [` ${RUNNING}`, FOLDER] })).toBe('ready');
  });

  it('is a compaction where only its record tells that one runs beside the turn', async () => {
    const status = { state: 'compacting' };
    expect(await activity({ isPlain, status })).toBe('compacting');
    expect(await activity({ isPlain, status, footer: ' ◉ Working esc esc interrupt' })).toBe('busy');
    expect(await activity({ isPlain, status: { state: 'unclear' } })).toBe('ready');
  });

  it.each([
    ['shell mode', ' ← open sidebar · Shell · Manual Approval · esc exit shell mode', 'ls'],
    ['a search', ' search · ↑↓ navigate · esc close', 'Search...'],
    ['the question before the exit', ' ctrl+c again to exit', ''],
    ['autopilot', ' ← open sidebar · Autopilot · Manual Approval · / commands', ''],
    ['a status row of before 1.0.92', ' ← open sidebar · / commands · ? help · tab next tab', ''],
  ])('is not known in %s', async (_where, footer, text) => {
    expect(await activity({ isPlain, footer, draft: [text] })).toBe('unknown');
    expect(await prompt({ isPlain, footer, draft: [text] })).toBeUndefined();
  });

  it('is not known with the cursor elsewhere', async () => {
    expect(await activity({ isPlain, column: 0 })).toBe('unknown');
    expect(await prompt({ isPlain, column: 0 })).toBeUndefined();
  });

  it('is not known while the sidebar makes the prompt narrower', async () => {
    const narrow = promptOf({ isPlain, footer: ' ← use sidebar · Interactive · x' });
    const instead = narrow.map((row) => ` name                  │${row.slice(0, COLUMNS - 24)}`);
    expect(await activity({ instead })).toBe('unknown');
    expect(await prompt({ instead })).toBeUndefined();
  });

  it('tells what was typed from what Copilot adds behind the cursor', async () => {
    const above = ['  ❯ /compact                Summarize conversation history'];
    const all = { isPlain, above, draft: ['/compact [focus instructions]'], column: 10 };
    expect(await prompt(all)).toEqual({ text: '/compact', listed: '/compact' });
    const first = { isPlain, above, draft: ['/compact'], column: 7 };
    expect(await prompt(first)).toEqual({ text: '/comp', listed: '/compact' });
    const others = ['┃ ❯ /add-dir              Allow file access', '┃   /agent                Browse'];
    expect(await prompt({ isPlain, above: others, draft: ['/add-dir'], column: 3 })).toEqual({
      text: '/',
      listed: '/add-dir',
    });
  });
});

describe('the screen of copilot', () => {
  it('is a dialog where a box stands in place of the prompt', async () => {
    const line = (text: string): string => `│ ${text.padEnd(COLUMNS - 4)} │`;
    const instead = [
      `╭${'─'.repeat(COLUMNS - 2)}╮`,
      line('Do you want to run this command?'),
      line('❯ 1. Yes'),
      `╰${'─'.repeat(COLUMNS - 2)}╯`,
    ];
    expect(await activity({ instead })).toBe('dialog');
    expect(await prompt({ instead })).toBeUndefined();
  });

  it('is not known with a search between the lines', async () => {
    expect(await activity({ isPlain: true, sign: '(reverse-i-search)`' })).toBe('unknown');
  });

  it('is a list without a conversation from its head on until a prompt is back, also beside the sidebar', async () => {
    const list = {
      conversation: ['', '       Session                   Status         Modified    Created'],
      instead: ['   ❯ ● my number 3             —              just now    just now', ' esc cancel'],
    };
    const beside = { instead: [`${' '.repeat(36)}│╹${'▀'.repeat(60)}`] };
    const shows = async (...drawings: readonly Drawing[]) =>
      (await facts(...drawings))?.flatMap((fact) => (fact.type === 'view' ? fact.view.shows : []));
    expect(await shows({}, list)).toEqual(['list']);
    expect(await shows({}, list, list)).toEqual([]);
    expect(await shows({}, list, { instead: [''] })).toEqual([]); // half drawn
    expect(await shows({}, list, {})).toEqual(['conversation']);
    expect(await shows({}, list, beside)).toEqual(['conversation']);
    expect(await shows({ ...list, instead: undefined }, {})).toEqual([]);
  });

  it('is recognised by the title alone', async () => {
    expect(copilotScreen.recognises(await seen({}))).toBe(true);
    const other = await seenAfter('\x1b]0;vim\x07GitHub Copilot');
    expect(copilotScreen.recognises(other)).toBe(false);
  });
});

describe('the end of a compaction on the screen of copilot', () => {
  const running: Drawing = { above: [RUNNING, FOLDER] };
  const said = (...conversation: readonly string[]): Drawing => ({ conversation });

  it('counts when its row was seen before', async () => {
    const done = said(' ● Compaction completed', '   └ Use /session checkpoints 1 to view the summary.');
    expect(await facts(running, done)).toEqual([
      { type: 'boundary', boundary: { initiator: 'user', source: 'screen', at: 1_000 } },
    ]);
    expect(await facts(done)).toEqual([]);
    expect(await facts(running, done, done)).toEqual([]);
  });

  it.each([
    [['Nothing to compact.'], { kind: 'noop' }],
    [['Compaction Cancelled'], { kind: 'interrupted' }],
    [['Compaction failed: received empty response from model'], { kind: 'failed', failure: 'empty' }],
    [
      ['host-rethrow: 400 a long', 'wrapped text'],
      { kind: 'failed', text: 'host-rethrow: 400 a long wrapped text' },
    ],
  ])('says why nothing was compacted: %s', async ([words, ...more], result) => {
    const failed = said(` ✗ Compaction Failed: Error: ${words}`, ...more.map((row) => `   ${row}`));
    expect(await facts(running, failed)).toMatchObject([{ type: 'compact-result', result }]);
    expect(await facts(failed)).toEqual([]);
  });

  it('is not taken from an item before another one', async () => {
    const later = said(' ● Compaction completed', '', '  ❯ next thing');
    expect(await facts(running, later)).toEqual([]);
  });
});
