import { type Activity, type Millis, type Reading, type Source, validReading } from './reading.js';
import { addClaim, addReadingClaim, type WindowClaims } from './window.js';
import { present } from './present.js';

// The last reading of each source in this conversation, and how a new reading changes them.

/** The last reading of one source. */
export interface Candidate {
  /** if the source repeats its numbers, as a screen does, the first reading with these numbers */
  readonly reading: Reading;
  /** when these numbers arrived */
  readonly since: Millis;
  /** when the source last repeated them */
  readonly seenAt: Millis;
  /** its previous, different numbers: some screens lag one call behind (docs/facts/gemini.md#percentage-on-the-screen) */
  readonly before?: Reading;
}

export type Candidates = { readonly [S in Source]?: Candidate };

/** Whether the screen agrees with a better source. */
export type Disagreement =
  | { readonly phase: 'agreeing' }
  | { readonly phase: 'apart'; readonly since: Millis }
  | { readonly phase: 'ignored' } // the disagreement has lasted, so the screen must be misread
  | { readonly phase: 'left'; readonly since: Millis }; // the screen goes on and the file does not: it is of another conversation, perhaps

/** The screen's number when it became void. It may remain on the screen for a while, or reappear, and is ignored. */
interface VoidedScreen {
  readonly reading: Reading;
  /** the agent has been busy since then */
  readonly hasWorked: boolean;
  /** since then the screen showed no number, or the agent finished its work */
  readonly isGone: boolean;
}

/** All readings about the window of this conversation. */
export interface Evidence {
  readonly candidates: Candidates;
  /** tokens of text added after the best number */
  readonly grownTokens: number;
  /** the screen's last number, even if it shows none now */
  readonly lastScreen?: Reading;
  readonly voidedScreen?: VoidedScreen;
  /** the last number became void, and no other has arrived yet */
  readonly isVoid: boolean;
  /** what the screen showed when a compaction began that has not been followed by a turn */
  readonly begun?: Reading;
  /** what the screen shows now, of an agent that shows an estimate after a compaction */
  readonly shown?: Reading;
  /** the same estimate in tokens, not rounded, from the words on the screen */
  readonly saidTokens?: number;
  /** the last number became void by a compaction, so that such an estimate may follow */
  readonly isCompacted?: true;
  /** the estimate, as first shown */
  readonly left?: Reading;
  readonly disagreement: Disagreement;
}

export const noEvidence: Evidence = {
  candidates: {},
  grownTokens: 0,
  isVoid: false,
  disagreement: { phase: 'agreeing' },
};

const trusted = ['official', 'log', 'screen', 'estimate'] as const satisfies readonly Source[];

/** All candidates, the most trusted first; the estimate with the growth since the best number comes last. */
export const rankedCandidates = ({
  candidates,
  grownTokens,
  disagreement,
}: Evidence): readonly Candidate[] => {
  const believed = trusted
    .filter((source) => !isDisbelieved(source, disagreement))
    .flatMap((source) => candidates[source] ?? []);
  const [best] = believed;
  return best?.reading.usedTokens !== undefined && grownTokens > 0
    ? [...believed, grown(best, grownTokens)]
    : believed;
};

const isDisbelieved = (source: Source, { phase }: Disagreement): boolean =>
  source === 'screen' ? phase === 'ignored' : phase === 'left' && source !== 'estimate';

/** True for the best number plus the text after it, as opposed to a complete estimate. */
export const includesGrowth = ({ reading }: Candidate, { grownTokens, candidates }: Evidence): boolean =>
  reading.source === 'estimate' && grownTokens > 0 && reading !== candidates.estimate?.reading;

const grown = ({ reading, seenAt }: Candidate, tokens: number): Candidate => {
  const {
    usedPercent: _,
    basis: __,
    basisTokens: ___,
    cachedTokens: ____,
    inputTokens: _____,
    ...rest
  } = reading;
  const usedTokens = (reading.usedTokens ?? 0) + tokens;
  return { reading: { ...rest, usedTokens, source: 'estimate' }, since: seenAt, seenAt };
};

/** The evidence after a valid reading. */
const withReading = (before: Evidence, reading: Reading, now: Millis): Evidence => {
  const evidence = { ...before, isVoid: false };
  switch (reading.source) {
    case 'screen':
      return withScreen(evidence, reading, now);
    case 'official':
      return withOfficial(evidence, reading, now);
    case 'log':
    case 'estimate':
      return withLog(evidence, reading, now);
  }
};

/**
 * True while the screen still shows the void number. After a turn the same number is new, since a window that was compacted may fill up
 * again, and only the screen can report that. With a better source it is not needed, and some screens are late.
 */
const isVoidedScreen = ({ voidedScreen }: Evidence, reading: Reading, isBetterAwaited: boolean): boolean => {
  if (!voidedScreen || !sameNumbers(voidedScreen.reading, reading)) return false;
  return isBetterAwaited || !voidedScreen.hasWorked || !voidedScreen.isGone;
};

/** The evidence after a change of the agent's activity. */
export const updateActivity = (before: Evidence, after: Activity): Evidence => {
  const evidence = sinceCompacting(before, after);
  const { voidedScreen } = evidence;
  if (!voidedScreen) return evidence;
  const hasWorked = voidedScreen.hasWorked || after === 'busy';
  const isGone = voidedScreen.isGone || (voidedScreen.hasWorked && resting.includes(after));
  return { ...evidence, voidedScreen: { ...voidedScreen, hasWorked, isGone } };
};

const resting: readonly Activity[] = ['ready', 'draft', 'dialog'];

const sinceCompacting = (evidence: Evidence, after: Activity): Evidence => {
  const { begun, saidTokens: _, ...rest } = evidence;
  if (after === 'busy') return rest;
  return after === 'compacting' ? { ...rest, ...present({ begun: begun ?? evidence.lastScreen }) } : evidence;
};

// Some screens show an estimate right after a compaction (`showsLeft`). It is no count: it is displayed as an estimate, and the void number
// stays void behind it.

/** The evidence after the screen of such an agent has shown a number; it may be 0. */
export const noteShown = (evidence: Evidence, shown: Reading): Evidence => {
  const before = evidence.shown && sameNumbers(evidence.shown, shown) ? evidence : { ...evidence, shown };
  if (!evidence.isVoid)
    return isEmpty(shown) && evidence.candidates.screen ? { ...dropScreen(evidence), shown } : before;
  return isFirstLeft(before, shown) ? { ...before, left: shown } : before;
};

const isFirstLeft = ({ left, voidedScreen, isCompacted }: Evidence, shown: Reading): boolean => {
  if (!isCompacted) return false;
  if (voidedScreen && (voidedScreen.hasWorked || sameNumbers(voidedScreen.reading, shown))) return false;
  return left === undefined || sameNumbers(left, shown);
};

/** The evidence with that estimate, once the agent is at rest. */
export const estimateLeft = (
  evidence: Evidence,
  { activity, fixedTokens = 0, beforeTokens = Infinity }: LeftContext,
  windowTokens: number | undefined,
  now: Millis,
): Evidence => {
  const { left, saidTokens, isCompacted, isVoid, candidates } = evidence;
  if (!isCompacted || !isVoid || candidates.estimate || !resting.includes(activity)) return evidence;
  const usedPercent = left?.usedPercent;
  const tokens = saidTokens ?? Math.round(((usedPercent ?? NaN) * (windowTokens ?? NaN)) / 100);
  const whole = tokens + fixedTokens;
  if (whole) return estimateCompacted(evidence, whole < beforeTokens ? whole : whole - fixedTokens, now);
  if (usedPercent === undefined) return evidence;
  const reading: Reading = { usedPercent, source: 'estimate', at: now };
  return { ...evidence, candidates: { ...candidates, estimate: candidate(undefined, reading, now) } };
};

/** What it is measured against. */
export interface LeftContext {
  readonly activity: Activity;
  /** what is sent with every request, which the estimate leaves out */
  readonly fixedTokens?: number | undefined;
  /** in the window before the compaction */
  readonly beforeTokens?: number | undefined;
}

const withScreen = (evidence: Evidence, reading: Reading, now: Millis): Evidence => {
  const { voidedScreen: _, ...rest } = evidence;
  const last = evidence.candidates.screen;
  const screen =
    last && sameNumbers(last.reading, reading) ? { ...last, seenAt: now } : candidate(last, reading, now);
  return { ...rest, lastScreen: reading, candidates: { ...evidence.candidates, screen } };
};

// The status line reports an answer slightly later than the log, so the growth since then is not in its number.
const withOfficial = (evidence: Evidence, reading: Reading, now: Millis): Evidence => {
  const { estimate: _, ...others } = evidence.candidates;
  const official = candidate(others.official, reading, now);
  const isKnown = others.log?.reading.usedTokens === reading.usedTokens;
  return {
    ...evidence,
    candidates: { ...others, official },
    grownTokens: isKnown ? evidence.grownTokens : 0,
  };
};

/** The log's estimate is kept beside its last counted number, which it does not replace. */
const withLog = (evidence: Evidence, reading: Reading, now: Millis): Evidence => {
  const { estimate: guess, official, ...others } = evidence.candidates;
  if (reading.source === 'estimate') {
    const estimate = candidate(guess, reading, now);
    return { ...evidence, candidates: { ...evidence.candidates, estimate }, grownTokens: 0 };
  }
  const log = candidate(others.log, reading, now);
  const isOfOther = official?.reading.model === undefined && reading.model !== undefined; // as `keepTokens` leaves it
  const kept = official && !isOfOther && !hasMissed(official, others.log, reading) ? { official } : {};
  return { ...evidence, candidates: { ...others, ...kept, log }, grownTokens: 0 };
};

// A status line that did not report the previous answer has been switched off.
const hasMissed = (official: Candidate, log: Candidate | undefined, reading: Reading): boolean =>
  log !== undefined && log.since > official.seenAt && !sameNumbers(log.reading, reading);

const candidate = (last: Candidate | undefined, reading: Reading, now: Millis): Candidate => {
  const before = last && (sameNumbers(last.reading, reading) ? last.before : last.reading);
  return { reading, since: now, seenAt: now, ...present({ before }) };
};

/** The evidence after the number became void, by a compaction or because the conversation was cut back. */
export const invalidateNumbers = (evidence: Evidence, by?: 'compaction'): Evidence => {
  const { lastScreen, disagreement, candidates, shown, saidTokens, begun = lastScreen } = evidence;
  const voidedScreen = begun && { reading: begun, hasWorked: false, isGone: !candidates.screen };
  const after: Evidence = {
    ...noEvidence,
    ...present({ lastScreen, voidedScreen, shown }),
    ...(by === 'compaction' ? { isCompacted: true, ...present({ saidTokens }) } : {}),
    isVoid: true,
    disagreement,
  };
  return shown && isFirstLeft(after, shown) ? { ...after, left: shown } : after;
};

/** The size after a compaction: what the agent's record says is left, plus what every request sends besides. */
export const leftTokens = ({
  postTokens,
  fixedTokens = 0,
}: {
  readonly [K in 'postTokens' | 'fixedTokens']?: number | undefined;
}): number | undefined => (postTokens === undefined ? undefined : postTokens + fixedTokens);

/** The evidence with the size that the agent's own record gives after a compaction: an estimate that holds until the next number. */
export const estimateCompacted = (evidence: Evidence, usedTokens: number, now: Millis): Evidence => {
  const reading = validReading({ usedTokens, source: 'estimate', at: now });
  if (!reading || isEmpty(reading)) return evidence;
  return {
    ...evidence,
    candidates: { ...evidence.candidates, estimate: candidate(undefined, reading, now) },
  };
};

const dropEstimate = (evidence: Evidence): Evidence => {
  const { estimate: _, ...candidates } = evidence.candidates;
  return { ...evidence, candidates };
};

/** The evidence after a change of the model: the tokens stay, while percentages and windows referred to the previous one. */
export const keepTokens = (evidence: Evidence): Evidence => {
  const { isVoid, grownTokens, candidates } = evidence;
  const { official, log, estimate } = candidates;
  return {
    ...invalidateNumbers(evidence),
    isVoid,
    grownTokens,
    candidates: present({
      official: log ? undefined : bare(official),
      log: bare(log),
      estimate: bare(estimate),
    }),
    disagreement: noEvidence.disagreement,
  };
};

const dropOfficial = (evidence: Evidence): Evidence => {
  const { official: _, ...candidates } = evidence.candidates;
  return { ...evidence, candidates };
};

const bare = (held: Candidate | undefined): Candidate | undefined => {
  if (held?.reading.usedTokens === undefined) return undefined;
  const { usedTokens, answerTokens, source, at } = held.reading;
  const { since, seenAt } = held;
  return { reading: { usedTokens, ...present({ answerTokens }), source, at }, since, seenAt };
};

export const dropScreen = (evidence: Evidence): Evidence => {
  const { screen: _, ...candidates } = evidence.candidates;
  const { voidedScreen, shown: __, ...rest } = evidence;
  return {
    ...rest,
    candidates,
    ...(voidedScreen ? { voidedScreen: { ...voidedScreen, isGone: true } } : {}),
  };
};

/** The evidence after the session file became unreadable. */
export const dropLog = (evidence: Evidence): Evidence => {
  const { log: _, estimate: __, ...candidates } = evidence.candidates;
  return { ...evidence, candidates, grownTokens: 0 };
};

/** The evidence after text was added to the conversation. Without a number there is nothing to add to. */
export const addGrowth = (evidence: Evidence, tokens: number): Evidence =>
  tokens > 0 && Number.isFinite(tokens) && rankedCandidates(evidence).length > 0
    ? { ...evidence, grownTokens: evidence.grownTokens + tokens }
    : evidence;

const sameNumbers = (a: Reading, b: Reading): boolean =>
  a.usedTokens === b.usedTokens &&
  a.usedPercent === b.usedPercent &&
  a.basis === b.basis &&
  a.windowTokens === b.windowTokens;

// Decides which readings count: impossible ones never, zeros not after a compaction, the screen's not while a file is about to report.

export interface KnownReadings {
  readonly evidence: Evidence;
  readonly windows: WindowClaims;
  /** as in the session: numbers of a better source than the screen are expected */
  readonly fileTells: boolean;
  readonly isAwaited: boolean;
  /** as in the session: its screen shows an estimate after a compaction */
  readonly showsLeft: boolean;
}

/** The evidence after a reading; the same object if the reading does not count. */
export const applyReading = (known: KnownReadings, reported: Reading, now: Millis): KnownReadings => {
  const reading = validReading(reported);
  if (!reading) return known;
  if (isEmpty(reading)) {
    if (known.evidence.isVoid || (known.showsLeft && reading.source === 'screen')) return known;
    // A status line reports zeros right after a number when the agent has compacted (docs/facts/claude.md#compaction).
    if (reading.source !== 'screen' && hasNumber(known.evidence))
      return { ...known, evidence: invalidateNumbers(known.evidence) };
  }
  return reading.source === 'screen' ? hearScreen(known, reading, now) : hearFile(known, reading, now);
};

// Counted above a baseline, every short conversation is at 0 %.
const isEmpty = ({ usedTokens, usedPercent, basis }: Reading): boolean =>
  usedTokens === 0 || (usedTokens === undefined && usedPercent === 0 && basis !== 'baseline');

const hasNumber = ({ candidates }: Evidence): boolean => Object.keys(candidates).length > 0;

const hearScreen = (known: KnownReadings, reading: Reading, now: Millis): KnownReadings => {
  const { evidence, isAwaited, showsLeft } = known;
  if (isVoidedScreen(evidence, reading, isAwaited) || (evidence.isVoid && isAwaited)) return known;
  if (showsLeft && evidence.isVoid && isFirstLeft(evidence, reading)) return known;
  const { windowTokens, windowSource = 'default', model } = reading;
  const windows =
    windowTokens === undefined
      ? known.windows
      : addClaim(known.windows, { windowTokens, windowSource, ...present({ model }) });
  const before = evidence.isVoid ? dropEstimate(evidence) : evidence; // which was the size right after the compaction
  return { ...known, windows, evidence: withReading(before, reading, now) };
};

const hearFile = (known: KnownReadings, reading: Reading, now: Millis): KnownReadings => {
  const windows = addReadingClaim(known.windows, reading);
  const { model } = windows;
  const isOther = model !== undefined && known.windows.model !== undefined && model !== known.windows.model;
  const evidence = isOther ? dropOfficial(keepTokens(known.evidence)) : known.evidence;
  return {
    ...known,
    windows,
    fileTells: known.fileTells || reading.source === 'log',
    isAwaited: known.isAwaited || reading.source !== 'estimate',
    evidence: withReading(evidence, reading, now),
  };
};

// A number that does not change while the agent keeps writing has lost its source. The number of an idle agent does not become stale.

const GAP_MS = 2_000; // after a longer silence the output is not continuous
const STALE_MS = 300_000;

/** For how long output has been written since the number changed. */
export interface OutputFlow {
  readonly flowedMs: number;
  /** undefined before the first output */
  readonly outputAt?: Millis;
}

export const noOutputFlow: OutputFlow = { flowedMs: 0 };

export const addOutput = ({ flowedMs, outputAt }: OutputFlow, now: Millis): OutputFlow => {
  const gap = outputAt === undefined ? 0 : now - outputAt;
  return { flowedMs: flowedMs + (gap <= GAP_MS ? gap : 0), outputAt: now };
};

/** The number has changed. */
export const restartFlow = (flow: OutputFlow): OutputFlow => ({ ...flow, flowedMs: 0 });

export const isStale = ({ flowedMs }: OutputFlow): boolean => flowedMs >= STALE_MS;

/** How full the window was with an answer, as the agent wrote it in its session file at that time (wall clock). */
export interface AnswerSize {
  readonly usedTokens: number;
  readonly at: Millis;
}

/** Undefined where it has no tokens. */
export const answerIn = ({ usedTokens, at }: Reading): AnswerSize | undefined =>
  usedTokens === undefined ? undefined : { usedTokens, at };
