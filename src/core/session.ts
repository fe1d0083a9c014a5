import type { NativeTrigger } from './build-ladder.js';
import type { Event } from './event.js';
import {
  noEvidence,
  voided,
  withActivity,
  withGrowth,
  withoutLog,
  withoutScreen,
  type Evidence,
  afterOutput,
  noFlow,
  restarted,
  hear,
  type Heard,
  type Flow,
} from './evidence.js';
import {
  driftAt,
  driftDeadline,
  driftNews,
  fuse,
  type Scale,
  shownAt,
  shownDeadline,
  type Fused,
  type Shown,
} from './fusion.js';
import type { LadderChoice } from './ladder.js';
import { type Activity, type Millis, askedIn, type ActivityReport } from './reading.js';
import { assumed, hearClaim, withUserTokens, type Windows, noWindows } from './window.js';

// Whether the first number is still on its way. After a turn without one there is nothing to wait for.

const LATE_MS = 5_000; // a session file is found and read within two seconds of the end of a turn

/** When the first turn was over for too long; undefined while it is not over, or nothing is waited for. */
const givenUpAt = (blank: Blank): Millis | undefined =>
  blank.why === 'waiting' && blank.turnEndedAt !== undefined ? blank.turnEndedAt + LATE_MS : undefined;

/** With another window or model a screen that was not believed gets another chance. */
const inWindows = (state: Session, windows: Windows): Session =>
  windows === state.windows
    ? state
    : { ...state, windows, evidence: { ...state.evidence, drift: noEvidence.drift } };

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
  windows: noWindows,
  evidence: noEvidence,
  blank: { why: 'waiting' },
  fileTells: false,
  isAwaited: false,
  flow: noFlow,
  activity: 'unknown',
  witnesses: [],
  activitySince: now,
  understood: { screen: false, state: false },
  logged: [],
});

/** The state after an event. Pure: the same events at the same times give the same state. */
export const step = (state: Session, event: Event, now: Millis): Session =>
  settled(after({ ...state, logged: [] }, event, now), now);

/** When `step` wants an `alarm` event though nothing happens; undefined while nothing waits. */
export const deadline = ({ shown, fused, evidence, blank }: Session): Millis | undefined => {
  const times = [shownDeadline(shown, fused), driftDeadline(evidence), givenUpAt(blank)].filter(
    (at) => at !== undefined,
  );
  return times.length > 0 ? Math.min(...times) : undefined;
};

/** What the readings of a session are measured with. */
export const scaleOf = ({ agent, windows, native, ladder }: Session): Scale => ({
  agent: agent,
  windows,
  ladder,
  ...(native ? { native } : {}),
});

const after = (state: Session, event: Event, now: Millis): Session => {
  switch (event.type) {
    case 'reading':
      return withHeard(state, hear(state, event.reading, now));
    case 'boundary': {
      // The screen is read within a second of the file: it would count the same compaction again.
      if (event.boundary.source === 'screen' && state.fileTells) return state;
      const fileTells = event.boundary.source !== 'screen';
      return { ...emptied(state), fileTells, compactions: state.compactions + 1 };
    }
    case 'voided':
      return emptied(state);
    case 'growth':
      return { ...state, evidence: withGrowth(state.evidence, event.tokens) };
    case 'window':
      return inWindows(state, hearClaim(state.windows, event.claim));
    case 'session-changed':
      return inSession(state, event.sessionId);
    case 'source-problem': {
      const blank: Blank = { why: 'unreadable', reason: event.reason };
      const evidence = withoutLog(state.evidence);
      return { ...state, blank, evidence, fileTells: false, isAwaited: false };
    }
    case 'user-window': {
      const claim = { windowTokens: event.windowTokens, windowSource: 'user' } as const;
      return inWindows(state, hearClaim(state.windows, claim));
    }
    case 'assumed-window':
      return inWindows(state, assumed(state.windows, event.windowTokens));
    case 'own-compaction': // a screen that counts down to it is read anew
      return { ...state, native: event.trigger, evidence: { ...state.evidence, drift: noEvidence.drift } };
    case 'settings': {
      const { ladder, windowTokens } = event.settings;
      return { ...inWindows(state, withUserTokens(state.windows, windowTokens)), ladder };
    }
    case 'screen-blank':
      return { ...state, evidence: withoutScreen(state.evidence) };
    case 'activity':
      return afterReport(state, event.report, now);
    case 'user-keys':
      return state.blank.why === 'waiting' ? { ...state, blank: { ...state.blank, isTyped: true } } : state;
    case 'output':
      return { ...state, flow: afterOutput(state.flow, now) };
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
    evidence: withActivity(state.evidence, activity),
    blank: isTurnOver ? { ...blank, turnEndedAt: blank.turnEndedAt ?? now } : blank,
    activity,
    witnesses,
    activitySince: activity === state.activity ? state.activitySince : now,
    asks: askedIn(activity, asks),
    understood: {
      screen: understood.screen || (activity !== 'unknown' && activity !== 'dead'),
      state: understood.state || report.isTold === true,
    },
  };
};

// A number of the same size is news, too: its source is alive. Only a screen repeats itself for nothing.
const withHeard = (state: Session, heard: Heard): Session => {
  const { evidence } = heard;
  if (heard === state) return state;
  const hasMoved = evidence.candidates.screen?.since !== state.evidence.candidates.screen?.since;
  const isFile = evidence.candidates.screen === state.evidence.candidates.screen;
  const flow = hasMoved || isFile ? restarted(state.flow) : state.flow;
  return { ...state, ...heard, flow, blank: { why: evidence.isVoid ? 'pending' : 'gone' } };
};

const emptied = (state: Session): Session => ({
  ...state,
  evidence: voided(state.evidence),
  blank: { why: 'pending' },
  flow: restarted(state.flow),
});

// The first id is only the name of the conversation that is already on.
const inSession = (state: Session, sessionId: string): Session => {
  if (state.sessionId === sessionId) return state;
  if (state.sessionId === undefined) return { ...state, sessionId };
  const emptiedState = emptied(state);
  const evidence: Evidence = { ...emptiedState.evidence, isVoid: false, drift: noEvidence.drift };
  return { ...emptiedState, sessionId, evidence, blank: { why: 'waiting' } };
};

/** What follows from the evidence: a screen that is not believed any more, the number, and what the footer shows. */
const settled = (state: Session, now: Millis): Session => {
  const scale = scaleOf(state);
  const drift = driftAt(state.evidence, scale, now);
  const evidence = drift === state.evidence.drift ? state.evidence : { ...state.evidence, drift };
  const fused = fuse(evidence, scale);
  const isLate = (givenUpAt(state.blank) ?? Infinity) <= now;
  return {
    ...state,
    blank: isLate ? { why: 'gone' } : state.blank,
    evidence,
    fused,
    shown: shownAt(state.shown, fused, now),
    logged: [...state.logged, ...driftNews(state.evidence.drift, drift)],
  };
};

/** Why there is no number. */
export type Blank =
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
  readonly windows: Windows;
  readonly evidence: Evidence;
  /** what stands where a number would, while there is none */
  readonly blank: Blank;
  /** a session file tells, so the screen is not needed to tell of a compaction */
  readonly fileTells: boolean;
  /** a session file or a status line gives numbers: theirs is waited for after a compaction */
  readonly isAwaited: boolean;
  readonly flow: Flow;
  readonly activity: Activity;
  readonly witnesses: readonly string[];
  readonly activitySince: Millis;
  readonly understood: Understood;
  /** in a dialog, what the agent says that it asks; one line */
  readonly asks?: string | undefined;
  /** the number that counts; follows from the evidence */
  readonly fused?: Fused | undefined;
  /** the number in the footer, which may be a few seconds behind */
  readonly shown?: Shown | undefined;
  /** what the last step has to say to the log */
  readonly logged: readonly string[];
}
