/** How one cell is drawn. */
export interface CellStyle {
  readonly bold: boolean;
  readonly dim: boolean;
  /** SGR 7: also how some agents draw their own cursor */
  readonly inverse: boolean;
  /** palette index 0…255, or 0x1000000 + 0xRRGGBB; undefined is the terminal's default colour */
  readonly foreground?: number;
}

/**
 * The child's screen as it is rendered at one moment: what a person would see, rows and columns from 0. Only the screen, never the
 * scrollback. Text is matched on it and never on the byte stream, in which no text is contiguous (facts/claude.md §0).
 */
export interface ScreenView {
  readonly columns: number;
  readonly rows: number;
  readonly cursorRow: number;
  readonly cursorColumn: number;
  /** the alternate screen is shown */
  readonly alternate: boolean;
  /** without blanks at its right end; '' outside the screen. A wide character is one character here */
  readonly text: (row: number) => string;
  /** undefined outside the screen; `column` counts cells, not characters */
  readonly styleAt: (row: number, column: number) => CellStyle | undefined;
}

/** What a program tells its terminal beside the screen; text in the conversation cannot forge these. */
export interface Signals {
  /** OSC 0 or 2; undefined while none was set */
  readonly title?: string;
  /** the last ones before it, the newest last: one that stood only for a moment is among them */
  readonly titlesBefore?: readonly string[];
  /** what follows `OSC 7501;`, as `state=idle:app=codex` (facts/codex.md §5) */
  readonly agentState?: string;
  /** first number of `OSC 9;4;N`: 0 none, 1 and 3 working (ConEmu, facts/claude.md §3) */
  readonly progress?: number;
  /** text of the last OSC 9, 99 or 777 notification */
  readonly notification?: string;
}
