import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeOverviewTour, type OverviewTour } from '../../src/main-thread/overview.js';

type TourTerminal = Parameters<typeof makeOverviewTour>[0];

const tour = { countdownMs: 5_000, overviewAfterMs: 2_000, overviewMs: 4_000, signal: 'SIGUSR2' } as const;

/** A tour with an overview that opens at once, the keys that it got, and the signals that the child got. */
const play = (given: typeof tour | 'none' = tour, canOpen = true, isDrawn = canOpen) => {
  const [signals, keys]: [string[], string[]] = [[], []];
  let isOpen = false;
  const terminal = {
    session: { tour: given === 'none' ? undefined : given },
    child: { signal: (name: string) => signals.push(name) },
  } as unknown as TourTerminal;
  const overview = {
    isOpen: () => isOpen,
    open: () => {
      isOpen = canOpen;
      if (isDrawn) overviewTour.noteOpened();
    },
    close: () => {
      isOpen = false;
      overviewTour.noteClosed();
    },
    onKey: (key: string, isByItself = false) => {
      keys.push(key);
      if (!isByItself) overviewTour.noteKey();
    },
  };
  const overviewTour: OverviewTour = makeOverviewTour(terminal, overview);
  return { ...overviewTour, overview, signals, keys };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('in a tour the overview', () => {
  it('opens some time after the first compaction with the recap, gives back, and the child hears when it has closed', () => {
    const { noteCompactions, overview, signals, keys } = play();
    noteCompactions(0);
    vi.advanceTimersByTime(60_000);
    expect(overview.isOpen()).toBe(false);
    noteCompactions(1);
    vi.advanceTimersByTime(1_999);
    expect(overview.isOpen()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(overview.isOpen()).toBe(true);
    vi.advanceTimersByTime(3_999);
    expect([overview.isOpen(), signals, keys]).toEqual([true, [], ['b']]);
    vi.advanceTimersByTime(1);
    expect([overview.isOpen(), signals, keys]).toEqual([false, ['SIGUSR2'], ['b', 'enter']]);
  });

  it('asks for the recap before anything is drawn, and shows it in full', () => {
    const { noteCompactions, noteOpened, overview, keys } = play(tour, true, false);
    noteCompactions(1);
    vi.advanceTimersByTime(10_000);
    expect([overview.isOpen(), keys]).toEqual([true, ['b']]);
    noteOpened();
    vi.advanceTimersByTime(3_999);
    expect([overview.isOpen(), keys]).toEqual([true, ['b']]);
    vi.advanceTimersByTime(1);
    expect([overview.isOpen(), keys]).toEqual([false, ['b', 'enter']]);
  });

  it('stays open for a user who presses a key in it, until the user closes it', () => {
    const { noteCompactions, noteKey, overview, signals, keys } = play();
    noteCompactions(1);
    vi.advanceTimersByTime(3_000);
    noteKey();
    vi.advanceTimersByTime(60_000);
    expect([overview.isOpen(), signals, keys]).toEqual([true, [], ['b']]);
    overview.close();
    expect(signals).toEqual(['SIGUSR2']);
  });

  it('opens once, and what the user opens before or after is not its business', () => {
    const { noteCompactions, noteOpened, overview, signals } = play();
    expect(noteOpened()).toBe(false);
    overview.close();
    expect(signals).toEqual([]);
    noteCompactions(1);
    noteCompactions(2);
    vi.advanceTimersByTime(10_000);
    noteCompactions(3);
    vi.advanceTimersByTime(10_000);
    overview.open();
    vi.advanceTimersByTime(10_000);
    expect([overview.isOpen(), signals]).toEqual([true, ['SIGUSR2']]);
  });

  it('is passed over where the terminal cannot show it', () => {
    const { noteCompactions, signals } = play(tour, false);
    noteCompactions(1);
    vi.advanceTimersByTime(2_000);
    expect(signals).toEqual(['SIGUSR2']);
  });

  it('stays closed once the session ends, and in a session of work', () => {
    const ended = play();
    ended.noteCompactions(1);
    ended.stop();
    const work = play('none');
    work.noteCompactions(1);
    vi.advanceTimersByTime(60_000);
    expect([ended.overview.isOpen(), work.overview.isOpen(), ended.signals, work.signals]).toEqual([
      false,
      false,
      [],
      [],
    ]);
  });
});
