/** Terminal modes an agent may leave on: what turns each of them on. */
export const modeSequences = {
  alternateScreen: '\x1b[?1049h',
  mouse: '\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h',
  bracketedPaste: '\x1b[?2004h',
  focus: '\x1b[?1004h',
  kittyKeyboard: '\x1b[>1u',
  modifyOtherKeys: '\x1b[>4;2m',
  hiddenCursor: '\x1b[?25l',
  scrollRegion: '\x1b[3;8r',
  themeReports: '\x1b[?2031h',
  sizeReports: '\x1b[?2048h',
  alternateScroll: '\x1b[?1007h',
  cursorStyle: '\x1b[5 q',
  colors: '\x1b[1;31;44m',
  // last: a terminal that honours it shows nothing of what follows
  synchronized: '\x1b[?2026h',
} as const;

export type ModeName = keyof typeof modeSequences;

export const modeNames = Object.keys(modeSequences) as readonly ModeName[];

/** The modes the agent works with, and their way back. */
export const holdModes = '\x1b[?2004h';
export const releaseModes = '\x1b[?2026l\x1b[?2004l\x1b[0m\x1b[?25h';

export const title = (text: string): string => `\x1b]0;${text}\x07`;
