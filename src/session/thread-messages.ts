import { type Printable } from '../core/printable.js';
import type { CurrentSettings } from '../core/config/keys.js';
import type { Event } from '../core/event.js';
import type { DueKind, InvisibleReason } from '../core/compaction/policy.js';
import type { Tier } from '../core/ladder.js';
import type { OverviewAction, OverviewAnswer, OverviewState } from '../core/overview-keys.js';
import type { ShownRecap } from '../core/conversation/recap-selection.js';
import type { Millis } from '../core/reading.js';
import type { SavedScreen } from '../terminal/overview/saved-screen.js';
import type { NotificationText } from '../terminal/notification.js';
import type { Size } from '../terminal/tty.js';
import type { Background } from '../core/look.js';
import type { ExitStatus, WrapSession, RestartPlan } from './options.js';
import type { ScreenMeasures } from '../terminal/child-screen.js';

// What the two threads of a session tell each other. The main thread carries the bytes between terminal and child; the worker reads the
// screen and the session file, decides, and draws footer and overview.

/** A session without what cannot be sent to a worker. */
export type PlainSession = Omit<WrapSession, 'agent' | 'watchSettings' | 'log' | 'recording'>;

/** What a worker gets at its start. */
export interface WorkerStart {
  readonly session: PlainSession & CurrentSettings;
  readonly counters: SharedArrayBuffer;
  /** one 32-bit number: messages that the worker has handled */
  readonly handled: SharedArrayBuffer;
  /** takes the place of a worker that failed: what that one was told is not known */
  readonly isReplacement: boolean;
  /** of the child's terminal */
  readonly size: Size;
  /** bytes that bring the screen model to the child's screen and cursor; '' at the child's start */
  readonly seed: string;
  /** the counter `fed` up to here */
  readonly fed: number;
  /** undefined where there is no log */
  readonly log?: { readonly hasText: boolean } | undefined;
}

/** Where the footer is to be drawn. */
export interface FooterPlace {
  readonly columns: number;
  /** of the terminal, where it is known */
  readonly background?: Background | undefined;
  /** what the hotkey does, for a user who has not pressed it yet */
  readonly hint?: string | undefined;
}

/** The footer as the worker has drawn it. */
export interface FooterDrawing {
  readonly columns: number;
  /** not wider than `columns`; undefined until Ink is loaded */
  readonly row?: Printable;
  /** the same items without their colours, each character one column wide */
  readonly text: string;
  readonly tier?: Tier;
  /** a compaction is due: the row is required */
  readonly due?: DueKind;
  /** the row asks whether to send (`asked`), or would if the user's next Enter were held (`holds`); absent where it could not be read */
  readonly enter?: 'holds' | 'asked';
  /** observed in this session */
  readonly compactions: number;
}

/** What the overview has to show: a page, from a row of its contents on. */
export interface WantedOverview extends Pick<OverviewState, 'page' | 'scroll' | 'limit' | 'recap'> {
  readonly size: Size;
  /** of the terminal, where it is known */
  readonly background?: Background | undefined;
}

/** The overview's rows for a size and a page, and how far the page can be scrolled. */
export interface OverviewDrawing extends Pick<OverviewState, 'page' | 'scroll' | 'most' | 'shown'> {
  /** none wider than the size */
  readonly rows: readonly Printable[];
  readonly size: Size;
  /** index of the choice that is marked on the page `limit` */
  readonly marked?: number;
  /** on the page `recap`, where there is one */
  readonly recap?: ShownRecap;
}

/** What a key of the overview does beside changing what is shown. */
export type PanelAction = Exclude<OverviewAction, 'close'>;

/** To the worker, in the order in which it happened. */
export type ToWorker =
  /** the child runs, since this time (wall clock) */
  | {
      readonly type: 'child';
      readonly pid: number;
      readonly startedAt: Millis;
      readonly isScreenRead: boolean;
    }
  /** `bytes` are in memory that is written again when the screen model has read them */
  | { readonly type: 'output'; readonly bytes: Uint8Array }
  /** output was left out, because the worker was slow; `seed` brings a new model to where the next output begins; `fed`: the counter there */
  | { readonly type: 'restart'; readonly seed: string; readonly fed: number }
  /** `seed` as in `restart`, for a screen that had no model before */
  | { readonly type: 'resize'; readonly size: Size; readonly seed: string }
  | { readonly type: 'align'; readonly row: number }
  | { readonly type: 'erase'; readonly rows: number }
  | { readonly type: 'measure'; readonly id: number; readonly columns: number }
  | { readonly type: 'save'; readonly id: number }
  | { readonly type: 'stop-reading' }
  | { readonly type: 'event'; readonly event: Event }
  /** the user has pressed keys; the counter `typed` has said it before */
  | { readonly type: 'keys' }
  /** needs no answer: a worker that does not handle it hangs */
  | { readonly type: 'ping' }
  /** Enter was sent to the child (wall clock) */
  | { readonly type: 'entered'; readonly at: Millis }
  /** whether a countdown could be seen has changed */
  | { readonly type: 'visibility'; readonly unseen: InvisibleReason | undefined }
  /** the answer to `hold` */
  | { readonly type: 'held'; readonly id: number; readonly isHeld: boolean }
  /** draw the footer for this place, and again whenever it changes */
  | { readonly type: 'draw-footer'; readonly place: FooterPlace }
  /** draw this of the overview, and again whenever it changes, until it is closed */
  | { readonly type: 'draw-overview'; readonly wanted: WantedOverview }
  | { readonly type: 'overview-action'; readonly action: PanelAction }
  /** the user has chosen something in the overview */
  | { readonly type: 'chosen'; readonly answer: OverviewAnswer }
  | { readonly type: 'overview-closed' }
  /** the child has ended */
  | { readonly type: 'stop'; readonly status: ExitStatus };

/** From the worker. */
export type FromWorker =
  | { readonly type: 'footer'; readonly drawing: FooterDrawing }
  /** asks for `visibility` if it has changed */
  | { readonly type: 'look' }
  /** holds the user's keys if `typed` is still the counter */
  | { readonly type: 'hold'; readonly id: number; readonly typed: number }
  | { readonly type: 'release'; readonly id: number }
  | { readonly type: 'release-one'; readonly id: number; readonly behind: number }
  /** writes the bytes to the child if this hold lasts, or `typed` is still the counter */
  | {
      readonly type: 'write';
      readonly bytes: Uint8Array;
      readonly hold: number | undefined;
      readonly typed: number;
    }
  | { readonly type: 'notify'; readonly call: NotificationText }
  | { readonly type: 'overview'; readonly drawing: OverviewDrawing }
  /** `isUndrawable`: Ink could not be loaded */
  | { readonly type: 'close-overview'; readonly isUndrawable?: true }
  /** the agent is about to end: what to start then; nothing if absent */
  | { readonly type: 'restart'; readonly plan?: RestartPlan | undefined }
  /** the agent that was started again has the new session */
  | { readonly type: 'restart-taken' }
  /** what came of the shortening that it was started again for is recorded */
  | { readonly type: 'restart-recorded' }
  | { readonly type: 'measured'; readonly id: number; readonly measures: ScreenMeasures }
  | { readonly type: 'saved'; readonly id: number; readonly screen: SavedScreen | undefined }
  | { readonly type: 'log'; readonly level: 'info' | 'warn' | 'error' | 'text'; readonly message: string }
  /** everything is recorded; `summary`: what happened, for the user's shell */
  | { readonly type: 'stopped'; readonly summary?: string | undefined };

const counterNames = ['typed', 'held', 'written', 'behind', 'fed'] as const;

/**
 * Numbers of the main thread that the worker sees at once. `typed`: reads with keys of the user, held ones included. `held`: reads of the
 * user that are held. `written`: bytes of the child. `behind`: 1 while some of them have not reached the terminal. `fed`: those that the
 * screen model gets, or has lost. They wrap at 32 bits, so they are only compared.
 */
export interface Counters {
  readonly get: (name: (typeof counterNames)[number]) => number;
  readonly set: (name: (typeof counterNames)[number], value: number) => void;
  readonly add: (name: (typeof counterNames)[number], count: number) => void;
  readonly memory: SharedArrayBuffer;
}

export const makeCounters = (
  memory = new SharedArrayBuffer(counterNames.length * Int32Array.BYTES_PER_ELEMENT),
): Counters => {
  const numbers = new Int32Array(memory);
  const at = Object.fromEntries(counterNames.map((name, index) => [name, index])) as Record<string, number>;
  return {
    get: (name) => Atomics.load(numbers, at[name] ?? 0),
    set: (name, value) => void Atomics.store(numbers, at[name] ?? 0, value),
    add: (name, count) => void Atomics.add(numbers, at[name] ?? 0, count),
    memory,
  };
};

/** The user's request by the hotkey: `force` makes it ignore earlier attempts. */
export const hotkeyCompactRequest = (): Event => ({
  type: 'compact-requested',
  request: { id: `key-${crypto.randomUUID()}`, force: true, isByKey: true },
});
