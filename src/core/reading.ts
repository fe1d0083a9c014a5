import { toOneLine } from './text.js';

/**
 * Milliseconds since the epoch, passed in by the shell; the core never asks a clock. `now` never goes back, whatever happens to the
 * wall clock; what files tell is of the wall clock.
 */
export type Millis = number;

/** Where a number comes from, in order of trust (facts/ say what each runtime offers). */
export type Source = 'official' | 'log' | 'screen' | 'estimate';

/**
 * Who said how large the window is. A model table is certain where the model has one window only;
 * `default` is what a runtime guesses when it cannot know, which counts for nothing, or what the user assumes, which is shown with `?`.
 */
export type WindowSource = 'user' | 'agent' | 'derived' | 'table' | 'default';

/**
 * What a percentage counts against: the whole window; what the agent leaves of it for the conversation (`effective`); the point where
 * it compacts by itself (`auto-compact`); or the window above a fixed part that is always there (`baseline`, facts/codex.md §2.3).
 */
export type PercentBasis = 'window' | 'effective' | 'auto-compact' | 'baseline';

/** One observation of how full the context window is. A field that was not observed is absent, never zero. */
export interface Reading {
  /** tokens in the window now, by the runtime's own definition */
  readonly usedTokens?: number;
  /** the agent's last answer, where the agent does not count it as used and its own compaction does */
  readonly answerTokens?: number;
  /** of a screen that shows the tokens rounded, as `124k`: by how much the true number may be smaller */
  readonly roundingTokens?: number;
  /** of the used ones: what the model's cache held; only where the agent says so */
  readonly cachedTokens?: number;
  /** context window in tokens, effective for this session */
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
  /** 0…100 used (never left), as the agent itself counts it, more where it says that it is over-full; absent where it is used/window */
  readonly usedPercent?: number;
  /** what `usedPercent` counts against; `window` when absent */
  readonly basis?: PercentBasis;
  /** tokens that are 100 % on that basis, where known */
  readonly basisTokens?: number;
  readonly source: Source;
  readonly model?: string;
  readonly at: Millis;
}

/** Somebody said how large the window is: a banner, a model switch, a record. It holds for this model until another claim of equal trust. */
export interface WindowClaim {
  readonly windowTokens: number;
  readonly windowSource: WindowSource;
  /** as in `Reading.model`; absent for whatever model runs now */
  readonly model?: string;
}

/** The reading with every impossible number (NaN, negative, far beyond any window, an empty window) left out; undefined if nothing says how full. */
export const validReading = (reading: Reading): Reading | undefined => {
  const { usedTokens, answerTokens, windowTokens, windowSource, usedPercent, ...rest } = reading;
  const used = possibleTokens(usedTokens);
  const answer = possibleTokens(answerTokens);
  const window = possibleTokens(windowTokens);
  const percent = possible(usedPercent);
  if (used === undefined && percent === undefined) return undefined;
  return {
    ...rest,
    ...(used === undefined ? {} : { usedTokens: used }),
    ...(used !== undefined && answer ? { answerTokens: answer } : {}),
    ...(window ? { windowTokens: window, windowSource: windowSource ?? 'default' } : {}),
    ...(percent === undefined ? {} : { usedPercent: percent }),
  };
};

/** 0…100 (not rounded): the runtime's own formula if it gave one, else used/window; undefined while one of them is unknown. */
export const percentUsed = (reading: Reading): number | undefined => {
  const { usedTokens, windowTokens, usedPercent } = reading;
  if (usedPercent !== undefined) return Math.min(100, usedPercent);
  if (usedTokens === undefined || windowTokens === undefined) return undefined;
  return Math.min(100, (usedTokens * 100) / windowTokens);
};

/** More is used than there is room for, by the agent's own word or by its numbers: no percentage of it is true. */
export const isOverFull = ({
  usedTokens,
  windowTokens,
  usedPercent = 0,
}: Pick<Reading, 'usedTokens' | 'windowTokens' | 'usedPercent'>): boolean =>
  usedPercent > 100 || (usedTokens !== undefined && windowTokens !== undefined && usedTokens > windowTokens);

/** A hundred times the largest window: a number beyond it is broken, not large. */
export const IMPOSSIBLE_TOKENS = 1e9;

const possibleTokens = (value: number | undefined): number | undefined =>
  value !== undefined && value <= IMPOSSIBLE_TOKENS ? possible(value) : undefined;

const possible = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isFinite(value) && value >= 0 ? value : undefined;

/**
 * What the agent is doing. Only `ready` allows keys of ours, so it needs positive evidence from all witnesses there are; whatever is
 * not understood is `unknown`.
 */
export type Activity = 'ready' | 'draft' | 'busy' | 'dialog' | 'compacting' | 'unknown' | 'dead';

const LONGEST = 200; // characters

/** What is asked, for whoever shows it: the words may be anybody's. Undefined where nothing is. */
export const askedText = (activity: Activity, asks: string | undefined): string | undefined =>
  (activity === 'dialog' && asks !== undefined && toOneLine(asks, LONGEST)) || undefined;

export interface ActivityReport {
  readonly activity: Activity;
  /** what speaks for it, as short facts: `title ✳`, `empty prompt row`, `status file: idle` */
  readonly witnesses: readonly string[];
  /** the agent's own word on its state was among them: OSC 7501, or a file of its own */
  readonly isTold?: true;
  /** in a dialog, what the agent says that it asks, in one line: `approve Bash: touch zz.txt` */
  readonly asks?: string;
}

// Tokens of a text without a tokenizer: four ASCII characters make one, an East Asian character one and a half
// (Qwen Code's rule, which agrees with the 4 characters a token that all agents assume). Letters of other alphabets count as ASCII.

const TOKENS_PER_NARROW = 1 / 4;
const TOKENS_PER_WIDE = 1.5;

/** Characters as the estimate tells them apart. Counts of many rows can be added up, rounded tokens can't. */
export interface CharacterCounts {
  /** ASCII, and letters of other alphabets */
  readonly ascii: number;
  /** East Asian characters and everything beyond the basic plane, emoji among them */
  readonly wide: number;
}

/** The estimated tokens of a text, rounded up. Exact in nothing; good for "it grew by about this much". */
export const estimateTokens = (text: string): number => tokensOfCharacters(countCharacters(text));

/** The estimated tokens of so many characters, rounded up. */
export const tokensOfCharacters = ({ ascii, wide }: CharacterCounts): number =>
  Math.ceil(ascii * TOKENS_PER_NARROW + wide * TOKENS_PER_WIDE);

export const countCharacters = (text: string): CharacterCounts => {
  let wide = 0;
  let doubled = 0; // the second halves of surrogate pairs
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < FIRST_WIDE) continue;
    if (isPair(code, text.charCodeAt(index + 1))) {
      doubled += 1;
      wide += 1;
      index += 1;
    } else if (isWide(code)) wide += 1;
  }
  return { ascii: text.length - wide - doubled, wide };
};

const FIRST_WIDE = 0x1100;

// NaN, which is what comes after the end of a text, is no second half.
const isPair = (first: number, second: number): boolean =>
  first >= 0xd800 && first <= 0xdbff && second >= 0xdc00 && second <= 0xdfff;

/** Blocks of Unicode: Hangul Jamo, CJK to Yi, Hangul, compatibility ideographs and forms, full-width forms. */
const isWide = (code: number): boolean =>
  code <= 0x115f ||
  (code >= 0x2e80 && code <= 0xa4cf) ||
  (code >= 0xac00 && code <= 0xd7a3) ||
  (code >= 0xf900 && code <= 0xfaff) ||
  (code >= 0xfe30 && code <= 0xfe4f) ||
  (code >= 0xff01 && code <= 0xff60) ||
  (code >= 0xffe0 && code <= 0xffe6);

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

/** What a tool call put into the conversation, as far as the session file shows it. */
export interface ToolResult {
  /** the agent's name for the tool */
  readonly name: string;
  /** what it was about, on one line: a path, a command, a pattern; '' where the call does not show it */
  readonly label: string;
  /** estimated from the text */
  readonly tokens: number;
  readonly at: number;
}

/** Adds a result to the largest ones so far, the largest first, at most `most` of them. */
export const addToLargest = (
  largest: readonly ToolResult[],
  result: ToolResult,
  most: number,
): readonly ToolResult[] => {
  const smallest = largest[most - 1];
  if (result.tokens === 0 || (smallest && smallest.tokens >= result.tokens)) return largest;
  const place = largest.findIndex(({ tokens }) => tokens < result.tokens);
  return largest.toSpliced(place < 0 ? largest.length : place, 0, result).slice(0, most);
};

/**
 * How an agent marks its title as long as it tells no states: a sign and a space before the name. It leaves the sign out as soon as a
 * terminal has answered that it understands agent states (OSC 7501).
 */
export interface TitleSigns {
  /** the usual one first */
  readonly sets: readonly SignSet[];
  /** milliseconds between two signs while it works */
  readonly frameMs: number;
  /** of what follows `OSC 7501;`: whether its title shows that it works; undefined for what says nothing of its own state */
  readonly isWorking: (told: string) => boolean | undefined;
}

export interface SignSet {
  readonly rest: string;
  /** in turns; one alone does not move */
  readonly busy: readonly [string, ...string[]];
}
