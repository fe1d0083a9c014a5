import { toOneLine } from './text.js';
import { present } from './present.js';

/**
 * Milliseconds since the epoch. The core never reads a clock: `now` is passed in and never goes back, even if the wall clock does. Times in
 * files are wall-clock times.
 */
export type Millis = number;

/** The source of a number, in order of trust (facts/ list what each agent offers). */
export type Source = 'official' | 'log' | 'screen' | 'estimate';

/**
 * Who stated the size of the window. A model table is certain if the model has only one window. `remembered` is what was last known of the
 * model in another session, displayed with `?`. `default` is an agent's guess, which is only used for a session that has ended, or the
 * user's assumption, which is displayed with `?`.
 */
export type WindowSource = 'user' | 'agent' | 'derived' | 'table' | 'remembered' | 'default';

/** Nothing in this session says so: the window is displayed with `?`, and nothing is done because of it. */
export const isGuessedWindow = (source: WindowSource | undefined): boolean =>
  source === 'remembered' || source === 'default';

/**
 * What a percentage refers to: the whole window; what the agent leaves of it for the conversation (`effective`); the point where it
 * compacts by itself (`auto-compact`); or the window above a fixed part that is always used (`baseline`,
 * docs/facts/codex.md#percentage-as-a-formula).
 */
export type PercentBasis = 'window' | 'effective' | 'auto-compact' | 'baseline';

/** One statement about how full the context window is. A field that was not observed is absent, never zero. */
export interface Reading {
  /** tokens in the window, as the agent defines it */
  readonly usedTokens?: number;
  /** tokens of the agent's last answer, if the agent does not count them as used but its own compaction does */
  readonly answerTokens?: number;
  /** for a screen that displays rounded tokens, as `124k`: by how much the true number may be smaller */
  readonly roundingTokens?: number;
  /** the part of the used tokens that came from the model's cache, if the agent reports it */
  readonly cachedTokens?: number;
  /** what the last request has read, the cached part included; absent if it is the used tokens */
  readonly inputTokens?: number;
  /** context window in tokens, as effective in this session */
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
  /** 0…100 used (never left), as the agent counts it; above 100 if it reports an over-full window; absent if it is used/window */
  readonly usedPercent?: number;
  /** what `usedPercent` refers to; `window` if absent */
  readonly basis?: PercentBasis;
  /** tokens that are 100 % on that basis, if known */
  readonly basisTokens?: number;
  readonly source: Source;
  readonly model?: string;
  /** of an estimate from the text on the screen: how many characters it counts */
  readonly characters?: number;
  readonly at: Millis;
}

/**
 * A statement about the size of the window: a banner, a model switch, a record. Valid for this model until another claim of equal trust.
 */
export interface WindowClaim {
  readonly windowTokens: number;
  readonly windowSource: WindowSource;
  /** as in `Reading.model`; absent for the current model, whichever it is */
  readonly model?: string;
}

/**
 * The reading without impossible numbers (NaN, negative, far beyond any window, an empty window); undefined if nothing about the fill is
 * left.
 */
export const validReading = (reading: Reading): Reading | undefined => {
  const { usedTokens, answerTokens, windowTokens, windowSource, usedPercent, ...rest } = reading;
  const used = possibleTokens(usedTokens);
  const answer = possibleTokens(answerTokens);
  const window = possibleTokens(windowTokens);
  const percent = possible(usedPercent);
  if (used === undefined && percent === undefined) return undefined;
  return {
    ...rest,
    ...present({ usedTokens: used }),
    ...(used !== undefined && answer ? { answerTokens: answer } : {}),
    ...(window ? { windowTokens: window, windowSource: windowSource ?? 'default' } : {}),
    ...present({ usedPercent: percent }),
  };
};

/** 0…100 (not rounded): the agent's own percentage if given, else used/window; undefined if one of them is unknown. */
export const percentUsed = (reading: Reading): number | undefined => {
  const { usedTokens, windowTokens, usedPercent } = reading;
  if (usedPercent !== undefined) return Math.min(100, usedPercent);
  if (usedTokens === undefined || windowTokens === undefined) return undefined;
  return Math.min(100, (usedTokens * 100) / windowTokens);
};

/**
 * The same as a share of the whole window, which is all that may be displayed as such; undefined if the agent counts it against something
 * else and the tokens are unknown.
 */
export const windowPercent = (reading: Reading): number | undefined => {
  if (isOfWindow(reading)) return percentUsed(reading);
  const { usedPercent: _, ...counted } = reading;
  return percentUsed(counted);
};

/**
 * True unless the percentage refers to something else than the window. Above a baseline is how an agent fills its window itself, and what
 * its own screen says (docs/facts/codex.md#percentage-as-a-formula).
 */
export const isOfWindow = ({
  basis = 'window',
  usedPercent,
}: Pick<Reading, 'basis' | 'usedPercent'>): boolean =>
  basis === 'window' || basis === 'baseline' || usedPercent === undefined;

/** True if more is used than the window holds, by the agent's statement or by its numbers: then no percentage is correct. */
export const isOverFull = ({
  usedTokens,
  windowTokens,
  usedPercent = 0,
}: Pick<Reading, 'usedTokens' | 'windowTokens' | 'usedPercent'>): boolean =>
  usedPercent > 100 || (usedTokens !== undefined && windowTokens !== undefined && usedTokens > windowTokens);

/** A hundred times the largest window: a larger number is an error. */
export const IMPOSSIBLE_TOKENS = 1e9;

const possibleTokens = (value: number | undefined): number | undefined =>
  value !== undefined && value <= IMPOSSIBLE_TOKENS ? possible(value) : undefined;

const possible = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isFinite(value) && value >= 0 ? value : undefined;

/**
 * What the agent is doing. Only `ready` allows ctxwrap to type, so it requires positive evidence from every available source; anything not
 * understood is `unknown`.
 */
export type Activity = 'ready' | 'draft' | 'busy' | 'dialog' | 'compacting' | 'unknown' | 'dead';

const LONGEST = 200; // characters

/** The question of an open dialog, for display; undefined if there is none. Its text is untrusted. */
export const askedText = (activity: Activity, asks: string | undefined): string | undefined =>
  (activity === 'dialog' && asks !== undefined && toOneLine(asks, LONGEST)) || undefined;

/** Where in the agent the user is, or what keeps the agent from taking the next message, in words for the user. */
export type Place =
  | "vim's normal mode"
  | 'shell mode'
  | 'the history search'
  | 'the transcript'
  | 'the list of agents'
  | 'a background agent is running';

export interface ActivityReport {
  readonly activity: Activity;
  /** the evidence, as short facts: `title ✳`, `empty prompt row`, `status file: idle` */
  readonly witnesses: readonly string[];
  /** the agent itself reported its state: by OSC 7501, or in a file */
  readonly isReported?: true;
  /** in a dialog: what the agent asks, on one line: `approve Bash: touch zz.txt` */
  readonly asks?: string;
  /** the draft begins with a slash: Enter would send a command, no message; only where the setting `atHard` needs it */
  readonly isCommand?: boolean;
  /** a screen that is understood, although nothing may be typed there */
  readonly place?: Place;
}

// Estimates tokens without a tokenizer: four ASCII characters are one token, an East Asian character is one and a half (the rule of Qwen
// Code, consistent with the 4 characters per token that all agents assume). Letters of other alphabets count as ASCII.

const TOKENS_PER_NARROW = 1 / 4;
const TOKENS_PER_WIDE = 1.5;

/** Characters by the classes of the estimate. These counts can be added up over many rows; rounded tokens cannot. */
export interface CharacterCounts {
  /** ASCII and letters of other alphabets */
  readonly ascii: number;
  /** East Asian characters and everything outside the basic plane, including emoji */
  readonly wide: number;
}

/** The estimated tokens of a text, rounded up. Not exact; good for "it grew by about this much". */
export const estimateTokens = (text: string): number => tokensOfCharacters(countCharacters(text));

/** The estimated tokens of these characters, rounded up. */
export const tokensOfCharacters = ({ ascii, wide }: CharacterCounts): number =>
  Math.ceil(ascii * TOKENS_PER_NARROW + wide * TOKENS_PER_WIDE);

export const countCharacters = (text: string): CharacterCounts => {
  let wide = 0;
  let doubled = 0; // second halves of surrogate pairs
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

// NaN, which is returned after the end of a text, is not a second half.
const isPair = (first: number, second: number): boolean =>
  first >= 0xd800 && first <= 0xdbff && second >= 0xdc00 && second <= 0xdfff;

/** Unicode blocks: Hangul Jamo, CJK to Yi, Hangul, compatibility ideographs and forms, full-width forms. */
const isWide = (code: number): boolean =>
  code <= 0x115f ||
  (code >= 0x2e80 && code <= 0xa4cf) ||
  (code >= 0xac00 && code <= 0xd7a3) ||
  (code >= 0xf900 && code <= 0xfaff) ||
  (code >= 0xfe30 && code <= 0xfe4f) ||
  (code >= 0xff01 && code <= 0xff60) ||
  (code >= 0xffe0 && code <= 0xffe6);

/** The appearance of a cell. */
export interface CellStyle {
  readonly bold: boolean;
  readonly dim: boolean;
  /** SGR 7; some agents also draw their own cursor with it */
  readonly inverse: boolean;
  /** palette index 0…255, or 0x1000000 + 0xRRGGBB; undefined is the terminal's default colour */
  readonly foreground?: number;
}

/**
 * A snapshot of the child's rendered screen: what a person sees, with rows and columns from 0, without scrollback. Text is matched here and
 * never in the byte stream, where it is not contiguous (docs/facts/claude.md#what-to-read-and-what-not).
 */
export interface ScreenView {
  readonly columns: number;
  readonly rows: number;
  readonly cursorRow: number;
  readonly cursorColumn: number;
  /** the alternate screen is active */
  readonly alternate: boolean;
  /** without trailing blanks; '' outside the screen. A wide character is one character */
  readonly text: (row: number) => string;
  /** undefined outside the screen; `column` counts cells */
  readonly styleAt: (row: number, column: number) => CellStyle | undefined;
}

/** What a program reports to its terminal in escape sequences; text of the conversation cannot forge it. */
export interface Signals {
  /** OSC 0 or 2; undefined if none was set */
  readonly title?: string;
  /** the titles before it, the newest last, including those shown only briefly */
  readonly titlesBefore?: readonly string[];
  /** what follows `OSC 7501;`, as `state=idle:app=codex` (docs/facts/codex.md#state-reports) */
  readonly agentState?: string;
  /** first number of `OSC 9;4;N`: 0 none, 1 and 3 working (ConEmu, docs/facts/claude.md#terminal) */
  readonly progress?: number;
  /** text of the last OSC 9, 99 or 777 notification */
  readonly notification?: string;
}

/** The result of a tool call in the conversation, as the session file records it. */
export interface ToolResult {
  /** the agent's name for the tool */
  readonly name: string;
  /** its subject on one line: a path, a command, a pattern; '' if unknown */
  readonly label: string;
  /** estimated from the text */
  readonly tokens: number;
  readonly at: number;
}

/** Adds a result to the list of the largest ones, the largest first, at most `most` of them. */
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
 * How an agent marks its title while it reports no states: a sign and a space before the name. It omits the sign once the terminal has
 * answered that it supports agent states (OSC 7501).
 */
export interface TitleSigns {
  /** the most common one first */
  readonly sets: readonly SignSet[];
  /** milliseconds between two signs while it is busy */
  readonly frameMs: number;
  /**
   * for the text after `OSC 7501;`: true if the title shows a busy agent; undefined if the text says nothing about the agent's own state
   */
  readonly isWorking: (text: string) => boolean | undefined;
}

export interface SignSet {
  readonly rest: string;
  /** shown in turn; a single one is not animated */
  readonly busy: readonly [string, ...string[]];
}

// Whether a number is still expected where there is none.

/** Why there is no number. */
export type NoNumberReason =
  /** no turn yet in this conversation */
  | {
      readonly why: 'waiting';
      /** the user has pressed a key; some agents look busy while they start */
      readonly isTyped?: true;
      /** the first turn is over */
      readonly turnEndedAt?: Millis;
    }
  | { readonly why: 'pending' } // the last number is void, and the next one has not arrived
  | { readonly why: 'gone' } // the screen no longer shows a number, or a turn has produced none
  | { readonly why: 'unreadable'; readonly reason: string };

const LATE_MS = 5_000; // a session file is found and read within two seconds after a turn

/** When a number is no longer expected, some time after the first turn; undefined before that turn ends, or if no number is expected. */
export const givenUpAt = (blank: NoNumberReason): Millis | undefined =>
  blank.why === 'waiting' && blank.turnEndedAt !== undefined ? blank.turnEndedAt + LATE_MS : undefined;
