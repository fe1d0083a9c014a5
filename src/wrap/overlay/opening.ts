// Brings the overlay up: as soon as the child's output leaves a gap, and where the terminal has a screen for it.
import type { Picture } from '../../terminal/cover/picture.js';
import { paintHindrance } from '../../terminal/painter.js';
import type { OverlayContents, OverlayParts, OverlayState } from './state.js';
import { hasSecondScreen } from './own-screen.js';
import { showOverlay } from './shown-overlay.js';
import { survive, type Stage } from '../stage.js';

const RETRY_MS = 10;
const PATIENCE_MS = 500; // for a gap that leaves nothing to put right
const NO_SCREEN = 'no overview: this terminal has no second screen';

/** Milliseconds until the next attempt, 0 to open now, undefined when it will not be. */
const delayOf = (stage: Stage, isHeld: boolean, waitedMs: number): number | undefined => {
  const { grid, ledger, isGround, isWhole } = stage.filter;
  const isSafe = !isHeld && isGround() && !grid.vt52;
  const isGap = isWhole() && paintHindrance(grid, ledger) === undefined; // what is held may belong to the character before
  if (isSafe && (isGap || waitedMs >= PATIENCE_MS)) return 0;
  return waitedMs < PATIENCE_MS ? RETRY_MS : undefined;
};

interface Opening {
  readonly state: OverlayState;
  readonly contents: OverlayContents;
  readonly close: () => void;
}

/** Brings it up now, or tries again soon. */
export const attemptWith = (
  stage: Stage,
  { output, question }: OverlayParts,
  { state, contents, close }: Opening,
): (() => void) => {
  const { filter, screen } = stage;

  const show = (picture: Picture | undefined): void => {
    const isShown = survive(stage, 'opening the overlay', () => {
      const shown = showOverlay(stage, { question, draw: contents.draw, picture, onEnd: close });
      Object.assign(state, { phase: 'open', shown });
      shown.redraw();
      if (state.shown) contents.onOpen?.();
    });
    if (!isShown) close();
  };
  const giveUp = (): void => {
    if (state.phase !== 'opening') return;
    stage.session.log.warn('the overlay could not be opened in the middle of what the agent writes');
    close();
  };
  /** The model's rows have to be those that the terminal shows, so nothing may pass until both agree. */
  const showOverAlternate = async (): Promise<void> => {
    output.hold();
    try {
      await screen.settled();
      const isDrawn = state.phase === 'opening' && filter.isGround() && !screen.isBehind();
      const picture = isDrawn ? screen.picture() : undefined;
      if (picture) show(picture);
      else giveUp();
    } finally {
      output.release();
    }
  };
  const tryScreen = async (): Promise<void> => {
    output.hold();
    try {
      stage.hasSecondScreen = await hasSecondScreen(stage, question);
    } finally {
      output.release();
    }
    if (stage.hasSecondScreen) return attempt();
    stage.session.log.warn('no overlay: this terminal has no second screen');
    stage.readings?.take({ type: 'notice', text: NO_SCREEN, priority: 300 });
    close();
  };
  const attempt = (): void => {
    clearTimeout(state.timer);
    if (state.phase !== 'opening') return;
    const delay = delayOf(stage, output.isHeld(), performance.now() - state.wantedAt);
    if (delay === undefined) return giveUp();
    if (delay > 0) state.timer = setTimeout(attempt, delay);
    else if (filter.grid.alternate) state.settling = showOverAlternate();
    else if (stage.hasSecondScreen === undefined && !filter.grid.origin) state.settling = tryScreen();
    else show(undefined);
  };
  return attempt;
};
