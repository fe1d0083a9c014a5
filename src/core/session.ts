import type { NativeTrigger } from './build-ladder.js';
import type { Event } from './event.js';
import {
  noEvidence,
  invalidateNumbers,
  updateActivity,
  addGrowth,
  dropLog,
  dropScreen,
  type Evidence,
  addOutput,
  noOutputFlow,
  restartFlow,
  applyReading,
  type KnownReadings,
  type OutputFlow,
} from './evidence.js';
import {
  disagreementAt,
  disagreementDeadline,
  disagreementLogLines,
  fuseReadings,
  type MeasureContext,
  updateDisplayed,
  displayedDeadline,
  type FusedReading,
  type DisplayedReading,
} from './fusion.js';
import type { LadderChoice } from './ladder.js';
import { type Activity, type Millis, askedText, type ActivityReport } from './reading.js';
import { setAssumedWindow, addClaim, setUserWindow, type WindowClaims, noWindowClaims } from './window.js';

// Whether the first number is still on its way. After a turn without one there is nothing to wait for.

const LATE_MS = 5_000; // a session file is found and read within two seconds of the end of a turn

/** When the first turn was over for too long; undefined while it is not over, or nothing is waited for. */
const givenUpAt = (blank: NoNumberReason): Millis | undefined =>
  blank.why === 'waiting' && blank.turnEndedAt !== undefined ? blank.turnEndedAt + LATE_MS : undefined;

/** With another window or model a screen that was not believed gets another chance. */
const inWindows = (state: Session, windows: WindowClaims): Session =>
  windows === state.windows
    ? state
    : { ...state, windows, evidence: { ...state.evidence, disagreement: noEvidence.disagreement } };

/** What a session is made of. */
export interface SessionStart {
  readonly agent: string;
  /** the agent's own compaction point, where known */
  readonly native?: NativeTrigger | undefined;
  readonly ladder?: LadderChoice | undefined;
}

export const startSession = ({ agent, native, ladder = {} }: SessionStart, now: Millis): Session => ({
  agent: agent,
  native,
  ladder,
  compactions: 0,
  windows: noWindowClaims,
  evidence: noEvidence,
  blank: { why: 'waiting' },
  fileTells: false,
  isAwaited: false,
  flow: noOutputFlow,
  activity: 'unknown',
  witnesses: [],
  activitySince: now,
  understood: { screen: false, state: false },
  logged: [],
});

/** The state after an event. Pure: the same events at the same times give the same state. */
export const stepSession = (state: Session, event: Event, now: Millis): Session =>
  settled(after({ ...state, logged: [] }, event, now), now);

/** When `step` wants an `alarm` event though nothing happens; undefined while nothing waits. */
export const sessionDeadline = ({ shown, fused, evidence, blank }: Session): Millis | undefined => {
  const times = [displayedDeadline(shown, fused), disagreementDeadline(evidence), givenUpAt(blank)].filter(
    (at) => at !== undefined,
  );
  return times.length > 0 ? Math.min(...times) : undefined;
};

/** What the readings of a session are measured with. */
export const measureContextOf = ({ agent, windows, native, ladder }: Session): MeasureContext => ({
  agent: agent,
  windows,
  ladder,
  ...(native ? { native } : {}),
});

const after = (state: Session, event: Event, now: Millis): Session => {
  switch (event.type) {
    case 'reading':
      return withHeard(state, applyReading(state, event.reading, now));
    case 'boundary': {
      // The screen is read within a second of the file: it would count the same compaction again.
      if (event.boundary.source === 'screen' && state.fileTells) return state;
      const fileTells = event.boundary.source !== 'screen';
      return { ...emptied(state), fileTells, compactions: state.compactions + 1 };
    }
    case 'voided':
      return emptied(state);
    case 'growth':
      return { ...state, evidence: addGrowth(state.evidence, event.tokens) };
    case 'window':
      return inWindows(state, addClaim(state.windows, event.claim));
    case 'session-changed':
      return inSession(state, event.sessionId);
    case 'source-problem': {
      const blank: NoNumberReason = { why: 'unreadable', reason: event.reason };
      const evidence = dropLog(state.evidence);
      return { ...state, blank, evidence, fileTells: false, isAwaited: false };
    }
    case 'user-window': {
      const claim = { windowTokens: event.windowTokens, windowSource: 'user' } as const;
      return inWindows(state, addClaim(state.windows, claim));
    }
    case 'assumed-window':
      return inWindows(state, setAssumedWindow(state.windows, event.windowTokens));
    case 'own-compaction': // a screen that counts down to it is read anew
      return {
        ...state,
        native: event.trigger,
        evidence: { ...state.evidence, disagreement: noEvidence.disagreement },
      };
    case 'settings': {
      const { ladder, windowTokens } = event.settings;
      return { ...inWindows(state, setUserWindow(state.windows, windowTokens)), ladder };
    }
    case 'screen-blank':
      return { ...state, evidence: dropScreen(state.evidence) };
    case 'activity':
      return afterReport(state, event.report, now);
    case 'user-keys':
      return state.blank.why === 'waiting' ? { ...state, blank: { ...state.blank, isTyped: true } } : state;
    case 'output':
      return { ...state, flow: addOutput(state.flow, now) };
    case 'agent-version':
      return { ...state, agentVersion: event.version };
    default:
      return state;
  }
};

const afterReport = (state: Session, report: ActivityReport, now: Millis): Session => {
  const { activity, witnesses, asks } = report;
  const { blank, understood } = state;
  const isTurnOver =
    blank.why === 'waiting' && blank.isTyped && state.activity === 'busy' && activity !== 'busy';
  return {
    ...state,
    evidence: updateActivity(state.evidence, activity),
    blank: isTurnOver ? { ...blank, turnEndedAt: blank.turnEndedAt ?? now } : blank,
    activity,
    witnesses,
    activitySince: activity === state.activity ? state.activitySince : now,
    asks: askedText(activity, asks),
    understood: {
      screen: understood.screen || (activity !== 'unknown' && activity !== 'dead'),
      state: understood.state || report.isTold === true,
    },
  };
};

// A number of the same size is news, too: its source is alive. Only a screen repeats itself for nothing.
const withHeard = (state: Session, heard: KnownReadings): Session => {
  const { evidence } = heard;
  if (heard === state) return state;
  const hasMoved = evidence.candidates.screen?.since !== state.evidence.candidates.screen?.since;
  const isFile = evidence.candidates.screen === state.evidence.candidates.screen;
  const flow = hasMoved || isFile ? restartFlow(state.flow) : state.flow;
  return { ...state, ...heard, flow, blank: { why: evidence.isVoid ? 'pending' : 'gone' } };
};

const emptied = (state: Session): Session => ({
  ...state,
  evidence: invalidateNumbers(state.evidence),
  blank: { why: 'pending' },
  flow: restartFlow(state.flow),
});

// The first id is only the name of the conversation that is already on.
const inSession = (state: Session, sessionId: string): Session => {
  if (state.sessionId === sessionId) return state;
  if (state.sessionId === undefined) return { ...state, sessionId };
  const emptiedState = emptied(state);
  const evidence: Evidence = {
    ...emptiedState.evidence,
    isVoid: false,
    disagreement: noEvidence.disagreement,
  };
  return { ...emptiedState, sessionId, evidence, blank: { why: 'waiting' } };
};

/** What follows from the evidence: a screen that is not believed any more, the number, and what the footer shows. */
const settled = (state: Session, now: Millis): Session => {
  const scale = measureContextOf(state);
  const drift = disagreementAt(state.evidence, scale, now);
  const evidence = drift === state.evidence.disagreement ? state.evidence : { ...state.evidence, drift };
  const fused = fuseReadings(evidence, scale);
  const isLate = (givenUpAt(state.blank) ?? Infinity) <= now;
  return {
    ...state,
    blank: isLate ? { why: 'gone' } : state.blank,
    evidence,
    fused,
    shown: updateDisplayed(state.shown, fused, now),
    logged: [...state.logged, ...disagreementLogLines(state.evidence.disagreement, drift)],
  };
};

/** Why there is no number. */
export type NoNumberReason =
  /** no turn yet in this conversation */
  | {
      readonly why: 'waiting';
      /** the user has pressed a key; agents are busy at their start, too */
      readonly isTyped?: true;
      /** the first turn is over */
      readonly turnEndedAt?: Millis;
    }
  | { readonly why: 'pending' } // the last number is void, the next is not here yet
  | { readonly why: 'gone' } // the screen showed one and shows none any more, or a turn has brought none
  | { readonly why: 'unreadable'; readonly reason: string };

/** What has been understood of the agent in this wrap so far, besides its records. */
export interface Understood {
  /** its screen: it was more than `unknown` once */
  readonly screen: boolean;
  /** its own word on its state */
  readonly state: boolean;
}

/** The whole state of one wrap. */
export interface Session {
  readonly agent: string;
  readonly native?: NativeTrigger | undefined;
  readonly ladder: LadderChoice;
  /** the agent's own id of the conversation */
  readonly sessionId?: string;
  /** as the agent's own records tell it */
  readonly agentVersion?: string;
  /** of the whole wrap, kept over `/clear` and resume */
  readonly compactions: number;
  readonly windows: WindowClaims;
  readonly evidence: Evidence;
  /** what stands where a number would, while there is none */
  readonly blank: NoNumberReason;
  /** a session file tells, so the screen is not needed to tell of a compaction */
  readonly fileTells: boolean;
  /** a session file or a status line gives numbers: theirs is waited for after a compaction */
  readonly isAwaited: boolean;
  readonly flow: OutputFlow;
  readonly activity: Activity;
  readonly witnesses: readonly string[];
  readonly activitySince: Millis;
  readonly understood: Understood;
  /** in a dialog, what the agent says that it asks; one line */
  readonly asks?: string | undefined;
  /** the number that counts; follows from the evidence */
  readonly fused?: FusedReading | undefined;
  /** the number in the footer, which may be a few seconds behind */
  readonly shown?: DisplayedReading | undefined;
  /** what the last step has to say to the log */
  readonly logged: readonly string[];
}
