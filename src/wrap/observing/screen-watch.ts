import type { Activity, ActivityReport } from '../../core/activity.js';
import type { Event } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenReader } from '../../runtimes/runtime.js';
import type { Seen } from '../../runtimes/seen.js';

/** What the screens up to now have said. */
export interface ScreenWatch {
  readonly read: ScreenReader;
  readonly activity?: Activity;
  readonly asks?: string | undefined;
  readonly showsNumber: boolean;
}

export interface Watched {
  readonly watch: ScreenWatch;
  readonly activity: Activity;
  /** what the screen says of the agent's activity is not believed */
  readonly isDoubted?: boolean;
  readonly events: readonly Event[];
}

export const startWatch = (read: ScreenReader): ScreenWatch => ({ read, showsNumber: false });

/**
 * Makes events of what a reader says of a screen. A number is told at each look, which tells how fresh it is; that it went away, and
 * what the agent does, only when it happens. `doubtAbout`: why what the screen says of the agent's activity is not to be believed.
 */
export const watchScreen = (
  watch: ScreenWatch,
  seen: Seen,
  now: Millis,
  doubtAbout: (activity: Activity) => string | undefined = () => undefined,
): Watched => {
  const { activity: read, facts, next } = watch.read(seen, now);
  const said: ActivityReport = hasOwnWord(seen) ? { ...read, isTold: true } : read;
  const doubt = doubtAbout(said.activity);
  const report: ActivityReport =
    doubt === undefined ? said : { activity: 'unknown', witnesses: [...said.witnesses, doubt] };
  const { activity, asks } = report;
  const showsNumber = facts.some(({ type }) => type === 'reading');
  const blank: readonly Event[] = watch.showsNumber && !showsNumber ? [{ type: 'screen-blank' }] : [];
  const isSame = activity === watch.activity && asks === watch.asks;
  const change: readonly Event[] = isSame ? [] : [{ type: 'activity', report }];
  // the window first, so that a number is measured against the one it belongs to
  const windows = facts.filter(({ type }) => type === 'window');
  const others = facts.filter(({ type }) => type !== 'window');
  return {
    watch: { read: next, activity, asks, showsNumber },
    activity,
    isDoubted: doubt !== undefined,
    events: [...windows, ...others, ...blank, ...change],
  };
};

const hasOwnWord = ({ signals, status }: Seen): boolean =>
  status !== undefined || signals.agentState !== undefined;

/** There is nothing to read, as when the terminal is too large for a model: what was read before does not hold any more. */
export const blankScreen = ({
  read,
  activity,
  showsNumber,
}: ScreenWatch): Pick<Watched, 'watch' | 'events'> => {
  const report = { activity: 'unknown', witnesses: ['the screen is not followed'] } as const;
  return {
    watch: { read, activity: 'unknown', showsNumber: false },
    events: [
      ...(showsNumber ? [{ type: 'screen-blank' } as const] : []),
      ...(activity === undefined || activity === 'unknown' ? [] : [{ type: 'activity', report } as const]),
    ],
  };
};
