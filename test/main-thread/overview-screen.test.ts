// An overview leaves no trace on the child's screen.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { describeTerminal, makeEmulator } from '../support/emulator.js';
import { watchLeftovers } from '../support/leftovers.js';
import {
  makeOverviewHarness,
  shown,
  shownPlainly,
  TITLE,
  type OverviewHarness,
} from '../support/overview-harness.js';
import { runs } from '../support/runs.js';
import { programOutput } from '../support/sequences.js';
import { eventually } from '../support/eventually.js';

const [COLUMNS, ROWS] = [60, 14];
const MEGABYTE = 1024 * 1024;

let run: OverviewHarness;
const start = (columns = COLUMNS, rows = ROWS): OverviewHarness => (run = makeOverviewHarness(columns, rows));
afterEach(() => run.stop());

const firstRow = ({ emulator: { terminal } }: OverviewHarness): string =>
  terminal.buffer.active.getLine(terminal.buffer.active.baseY)?.translateToString(true) ?? '';

const modes = [
  1, 6, 7, 9, 25, 45, 47, 1000, 1002, 1003, 1004, 1006, 1016, 1047, 1048, 1049, 2004, 2026, 4242,
];
const statuses = ['m', 'r', '"q'];
const questions: readonly string[] = [
  '\x1b[c',
  '\x1b[>c',
  '\x1b[5n',
  '\x1b[6n',
  '\x1b[?6n',
  '\x1b[18t',
  ...statuses.map((what) => `\x1bP$q${what}\x1b\\`),
  ...modes.map((mode) => `\x1b[?${mode}$p`),
  '\x1b[4$p',
];

const ALTERNATE =
  '\x1b[?1049h\x1b[31mred\x1b[2;20H\x1b[4:3m\x1b[58;5;9mcurly\x1b[0m\x1b]8;id=1;http://a\x1b\\link\x1b]8;;\x1b\\漢';
const places = [
  { where: 'the main screen', before: 'some rows\r\n\x1b[1;32mgreen' },
  { where: 'the alternate screen', before: ALTERNATE },
  {
    where: 'the main screen, with all that moves a cursor',
    before: 'x\r\n\x1b7\x1b[3;9r\x1b[?6h\x1b[2;2Hy\x1b(0q\x1b[?7l',
  },
  {
    where: 'the alternate screen, with the mouse',
    before: `${ALTERNATE}\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?25l`,
  },
  { where: 'the main screen, with the mouse in pixels', before: '\x1b[?1003h\x1b[?1016hx' },
] as const;

const open = async (): Promise<void> => {
  run.overview.open();
  await eventually(() => expect(run.stage.overviewOutput).toBeDefined());
};

describe.each(places)('over $where', ({ before }) => {
  it('everything is restored, and continues as it would without the overview', async () => {
    start();
    const after = `\x1b[2b${questions.join('')}`; // repeats the last printed character (REP)
    run.write(before);
    await open();
    run.overview.close();
    expect(await shown(run)).toEqual(await shownPlainly(before, COLUMNS, ROWS));
    run.write(after);
    expect(await shown(run)).toEqual(await shownPlainly(before + after, COLUMNS, ROWS));
    const plain = makeEmulator(COLUMNS, ROWS);
    await plain.write(before + after);
    expect(run.received()).toBe(plain.answers());
  });

  it('a string may begin before it is closed and end after it', async () => {
    start();
    run.write(before);
    await open();
    run.write('one\x1b]0;the ti');
    run.overview.close();
    run.write('tle\x07two');
    expect(await shown(run)).toEqual(await shownPlainly(`${before}one\x1b]0;title\x07two`, COLUMNS, ROWS));
  });

  it('a megabyte that arrives meanwhile is all written afterwards, and nothing of it before', async () => {
    const lines = Array.from(
      { length: MEGABYTE / 40 },
      (_, line) => `\r\nline ${line} \x1b[3${line % 8}mcolour\x1b[m ${'.'.repeat(20)}`,
    ).join('');
    start();
    run.write(before);
    await open();
    for (let at = 0; at < lines.length; at += 65_536) run.write(lines.slice(at, at + 65_536));
    await run.drawn();
    expect(firstRow(run)).toContain(TITLE);
    run.overview.close();
    expect(await shown(run)).toEqual(await shownPlainly(before + lines, COLUMNS, ROWS));
  });

  it('the child can go to the other screen and come back, or stay there', async () => {
    for (const meanwhile of [
      '\x1b[?1049h there',
      '\x1b[?1049l back',
      '\x1b[?1049h there\x1b[?1049l back',
      '\x1bc anew',
    ]) {
      start();
      run.write(before);
      await open();
      run.write(meanwhile);
      run.overview.close();
      expect(await shown(run)).toEqual(await shownPlainly(before + meanwhile, COLUMNS, ROWS));
      run.stop();
    }
  });

  it('the watchdog leaves it before it tidies up', async () => {
    start();
    const leftovers = watchLeftovers(run.emulator.terminal);
    run.write(before);
    await open();
    run.write('\x1b[?1003h\x1b[?1049l\x1b[?1049h\x1b[?5h'); // output kept by the overview, so it does not count
    await run.emulator.write(run.armed().replaceAll('\\033', '\x1b'));
    const { terminal } = run.emulator;
    expect(terminal.buffer.active.type).toBe('normal');
    expect(leftovers()).toEqual([]);
    expect({ ...terminal.modes }).toEqual({ ...makeEmulator(COLUMNS, ROWS).terminal.modes });
  });
});

describe('output that is kept', () => {
  it.each(places.slice(0, 2))(
    'of more than eight megabytes closes the overview over $where by itself',
    async ({ before }) => {
      start();
      run.write(before);
      await open();
      const block = 'x'.repeat(MEGABYTE);
      for (let count = 0; count < 9; count += 1) run.write(block);
      expect(run.overview.isOpen()).toBe(false);
      expect(await shown(run)).toEqual(await shownPlainly(before + block.repeat(9), COLUMNS, ROWS));
    },
  );
});

const sizes = [
  { columns: COLUMNS, rows: 11, change: 'lower' },
  { columns: COLUMNS, rows: 25, change: 'higher' },
  { columns: 45, rows: ROWS + 1, change: 'narrower' },
  { columns: 90, rows: ROWS + 1, change: 'wider' },
  { columns: 47, rows: 12, change: 'smaller' },
  { columns: 39, rows: 12, change: 'too small for it' },
];
const screens = [
  { where: 'the main screen', before: 'first\r\nsecond\r\n\x1b[32mthird line' },
  { where: 'the main screen, scrolled', before: `${'row\r\n'.repeat(40)}box\r\n\r\nhint\x1b[2A` },
  { where: 'the alternate screen', before: `\x1b[?1049h\x1b[2;3Hsecond\x1b[${ROWS};50Hlast\x1b[5;5H` },
];

/** Bytes before, a resize, bytes after; with or without the overview open from the first to the last. */
const resized = async (
  { columns, rows }: { columns: number; rows: number },
  before: string,
  opens: boolean,
): Promise<Awaited<ReturnType<typeof shown>>> => {
  start();
  run.write(before);
  await shown(run);
  if (opens) await open();
  run.write('\x1b[1mmeanwhile');
  run.resize(columns, rows);
  const { grid } = run.stage.filter;
  await eventually(() => expect([grid.terminalRows, run.parts.output.hasHeldBytes()]).toEqual([rows, false]));
  if (opens) expect(run.overview.isOpen()).toBe(columns >= 40);
  run.write(' after');
  run.overview.close();
  const seen = await shown(run);
  run.stop();
  return seen;
};

describe.each(screens)('a resize over $where', ({ before }) => {
  it.each(sizes)(
    'that makes the terminal $change leaves what it would without the overview',
    async (size) => {
      const without = await resized(size, before, false);
      expect(await resized(size, before, true)).toEqual(without);
    },
  );
});

describe('questions of the child', () => {
  it.each(places)(
    'are answered while it is open over $where, once, in their order, as without it',
    async ({ before }) => {
      start();
      const text = questions.join('text\r\n');
      const plain = makeEmulator(COLUMNS, ROWS);
      await plain.write(before + text);
      run.write(before);
      await open();
      for (const character of text) run.write(character);
      await eventually(() => expect(run.received().length).toBeGreaterThanOrEqual(plain.answers().length));
      expect(run.received()).toBe(plain.answers());
      expect(run.overview.isOpen()).toBe(true);
      run.overview.close();
      expect(await shown(run)).toEqual(await shownPlainly(before + text, COLUMNS, ROWS));
      expect(run.received()).toBe(plain.answers());
    },
  );

  it('whatever is written and asked, the screen and the answers are as without an overview', async () => {
    const output = fc.array(
      fc.oneof(
        programOutput,
        fc.constantFrom(...questions).map((text) => Buffer.from(text)),
      ),
      {
        minLength: 2,
        maxLength: 5,
      },
    );
    await fc.assert(
      fc.asyncProperty(output, async (pieces) => {
        start(40, 12);
        const plain = makeEmulator(40, 12);
        for (const [index, piece] of pieces.entries()) {
          run.overview.close();
          if (index % 2 === 1) run.overview.open();
          if (run.stage.filter.grid.alternate)
            while (run.parts.output.hasHeldBytes()) await run.model.settled();
          run.write(piece);
          await plain.write(piece);
          await run.drawn();
          await eventually(() => expect(run.received()).toBe(plain.answers()));
        }
        run.overview.close();
        while (run.parts.output.hasHeldBytes()) await run.model.settled();
        await run.drawn();
        expect(describeTerminal(run.emulator.terminal, 1)).toEqual(describeTerminal(plain.terminal));
        run.stop();
      }),
      runs(40, 20261121),
    );
  });
});
