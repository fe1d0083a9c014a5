import { type Activity, type Millis, type Reading, type Source, validReading } from './reading.js';
import { addClaim, addReadingClaim, type WindowClaims } from './window.js';

// What each source said last about the fill of this conversation, and what a new reading changes in it.

/** The last reading of one source. */
export interface Candidate {
  /** where the source repeats itself, as a screen does, the first one with these numbers */
  readonly reading: Reading;
  /** when these numbers came */
  readonly since: Millis;
  /** when the source said them last */
  readonly seenAt: Millis;
  /** the other numbers it said before: some screens are one call behind (facts/gemini.md §2) */
  readonly before?: Reading;
}

export type Candidates = { readonly [S in Source]?: Candidate };

/** Whether the screen says the same as a better source. */
export type Disagreement =
  | { readonly phase: 'agreeing' }
  | { readonly phase: 'apart'; readonly since: Millis }
  | { readonly phase: 'ignored' }; // for so long that the screen is misread

/** What the screen had shown when the number became void: it may stand there for a while, or come back, and means nothing. */
interface VoidedScreen {
  readonly reading: Reading;
  /** the agent has begun to work since then */
  readonly hasWorked: boolean;
  /** the screen has shown no number since then, or the work has ended */
  readonly isGone: boolean;
}

/** Everything that was said about the fill in this conversation. */
export interface Evidence {
  readonly candidates: Candidates;
  /** tokens of text that came after the best number */
  readonly grownTokens: number;
  /** what the screen showed last, also when it shows nothing now */
  readonly lastScreen?: Reading;
  readonly voidedScreen?: VoidedScreen;
  /** the last number became void, and no other has come yet */
  readonly isVoid: boolean;
  readonly disagreement: Disagreement;
}

export const noEvidence: Evidence = {
  candidates: {},
  grownTokens: 0,
  isVoid: false,
  disagreement: { phase: 'agreeing' },
};

const trusted = ['official', 'log', 'screen', 'estimate'] as const satisfies readonly Source[];

/** All that speak, the most trusted first; what has grown since the best number is the last of them. */
export const rankedCandidates = ({
  candidates,
  grownTokens,
  disagreement,
}: Evidence): readonly Candidate[] => {
  const said = trusted
    .filter((source) => source !== 'screen' || disagreement.phase !== 'ignored')
    .flatMap((source) => candidates[source] ?? []);
  const [best] = said;
  return best?.reading.usedTokens !== undefined && grownTokens > 0
    ? [...said, grown(best, grownTokens)]
    : said;
};

/** Whether it is the best number and the text that came after it, and not an estimate of everything. */
export const includesGrowth = ({ reading }: Candidate, { grownTokens, candidates }: Evidence): boolean =>
  reading.source === 'estimate' && grownTokens > 0 && reading !== candidates.estimate?.reading;

const grown = ({ reading, seenAt }: Candidate, tokens: number): Candidate => {
  const { usedPercent: _, basis: __, basisTokens: ___, cachedTokens: ____, ...rest } = reading;
  const usedTokens = (reading.usedTokens ?? 0) + tokens;
  return { reading: { ...rest, usedTokens, source: 'estimate' }, since: seenAt, seenAt };
};

/** The evidence after a valid reading that counts. */
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
 * The screen still shows what became void. After a turn the same number is a new one, which only the screen can tell: a full window that
 * was compacted may be as full again. Where a better source tells, it is not needed, and some screens are late.
 */
const isVoidedScreen = ({ voidedScreen }: Evidence, reading: Reading, isBetterAwaited: boolean): boolean => {
  if (!voidedScreen || !sameNumbers(voidedScreen.reading, reading)) return false;
  return isBetterAwaited || !voidedScreen.hasWorked || !voidedScreen.isGone;
};

/** The evidence after the agent went over to doing something else. */
export const updateActivity = (evidence: Evidence, after: Activity): Evidence => {
  const { voidedScreen } = evidence;
  if (!voidedScreen) return evidence;
  const hasWorked = voidedScreen.hasWorked || after === 'busy';
  const isGone = voidedScreen.isGone || (voidedScreen.hasWorked && resting.includes(after));
  return { ...evidence, voidedScreen: { ...voidedScreen, hasWorked, isGone } };
};

const resting: readonly Activity[] = ['ready', 'draft', 'dialog'];

const withScreen = (evidence: Evidence, reading: Reading, now: Millis): Evidence => {
  const { voidedScreen: _, ...rest } = evidence;
  const last = evidence.candidates.screen;
  const screen =
    last && sameNumbers(last.reading, reading) ? { ...last, seenAt: now } : candidate(last, reading, now);
  return { ...rest, lastScreen: reading, candidates: { ...evidence.candidates, screen } };
};

// It is told a moment after the log, of the same answer: what has grown since then is not in it.
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

/** The log's own estimate stands beside its last count, which it does not replace. */
const withLog = (evidence: Evidence, reading: Reading, now: Millis): Evidence => {
  const { estimate: guess, official, ...others } = evidence.candidates;
  if (reading.source === 'estimate') {
    const estimate = candidate(guess, reading, now);
    return { ...evidence, candidates: { ...evidence.candidates, estimate }, grownTokens: 0 };
  }
  const log = candidate(others.log, reading, now);
  const kept = official && !hasMissed(official, others.log, reading) ? { official } : {};
  return { ...evidence, candidates: { ...others, ...kept, log }, grownTokens: 0 };
};

// A status line that has not told of the answer before this one has been switched off.
const hasMissed = (official: Candidate, log: Candidate | undefined, reading: Reading): boolean =>
  log !== undefined && log.since > official.seenAt && !sameNumbers(log.reading, reading);

const candidate = (last: Candidate | undefined, reading: Reading, now: Millis): Candidate => {
  const before = last && (sameNumbers(last.reading, reading) ? last.before : last.reading);
  return { reading, since: now, seenAt: now, ...(before ? { before } : {}) };
};

/** The evidence after the number became void: a compaction, a conversation that was cut back. */
export const invalidateNumbers = ({ lastScreen, disagreement, candidates }: Evidence): Evidence => ({
  ...noEvidence,
  ...(lastScreen
    ? { lastScreen, voidedScreen: { reading: lastScreen, hasWorked: false, isGone: !candidates.screen } }
    : {}),
  isVoid: true,
  disagreement,
});

/** The evidence after another model began to answer: the screen's percentage and the status line were about the other one. */
const withoutOtherModels = (evidence: Evidence, model: string): Evidence => {
  const { official, screen: _, ...others } = evidence.candidates;
  const kept = official && (official.reading.model ?? model) === model ? { official } : {};
  const { isVoid } = evidence;
  return {
    ...invalidateNumbers(evidence),
    isVoid,
    candidates: { ...others, ...kept },
    disagreement: noEvidence.disagreement,
  };
};

export const dropScreen = (evidence: Evidence): Evidence => {
  const { screen: _, ...candidates } = evidence.candidates;
  const { voidedScreen } = evidence;
  return {
    ...evidence,
    candidates,
    ...(voidedScreen ? { voidedScreen: { ...voidedScreen, isGone: true } } : {}),
  };
};

/** The evidence after the session file could not be read any more. */
export const dropLog = (evidence: Evidence): Evidence => {
  const { log: _, estimate: __, ...candidates } = evidence.candidates;
  return { ...evidence, candidates, grownTokens: 0 };
};

/** The evidence after text came into the conversation; nothing grows from an unknown size. */
export const addGrowth = (evidence: Evidence, tokens: number): Evidence =>
  tokens > 0 && Number.isFinite(tokens) && rankedCandidates(evidence).length > 0
    ? { ...evidence, grownTokens: evidence.grownTokens + tokens }
    : evidence;

const sameNumbers = (a: Reading, b: Reading): boolean =>
  a.usedTokens === b.usedTokens &&
  a.usedPercent === b.usedPercent &&
  a.basis === b.basis &&
  a.windowTokens === b.windowTokens;

// Which readings count: impossible ones never, empty ones not after a compaction, the screen's not while a file is about to tell.

export interface KnownReadings {
  readonly evidence: Evidence;
  readonly windows: WindowClaims;
  /** as in the session: a session file tells, and numbers of a better source than the screen are to be expected */
  readonly fileTells: boolean;
  readonly isAwaited: boolean;
}

/** What is known after a reading; the same object when the reading does not count. */
export const applyReading = (known: KnownReadings, said: Reading, now: Millis): KnownReadings => {
  const reading = validReading(said);
  if (!reading) return known;
  if (isEmpty(reading)) {
    if (known.evidence.isVoid) return known;
    // Zeros right after a number are how a status line says that the agent has compacted (facts/claude.md §6).
    if (reading.source !== 'screen' && hasNumber(known.evidence))
      return { ...known, evidence: invalidateNumbers(known.evidence) };
  }
  return reading.source === 'screen' ? hearScreen(known, reading, now) : hearFile(known, reading, now);
};

// A percentage of what lies above a baseline is 0 for every short conversation.
const isEmpty = ({ usedTokens, usedPercent, basis }: Reading): boolean =>
  usedTokens === 0 || (usedTokens === undefined && usedPercent === 0 && basis !== 'baseline');

const hasNumber = ({ candidates }: Evidence): boolean => Object.keys(candidates).length > 0;

const hearScreen = (known: KnownReadings, reading: Reading, now: Millis): KnownReadings => {
  const { evidence, isAwaited } = known;
  if (isVoidedScreen(evidence, reading, isAwaited) || (evidence.isVoid && isAwaited)) return known;
  const { windowTokens, windowSource = 'default', model } = reading;
  const windows =
    windowTokens === undefined
      ? known.windows
      : addClaim(known.windows, { windowTokens, windowSource, ...(model === undefined ? {} : { model }) });
  return { ...known, windows, evidence: withReading(evidence, reading, now) };
};

const hearFile = (known: KnownReadings, reading: Reading, now: Millis): KnownReadings => {
  const windows = addReadingClaim(known.windows, reading);
  const { model } = windows;
  const isOther = model !== undefined && known.windows.model !== undefined && model !== known.windows.model;
  const evidence = isOther ? withoutOtherModels(known.evidence, model) : known.evidence;
  return {
    windows,
    fileTells: known.fileTells || reading.source === 'log',
    isAwaited: known.isAwaited || reading.source !== 'estimate',
    evidence: withReading(evidence, reading, now),
  };
};

// A number that stays the same while the agent writes and writes has lost its source. An idle agent's number does not age.

const GAP_MS = 2_000; // a longer silence is not output that flows
const STALE_MS = 300_000;

/** How long output has flowed since the number moved. */
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

/** The number has moved. */
export const restartFlow = (flow: OutputFlow): OutputFlow => ({ ...flow, flowedMs: 0 });

export const isStale = ({ flowedMs }: OutputFlow): boolean => flowedMs >= STALE_MS;
