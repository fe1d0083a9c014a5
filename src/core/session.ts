import type { NativeTrigger } from './build-ladder.js';
import type { Work } from './conversation/work-progress.js';
import { updateCache, type PlanLimit, type PromptCache } from './economy.js';
import type { Boundary, Event } from './event.js';
import {
  estimateCompacted,
  estimateLeft,
  noEvidence,
  noteShown,
  invalidateNumbers,
  leftTokens,
  updateActivity,
  addGrowth,
  dropLog,
  dropScreen,
  type Evidence,
  addOutput,
  answerIn,
  type AnswerSize,
  noOutputFlow,
  restartFlow,
  applyReading,
  keepTokens,
  type KnownReadings,
  type OutputFlow,
} from './evidence.js';
import {
  type Contest,
  contestAt,
  contestDeadline,
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
import { afterLimit, withSessionLimit, type SessionLimit } from './own-limit.js';
import {
  type Activity,
  type Millis,
  type Reading,
  askedText,
  type ActivityReport,
  type Place,
  givenUpAt,
  type NoNumberReason,
} from './reading.js';
import {
  afterFound,
  afterView,
  type FoundConversation,
  type ShownConversation,
  type View,
} from './shown-conversation.js';
import {
  setAssumedWindow,
  addClaim,
  changeModel,
  currentWindow,
  forAnotherConversation,
  isSameClaim,
  setRememberedWindows,
  setUserWindow,
  type WindowClaims,
  noWindowClaims,
} from './window.js';
import { present } from './present.js';

// The session state: combines readings, windows and activity into the number that counts.

/** With another window or model, an untrusted screen is tried again. */
const inWindows = (state: Session, windows: WindowClaims): Session =>
  windows === state.windows
    ? state
    : { ...state, windows, evidence: { ...state.evidence, disagreement: noEvidence.disagreement } };

/** The initial facts of a session. */
export interface SessionStart {
  readonly agent: string;
  /** the agent's own compaction point, if known */
  readonly native?: NativeTrigger | undefined;
  readonly ladder?: LadderChoice | undefined;
  /** as the user has chosen it by a key before the agent was started again */
  readonly limit?: SessionLimit | undefined;
  /** its screen shows an estimate after a compaction */
  readonly showsLeft?: boolean;
}

export const startSession = (
  { agent, native, ladder = {}, limit, showsLeft = false }: SessionStart,
  now: Millis,
): Session => ({
  agent: agent,
  native,
  ladder,
  limit,
  startedAt: now,
  conversation: { kind: 'none', since: now },
  showsLeft,
  compactions: 0,
  turns: 0,
  unattended: 0,
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

/** When `stepSession` needs an `alarm` event; undefined if nothing is waiting. */
export const sessionDeadline = ({ shown, fused, evidence, blank, contest }: Session): Millis | undefined => {
  const times = [
    displayedDeadline(shown, fused),
    disagreementDeadline(evidence),
    contestDeadline(contest),
    givenUpAt(blank),
  ].filter((at) => at !== undefined);
  return times.length > 0 ? Math.min(...times) : undefined;
};

/** The context in which the session's readings are measured. */
export const measureContextOf = ({ agent, windows, native, ladder, limit }: Session): MeasureContext => ({
  agent: agent,
  windows,
  ladder: withSessionLimit(ladder, limit),
  ...present({ native }),
});

const after = (state: Session, event: Event, now: Millis): Session => {
  switch (event.type) {
    case 'reading':
      return afterReading(state, event.reading, now);
    case 'boundary':
      return afterBoundary(state, event.boundary, now);
    case 'voided':
      // a record that is read twice must not take away the size that came with it
      if (event.leftTokens === undefined && state.evidence.isVoid) return state;
      return sizedAt(emptied(state), event.leftTokens, now);
    case 'undone':
      return afterUndo(state, event, now);
    case 'growth':
      return { ...state, evidence: addGrowth(state.evidence, event.tokens) };
    case 'window':
      return inWindows(state, addClaim(state.windows, event.claim));
    case 'model':
      return withModel(state, event);
    case 'session-changed':
      return inConversation(state, event, now);
    case 'view':
      return event.isSame ? state : inView(state, event.view, now);
    case 'source-problem':
      return withoutFile(state, event.reason);
    case 'user-window':
    case 'assumed-window':
    case 'remembered-windows':
      return inWindows(state, withWindow(state.windows, event));
    case 'own-compaction': // a screen that counts down to the agent's compaction is read again
      return {
        ...state,
        native: event.trigger,
        evidence: { ...state.evidence, disagreement: noEvidence.disagreement },
      };
    case 'settings': {
      const { ladder, windowTokens } = event.settings;
      return { ...inWindows(state, setUserWindow(state.windows, windowTokens)), ladder };
    }
    case 'limit':
      return { ...state, ...afterLimit(state, event) };
    case 'screen-blank':
      return { ...state, evidence: dropScreen(state.evidence) };
    case 'activity':
      return afterReport(state, event.report, now);
    case 'user-keys':
      return afterKeys(state);
    case 'cache':
      return { ...state, cache: updateCache(state.cache, event.cache) };
    case 'work':
      return { ...state, work: event.work };
    case 'limits':
      return { ...state, limits: event.limits };
    case 'output':
      return { ...state, flow: addOutput(state.flow, now) };
    case 'agent-version':
      return { ...state, agentVersion: event.version };
    default:
      return state;
  }
};

type WindowEvent = Extract<Event, { type: 'user-window' | 'assumed-window' | 'remembered-windows' }>;

/** Windows that come from ctxwrap, not from the agent. */
const withWindow = (windows: WindowClaims, event: WindowEvent): WindowClaims => {
  switch (event.type) {
    case 'user-window':
      return addClaim(windows, { windowTokens: event.windowTokens, windowSource: 'user' });
    case 'assumed-window':
      return setAssumedWindow(windows, event.windowTokens);
    case 'remembered-windows':
      return setRememberedWindows(windows, event.claims);
  }
};

const withoutFile = (state: Session, reason: string): Session => ({
  ...state,
  blank: { why: 'unreadable', reason },
  evidence: dropLog(state.evidence),
  fileTells: false,
  isAwaited: false,
});

type ModelEvent = Extract<Event, { readonly type: 'model' }>;

const withModel = (state: Session, event: ModelEvent): Session => ({
  ...state,
  cache: undefined, // each model has its own
  windows: changeModel(state.windows, event),
  evidence: keepTokens(state.evidence),
  flow: restartFlow(state.flow),
});

/** The change of the model that this event reports or shows; undefined if it is the current one, or the first one that is known. */
export const modelChange = ({ windows, fused }: Session, event: Event): ModelEvent | undefined => {
  const { model: current, lastHeard } = windows;
  const inferred = (model: string | undefined): ModelEvent | undefined =>
    model === undefined || current === undefined || model === current
      ? undefined
      : { type: 'model', model, isInferred: true };
  switch (event.type) {
    case 'model': {
      const { model, claim } = event;
      if (model === undefined || model !== current) return event;
      return claim && claim.windowTokens !== fused?.window?.windowTokens ? event : undefined;
    }
    case 'window': // a screen repeats its claim as long as it shows it
      return isSameClaim(event.claim, lastHeard) ? undefined : inferred(event.claim.model);
    case 'reading':
      return event.reading.source === 'screen' ? undefined : inferred(event.reading.model);
    default:
      return undefined;
  }
};

const SAME_MS = 60_000; // between the record of a compaction and what the screen says of it; no agent compacts twice in that time

const afterBoundary = (before: Session, boundary: Boundary, now: Millis): Session => {
  const { source, preTokens, saidTokens, fixedTokens } = boundary;
  const state =
    before.showsLeft && saidTokens !== undefined
      ? { ...before, evidence: { ...before.evidence, saidTokens } }
      : before;
  const { fileTells, compactions, unattended, fused, saidAt = -Infinity } = state;
  // The screen shows a compaction up to a second after the file recorded it: it must not count twice. Where the file is found only then, its
  // record comes last.
  if (source === 'screen' && fileTells) return state;
  const isCounted = source !== 'screen' && Math.abs(boundary.at - saidAt) < SAME_MS;
  const more = isCounted ? 0 : 1;
  return {
    ...sizedAt(emptied(state, 'compaction'), leftTokens(boundary), now),
    beforeTokens: preTokens ?? (isCounted ? state.beforeTokens : fused?.reading.usedTokens),
    shortenedAt: boundary.initiator === 'ctxwrap' ? boundary.at : undefined,
    fixedTokens,
    fileTells: source !== 'screen',
    compactions: compactions + more,
    unattended: unattended + more,
    saidAt: source === 'screen' ? boundary.at : undefined,
  };
};

/** A compaction that was taken back does not count. */
const afterUndo = (
  state: Session,
  { isOtherSession }: Extract<Event, { readonly type: 'undone' }>,
  now: Millis,
): Session => ({
  ...(isOtherSession ? state : sizedAt(emptied(state), state.beforeTokens, now)),
  compactions: Math.max(0, state.compactions - 1),
  unattended: Math.max(0, state.unattended - 1),
});

const afterReading = (before: Session, reading: Reading, now: Millis): Session => {
  const { source, at } = reading;
  // sizes in a session that ctxwrap has written are its own estimates
  const isOfFile = source === 'log' || source === 'estimate';
  if (isOfFile && at <= (before.shortenedAt ?? -Infinity)) return before;
  const state = source === 'screen' ? shownIn(before, reading) : before;
  const heard = withHeard(state, applyReading(state, reading, now));
  return source === 'log' ? { ...heard, answer: answerIn(reading) ?? heard.answer } : heard;
};

/** What the screen shows, for an agent that shows an estimate after a compaction. */
const shownIn = (state: Session, reading: Reading): Session => {
  if (!state.showsLeft) return state;
  const evidence = noteShown(state.evidence, reading);
  return evidence === state.evidence ? state : { ...state, evidence };
};

const afterKeys = (state: Session): Session => {
  const { blank, prompting } = state;
  return {
    ...state,
    blank: blank.why === 'waiting' ? { ...blank, isTyped: true } : blank,
    prompting: prompting === 'rested' ? 'typed' : prompting,
  };
};

/** A turn of the user: the agent begins to work after a rest in which keys were pressed. Otherwise it has begun by itself. */
const withTurn = (state: Session, activity: Activity): Session => {
  const { prompting, turns } = state;
  if (activity === 'ready' || activity === 'draft')
    return prompting === undefined ? { ...state, prompting: 'rested' } : state;
  if (activity !== 'busy' || prompting === undefined) return state;
  const next = { ...state, prompting: undefined };
  return prompting === 'typed' ? { ...next, turns: turns + 1, unattended: 0 } : next;
};

const afterReport = (before: Session, report: ActivityReport, now: Millis): Session => {
  const { activity, witnesses, asks, place, isCommand } = report;
  const state = withTurn(before, activity);
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
    place,
    isCommand,
    understood: {
      screen: understood.screen || (activity !== 'unknown' && activity !== 'dead'),
      state: understood.state || report.isReported === true,
    },
  };
};

// A number of the same size is news as well, because it shows that its source is alive. Only the screen repeats numbers.
const withHeard = (state: Session, heard: KnownReadings): Session => {
  const { evidence } = heard;
  if (heard === state) return state;
  const hasMoved = evidence.candidates.screen?.since !== state.evidence.candidates.screen?.since;
  const isFile = evidence.candidates.screen === state.evidence.candidates.screen;
  const flow = hasMoved || isFile ? restartFlow(state.flow) : state.flow;
  return { ...state, ...heard, flow, blank: { why: evidence.isVoid ? 'pending' : 'gone' } };
};

const emptied = (state: Session, by?: 'compaction'): Session => ({
  ...state,
  cache: undefined, // the next request sends other text than the cached one
  work: state.work?.tasks && { tasks: state.work.tasks }, // the plan holds
  shortenedAt: undefined,
  answer: undefined,
  evidence: invalidateNumbers(state.evidence, by),
  blank: { why: 'pending' },
  flow: restartFlow(state.flow),
  shown: undefined, // the next number is shown at once, however small the change
});

/** Uses the size from the agent's record until the next number. */
const sizedAt = (state: Session, tokens: number | undefined, now: Millis): Session =>
  tokens === undefined ? state : { ...state, evidence: estimateCompacted(state.evidence, tokens, now) };

// The first id only names the conversation that is in view.
const inConversation = (state: Session, found: FoundConversation, now: Millis): Session => {
  const { conversation: before } = state;
  const conversation = afterFound(before, found, now);
  if (before.kind !== 'known' || before.id === found.sessionId) return { ...state, conversation };
  const empty = emptied(state);
  const evidence: Evidence = { ...empty.evidence, isVoid: false, disagreement: noEvidence.disagreement };
  return { ...empty, conversation, evidence, blank: { why: 'waiting' }, beforeTokens: undefined };
};

/** What was read belongs to the conversation that may have gone from the screen. */
const inView = (state: Session, view: View, now: Millis): Session => ({
  ...emptied(state),
  conversation: afterView(state.conversation, view, now),
  evidence: noEvidence,
  windows: forAnotherConversation(state.windows),
  blank: { why: 'waiting' },
  beforeTokens: undefined,
});

/** Updates everything that depends on the evidence: trust in the screen, the number, and the footer. */
const settled = (before: Session, now: Millis): Session => {
  const scale = measureContextOf(before);
  const state = before.showsLeft ? withLeft(before, now) : before;
  const disagreement = disagreementAt(state.evidence, scale, now);
  const evidence =
    disagreement === state.evidence.disagreement ? state.evidence : { ...state.evidence, disagreement };
  const fused = fuseReadings(evidence, scale);
  const isLate = (givenUpAt(state.blank) ?? Infinity) <= now;
  return {
    ...state,
    blank: isLate ? { why: 'gone' } : state.blank,
    evidence,
    fused,
    contest: contestAt(state.contest, fused, now),
    shown: updateDisplayed(state.shown, fused, now),
    logged: [...state.logged, ...disagreementLogLines(state.evidence.disagreement, disagreement)],
  };
};

const withLeft = (state: Session, now: Millis): Session => {
  const { evidence, windows } = state;
  const window = currentWindow(windows, windows.model, undefined);
  return { ...state, evidence: estimateLeft(evidence, state, window?.windowTokens, now) };
};

/** Which sources were understood so far, besides the agent's files. */
export interface Understood {
  /** the screen: its activity was known at least once */
  readonly screen: boolean;
  /** the state that the agent reports about itself */
  readonly state: boolean;
}

/** The complete state of a session. */
export interface Session {
  readonly agent: string;
  readonly native?: NativeTrigger | undefined;
  /** as the settings have it */
  readonly ladder: LadderChoice;
  /** chosen by a key, and above the settings */
  readonly limit?: SessionLimit | undefined;
  /** its screen shows an estimate after a compaction, until the next number */
  readonly showsLeft: boolean;
  readonly startedAt: Millis;
  /** which conversation the terminal shows; all numbers are about it */
  readonly conversation: ShownConversation;
  /** from the agent's own records */
  readonly agentVersion?: string;
  /** during the whole session, across `/clear` and resume */
  readonly compactions: number;
  /** when the screen told of the last of them (wall clock), while no file has recorded it */
  readonly saidAt?: Millis | undefined;
  /** in the window before the last compaction of the current conversation, if known */
  readonly beforeTokens?: number | undefined;
  /** when ctxwrap had shortened the current conversation (wall clock), if it was the last to do so */
  readonly shortenedAt?: Millis | undefined;
  /** of the agent's last answer */
  readonly answer?: AnswerSize | undefined;
  /** of that, what is sent with every request and the agent's estimates leave out, if known */
  readonly fixedTokens?: number | undefined;
  /** turns that the user has begun, during the whole session */
  readonly turns: number;
  /** compactions since the last of them */
  readonly unattended: number;
  /** the agent has rested since its last turn; `typed`: the user has pressed a key meanwhile */
  readonly prompting?: 'rested' | 'typed' | undefined;
  /** of the current conversation, if known */
  readonly cache?: PromptCache | undefined;
  /** where the agent is in its work, if its records tell */
  readonly work?: Work | undefined;
  /** of the user's plan, if the agent reports them */
  readonly limits?: readonly PlanLimit[];
  readonly windows: WindowClaims;
  readonly evidence: Evidence;
  /** why there is no number, while there is none */
  readonly blank: NoNumberReason;
  /** a session file reports compactions, so the screen is not needed for that */
  readonly fileTells: boolean;
  /** a session file or a status line gives numbers, so after a compaction ctxwrap waits for theirs */
  readonly isAwaited: boolean;
  readonly flow: OutputFlow;
  readonly activity: Activity;
  readonly witnesses: readonly string[];
  readonly activitySince: Millis;
  readonly understood: Understood;
  /** in a dialog: what the agent asks, on one line */
  readonly asks?: string | undefined;
  /** the draft is a command of the agent's */
  readonly isCommand?: boolean | undefined;
  /** where in the agent the user is, if the agent's screen shows it */
  readonly place?: Place | undefined;
  /** the number that counts, derived from the evidence */
  readonly fused?: FusedReading | undefined;
  readonly contest?: Contest | undefined;
  /** the number in the footer, which may lag a few seconds */
  readonly shown?: DisplayedReading | undefined;
  /** lines of the last step for the log */
  readonly logged: readonly string[];
}
