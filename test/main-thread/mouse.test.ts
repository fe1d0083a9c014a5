// Mouse reports on their way to the child, which must see none below its last row.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeOverviewHarness, type OverviewHarness } from '../support/overview-harness.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** 24 rows for the child; row 25 is the footer's. */
const withMouse = (modes: string, act: (run: OverviewHarness) => void): void => {
  const run = makeOverviewHarness(80, 24, {}, { isSilent: true });
  run.write(modes);
  try {
    act(run);
  } finally {
    run.stop();
  }
};

describe('a mouse report on the footer', () => {
  it.each([
    { form: 'SGR', modes: '\x1b[?1000;1006h', report: '\x1b[<0;10;25M' },
    { form: 'urxvt', modes: '\x1b[?1000;1015h', report: '\x1b[32;10;25M' },
    { form: 'the oldest', modes: '\x1b[?1000h', report: '\x1b[M \x2a\x39' },
    { form: 'X10', modes: '\x1b[?9h', report: '\x1b[M \x2a\x39' },
    { form: 'UTF-8', modes: '\x1b[?1000;1005h', report: '\x1b[M \xc4\x80\x39' },
    { form: 'the oldest, from a terminal without SGR', modes: '\x1b[?1000;1006h', report: '\x1b[M \x2a\x39' },
  ])('does not reach the child in the form of $form, however late its rest comes', ({ modes, report }) => {
    for (let at = 3; at < report.length; at += 1)
      withMouse(modes, (run) => {
        run.type(`a${report.slice(0, at)}`);
        vi.advanceTimersByTime(5_000);
        expect(run.received()).toBe('a');
        run.type(`${report.slice(at)}b`);
        expect(run.received()).toBe('ab');
      });
  });

  it('does not reach the child in part when each byte comes after a pause', () => {
    withMouse('\x1b[?1000;1006h', (run) => {
      const say = (report: string): void => {
        for (const byte of report) {
          run.type(byte);
          vi.advanceTimersByTime(400);
        }
      };
      say('\x1b[<0;10;25M');
      expect(run.received()).toBe('\x1b[');
      say('\x1b[<0;10;24M');
      expect(run.received()).toBe('\x1b[\x1b[<0;10;24M');
    });
  });

  it('is not waited for long where the user has typed what begins like one', () => {
    withMouse('\x1b[?1000;1006h', (run) => {
      for (const key of '\x1b[<') {
        run.type(key);
        vi.advanceTimersByTime(1_100);
      }
      expect(run.received()).toBe('\x1b[<');
    });
  });

  it.each([
    { form: 'SGR', modes: '\x1b[?1000;1006h', press: '\x1b[<0;10;25M', release: '\x1b[<0;10;25m' },
    { form: 'urxvt', modes: '\x1b[?1000;1015h', press: '\x1b[32;10;25M', release: '\x1b[35;10;25M' },
    { form: 'the oldest', modes: '\x1b[?1000h', press: '\x1b[M \x2a\x39', release: '\x1b[M#\x2a\x39' },
    {
      form: 'UTF-8',
      modes: '\x1b[?1000;1005h',
      press: '\x1b[M \xc4\x80\x39',
      release: '\x1b[M#\xc4\x80\x39',
    },
  ])(
    'takes its release with it in the form of $form, whatever comes between them',
    ({ modes, press, release }) => {
      withMouse(modes, (run) => {
        for (const key of `${press}a${release}`) run.type(key);
        run.type(`${press}b`);
        run.write('\x1b[?1000l');
        run.type(release);
        expect(run.received()).toBe('ab');
      });
    },
  );

  it.each([
    { what: 'has asked for no reports', between: '\x1b[?1000l' },
    { what: 'has asked for presses alone', between: '\x1b[?1000l\x1b[?9h' },
  ])('is forgotten once the child $what', ({ between }) => {
    withMouse('\x1b[?1000h', (run) => {
      run.type('\x1b[M \x2a\x39');
      run.write(between);
      run.type('\x1b[A');
      run.write('\x1b[?1000h');
      run.type('\x1b[M"\x2a\x30\x1b[M#\x2a\x30');
      expect(run.received()).toBe('\x1b[A\x1b[M"\x2a\x30\x1b[M#\x2a\x30');
    });
  });

  it('is not completed for a child that has got its first byte as Escape', () => {
    withMouse('\x1b[?1000;1006h', (run) => {
      run.type('\x1b');
      vi.advanceTimersByTime(5_000);
      run.type('[<0;10');
      run.type(';25M\x1b[<0;10;24M');
      expect(run.received()).toBe('\x1b\x1b[<0;10;24M');
    });
  });

  it('does not reach a child that has just asked for no more of them', () => {
    withMouse('\x1b[?1000h\x1b[?1000l', (run) => {
      run.type('\x1b[M \x2a\x39');
      expect(run.received()).toBe('');
    });
  });

  it('in pixels does not reach a child that has not asked how high a cell is', () => {
    withMouse('\x1b[?1000;1006;1016h', (run) => {
      expect(run.sent()).toContain('\x1b[14t');
      run.type('\x1b[4;500;800t\x1b[0n');
      run.type('\x1b[<0;300;490M\x1b[<0;300;470M');
      expect(run.received()).toBe('\x1b[<0;300;470M');
    });
  });
});

describe('a mouse report while the terminal grows', () => {
  it('does not name a row that the child does not know yet', async () => {
    vi.useRealTimers();
    const run = makeOverviewHarness(80, 24, {}, { isSilent: true });
    run.write('\x1b[?1000;1006h');
    const childRows: number[] = [];
    const resized = new Promise<void>((resolve) => {
      Object.assign(run.stage.child ?? {}, {
        resize: ({ rows }: { readonly rows: number }) => {
          childRows.push(rows);
          resolve();
        },
        rows: () => childRows.at(-1) ?? 24,
      });
    });
    run.resize(80, 31); // the terminal is asked for its cursor before the child is told
    while (run.stage.filter.grid.rows === 24) await Promise.resolve();
    run.type('\x1b[<0;10;24M\x1b[<0;10;28M');
    expect([childRows, run.received()]).toEqual([[], '\x1b[<0;10;24M']);
    await resized;
    run.type('\x1b[<0;10;28M');
    expect([childRows, run.received()]).toEqual([[30], '\x1b[<0;10;24M\x1b[<0;10;28M']);
    run.stop();
  });
});
