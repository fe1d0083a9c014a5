import type { NativeTrigger } from '../../core/native.js';
import type { Basis } from '../../core/reading.js';
import type { FieldPath } from './field-path.js';
import type { Glob } from './glob.js';
import type { Pattern } from './pattern.js';
import type { Region } from './region.js';

/** An agent as a user describes it: data only, from a JSON file that the user names. */
export interface Definition {
  /** as in the footer */
  readonly name: string;
  /** the program, as on PATH */
  readonly command: string;
  /** what to install when the command is not found */
  readonly npmPackage?: string;
  /** arguments with which the agent prints and exits; without them every start is a conversation */
  readonly interactive?: {
    readonly plainFlags?: readonly string[];
    readonly plainCommands?: readonly string[];
    /** flags whose value is the next word */
    readonly valueFlags?: readonly string[];
  };
  /** context window in tokens, or of the first model whose name the pattern is found in */
  readonly window?: number | readonly ModelWindow[];
  readonly log?: LogDefinition;
  /** numbers on the screen; the first that is found counts, one of each unit */
  readonly screen?: readonly ScreenNumber[];
  readonly activity?: ActivityDefinition;
  /** the row with the cursor, and the user's text in it: the pattern's only group. Without it nothing is ever typed */
  readonly prompt?: Pattern;
  /** how its own compaction is asked for */
  readonly recipe?: RecipeDefinition;
  readonly nativeTrigger?: NativeTrigger;
}

/** As `Recipe`, with the name of the key; what is missing is as it is for most agents. */
export interface RecipeDefinition {
  readonly command: string;
  readonly pauseMs?: number;
  readonly submit?: 'enter' | 'tab';
  readonly paste?: boolean;
  readonly takesFocus?: boolean;
  readonly startMs?: number;
  readonly finishMs?: number;
}

/** What a user changes in one of our agents. */
export interface Change {
  /** another program in its place, as on PATH */
  readonly command?: string;
  /** in tokens */
  readonly window?: number;
  readonly recipe?: Pick<RecipeDefinition, 'pauseMs' | 'startMs' | 'finishMs'>;
  readonly nativeTrigger?: NativeTrigger;
}

export interface ModelWindow {
  readonly pattern: Pattern;
  readonly tokens: number;
}

/** The agent's session file: one JSON object a line. */
export interface LogDefinition {
  readonly globs: readonly Glob[];
  /** token counts that are in the window together */
  readonly used: readonly FieldPath[];
  /** window in tokens */
  readonly window?: FieldPath;
  readonly model?: FieldPath;
  /** ISO text, seconds or milliseconds */
  readonly timestamp?: FieldPath;
  readonly boundary?: {
    readonly where: FieldEquals;
    readonly preTokens?: FieldPath;
    readonly postTokens?: FieldPath;
  };
  /** records that say nothing of this conversation, as those of subagents */
  readonly ignore?: readonly FieldEquals[];
}

export interface FieldEquals {
  readonly path: FieldPath;
  readonly equals: string | number | boolean | null;
}

/** A row of a part of the screen, and the number in it. */
export interface ScreenNumber {
  readonly region: Region;
  /** the number is its only group; without one the usual words are looked for, as `42% context left` */
  readonly pattern?: Pattern;
  /** of usual words that do not tell it; `used` when absent */
  readonly polarity?: 'used' | 'left';
  /** with a pattern; the usual words tell it themselves */
  readonly unit?: 'percent' | 'tokens';
  /** what a percentage counts against; the window when absent */
  readonly basis?: Basis;
}

export interface ActivityDefinition {
  /** all of it must hold, and nothing may speak for another activity */
  readonly ready?: {
    readonly title?: Pattern;
    readonly cursorRow?: Pattern;
    /** in no row of the screen */
    readonly absent?: readonly Pattern[];
  };
  /** one of them is enough */
  readonly busy?: readonly Sign[];
  readonly dialog?: readonly Sign[];
  /** its compaction; signs of work beside it are the same work */
  readonly compacting?: readonly Sign[];
}

/** What shows on the terminal's title, or in a row of a part of the screen; of both where both are given. */
export interface Sign {
  readonly title?: Pattern;
  readonly row?: { readonly region: Region; readonly pattern: Pattern };
}
