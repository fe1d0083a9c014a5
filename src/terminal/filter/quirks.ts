/**
 * Where terminals disagree about what a reset does to the scroll region (facts/terminals.md, table). The child must meet the
 * behaviour of the terminal it really runs in, so the filter follows the terminal instead of one reading of the standard.
 */
export interface Quirks {
  /** each screen buffer has its own scroll region, and the alternate one starts with the full screen (xterm.js) */
  readonly regionPerBuffer: boolean;
  /** switching screen buffers puts the scroll region back to the full screen (GNU screen) */
  readonly switchResetsRegion: boolean;
  /** DECALN leaves the scroll region alone (xterm.js); DEC STD 070 and xterm reset it */
  readonly alignmentKeepsRegion: boolean;
  /** DECSTR and DECSCL leave the scroll region alone (kitty, alacritty, st, tmux, GNU screen) */
  readonly softResetKeepsRegion: boolean;
  /** DECSCL is not known at all (xterm.js) */
  readonly ignoresConformanceLevel: boolean;
  /** columns that a byte of invalid UTF-8 takes: a replacement character, or nothing (xterm.js) */
  readonly invalidByteWidth: 0 | 1;
  /** `ESC k … ESC \` is a title (GNU screen, tmux) */
  readonly escapeKTitle: boolean;
  /** DECRC does not bring origin mode back (xterm.js, alacritty, urxvt, GNU screen) */
  readonly restoreKeepsOrigin: boolean;
  /** XTSAVE and XTRESTORE (`CSI ? … s`, `CSI ? … r`) do nothing (xterm.js, alacritty, st, tmux, GNU screen) */
  readonly ignoresModeSaving: boolean;
  /** DECCOLM clears the screen even while mode 40 does not allow it (alacritty) */
  readonly columnModeAlways: boolean;
  /** a wide character that wraps early blanks the cell that it leaves behind (xterm.js) */
  readonly earlyWrapBlanks: boolean;
  /** the cursor does not follow the text when the height shrinks (kitty, facts/terminals.md §2 step 2) */
  readonly cursorStaysOnShrink: boolean;
}

export const standardQuirks: Quirks = {
  regionPerBuffer: false,
  switchResetsRegion: false,
  alignmentKeepsRegion: false,
  softResetKeepsRegion: false,
  ignoresConformanceLevel: false,
  invalidByteWidth: 1,
  escapeKTitle: false,
  restoreKeepsOrigin: false,
  ignoresModeSaving: false,
  columnModeAlways: false,
  earlyWrapBlanks: false,
  cursorStaysOnShrink: false,
};

const xtermJs: Partial<Quirks> = {
  regionPerBuffer: true,
  alignmentKeepsRegion: true,
  ignoresConformanceLevel: true,
  invalidByteWidth: 0,
  restoreKeepsOrigin: true,
  ignoresModeSaving: true,
  earlyWrapBlanks: true,
};

const byTerm: readonly (readonly [RegExp, Partial<Quirks>])[] = [
  [/^xterm-kitty/, { softResetKeepsRegion: true, cursorStaysOnShrink: true }],
  [
    /^alacritty/,
    { softResetKeepsRegion: true, restoreKeepsOrigin: true, ignoresModeSaving: true, columnModeAlways: true },
  ],
  [/^st($|-)/, { softResetKeepsRegion: true, ignoresModeSaving: true }],
  [/^rxvt/, { restoreKeepsOrigin: true }],
  [/^tmux/, { softResetKeepsRegion: true, ignoresModeSaving: true, escapeKTitle: true }],
  [
    /^screen/,
    { softResetKeepsRegion: true, ignoresModeSaving: true, escapeKTitle: true, restoreKeepsOrigin: true },
  ],
];

/** What the environment says about the terminal; the answer to DA2 may know better (see `quirksOfDeviceAttributes`). */
export const quirksOf = (env: Readonly<Record<string, string | undefined>>): Quirks => {
  const quirks = { ...standardQuirks };
  const match = byTerm.find(([pattern]) => pattern.test(env['TERM'] ?? ''));
  if (match) Object.assign(quirks, match[1]);
  if (env['STY'] !== undefined && env['TMUX'] === undefined) quirks.switchResetsRegion = true;
  if (env['TERM_PROGRAM'] === 'vscode' && env['TMUX'] === undefined) Object.assign(quirks, xtermJs);
  return quirks;
};

/** xterm.js answers DA2 (`CSI > c`) with this and no other terminal does. */
export const quirksOfDeviceAttributes = (reply: string, quirks: Quirks): Quirks =>
  reply === '0;276;0' ? { ...quirks, ...xtermJs } : quirks;
