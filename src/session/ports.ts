import type { Event } from '../core/event.js';
import type { WrittenHandoff } from '../core/live-handoff.js';
import type { SessionFlow } from '../core/session-flow.js';
import type { Millis, Activity } from '../core/reading.js';
import type { PromptContent, SavedSession } from '../agents/agent.js';
import type { Via } from '../core/compaction/outcome.js';
import type { Session } from '../core/session.js';
import type { CompactionRecord } from '../core/report/records.js';
import type { Effect } from '../core/compaction/state.js';
import type { ShortenedSession } from '../core/compaction/shortened-session.js';
import type { GivenBack } from '../core/compaction/protocol.js';
import type { ReceiptCounts } from '../core/conversation/receipt.js';
import type { ExitStatus } from './options.js';

// What the parts of a session in the worker offer one another: the loop that decides, the publisher, the observer of the screen and the
// keyboard, as those see them who type.

/**
 * Runs one session: events in, views out, and one alarm for what depends on time. Keys are reported with a delay, because a step takes
 * longer than forwarding a key; every other event waits for them.
 */
export interface SessionLoop {
  readonly take: (event: Event) => void;
  /** everything that is known of the session, and what its own clock says */
  readonly flow: () => SessionFlow & { readonly now: Millis };
  readonly stop: () => void;
}

/** The user's keys that are being held. */
export interface KeyHold {
  /** number of held reads of the terminal */
  readonly waitingCount: () => number;
  /** sends one of them: the oldest, or the oldest after the first `behind` ones, which stay held */
  readonly releaseOne: (behind: number) => void;
  /** sends all of them in order and ends the hold */
  readonly release: () => void;
}

/** The child's screen at this moment. */
export interface ScreenObservation {
  readonly activity: Activity;
  /** undefined where no prompt is visible */
  readonly prompt: PromptContent | undefined;
  /** the agent that drew it may have ended */
  readonly isUntrusted?: boolean;
}

/** What came of a command, for the audit log. */
export interface TypedResult {
  readonly kind: string;
  readonly reason?: string;
  /** how the agent was asked without keys */
  readonly via?: Via;
}

/** The agent has one session in place of another. */
export interface Replaced {
  readonly from: SavedSession;
  readonly to: SavedSession;
}

/** What came of a text that was put into the prompt. */
export interface EndedDraft {
  readonly outcome: string;
  readonly characters: number;
}

/** What is published beside the session's state. */
export interface StateFacts {
  readonly compaction: CompactionRecord;
  /** of the conversation as it is now */
  readonly handoff?: WrittenHandoff | undefined;
}

/** The session's connection to other programs: its published record, their requests, and the audit log. */
export interface Publisher {
  readonly onState: (state: Session, facts: StateFacts) => void;
  /** the agent has a shortened session in place of another */
  readonly onReplaced: (replaced: Replaced) => void;
  /** a shortened session is about to be written */
  readonly onShortened: (session: ShortenedSession) => void;
  /** a handoff of the conversation was written, at this path */
  readonly onHandoff: (path: string) => void;
  /** the terminal is not followed any more, so that nothing is typed */
  readonly onFailed: () => void;
  /** each effect of the core, with the state it came from */
  readonly onEffect: (effect: Effect, state: Session) => void;
  /** called before a compact command is typed; resolves with why it must not be */
  readonly beginTyping: () => Promise<string | undefined>;
  /** how much a compaction has kept */
  readonly onReceipt: (receipt: ReceiptCounts, state: Session) => void;
  /** lines of it went to the agent without its prompt */
  readonly onGivenBack: (given: GivenBack, state: Session) => void;
  /** the session follows a change of the configuration: the names of the changed keys */
  readonly onSettings: (keys: readonly string[]) => void;
  /** keys of the wrapper on their way to the agent */
  readonly onStroke: (bytes: Uint8Array) => void;
  /** called before anything but the compact command is typed or asked for */
  readonly beginAction: (state: Session) => void;
  /** for what has the agent go on with another session; `result` is undefined where no key was typed */
  readonly endSwitch: (name: string, result: TypedResult | undefined) => void;
  /** for such a switch that was begun before, by an action that has ended or in the run of the agent before this one */
  readonly endEarlierSwitch: (name: string, result: TypedResult, state: Session) => void;
  /** for a draft that is put into the prompt; `ended` is undefined where no key was typed */
  readonly endDraft: (ended: EndedDraft | undefined) => void;
  /** closes everything; resolves when the last records are written or have failed */
  readonly end: (status: ExitStatus) => Promise<void>;
}
