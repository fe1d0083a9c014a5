import { asciiCharsets, charsetSequence, markSlotOverwritten, type Grid } from '../filter/grid.js';
import { isFooterOnMain, regionSequence, cursorSequence } from '../filter/motion.js';
import type { ModeTracker } from '../mode-tracker.js';
import { SYNCHRONIZED } from '../mode-tracker.js';
import { CURSOR } from '../mode-tracker.js';

// Sequences that show the overview in place of the child's screen and bring the child's screen back.

/** The sequences for an overview, made for the terminal's state at its opening. */
export interface OverviewSequences {
  readonly open: string;
  /** restores everything; `savedScreen` redraws the child's rows if the overview was drawn over them, otherwise '' */
  readonly close: (savedScreen: string) => string;
  /** removes the overview and its modes before the terminal is restored at the end */
  readonly leave: string;
  /** private modes that differ from the child's while the overview is open */
  readonly forcedModes: ReadonlyMap<number, boolean>;
  /** the child is on its alternate screen, so the overview is drawn over it */
  readonly isOnAlternate: boolean;
}

const AUTOWRAP = 7;
const PASTE = 2004;
const MOUSE = 1000;
const MOUSE_SGR = 1006;
// In most terminals only one of each group can be on, so the overview's mode would turn off the child's (xterm ctlseqs, "Mouse Tracking").
const mouseTracking = [9, MOUSE, 1001, 1002, 1003];
const mouseEncodings = [1005, MOUSE_SGR, 1015, 1016];
const ALTERNATE_SCREEN = 1049; // 47 and 1047 are not supported everywhere (docs/facts/terminals.md#reset)

export const modeSequence = (mode: number, on: boolean): string => `\x1b[?${mode}${on ? 'h' : 'l'}`;

const modesOf = (modes: Iterable<readonly [number, boolean]>): string =>
  [...modes].map(([mode, on]) => modeSequence(mode, on)).join('');

/** Modes that the overview needs and the child has not set: no cursor, no autowrap, mouse wheel, bracketed paste. */
const modesToForce = (grid: Grid, { isModeSet }: ModeTracker): ReadonlyMap<number, boolean> => {
  const forcedModes = new Map<number, boolean>();
  if (isModeSet(CURSOR)) forcedModes.set(CURSOR, false);
  if (grid.autowrap) forcedModes.set(AUTOWRAP, false);
  if (!isModeSet(PASTE)) forcedModes.set(PASTE, true);
  if (!mouseTracking.some(isModeSet)) forcedModes.set(MOUSE, true);
  if (!isModeSet(MOUSE_SGR)) forcedModes.set(MOUSE_SGR, true);
  return forcedModes;
};

/** Restores the child's modes, the cursor last. */
const unforceModes = (forcedModes: ReadonlyMap<number, boolean>, { isModeSet }: ModeTracker): string => {
  const encodings = forcedModes.has(MOUSE_SGR) ? mouseEncodings.filter(isModeSet) : [];
  return (
    modesOf([...forcedModes].reverse().map(([mode, on]) => [mode, !on] as const)) +
    modesOf(encodings.map((mode) => [mode, true] as const))
  );
};

const DEFAULT_RENDITION = '\x1b[0m\x1b(B\x0f';

/** Erases the footer, so that it does not stay on the main screen. Origin mode is off meanwhile, since it changes cursor addresses. */
const eraseFooterSequence = (grid: Grid): string =>
  isFooterOnMain(grid)
    ? `\x1b7${grid.origin ? '\x1b[?6l' : ''}\x1b[${grid.terminalRows};1H\x1b[0m\x1b[2K\x1b8`
    : '';

/** Restores cursor, margins and rendition; from the terminal's own cursor slot if possible. */
const restoreCursorSequence = (grid: Grid): string => {
  const isSpelled = grid.alternate || grid.origin || grid.sideMargins;
  const region = regionSequence(grid);
  if (!isSpelled)
    return `\x1b7${region}\x1b8${grid.charsets === asciiCharsets ? '' : charsetSequence(grid.charsets)}`;
  const margins = grid.sideMargins ? `\x1b[?69h\x1b[${grid.left + 1};${grid.right + 1}s` : '';
  return region + margins + (grid.origin ? '\x1b[?6h' : '') + cursorSequence(grid);
};

/** The overview uses the cursor slots of both screens, and REP would repeat what the overview printed. */
const markGridOverwritten = (grid: Grid): void => {
  markSlotOverwritten(grid);
  grid.saved.main = { ...grid.saved.main, overwritten: true };
  grid.saved.alternate = { ...grid.saved.alternate, overwritten: true };
  grid.repeatLost = true;
  grid.footerDirty = true;
  grid.footerShown = false;
};

/** `open` must be sent at once; until `close`, the filter's output must not reach the terminal. */
export const makeOverviewSequences = (grid: Grid, modeTracker: ModeTracker): OverviewSequences => {
  const forcedModes = modesToForce(grid, modeTracker);
  const isOnAlternate = grid.alternate;
  const isFrame = modeTracker.isModeSet(SYNCHRONIZED);
  const link = modeTracker.linkSequences();
  const cursor = restoreCursorSequence(grid);
  const modes = unforceModes(forcedModes, modeTracker);
  const open = [
    isFrame ? modeSequence(SYNCHRONIZED, false) : '',
    eraseFooterSequence(grid),
    isOnAlternate ? '' : modeSequence(ALTERNATE_SCREEN, true),
    grid.origin ? '\x1b[?6l' : '',
    grid.sideMargins ? '\x1b[?69l' : '',
    modesOf(forcedModes),
    link.close,
    grid.isProtected ? '\x1b[0"q' : '',
    DEFAULT_RENDITION,
  ].join('');
  const onAgain = [...forcedModes].filter(([mode, on]) => on || mode === AUTOWRAP);
  markGridOverwritten(grid);
  return {
    open,
    close: (savedScreen) =>
      [
        DEFAULT_RENDITION,
        savedScreen,
        isOnAlternate ? '' : modeSequence(ALTERNATE_SCREEN, false),
        cursor,
        link.reopen,
        modes,
        isFrame ? modeSequence(SYNCHRONIZED, true) : '',
      ].join(''),
    leave:
      modesOf(onAgain.map(([mode, on]) => [mode, !on] as const)) +
      DEFAULT_RENDITION +
      (isOnAlternate ? '' : modeSequence(ALTERNATE_SCREEN, false)),
    forcedModes,
    isOnAlternate,
  };
};

// Terminals with an alternate screen that is cleared when entered and does not change the main one
// (docs/facts/terminals.md#how-terminals-differ).
const WITH_ALTERNATE_SCREEN =
  /^(?:xterm|tmux|rxvt|alacritty|foot|st(?:$|-)|konsole|vte|gnome|iterm|wezterm|ghostty|contour|mintty|putty)/i;
const SCREEN_TERM = /^screen/;

/** False for the Linux console and for GNU screen, which has one only if its user turned it on and does not report that. */
export const hasAlternateScreen = (env: Readonly<Record<string, string | undefined>>): boolean => {
  const term = env['TERM'] ?? '';
  if (env['STY'] !== undefined && env['TMUX'] === undefined) return false;
  return WITH_ALTERNATE_SCREEN.test(term) || (SCREEN_TERM.test(term) && env['TMUX'] !== undefined);
};
