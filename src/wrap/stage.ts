import type { Child } from '../terminal/child.js';
import type { StreamFilter } from '../terminal/filter/stream-filter.js';
import type { StandIn } from '../terminal/stand-in.js';
import type { Screen } from '../terminal/screen.js';
import type { Size, Tty } from '../terminal/tty.js';
import type { Watchdog } from '../terminal/watchdog.js';
import type { Readings } from './observing/readings.js';
import type { WrapSession } from './wrap-session.js';

/** Where the child's output goes while the terminal shows something else. */
export interface OutputCover {
  /** pieces to be filtered and taken one by one */
  readonly cut: (bytes: Uint8Array) => readonly Uint8Array[];
  /** what the terminal would get for one of them */
  readonly take: (parts: readonly Uint8Array[]) => void;
}

/** What the parts of one wrap share. */
export interface Stage {
  readonly session: WrapSession;
  readonly tty: Tty;
  readonly filter: StreamFilter;
  /** answers the child's question about agent states, for an agent that asks it */
  readonly standIn: StandIn | undefined;
  readonly screen: Screen;
  readonly watchdog: Watchdog;
  /** set as soon as the child runs */
  child: Child | undefined;
  /** takes the child's output in the terminal's place, while a screen of ours is over the child's */
  cover: OutputCover | undefined;
  /** what is read of the child, as long as it runs */
  readings: Readings | undefined;
  /** the user wants to see the footer (the hotkey changes it) */
  footerWanted: boolean;
  /** a compaction is due: its countdown gets a row of a terminal that has none for a footer else */
  rowWanted: boolean;
  /** bytes go through untouched: mode off, or something of ours has failed */
  verbatim: boolean;
  /** there is a screen for us beside the child's; undefined until that was tried */
  hasSecondScreen: boolean | undefined;
  /** the terminal has said where its cursor was at the start, so the screen model has the child's rows where they are */
  cursorKnown: boolean;
}

const MIN_ROWS = 8; // below this an agent needs every row itself
const MIN_DUE_ROWS = 4; // while a compaction is due: a prompt between two lines and the countdown
const MIN_COLUMNS = 20; // below this nothing useful fits into a footer

/** The size of the child's terminal in a terminal of this size. */
export const childSize = (
  { columns, rows, isGuess }: Size,
  { footerWanted, rowWanted = false, verbatim = false }: FooterWish,
): Size => {
  const fits = isGuess !== true && rows >= (rowWanted ? MIN_DUE_ROWS : MIN_ROWS) && columns >= MIN_COLUMNS;
  return { columns, rows: footerWanted && !verbatim && fits ? rows - 1 : rows };
};

type FooterWish = Pick<Stage, 'footerWanted'> & Partial<Pick<Stage, 'rowWanted' | 'verbatim'>>;

/** Runs a part of ours that the session must survive. */
export const survive = (stage: Pick<Stage, 'session'>, what: string, run: () => void): boolean => {
  try {
    run();
    return true;
  } catch (error) {
    stage.session.log.error(
      `${what} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    return false;
  }
};
