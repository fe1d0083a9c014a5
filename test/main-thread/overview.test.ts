import { EventEmitter, once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toPrintable } from '../../src/core/printable.js';
import {
  makeOverviewHarness,
  shown,
  shownPlainly,
  type OverviewHarness,
} from '../support/overview-harness.js';
import { eventually } from '../support/eventually.js';

const [COLUMNS, ROWS] = [60, 14];
const HOTKEY = '\x1d';

let run: OverviewHarness;
const start = (...options: Parameters<typeof makeOverviewHarness>): OverviewHarness =>
  (run = makeOverviewHarness(...options));
afterEach(() => {
  run.stop();
  vi.useRealTimers();
});

describe('the hotkey', () => {
  it.each([
    {
      what: 'closes what it has opened, when some time has gone',
      typed: [HOTKEY, HOTKEY],
      pause: 600,
      sent: '',
    },
    { what: 'goes to the child when it is pressed twice', typed: [HOTKEY, HOTKEY], pause: 100, sent: HOTKEY },
    {
      what: 'goes to the child when both are one chunk',
      typed: [`a${HOTKEY}${HOTKEY}b`],
      pause: 0,
      sent: `a${HOTKEY}b`,
    },
    {
      what: 'closes it in the form of a keyboard protocol',
      typed: ['\x1b[93;5u', '\x1b[93;5u'],
      pause: 600,
      sent: '',
    },
  ])('$what', ({ typed, pause, sent }) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    start(COLUMNS, ROWS);
    for (const keys of typed) {
      run.type(keys);
      vi.advanceTimersByTime(pause);
    }
    expect(run.overview.isOpen()).toBe(false);
    expect(run.received()).toBe(sent);
    expect(run.keys).toEqual([]);
    expect(run.stage.isFooterWanted).toBe(true);
  });

  it.each([
    { columns: 39, rows: 14 },
    { columns: 60, rows: 6 },
  ])(
    'says what the overview needs in a child of $columns by $rows, and hides nothing',
    ({ columns, rows }) => {
      start(columns, rows);
      run.type(`${HOTKEY}q`);
      expect(run.stage.isFooterWanted).toBe(true);
      expect(run.notices).toEqual(['overview needs 40×8']);
      expect(run.overview.isOpen()).toBe(false);
      expect(run.received()).toBe('q');
    },
  );

  it('says so where nothing will draw it', () => {
    start(COLUMNS, ROWS, { isAvailable: () => false });
    run.type(`${HOTKEY}q`);
    expect([run.notices, run.received()]).toEqual([['the overview is not ready yet'], 'q']);
  });

  /** An overview that cannot be drawn before `ready` or `fail` is called. */
  const startEarly = () => {
    const loading = new EventEmitter();
    let isReady = false;
    const load = async (): Promise<void> => void (isReady || (await once(loading, 'ready')));
    start(COLUMNS, ROWS, { load });
    return {
      ready: () => {
        isReady = true;
        loading.emit('ready');
      },
      fail: () => loading.emit('error', new Error('nothing draws it')),
    };
  };

  it('pressed too early, and again while nothing is seen, opens it as soon as it can be drawn; the child gets no key', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { ready } = startEarly();
    for (let press = 0; press < 3; press += 1) {
      run.type(HOTKEY);
      vi.advanceTimersByTime(600);
    }
    run.resize(COLUMNS + 5, ROWS + 1);
    run.type(HOTKEY);
    vi.advanceTimersByTime(600);
    ready();
    await eventually(() => expect(run.stage.overviewOutput).toBeDefined());
    expect([run.notices, run.received(), run.keys]).toEqual([[], '', []]);
    run.type(HOTKEY);
    expect([run.overview.isOpen(), run.received()]).toEqual([false, '']);
  });

  it('pressed twice goes to the child also where it cannot be drawn yet, and opens nothing later', async () => {
    const { ready } = startEarly();
    run.type(HOTKEY);
    run.type(HOTKEY);
    ready();
    run.type('ls');
    await run.drawn();
    expect([run.overview.isOpen(), run.received(), run.keys]).toEqual([false, `${HOTKEY}ls`, []]);
  });

  it('pressed too early leaves a paste to the child, whole, also when the overview opens in the middle of it', async () => {
    const { ready } = startEarly();
    run.type(`${HOTKEY}\x1b[200~rm -rf`);
    ready();
    await eventually(() => expect(run.stage.overviewOutput).toBeDefined());
    run.type(' q\r\x1b[201~d');
    expect([run.received(), run.keys]).toEqual(['\x1b[200~rm -rf q\r\x1b[201~', ['d']]);
    run.type('\x1b[200~seen\x1b[201~');
    expect(run.received()).not.toContain('seen');
  });

  it('pressed too early is undone by the key that closes the overview', () => {
    const { ready } = startEarly();
    run.type(`${HOTKEY}qls`);
    ready();
    expect([run.overview.isOpen(), run.received()]).toEqual([false, 'ls']);
  });

  it('pressed too early says so when nothing has drawn it in time', async () => {
    const { fail } = startEarly();
    run.type(HOTKEY);
    fail();
    await eventually(() => expect(run.overview.isOpen()).toBe(false));
    expect([run.notices, run.received()]).toEqual([['the overview is not ready yet'], '']);
  });
});

describe('the second screen of the terminal', () => {
  it('is tested at the first opening, and used', async () => {
    start(COLUMNS, ROWS);
    run.stage.hasSecondScreen = undefined;
    run.write('hello');
    const before = await shown(run);
    run.type(HOTKEY);
    await eventually(() => expect(run.stage.overviewOutput).toBeDefined());
    run.type('q');
    expect(await shown(run)).toEqual(before);
    run.type(HOTKEY);
    expect(run.stage.overviewOutput).toBeDefined(); // at once
  });

  it('is not drawn on where there is none: the child’s stays as it was, and the footer says so', async () => {
    start(COLUMNS, ROWS);
    run.stage.hasSecondScreen = undefined;
    for (const final of ['h', 'l']) {
      run.emulator.terminal.parser.registerCsiHandler({ prefix: '?', final }, ([mode]) => mode === 1049);
    }
    run.write('line one\r\nhello');
    const before = await shown(run);
    run.type(`${HOTKEY}x`);
    await eventually(() => expect(run.overview.isOpen()).toBe(false));
    expect(run.stage.hasSecondScreen).toBe(false);
    expect(await shown(run)).toEqual(before);
    expect(run.received()).toBe('');
    run.type(HOTKEY);
    expect(run.stage.isFooterWanted).toBe(true);
    expect(run.notices.at(-1)).toBe('no overview in this terminal');
  });
});

describe('keys', () => {
  it.each([
    { typed: [`${HOTKEY}c`], keys: ['c'], sent: '' },
    { typed: [HOTKEY, 'z', '\r', 'c', '\x1b[A', '\x03'], keys: ['enter', 'c', 'up'], sent: '' },
    { typed: [`${HOTKEY}qls\r`], keys: ['q'], sent: 'ls\r' },
    // the child has not enabled mouse reports: this one was sent before the overview was closed
    { typed: [`${HOTKEY}cq\x1b[A\x1b[<64;1;1M`, 'q'], keys: ['c', 'q'], sent: '\x1b[Aq' },
    { typed: [`${HOTKEY}q${HOTKEY}q`, 'x'], keys: ['q', 'q'], sent: 'x' }, // each once, none twice
    { typed: [HOTKEY, '\x1b[200~rm -rf\rq', 'qc\r\x1b[201', '~d'], keys: ['d'], sent: '' },
    { typed: [HOTKEY, '\x1b[<64;1;15M'], keys: ['wheel-up'], sent: '' }, // on the footer's row
    {
      typed: [`${HOTKEY}\x1b]11;rgb:dada/ca`, 'ca/dada\x1b\\d'],
      keys: ['d'],
      sent: '\x1b]11;rgb:dada/caca/dada\x1b\\',
    },
    { typed: [`${HOTKEY}\x1b[1;2R`], keys: [], sent: '' },
  ])('$typed are $keys, and the child gets $sent', ({ typed, keys, sent }) => {
    start(COLUMNS, ROWS);
    run.type('before');
    for (const each of typed) run.type(each);
    expect(run.keys).toEqual(keys);
    expect(run.received()).toBe(`before${sent}`);
  });

  it('a lone Escape closes it, and the next is the child’s', async () => {
    start(COLUMNS, ROWS);
    run.type(HOTKEY);
    run.type('\x1b');
    await eventually(() => expect(run.overview.isOpen()).toBe(false));
    run.type('\x1b');
    await eventually(() => expect(run.received()).toBe('\x1b'));
    expect(run.keys).toEqual(['escape']);
  });

  it('the rest of a paste is dropped, also when the overview closes by itself before it ends', () => {
    start(COLUMNS, ROWS);
    run.type(`${HOTKEY}\x1b[200~rm -rf`);
    run.overview.stop();
    run.type('\rq\x1b[201~x');
    expect(run.received()).toBe('x');
  });

  it('go to the overview as soon as the hotkey was pressed, also while it waits for a gap', () => {
    start(COLUMNS, ROWS);
    run.write('\x1b]0;half a title');
    run.type(`${HOTKEY}cz`);
    expect(run.stage.overviewOutput).toBeUndefined();
    run.write(' and the rest\x07');
    expect(run.stage.overviewOutput).toBeDefined();
    expect([run.keys, run.received()]).toEqual([['c'], '']);
  });
});

describe('each key', () => {
  it('comes with whether anyone has seen the overview since it was asked for, also during a change of size', async () => {
    const seen: boolean[] = [];
    start(COLUMNS, ROWS, { onKey: (_, { isSeen }) => void seen.push(isSeen) });
    run.write('\x1b]0;half a title');
    run.type(`${HOTKEY}c`);
    run.write(' and the rest\x07');
    run.type('c');
    run.resize(COLUMNS + 5, ROWS + 1);
    run.type('c');
    run.overview.close();
    run.write('\x1b]0;half a title');
    run.type(`${HOTKEY}c`);
    expect(seen).toEqual([false, true, true, false]);
    run.write('\x07');
    await run.drawn();
  });
});

it('an overview in a terminal that becomes too small for it closes with a word, because its keys are the agent’s again', async () => {
  start(COLUMNS, ROWS);
  run.overview.open();
  await run.drawn();
  run.resize(39, 12);
  await vi.waitFor(() => expect(run.overview.isOpen()).toBe(false));
  expect(run.notices).toEqual(['overview needs 40×8']);
  run.type('q');
  expect(run.received()).toBe('q');
});

describe('what is drawn', () => {
  it('fills the terminal, and is written again only where it has changed', async () => {
    let second = 'one';
    start(COLUMNS, ROWS, {
      draw: ({ rows }) =>
        Array.from({ length: rows }, (_, row) => toPrintable(row === 1 ? second : `${row}`)),
    });
    run.write('the child');
    run.overview.open();
    await run.drawn();
    const { active } = run.emulator.terminal.buffer;
    expect(active.getLine(ROWS)?.translateToString(true)).toBe(`${ROWS}`);
    const before = run.sent().length;
    run.overview.redraw();
    expect(run.sent().length).toBe(before);
    second = 'two';
    run.overview.redraw();
    expect(run.sent().slice(before)).toMatch(/^\x1b\[2;1H[^H]*two\x1b\[0m$/);
  });

  it('closes when it cannot be drawn', async () => {
    start(COLUMNS, ROWS, {
      draw: () => {
        throw new Error('broken');
      },
    });
    run.write('the child');
    run.overview.open();
    run.write('!');
    expect(run.overview.isOpen()).toBe(false);
    expect(await shown(run)).toEqual(await shownPlainly('the child!', COLUMNS, ROWS));
  });

  it('stays open when what an earlier opening was loading fails', async () => {
    const loads: ((error: Error) => void)[] = [];
    const load = (): Promise<void> | undefined =>
      loads.length === 2 ? undefined : new Promise((_, reject) => loads.push(reject));
    start(COLUMNS, ROWS, { load });
    run.overview.open();
    run.overview.close();
    run.overview.open();
    const [first] = loads;
    first?.(new Error('too late'));
    await run.drawn();
    expect(run.overview.isOpen()).toBe(true);
  });

  it('opens after half a second in the middle of a frame, but never in the middle of a string', () => {
    vi.useFakeTimers();
    start(COLUMNS, ROWS);
    run.write('\x1b[?2026hframe');
    run.overview.open();
    expect(run.stage.overviewOutput).toBeUndefined();
    vi.advanceTimersByTime(600);
    expect(run.stage.overviewOutput).toBeDefined();
    run.overview.close();
    run.write('\x1b]0;half');
    run.overview.open();
    vi.advanceTimersByTime(600);
    expect([run.stage.overviewOutput, run.overview.isOpen()]).toEqual([undefined, false]);
    expect(run.notices).toEqual(['the overview could not open: try again']);
  });
});
