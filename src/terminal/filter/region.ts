import { asciiCharsets, charsetSequence } from './charsets.js';
import { defaultTabs, hasFooter, markSlotOverwritten, type Grid } from './grid.js';
import { clearWrap, home } from './motion.js';
import { cursorSequence, forgetSavedCursor, restoreCursor, saveCursor } from './saved-cursor.js';
import { plainRendition } from './rendition.js';

/** DECSTBM for the child's margins; it moves the cursor home. */
export const regionSequence = (grid: Grid): string => `\x1b[${grid.top + 1};${grid.bottom + 1}r`;

/** Sets the child's region again and leaves the cursor where it is. Uses the terminal's cursor slot. */
const assertRegion = (grid: Grid): string => {
  markSlotOverwritten(grid);
  return `\x1b7${regionSequence(grid)}\x1b8`;
};

const fullRegion = (grid: Grid): void => {
  grid.top = 0;
  grid.bottom = grid.rows - 1;
};

const REFUSED = '\x1b[2;1r'; // margins that no terminal takes: a control sequence without effect

/** DECSTBM. Margins that a terminal of the child's size would refuse stay refused, larger ones are clamped. */
export const setRegion = (grid: Grid, top: number, bottom: number): string | undefined => {
  const last = bottom === 0 || bottom > grid.rows ? grid.rows : bottom;
  const first = Math.max(1, top);
  if (first >= last) return hasFooter(grid) ? REFUSED : undefined;
  grid.top = first - 1;
  grid.bottom = last - 1;
  home(grid);
  return hasFooter(grid) && bottom !== last ? regionSequence(grid) : undefined;
};

/**
 * Row of the footer, erased; the cursor stays. Uses the terminal's cursor slot. Sent before the child clears or leaves the main screen:
 * some terminals keep what was on it (tmux and VTE scroll a cleared screen into their history).
 */
export const eraseFooter = (grid: Grid): string => {
  grid.footerShown = false;
  markSlotOverwritten(grid);
  const erase = `\x1b[${grid.terminalRows};1H\x1b[0m\x1b[2K`;
  return grid.origin ? `\x1b[?6l${erase}\x1b[?6h${cursorSequence(grid)}` : `\x1b7${erase}\x1b8`;
};

export const isFooterOnMain = (grid: Grid): boolean => hasFooter(grid) && grid.footerShown && !grid.alternate;

/** The alternate screen begins with tab stops of its own. */
const switchTabs = (grid: Grid, on: boolean): void => {
  if (on) grid.mainTabs = grid.tabs;
  grid.tabs = on ? defaultTabs(grid.columns) : grid.mainTabs;
};

/**
 * Modes 47, 1047 and 1049: the footer leaves the main screen before the child does, so that it cannot come back as a ghost, and
 * the region is set again on both ways (facts/terminals.md §2, last rule).
 */
export const switchBuffer = (grid: Grid, mode: number, on: boolean): string | undefined => {
  const sequence = `\x1b[?${mode}${on ? 'h' : 'l'}`;
  const before = on && isFooterOnMain(grid) ? eraseFooter(grid) : '';
  const changed = grid.alternate !== on;
  if (on && mode === 1049) saveCursor(grid);
  if (changed && grid.quirks.regionPerBuffer) {
    const kept = grid.mainRegion;
    if (on) grid.mainRegion = { top: grid.top, bottom: grid.bottom };
    Object.assign(grid, on ? { top: 0, bottom: grid.rows - 1 } : kept);
    switchTabs(grid, on);
  }
  if (changed && grid.quirks.switchResetsRegion) fullRegion(grid);
  grid.alternate = on;
  if (on) grid.alternateMode = mode;
  grid.footerDirty = true;
  const restored = (!on && mode === 1049 ? restoreCursor(grid) : undefined) ?? '';
  if (!hasFooter(grid) || !changed)
    return before + restored === '' ? undefined : before + sequence + restored;
  const isKept = !on && grid.quirks.regionPerBuffer && !grid.mainCursorStale; // the main screen still has its region
  const after = (on ? '' : leaveFooterRow(grid)) + (isKept ? '' : assertRegion(grid));
  return before + sequence + restored + after;
};

/** After a resize behind the alternate screen the main cursor may be on the footer row: one row of room for it. */
const leaveFooterRow = (grid: Grid): string => {
  if (!grid.mainCursorStale) return '';
  grid.mainCursorStale = false;
  markSlotOverwritten(grid);
  return '\x1b7\x1b[r\x1b8\x1bD\x1b[A';
};

/** What a soft reset does to the modes, for a terminal that does not take the sequence for one. */
export const softResetModes = (grid: Grid): string =>
  [
    grid.origin ? '\x1b[?6l' : '',
    grid.sideMargins ? '\x1b[?69l' : '',
    grid.autowrap ? '' : '\x1b[?7h',
    grid.insertMode ? '\x1b[4l' : '',
    grid.charsets === asciiCharsets ? '' : charsetSequence(asciiCharsets),
    '\x1b[0m\x1b[0"q',
  ].join('');

/** DECSTR and DECSCL: modes and margins go back, the cursor stays, the saved cursor is home. */
export const softReset = (grid: Grid, sequence: string): string | undefined => {
  Object.assign(grid, { origin: false, autowrap: true, rendition: plainRendition, charsets: asciiCharsets });
  Object.assign(grid, { sideMargins: false, left: 0, right: grid.columns - 1, isProtected: false });
  Object.assign(grid, { insertMode: false, reverseWrap: false });
  forgetSavedCursor(grid);
  if (grid.quirks.softResetKeepsRegion || !hasFooter(grid)) return undefined;
  fullRegion(grid);
  if (grid.pendingWrap) grid.wrapLost = true;
  return `${sequence}${regionSequence(grid)}\x1b7\x1b[${grid.row + 1};${grid.column + 1}H`;
};

/** DECALN fills the whole screen, the footer row too. */
export const alignScreen = (grid: Grid): string | undefined => {
  grid.footerDirty = true;
  if (!grid.quirks.alignmentKeepsRegion) {
    fullRegion(grid);
    Object.assign(grid, { left: 0, right: grid.columns - 1 });
  }
  home(grid);
  return hasFooter(grid) && !grid.quirks.alignmentKeepsRegion ? `\x1b#8${regionSequence(grid)}` : undefined;
};

/** DECCOLM, where the terminal obeys it: cleared, home, margins reset. */
export const switchColumns = (grid: Grid, on: boolean): string | undefined => {
  const sequence = `\x1b[?3${on ? 'h' : 'l'}`;
  if (grid.quirks.columnMode === 'no') return undefined;
  if (!grid.columnSwitch && !grid.quirks.columnModeAlways)
    return grid.quirks.columnMode === 'unknown' ? '' : undefined;
  fullRegion(grid);
  Object.assign(grid, { sideMargins: false, left: 0, right: grid.columns - 1 });
  grid.footerDirty = true;
  home(grid);
  clearWrap(grid);
  return hasFooter(grid) ? sequence + regionSequence(grid) : undefined;
};
