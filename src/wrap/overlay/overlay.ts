// A screen of ours over the running child's: opened and closed so that the child's is as if it had never been there.
import type { OverlayKey } from '../../core/overlay/keys.js';
import { hasOwnScreen } from '../../terminal/cover/supported.js';
import { hasFooter } from '../../terminal/filter/grid.js';
import { attemptWith } from './opening.js';
import { survive, type Stage } from '../stage.js';
import type { OverlayContents, OverlayParts, OverlayState, Phase } from './state.js';

export interface Overlay {
  /** the terminal can show one, and it would have something to show */
  readonly canOpen: () => boolean;
  /** keys are the overlay's: it is open, or about to open */
  readonly isOpen: () => boolean;
  /** it says what happens next, so that a countdown can be seen in it */
  readonly showsNext: () => boolean;
  /** as soon as the child's output leaves a gap */
  readonly open: () => void;
  readonly close: () => void;
  /** something that it shows has changed; rows that are the same are not written again */
  readonly redraw: () => void;
  readonly onKey: (key: OverlayKey) => void;
  /** the child has written: here may be the gap */
  readonly noteOutput: () => void;
  /** the terminal gets another size: away until `resume` */
  readonly pause: () => void;
  readonly resume: () => void;
  /** closes it for good; resolves when no output is held for it any more */
  readonly stop: () => Promise<void>;
}

const MIN_COLUMNS = 40;
const MIN_ROWS = 10;

const fits = ({ filter: { grid } }: Stage): boolean =>
  hasFooter(grid) && grid.columns >= MIN_COLUMNS && grid.terminalRows >= MIN_ROWS;

export const makeOverlay = (stage: Stage, parts: OverlayParts, contents: OverlayContents): Overlay => {
  const isPossible = hasOwnScreen(stage.session.env);
  const state: OverlayState = {
    phase: 'closed',
    wantedAt: 0,
    timer: undefined,
    shown: undefined,
    settling: undefined,
    isStopped: false,
  };
  /** Whatever is there goes; false if nothing was. */
  const leave = (next: Phase): boolean => {
    const { phase, shown } = state;
    clearTimeout(state.timer);
    if (phase !== 'closed') Object.assign(state, { phase: next, shown: undefined });
    shown?.takeAway();
    if (shown) parts.onUncovered();
    return phase !== 'closed';
  };
  const close = (): void => {
    if (leave('closed')) survive(stage, 'closing the overlay', () => contents.onClose?.());
  };
  const attempt = attemptWith(stage, parts, { state, contents, close });
  const begin = (): void => {
    Object.assign(state, { phase: 'opening', wantedAt: performance.now() });
    attempt();
  };
  const canOpen = (): boolean =>
    isPossible &&
    stage.hasSecondScreen !== false &&
    !state.isStopped &&
    !stage.verbatim &&
    fits(stage) &&
    (contents.isReady?.() ?? true);
  return {
    canOpen,
    isOpen: () => state.phase !== 'closed',
    showsNext: () => state.phase === 'open' && contents.showsNext?.() === true,
    open: () => {
      if (state.phase === 'closed' && canOpen()) begin();
    },
    close,
    redraw: () => state.shown?.redraw(),
    onKey: (key) => void survive(stage, 'a key of the overlay', () => contents.onKey(key)),
    noteOutput: () => {
      if (state.phase === 'opening') attempt();
    },
    pause: () => void leave('paused'),
    resume: () => {
      if (state.phase !== 'paused') return;
      if (canOpen()) begin();
      else close();
    },
    stop: async () => {
      state.isStopped = true;
      close();
      await state.settling;
    },
  };
};
