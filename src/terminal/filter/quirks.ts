// In what terminals differ, and how to recognize them.

/** Whether a terminal supports a feature; for 'unknown' the filter must avoid depending on it. */
export type Support = 'yes' | 'no' | 'unknown';

/** How BS and CUB wrap backwards, by the first patch of xterm that does it this way (cursor.c, CursorBack; 347 also for mode 45 only). */
export type ReverseWrap = 'xterm-347' | 'xterm-383' | 'xterm-397' | 'unknown';

/**
 * Behaviour in which terminals differ (docs/facts/terminals.md#how-terminals-differ). The filter must track the cursor as the user's
 * terminal moves it, so it follows the terminal instead of one reading of the standard.
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
  /** DECSCL is not supported (xterm.js) */
  readonly ignoresConformanceLevel: boolean;
  /** `ESC k … ESC \` is a title (GNU screen, tmux) */
  readonly escapeKTitle: boolean;
  /** DECRC does not restore origin mode (xterm.js, alacritty, urxvt, GNU screen) */
  readonly restoreKeepsOrigin: boolean;
  /** XTSAVE and XTRESTORE (`CSI ? … s`, `CSI ? … r`) do nothing (xterm.js, alacritty, st, tmux, GNU screen) */
  readonly ignoresModeSaving: boolean;
  /** DECCOLM clears the screen even if mode 40 does not allow it (alacritty) */
  readonly columnModeAlways: boolean;
  /** left and right margins: mode 69 (DECLRMM) and DECSLRM */
  readonly sideMargins: Support;
  /** `ESC l` and `ESC m`, the memory lock of HP terminals, which moves the top margin */
  readonly memoryLock: Support;
  /** resetting mode 2 (DECANM) switches to VT52 mode */
  readonly vt52: Support;
  /** mode 3 (DECCOLM) clears the screen if and only if mode 40 allows it */
  readonly columnMode: Support;
  /** `CSI ? 5 W` (DECST8C) */
  readonly eighthTabs: Support;
  /** C1 controls in UTF-8 work like their 7-bit forms; 'no': only those that xterm.js supports */
  readonly c1: Support;
  /** reverse wrap, modes 45 and 1045: see reverse-wrap.ts */
  readonly reverseWrap: ReverseWrap;
  /** erasing a row or the screen ends a pending wrap (xterm) */
  readonly eraseEndsWrap: boolean;
  /** the terminal is xterm.js, with further differences: see where this is read */
  readonly isXtermJs: boolean;
  /** a wide character that wraps early blanks the cell it leaves free (xterm.js) */
  readonly earlyWrapBlanks: boolean;
  /** the cursor does not follow the text when the height shrinks (kitty, docs/facts/terminals.md#resize) */
  readonly cursorStaysOnShrink: boolean;
}

export const standardQuirks: Quirks = {
  regionPerBuffer: false,
  switchResetsRegion: false,
  alignmentKeepsRegion: false,
  softResetKeepsRegion: false,
  ignoresConformanceLevel: false,
  escapeKTitle: false,
  restoreKeepsOrigin: false,
  ignoresModeSaving: false,
  columnModeAlways: false,
  sideMargins: 'unknown',
  memoryLock: 'unknown',
  vt52: 'unknown',
  columnMode: 'unknown',
  eighthTabs: 'unknown',
  c1: 'unknown',
  reverseWrap: 'unknown',
  eraseEndsWrap: false,
  isXtermJs: false,
  earlyWrapBlanks: false,
  cursorStaysOnShrink: false,
};

const xtermJs: Partial<Quirks> = {
  regionPerBuffer: true,
  alignmentKeepsRegion: true,
  ignoresConformanceLevel: true,
  restoreKeepsOrigin: true,
  ignoresModeSaving: true,
  sideMargins: 'no',
  memoryLock: 'no',
  vt52: 'no',
  columnMode: 'no',
  eighthTabs: 'no',
  c1: 'no',
  isXtermJs: true,
  earlyWrapBlanks: true,
};

const reverseWrapOf = (patch: number): ReverseWrap => {
  if (patch >= 397 && patch <= 401) return 'xterm-397';
  if (patch >= 383) return 'xterm-383';
  return patch >= 347 && patch <= 379 ? 'xterm-347' : 'unknown';
};

/** xterm itself, as documented in ctlseqs. */
const realXterm = (patch: number): Partial<Quirks> => ({
  sideMargins: 'yes',
  memoryLock: 'yes',
  vt52: 'yes',
  columnMode: 'yes',
  eighthTabs: 'yes',
  c1: 'yes',
  reverseWrap: reverseWrapOf(patch),
  eraseEndsWrap: true,
});

/** Of `XTerm(379)`. */
const patchIn = (version = ''): number => Number(/\((\d+)/.exec(version)?.[1]);

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

/** xterm sets XTERM_VERSION; a terminal started inside xterm inherits it, but shows in TERM or another variable what it is. */
const isRealXterm = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env['XTERM_VERSION'] !== undefined &&
  /^xterm(?!-kitty|-ghostty)/.test(env['TERM'] ?? '') &&
  ['TMUX', 'STY', 'TERM_PROGRAM', 'VTE_VERSION', 'KONSOLE_VERSION'].every((name) => env[name] === undefined);

/** Quirks by the environment; the answer to DA2 may correct them (see `quirksFromDeviceAttributes`). */
export const quirksFromEnv = (env: Readonly<Record<string, string | undefined>>): Quirks => {
  const quirks = { ...standardQuirks };
  const match = byTerm.find(([pattern]) => pattern.test(env['TERM'] ?? ''));
  if (match) Object.assign(quirks, match[1]);
  if (env['STY'] !== undefined && env['TMUX'] === undefined) quirks.switchResetsRegion = true;
  if (isRealXterm(env)) Object.assign(quirks, realXterm(patchIn(env['XTERM_VERSION'])));
  if (env['TERM_PROGRAM'] === 'vscode' && env['TMUX'] === undefined) Object.assign(quirks, xtermJs);
  return quirks;
};

/** Quirks by the answer to DA2 (`CSI > c`): only xterm.js answers `0;276;0`; xterm answers as a VT420 with its patch level (ctlseqs). */
export const quirksFromDeviceAttributes = (reply: string, quirks: Quirks): Quirks => {
  if (reply === '0;276;0') return { ...quirks, ...xtermJs };
  const [, patch] = /^41;([2-9]\d\d);0$/.exec(reply) ?? [];
  return patch === undefined ? quirks : { ...quirks, ...realXterm(Number(patch)) };
};
