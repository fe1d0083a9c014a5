import { describe, expect, it } from 'vitest';
import { casts } from '../support/casts.js';
import { describeRows, makeEmulator } from '../support/emulator.js';
import { FOOTER, footerShown, lastRow, withWrapped, type Wrapped } from '../support/wrapped.js';

const [COLUMNS, ROWS] = [80, 24];
const HOTKEY = '\x1d';

/** Resolves when the child has been resized to this size. */
const childHas = ({ player }: Wrapped, rows: number, columns = COLUMNS): Promise<void> =>
  player.until(() => player.size()?.[0] === rows && player.size()?.[1] === columns);

const footerGone = ({ window }: Wrapped): Promise<void> =>
  window.until(() => !window.rows().some((row) => FOOTER.test(row)), 'a screen without the footer');

const NARROW = 39; // too small for an overview

describe.concurrent('the hotkey, where there is no room for an overview,', () => {
  it.each([
    { form: 'the control byte', key: HOTKEY },
    { form: 'CSI u', key: '\x1b[93;5u' },
    { form: 'CSI u with num lock and an event type', key: '\x1b[93;133:1u' },
    { form: 'modifyOtherKeys', key: '\x1b[27;5;93~' },
  ])('as $form leaves the footer, which says why', async ({ key }) => {
    await withWrapped({ columns: NARROW, rows: ROWS }, async (wrapped) => {
      const { window, player } = wrapped;
      await wrapped.started();
      await childHas(wrapped, ROWS - 1, NARROW);
      window.type(key);
      await window.until(() => lastRow(window).includes('overview needs 40×8'), 'the reason');
      window.type('.');
      await player.until(() => player.received().endsWith('.'));
      expect(player.received()).toBe('.');
      expect(player.size()).toEqual([ROWS - 1, NARROW]);
    });
  });

  it('pressed twice goes to the child', async () => {
    await withWrapped({ columns: NARROW, rows: ROWS }, async (wrapped) => {
      const { window, player } = wrapped;
      await wrapped.started();
      window.type(`a${HOTKEY}${HOTKEY}b`);
      await player.until(() => player.received().endsWith('b'));
      expect(player.received()).toBe(`a${HOTKEY}b`);
      await childHas(wrapped, ROWS - 1, NARROW);
      await footerShown(window);
    });
  });

  it('inside a bracketed paste is the child’s, also when the paste comes in pieces', async () => {
    const pasted = `\x1b[200~one${HOTKEY}two\x1b[93;5u\x1b[201~`;
    await withWrapped({ columns: COLUMNS, rows: ROWS }, async (wrapped) => {
      const { window, player } = wrapped;
      await wrapped.started();
      [pasted, ...pasted].forEach(window.type);
      window.type('.');
      await player.until(() => player.received().endsWith('.'));
      expect(player.received()).toBe(`${pasted}${pasted}.`);
      expect(lastRow(window)).toMatch(FOOTER);
    });
  });

  it('can be another key, and none', async () => {
    await withWrapped({ options: ['--hotkey', 'Ctrl-G'], columns: NARROW, rows: ROWS }, async (wrapped) => {
      await wrapped.started();
      wrapped.window.type(`${HOTKEY}\x07`);
      await wrapped.window.until(() => lastRow(wrapped.window).includes('overview needs 40×8'));
      wrapped.window.type('.');
      await wrapped.player.until(() => wrapped.player.received().endsWith('.'));
      expect(wrapped.player.received()).toBe(`${HOTKEY}.`);
    });
    await withWrapped({ options: ['--hotkey', 'none'] }, async ({ started, window, player }) => {
      await started();
      window.type(`${HOTKEY}.`);
      await player.until(() => player.received().endsWith('.'));
      expect(player.received()).toBe(`${HOTKEY}.`);
      expect(lastRow(window)).toMatch(FOOTER);
    });
  });
});

const small = [1, 2, 3, 4, 5, 6, 7].map((rows) => ({ columns: COLUMNS, rows }));

describe.concurrent('a window that is too small', () => {
  it('has no footer, and gets it back with its size', async () => {
    await withWrapped({ columns: COLUMNS, rows: ROWS }, async (wrapped) => {
      const { window } = wrapped;
      await wrapped.started();
      for (const { columns, rows } of [...small, { columns: 19, rows: ROWS }]) {
        window.resize(columns, rows);
        await childHas(wrapped, rows, columns);
        await footerGone(wrapped);
        window.resize(COLUMNS, 9);
        await childHas(wrapped, 8);
        await footerShown(window);
      }
      window.resize(COLUMNS, 8);
      await childHas(wrapped, 7);
      await footerShown(window);
      window.resize(20, ROWS);
      await childHas(wrapped, ROWS - 1, 20);
      await window.until(() => lastRow(window).includes('no reading'), 'the footer in 20 columns');
      expect(window.rows().filter((row) => row.includes('no reading'))).toHaveLength(1);
    });
  });

  it.each([...small, { columns: 19, rows: ROWS }])(
    'leaves all of its $columns columns and $rows rows to a child that starts in it',
    async ({ columns, rows }) => {
      const plain = makeEmulator(columns, rows);
      const output = `${'words '.repeat(30)}\r\n\x1b[999;999H\x1b[6nend`;
      await plain.write(output);
      await withWrapped({ columns, rows }, async ({ player, window, caughtUp }) => {
        await player.ready();
        expect(player.size()).toEqual([rows, columns]);
        await player.write(output);
        await caughtUp();
        expect(describeRows(window.emulator.terminal)).toEqual(describeRows(plain.terminal));
        await player.until(() => player.received().length >= plain.answers().length);
        expect(player.received()).toBe(plain.answers());
      });
    },
  );
});

describe.concurrent('without a footer', () => {
  it('the child has all rows until the hotkey asks for one', async () => {
    await withWrapped({ options: ['--no-footer'], columns: COLUMNS, rows: ROWS }, async (wrapped) => {
      const { window, player } = wrapped;
      await player.ready();
      expect(player.size()).toEqual([ROWS, COLUMNS]);
      await player.write(`\x1b[${ROWS};1Hmine`);
      await wrapped.caughtUp();
      expect(lastRow(window)).toMatch(/^mine *$/);
      expect(window.bytes().toString()).not.toContain('generic');
      window.type(HOTKEY);
      await childHas(wrapped, ROWS - 1);
      await footerShown(window);
    });
  });
});

/** The output of the wrapper and its child, without the messages of their parent. */
const withoutMarkers = (bytes: Buffer): string =>
  bytes.toString('latin1').replaceAll(/\x1b\]7777;[^\x07]*\x07/g, '');

/** An example of everything that the filter rewrites, with the modes reset at the end. */
const CLEAN = Buffer.concat([
  Buffer.from(
    'words\nand a bare line feed\r\n\x1b[r\x1b[5;999r\x1b[999B\x1bc\x1b7\x1b[?1049h\x1b[999;999H\x1b8',
  ),
  Buffer.from('\x1b[?1049l\x1b[!p\x1b#8\x1b[18t\x1b[2J\x1b[H漢字 é \x1b]0;title\x07\x9b5n\xff\xfe', 'latin1'),
  Buffer.from('\x1b[?25l\x1b[?2004h\x1b[?2004l\x1b[?25h\x1b[0m\x1b[r'),
]);

describe.concurrent('mode off', () => {
  it.each([{}, { CI: 'true' }, { CI: '' }, { NO_COLOR: '1' }])(
    'passes every byte as it is, both ways, with %j',
    async (env) => {
      const recorded = casts()
        .slice(0, 3)
        .map(({ output }) => Buffer.from(output));
      const output = Buffer.concat([...recorded, CLEAN]);
      await withWrapped({ options: ['--mode', 'off'], env }, async ({ player, window, ended }) => {
        await player.ready();
        expect(player.size()).toEqual([24, 80]);
        await player.write(output, [1000, 1, 7]);
        const isAll = (): boolean => withoutMarkers(window.bytes()).length >= output.length;
        await window.until(isAll, 'all of the output');
        await window.emulator.write(''); // all answers have been sent when everything is parsed
        const received = `${window.emulator.answers()}${HOTKEY}\x1b[93;5u\x1b[200~x\x1b[201~\x1b[6n\x1b`;
        window.type(received.slice(window.emulator.answers().length));
        await player.until(() => player.received().length >= received.length);
        expect(player.received()).toBe(received);
        player.exit(0);
        expect(await ended()).toEqual({ code: 0, signal: null });
        expect(withoutMarkers(window.bytes())).toBe(output.toString('latin1'));
      });
    },
  );
});

describe.concurrent('the environment', () => {
  const rowWith = async (env: Readonly<Record<string, string>>): Promise<string> => {
    let row = '';
    await withWrapped({ env }, async ({ started, window }) => {
      await started();
      await window.until('Ctrl-] overview');
      row = describeRows(window.emulator.terminal).at(-1) ?? '';
    });
    return row;
  };

  it('of a build server does not hide the footer', async () => {
    expect(await rowWith({ CI: 'true' })).toBe(await rowWith({}));
  });

  it('can take the footer’s colours', async () => {
    expect(await rowWith({ NO_COLOR: '1' })).not.toMatch(/ [1-9]\d*:\d+\/|\/[1-9]/);
  });
});
