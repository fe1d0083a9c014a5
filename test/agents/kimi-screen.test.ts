import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentStatus } from '../../src/agents/agent.js';
import { kimiScreen } from '../../src/agents/kimi/screen.js';
import { readScreens, seenAfter } from '../support/drawn-screen.js';
import { runs } from '../support/runs.js';

// Screens as Kimi Code draws them (docs/facts/kimi.md), at 100 columns.

interface Frame {
  /** the end of the conversation, and what goes on */
  readonly above?: readonly string[];
  /** rows of the input, without frame */
  readonly draft?: readonly string[];
  readonly mode?: string;
  readonly top?: string;
  /** directly below the input */
  readonly list?: readonly string[];
  readonly status?: string;
  readonly fill?: string;
  /** in place of the input */
  readonly instead?: readonly string[];
  /** column of the cursor, in the last row of the input */
  readonly column?: number;
  /** what the session file tells; absent where there is none */
  readonly file?: string | null;
}

const [COLUMNS, ROWS] = [100, 30];
const LINE = '─'.repeat(COLUMNS - 4);
const BAR = ` ${'─'.repeat(COLUMNS - 2)}`;
const FILL = 'context: 46% (87.9k/195k)';
const LEFT = 'context: 11% (20.2k/195k)';
const ANSWER = [' ● Hello from the model.', ''];
const RUNNING = [...ANSWER, ' ● Compacting context… · Tip: ! to run a shell command'];
const BLINK = [...ANSWER, '   Compacting context… · Tip: ! to run a shell command'];
const DONE = [...ANSWER, ' ● Compaction complete (20222 → 20719 tokens) (Ctrl-O to show it)', ''];
const CANCELLED = [...ANSWER, ' ● Compaction cancelled'];
const WORKING = [...ANSWER, '  ⠧ Working… · Tip: /init: generate AGENTS.md'];

const boxOf = ({ draft = [''], mode = '>', top = `╭${LINE}╮` }: Frame): readonly string[] => [
  ` ${top}`,
  ...draft.map((text, index) => ` │ ${index === 0 ? mode : ' '} ${text}`.padEnd(COLUMNS - 2) + '│'),
  ` ╰${LINE}╯`,
];

const seen = async (frame: Frame) => {
  const { above = ANSWER, draft = [''], list = [], status = ' lab-model  ~/project', fill = FILL } = frame;
  const { instead = boxOf(frame), file = 'idle' } = frame;
  const rows = [...above, ...instead, ...list, status, ` ${fill.padStart(COLUMNS - 1)}`];
  const drawn = rows.map((text, index) => `\x1b[${index + 1};1H${text}`).join('');
  const last = draft.at(-1) ?? '';
  const row = frame.instead ? rows.length : above.length + 1 + draft.length;
  const column = frame.column ?? 5 + last.replaceAll(/\x1b\[[\d;]*m/g, '').length;
  const evidence = await seenAfter(`${drawn}\x1b[${row};${column + 1}H`, { columns: COLUMNS, rows: ROWS });
  const told: { status?: AgentStatus } = file === null ? {} : { status: { state: file } };
  return { ...evidence, ...told };
};

const lookAt = (...frames: readonly Frame[]) => readScreens(kimiScreen, frames.map(seen));

const lastOf = async (...frames: readonly Frame[]) => (await lookAt(...frames)).at(-1);
const activity = async (...frames: readonly Frame[]) => (await lastOf(...frames))?.activity.activity;
const tokens = async (...frames: readonly Frame[]) =>
  (await lastOf(...frames))?.facts
    .filter((fact) => fact.type === 'reading')
    .map(({ reading }) => reading.usedTokens);
const told = async (...frames: readonly Frame[]) =>
  (await lookAt(...frames)).flatMap(({ facts }) =>
    facts.filter(({ type }) => type === 'boundary' || type === 'compact-result'),
  );
const prompt = async (frame: Frame) => kimiScreen.prompt?.(await seen(frame));

describe('what Kimi is doing', () => {
  it.each([
    ['idle', 'ready'],
    ['new', 'ready'],
    ['unclear', 'unknown'],
    [null, 'unknown'],
    ['busy', 'busy'],
    ['compacting', 'compacting'],
  ])('is, with an empty prompt and a session file that says %s, %s', async (file, expected) => {
    expect(await activity({ file })).toBe(expected);
  });

  it('is unknown where a turn was seen, and no session file tells of one', async () => {
    expect(await activity({ file: 'new' }, { file: 'new', above: WORKING }, { file: 'new' })).toBe('unknown');
    expect(await activity({ file: 'new', above: WORKING }, { file: 'idle' })).toBe('ready');
  });

  it('is a draft with text in the input, also of several rows', async () => {
    expect(await activity({ draft: ['half a thought'] })).toBe('draft');
    expect(await activity({ draft: ['', 'below an empty row'] })).toBe('draft');
    expect(await activity({ draft: ['', ''] })).not.toBe('ready');
  });

  it('is work while the spinner turns or messages wait, whatever the session file says', async () => {
    expect(await activity({ above: WORKING })).toBe('busy');
    expect(await activity({ above: [...ANSWER, '  🌕'] })).toBe('busy');
    const queue = [BAR, '   ❯ queued text', '   ↑ to edit · ctrl-s to steer immediately'];
    expect(await activity({ above: [...ANSWER, ...queue] })).toBe('busy');
  });

  it('is a compaction in both phases of its blinking sign, with a long instruction and a message that waits', async () => {
    expect(await activity({ above: RUNNING })).toBe('compacting');
    expect(await activity({ above: [...BLINK, '   keep the paths', '   and the numbers'] })).toBe(
      'compacting',
    );
    const queue = [BAR, '   ❯ later', '   ↑ to edit · will send after compaction'];
    expect(await activity({ above: [...BLINK, ...queue] })).toBe('compacting');
  });

  it('is none where the conversation only speaks of one', async () => {
    expect(await activity({ above: [' ● I said:', '   Compacting context… it was', ' ● So.'] })).toBe(
      'ready',
    );
  });

  it('is a dialog where one stands between two bars in the place of the input', async () => {
    const question = ['   ▶ Run this command?', '', '   $ touch approved', '', '   ▶ 1. Approve once'];
    expect(await activity({ instead: [BAR, ...question, BAR], column: 99 })).toBe('dialog');
    expect(await prompt({ instead: [BAR, ...question, BAR], column: 99 })).toBeUndefined();
    expect(await activity({ instead: [BAR, '  Select a model', ' │ > lab', BAR] })).toBe('dialog');
  });

  it.each([
    ['in shell mode', { mode: '!' }],
    ['under the label of shell mode', { top: `╭ ! shell mode ${LINE.slice(14)}╮` }],
    ['below a panel', { top: `├${LINE}┤` }],
    ['with the cursor elsewhere', { column: 7 }],
    ['without its footer', { fill: '' }],
    ['with a footer that is cut', { fill: 'context: 46% (87.9k/19…' }],
  ])('is unknown %s', async (_, frame) => {
    expect(await activity(frame)).toBe('unknown');
  });
});

describe('the number in the footer of Kimi', () => {
  it.each([
    ['context: 46% (87.9k/195k)', 90_010, 200_000],
    ['context: 31% (58.6k/195k)', 60_006, 200_000],
    ['context: 57% (109k/195k)', 111_616, 200_000],
    ['context: 1% (812/125k)', 812, 128_000],
    ['context: 50% (128k/256k)', 131_072, 262_144],
    ['context: 50% (64k/128k)', 65_536, 131_072],
    ['context: 52% (16.2k/31.3k)', 16_589, 32_000],
    ['context: 51% (16.2k/32k)', 16_589, 32_768],
    ['context: 52% (512k/977k)', 524_288, 1_000_000],
    ['context: 96% (1M/1M)', 1_048_576, 1_048_576],
  ])('is in units of 1024: %s', async (fill, usedTokens, windowTokens) => {
    const facts = (await lastOf({ fill }))?.facts;
    expect(facts).toMatchObject([
      { type: 'window', claim: { windowTokens } },
      { type: 'reading', reading: { usedTokens, windowTokens, source: 'screen' } },
    ]);
  });

  it('is as near to the true one as its digits allow, for every number and window', async () => {
    const shownAs = (count: number): string => {
      const k = count / 1024;
      if (count < 1024) return String(count);
      return count >= 1024 ** 2
        ? `${(k / 1024).toFixed(1).replace('.0', '')}M`
        : `${k >= 100 ? Math.round(k) : k.toFixed(1).replace('.0', '')}k`;
    };
    const windows = fc.constantFrom(
      32_000,
      128_000,
      131_072,
      200_000,
      262_144,
      400_000,
      1_000_000,
      1_048_576,
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_500_000 }), windows, async (used, window) => {
        const fill = `context: 9% (${shownAs(used)}/${shownAs(window)})`;
        const [claim, reading] = (await lastOf({ fill }))?.facts ?? [];
        expect(claim).toMatchObject({ claim: { windowTokens: window } });
        if (reading?.type !== 'reading') throw new Error('no reading');
        const { usedTokens = 0, roundingTokens = 0 } = reading.reading;
        expect(Math.abs(usedTokens - used)).toBeLessThanOrEqual(roundingTokens);
      }),
      runs(60),
    );
  });

  it('is not taken from the row above it, which a command of the user may print, nor from elsewhere', async () => {
    const spoof = 'context: 99% (194k/195k)'.padStart(COLUMNS);
    expect(await tokens({ status: spoof })).toEqual([90_010]);
    expect(await tokens({ fill: `${FILL}${' '.repeat(20)}` })).toEqual([]);
    expect(await tokens({ above: [spoof, ''], fill: '' })).toEqual([]);
  });

  it('beside a hint is the number, too', async () => {
    const hint = ' Press Ctrl+C again to exit';
    expect(await tokens({ fill: hint + FILL.padStart(COLUMNS - 1 - hint.length) })).toEqual([90_010]);
  });

  it('is void once where another conversation has begun', async () => {
    const other: Frame = { above: [''], fill: 'context: 0% (0/195k)' };
    const types = (await lookAt({}, other, other)).map(({ facts }) => facts.map(({ type }) => type));
    expect(types.slice(1)).toEqual([['voided', 'window'], ['window']]);
  });

  it('is that below a dialog, too', async () => {
    const instead = [BAR, '   ▶ Run this command?', BAR];
    expect(await tokens({ instead, column: 99 })).toEqual([90_010]);
    expect(
      await tokens({}, { above: RUNNING }, { above: DONE, fill: LEFT }, { instead, fill: LEFT }),
    ).toEqual([]);
  });

  it('is not told of a conversation without one, nor while Kimi works', async () => {
    expect(await tokens({ fill: 'context: 0% (0/195k)' })).toEqual([]);
    expect(await tokens({ above: WORKING })).toEqual([]);
  });

  it('is an estimate from a compaction on until a turn has changed it', async () => {
    const left: Frame = { above: DONE, fill: LEFT };
    const next: Frame = { above: [...ANSWER, ' ✨ third', ''], fill: LEFT };
    const answered: Frame = { fill: 'context: 15% (29.3k/195k)' };
    const frames: readonly Frame[] = [{}, { above: RUNNING }, left];
    expect(await tokens(...frames)).toEqual([]);
    expect(await tokens(...frames, next)).toEqual([]);
    const worked = { ...next, above: WORKING };
    expect(await tokens(...frames, worked, next)).toEqual([]); // interrupted before an answer
    expect(await tokens(...frames, worked, answered)).toEqual([30_003]);
    expect(await tokens(left)).toEqual([]); // of a session that was resumed
  });

  it('stays true where a compaction has failed', async () => {
    expect(await tokens({}, { above: RUNNING }, { above: CANCELLED })).toEqual([90_010]);
  });

  it('belongs to another view where the list of sessions was open before and it is another one', async () => {
    const list = (title: string) => ({ instead: [BAR, title, ' ❯ my number 3  just now', BAR] });
    const types = async (...frames: readonly Frame[]) =>
      (await lookAt({}, ...frames)).flatMap(({ facts }) => facts.map(({ type }) => type));
    const sessions = list(' Sessions  (type to search)');
    expect(await types(sessions, { fill: LEFT })).toContain('view');
    expect(await types(sessions, {})).not.toContain('view');
    expect(await types({ fill: LEFT })).not.toContain('view');
    expect(await types(list(' Select a model'), { fill: LEFT })).not.toContain('view');
    expect(await types(sessions, {}, { fill: LEFT })).not.toContain('view');
  });
});

describe('the end of a compaction on the screen of Kimi', () => {
  const running: Frame = { above: RUNNING };
  const error = (text: string): readonly string[] => [...CANCELLED, `   Error: ${text}`, '   and more'];

  it('is told once when it has worked', async () => {
    expect(await told({}, running, { above: BLINK }, { above: DONE }, { above: DONE })).toMatchObject([
      { type: 'boundary', boundary: { initiator: 'user', source: 'screen' } },
    ]);
  });

  it('is told where the summary was too fast to be seen', async () => {
    expect(await told({ draft: ['/compact'] }, { above: DONE })).toMatchObject([{ type: 'boundary' }]);
  });

  it.each([
    ['[compaction.failed] APIStatusError: 400 made up 400', { kind: 'failed', failure: 'error' }],
    ['[compaction.failed] APIEmptyResponseError: The API returned …', { kind: 'failed', failure: 'empty' }],
    ['[compaction.failed] CompactionTruncatedError: …', { kind: 'failed', failure: 'truncated' }],
    ['[auth.login_required] log in', { kind: 'failed', failure: 'error' }],
  ])('is a failure with %s', async (text, result) => {
    expect(await told({}, running, { above: error(text) })).toMatchObject([{ result }]);
  });

  it('is told of a command that was refused, and of one with nothing to do', async () => {
    const typed: Frame = { draft: ['/compact'] };
    const busy = '   Error: Cannot /compact while streaming — press Esc or Ctrl-C first.';
    expect(await told(typed, { above: [...ANSWER, busy] })).toMatchObject([{ result: { kind: 'failed' } }]);
    const none = '   Error: No messages to compact in current history.';
    expect(await told(typed, { above: [...ANSWER, none] })).toMatchObject([{ result: { kind: 'noop' } }]);
  });

  it('is an interruption where it was cancelled without an error', async () => {
    expect(await told({}, running, { above: CANCELLED })).toMatchObject([
      { result: { kind: 'interrupted' } },
    ]);
  });

  it('is nothing where only old words are seen, as after a session was resumed', async () => {
    expect(await told({ above: DONE })).toEqual([]);
    expect(await told({ above: error('[compaction.failed] x') }, { draft: ['/compact'] })).toEqual([]);
    expect(await told({ draft: ['/compact'], above: DONE }, { above: DONE })).toEqual([]);
    expect(await told({ draft: ['hello'] }, { above: [...ANSWER, '   Error: [provider] x'] })).toEqual([]);
  });
});

describe('the prompt of Kimi', () => {
  const grey = (text: string): string => `\x1b[38;2;120;120;120m${text}\x1b[39m`;
  const list = [` │   → compact     <instruction> — Compact the conversation context`.padEnd(98) + '│'];

  it('is without the hint behind a command, and names the chosen entry of the list', async () => {
    const draft = [`\x1b[1m/compact\x1b[22m${grey('  <instruction>')}`];
    expect(await prompt({ draft, list, column: 13 })).toEqual({ text: '/compact', listed: '/compact' });
    expect(await activity({ draft, list, column: 13 })).toBe('draft');
  });

  it('is with what the user typed in the form of a hint', async () => {
    expect(await prompt({ draft: ['/compact  <instruction>'] })).toEqual({ text: '/compact  <instruction>' });
    const draft = [`/compact${grey('  <instruction>')}`];
    expect(await prompt({ draft, column: 20 })).toEqual({ text: '/compact  <instruction>' });
  });

  it('joins what was wrapped, at a word and inside one', async () => {
    const width = COLUMNS - 10;
    const words = ['a'.repeat(width - 3), 'word two'];
    expect(await prompt({ draft: words })).toEqual({ text: words.join(' ') });
    expect(await prompt({ draft: ['x'.repeat(width), 'xx'] })).toEqual({ text: 'x'.repeat(width + 2) });
    expect(await prompt({ draft: ['one', 'two'] })).toEqual({ text: 'one\ntwo' });
  });

  it('is none in shell mode', async () => {
    expect(await prompt({ mode: '!', draft: ['ls'] })).toBeUndefined();
  });

  it('is that of Kimi only with its footer', async () => {
    expect(kimiScreen.recognises(await seen({}))).toBe(true);
    expect(kimiScreen.recognises(await seen({ fill: 'context left: 46%' }))).toBe(false);
  });
});
