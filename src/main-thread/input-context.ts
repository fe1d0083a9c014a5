import { begunBy, isAnswerBegun, type InputState } from '../core/terminal-input.js';
import { hasFooter } from '../terminal/filter/grid.js';
import type { InputContext } from '../terminal/input.js';
import type { ModeTracker } from '../terminal/mode-tracker.js';
import { noteReleasesAsked } from '../terminal/reports.js';
import type { TerminalSession } from './terminal-session.js';

// What the state of the session means for the input: how it is read, and how long the rest of something incomplete is waited for.

const releaseModes = [1000, 1001, 1002, 1003]; // X10's, 9, reports only presses
const mouseModes = [9, ...releaseModes];
const UTF8_MOUSE = 1005;
const PIXEL_MOUSE = 1016;

/** The child receives them in pixels, where the terminal can do that. */
export const isPixelMouseAsked = ({ isModeSet }: ModeTracker): boolean => isModeSet(PIXEL_MOUSE);

/** The child receives mouse reports. */
export const isMouseAsked = ({ isModeSet }: ModeTracker): boolean => mouseModes.some(isModeSet);

/** Reports may still come after the child wants none any more. */
const wasMouseAsked = ({ wasModeSet }: ModeTracker): boolean => mouseModes.some(wasModeSet);

/** How the next input is read. `isQuiet`: there was no input for long enough that a paste without an end may be over. */
export const contextOf = (
  { filter, session, overviewOutput, stateProxy, child, pixels, dropped }: TerminalSession,
  isQuiet: boolean,
): InputContext => {
  const { grid, modeTracker } = filter;
  const { terminalRows, rows: childRows, columns } = grid;
  const { hotkey } = session.values;
  const knownRows = Math.min(childRows, child?.rows() ?? childRows);
  const isSmaller = hasFooter(grid) || knownRows < terminalRows;
  noteReleasesAsked(dropped, !overviewOutput && releaseModes.some(modeTracker.isModeSet));
  return {
    hotkey: hotkey === 'none' ? undefined : hotkey,
    geometry: isSmaller ? { terminalRows, childRows, columns, knownRows } : undefined,
    queries: modeTracker.queries,
    stateProxy: stateProxy,
    mouse: overviewOutput // the rows below the child's belong to the overview then
      ? undefined
      : {
          isAsked: wasMouseAsked(modeTracker),
          hasUtf8: modeTracker.isModeSet(UTF8_MOUSE),
          hasPixels: isPixelMouseAsked(modeTracker),
          pixels,
          dropped,
        },
    isQuiet,
  };
};

const HELD_MS = 20; // an ESC that nothing follows within this time is the Escape key
const ANSWER_MS = 1_000; // for the rest of what is an answer, or probably one to the wrapper

/** The held characters are the beginning of an answer for the wrapper or of a mouse report, and no key: the rest must come. */
export const isRestSure = ({ held }: InputState, modeTracker: ModeTracker): boolean => {
  if (held === '') return false;
  const { isKey, isAnswer, isMouse } = begunBy(held);
  const isExpected =
    (isAnswer && modeTracker.queries.hasOpenOwnQuery()) || (isMouse && wasMouseAsked(modeTracker));
  return isExpected && !isKey;
};

/** A mouse report so slow that its `CSI` was passed on as keys. Perhaps the user has typed that, so its rest is not sure. */
const isSlowReport = ({ held, flushed }: InputState): boolean =>
  flushed !== '' && /^\x1b\[<[\d;]*$/.test(flushed + held);

/** Milliseconds to wait for the rest of what is held. */
export const holdMs = (state: InputState, modeTracker: ModeTracker): number => {
  const { held, inside } = state;
  if (inside === 'dropped answer' || isAnswerBegun(held)) return ANSWER_MS;
  if (isSlowReport(state) && wasMouseAsked(modeTracker)) return ANSWER_MS;
  return begunBy(held).isAnswer && modeTracker.queries.isOwnAnswerExpected() ? ANSWER_MS : HELD_MS;
};
