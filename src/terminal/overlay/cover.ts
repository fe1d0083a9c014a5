import { asciiCharsets, charsetSequence, markSlotOverwritten, type Grid } from '../filter/grid.js';
import { isFooterOnMain, regionSequence, cursorSequence } from '../filter/motion.js';
import type { Ledger } from '../modes.js';

/** A screen of ours over the child's: the bytes for it, as the terminal was when it was opened. */
export interface Cover {
  readonly open: string;
  /** everything as it was; `picture` draws the child's rows where ours were drawn over them, and is '' elsewhere */
  readonly close: (picture: string) => string;
  /** takes our screen away before a tidy end, and leaves nothing of it on */
  readonly leave: string;
  /** private modes that are not as the child has them while it is open */
  readonly forced: ReadonlyMap<number, boolean>;
  /** the child is on its alternate screen, so ours is drawn over it */
  readonly isOver: boolean;
}

const SYNCHRONIZED = 2026;
const CURSOR = 25;
const AUTOWRAP = 7;
const PASTE = 2004;
const MOUSE = 1000;
const MOUSE_SGR = 1006;
// One of a kind is on at a time in most terminals, so that ours would end the child's (xterm ctlseqs, "Mouse Tracking").
const mouseTracking = [9, MOUSE, 1001, 1002, 1003];
const mouseEncodings = [1005, MOUSE_SGR, 1015, 1016];
const OWN_SCREEN = 1049; // 47 and 1047 are not known everywhere (facts/terminals.md §4)

export const modeSequence = (mode: number, on: boolean): string => `\x1b[?${mode}${on ? 'h' : 'l'}`;

const modesOf = (modes: Iterable<readonly [number, boolean]>): string =>
  [...modes].map(([mode, on]) => modeSequence(mode, on)).join('');

/** What has to differ from what the child has: no cursor, no wrapping, the wheel, and pastes that can be told from keys. */
const forcedModes = (grid: Grid, { isSet }: Ledger): ReadonlyMap<number, boolean> => {
  const forced = new Map<number, boolean>();
  if (isSet(CURSOR)) forced.set(CURSOR, false);
  if (grid.autowrap) forced.set(AUTOWRAP, false);
  if (!isSet(PASTE)) forced.set(PASTE, true);
  if (!mouseTracking.some(isSet)) forced.set(MOUSE, true);
  if (!isSet(MOUSE_SGR)) forced.set(MOUSE_SGR, true);
  return forced;
};

/** The child's own modes again, the cursor last. */
const unforced = (forced: ReadonlyMap<number, boolean>, { isSet }: Ledger): string => {
  const encodings = forced.has(MOUSE_SGR) ? mouseEncodings.filter(isSet) : [];
  return (
    modesOf([...forced].reverse().map(([mode, on]) => [mode, !on] as const)) +
    modesOf(encodings.map((mode) => [mode, true] as const))
  );
};

const PLAIN = '\x1b[0m\x1b(B\x0f';

/** The footer must not stay behind on the main screen. Origin mode would put the cursor elsewhere. */
const footerAway = (grid: Grid): string =>
  isFooterOnMain(grid)
    ? `\x1b7${grid.origin ? '\x1b[?6l' : ''}\x1b[${grid.terminalRows};1H\x1b[0m\x1b[2K\x1b8`
    : '';

/** Cursor, margins and rendition; the terminal's own slot brings them back where it can, for it knows them best. */
const placeSequence = (grid: Grid): string => {
  const isSpelled = grid.alternate || grid.origin || grid.sideMargins;
  const region = regionSequence(grid);
  if (!isSpelled)
    return `\x1b7${region}\x1b8${grid.charsets === asciiCharsets ? '' : charsetSequence(grid.charsets)}`;
  const margins = grid.sideMargins ? `\x1b[?69h\x1b[${grid.left + 1};${grid.right + 1}s` : '';
  return region + margins + (grid.origin ? '\x1b[?6h' : '') + cursorSequence(grid);
};

/** The cursor slots of both screens may be used from here on, and what is printed is no longer what was printed last. */
const noteCovered = (grid: Grid): void => {
  markSlotOverwritten(grid);
  grid.saved.main = { ...grid.saved.main, overwritten: true };
  grid.saved.alternate = { ...grid.saved.alternate, overwritten: true };
  grid.repeatLost = true;
  grid.footerDirty = true;
  grid.footerShown = false;
};

/** To be opened at once: what the filter passes from here on is not for the terminal until it is closed. */
export const makeCover = (grid: Grid, ledger: Ledger): Cover => {
  const forced = forcedModes(grid, ledger);
  const isOver = grid.alternate;
  const isFrame = ledger.isSet(SYNCHRONIZED);
  const link = ledger.linkPause();
  const place = placeSequence(grid);
  const modes = unforced(forced, ledger);
  const open = [
    isFrame ? modeSequence(SYNCHRONIZED, false) : '',
    footerAway(grid),
    isOver ? '' : modeSequence(OWN_SCREEN, true),
    grid.origin ? '\x1b[?6l' : '',
    grid.sideMargins ? '\x1b[?69l' : '',
    modesOf(forced),
    link.close,
    grid.isProtected ? '\x1b[0"q' : '',
    PLAIN,
  ].join('');
  const onAgain = [...forced].filter(([mode, on]) => on || mode === AUTOWRAP);
  noteCovered(grid);
  return {
    open,
    close: (picture) =>
      [
        PLAIN,
        picture,
        isOver ? '' : modeSequence(OWN_SCREEN, false),
        place,
        link.reopen,
        modes,
        isFrame ? modeSequence(SYNCHRONIZED, true) : '',
      ].join(''),
    leave:
      modesOf(onAgain.map(([mode, on]) => [mode, !on] as const)) +
      PLAIN +
      (isOver ? '' : modeSequence(OWN_SCREEN, false)),
    forced,
    isOver,
  };
};

// Terminals with an alternate screen that is cleared on its way in and leaves the main one alone (facts/terminals.md, table).
const WITH_OWN_SCREEN =
  /^(?:xterm|tmux|rxvt|alacritty|foot|st(?:$|-)|konsole|vte|gnome|iterm|wezterm|ghostty|contour|mintty|putty)/i;
const INSIDE_TMUX = /^screen/;

/** GNU screen has one only where its user has turned it on, which it does not tell; the console of Linux has had none for long. */
export const hasOwnScreen = (env: Readonly<Record<string, string | undefined>>): boolean => {
  const term = env['TERM'] ?? '';
  if (env['STY'] !== undefined && env['TMUX'] === undefined) return false;
  return WITH_OWN_SCREEN.test(term) || (INSIDE_TMUX.test(term) && env['TMUX'] !== undefined);
};
