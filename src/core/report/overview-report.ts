import type { EndedCompaction } from '../compaction/outcome.js';
import { comingFocus } from '../compaction/focus.js';
import { breakerOf, pauseOf, type BlockReason } from '../compaction/policy.js';
import { type Compaction, type Uncertainty, type Mode, uncertaintyOf } from '../compaction/state.js';
import {
  comingText,
  compactionTone,
  countdownReason,
  endedNotice,
  messageRoom,
  outcomeText,
  secondsTo,
} from '../compaction/texts.js';
import { contextReport, type ContextReport, type SessionContents } from './context-report.js';
import { cacheSentence, limitsSentence } from '../economy.js';
import { isStale } from '../evidence.js';
import { footerView, isWindowUnknown } from '../footer-view.js';
import { formatAge, noNumberSentence, formatDuration, formatOwnPercent, formatPercent } from '../format.js';
import { helpSections, type HelpFacts, UNDO_KEY } from './help-page.js';
import type { OverviewHistory } from './history.js';
import { groupDigits } from '../ladder.js';
import { isLargeWindow } from '../limit-offer.js';
import { approachOf, nextPoint, type NextKind } from '../next-compaction.js';
import type { OverviewPage } from '../overview-keys.js';
import type { LimitSelection } from '../own-limit.js';
import { limitKeys, limitSection } from './limit-page.js';
import { markedRow, recapKeys, recapSections, type RecapPage } from './recap-page.js';
import type { Millis } from '../reading.js';
import {
  barMarks,
  barSection,
  boundText,
  compactionRow,
  type MarkedRow,
  type ReadingFacts,
  partsSection,
  type Report,
  resultsSection,
  type Row,
  type Section,
  thresholdsSection,
  usedRows,
} from './report-sections.js';
import {
  provenance,
  readingRecord,
  sessionLadder,
  sessionThresholds,
  sourceTextOf,
  type SourceReading,
} from './report.js';
import type { Session } from '../session.js';
import { shortId, shownId } from '../shown-conversation.js';
import { present } from '../present.js';

// The report in the overview: the sections of `ctxwrap context`, what happens next, and details about the numbers.

/** The facts that the overview displays. */
export interface OverviewFacts extends HelpFacts {
  readonly session: Session;
  readonly compaction: Compaction;
  /** the history of the session so far */
  readonly record: OverviewHistory;
  /** what the session file records about the window's contents; undefined if no file does */
  readonly contents?: SessionContents | undefined;
  /** start of the session */
  readonly startedAt: Millis;
  readonly now: Millis;
  /** what the last compaction has forgotten, or kept; undefined where that is not known */
  readonly keptText?: string | undefined;
  /** a refused request, or another new fact */
  readonly notice?: string | undefined;
  /** what is marked on the page `limit` */
  readonly limit?: LimitSelection | undefined;
  /** the content of the page `recap` */
  readonly recap?: RecapPage | undefined;
}

export interface OverviewReport extends Report {
  readonly runtime: string;
  readonly model: string;
  /** the short id of the conversation, as `ctxwrap ps` has it; '' if it has none */
  readonly name: string;
  /** how long the session has been running */
  readonly age: string;
  /** the keys, the most useful first */
  readonly keys: readonly (readonly [key: string, word: string])[];
  /** each of them is shown, in two rows where they need them */
  readonly needsAllKeys?: true;
  /** the row with the cursor, which must be visible */
  readonly marked?: MarkedRow | undefined;
}

export const overviewReport = (facts: OverviewFacts, page: OverviewPage): OverviewReport => {
  const { session, startedAt, now } = facts;
  const { agent } = session;
  const sessionId = shownId(session.conversation) ?? '';
  return {
    runtime: agent,
    model: (session.windows.model ?? '').replace(`${agent}-`, ''), // the agent's name stands before it
    name: sessionId === agent ? '' : shortId(sessionId),
    age: formatDuration(Math.max(0, now - startedAt)),
    sections: pages[page](facts),
    tier: session.fused?.tier,
    isStale: isStale(session.flow),
    keys: keysOf(page, facts).filter(([key]) => key !== UNDO_KEY || !facts.hasNoUndo),
    ...(page === 'recap' && facts.recap ? { marked: markedRow(facts.recap), needsAllKeys: true } : {}),
  };
};

const keysOf = (
  page: OverviewPage,
  { session: { compactions }, recap }: OverviewFacts,
): OverviewReport['keys'] => {
  if (page === 'limit') return limitKeys;
  if (page === 'recap') return recapKeys(recap);
  return [
    ['c', 'compact'],
    ...(page === 'main' ? [] : [['Esc', 'back'] as const]),
    ...(compactions > 0 ? [['b', 'recap'] as const, [UNDO_KEY, 'undo'] as const] : []),
    ...(page === 'detail' ? [] : [['d', 'detail'] as const]),
    ...(page === 'help' ? [] : [['?', 'help'] as const]),
    ['a', 'mode'],
    ['p', 'not now'],
    ['l', 'limit'],
    ['n', 'proactive'],
  ];
};

// The first page: how full the window is, what happens next, and the lists below.

const MAIN_RESULTS = 5;

const mainSections = (facts: OverviewFacts): readonly Section[] => {
  const { session, compaction, record, contents, keptText, notice, now } = facts;
  const { report, number } = numberOf(session, contents, now);
  const attempts = attemptRows(facts);
  const focus = comingFocus(compaction);
  return [
    report.reading
      ? barSection(report, number)
      : { rows: [{ text: blankText(session, now), emphasis: 'strong' }] },
    {
      rows: [
        ...endedRows(compaction, now),
        ...(keptText === undefined ? [] : [{ label: 'Recap', text: `${keptText} · b shows it` }]),
        { label: 'Next', text: nextSentence(facts), emphasis: 'strong' },
        ...(focus === undefined ? [] : [{ label: 'Focus', text: focus }]),
        ...(notice === undefined ? [] : [{ label: '', text: notice, emphasis: 'accent' } as const]),
        ...usedRows(report, number),
        ...modeRows(compaction),
        ...turnRows(session, now),
        ...economyRows(session, now),
      ],
    },
    usageSection(record, report, now),
    thresholdsSection(report),
    partsSection(report),
    {
      title: `Compactions: ${session.compactions}`,
      rows: attempts.map((row) => ({ ...row, notes: [] })),
    },
    resultsSection(contents?.toolResults.slice(0, MAIN_RESULTS), session.compactions > 0),
  ];
};

/** The compaction that has just ended. */
const endedRows = (compaction: Compaction, now: Millis): readonly Row[] => {
  const text = endedNotice(compaction, now);
  const emphasis = compactionTone(compaction, now) ?? 'plain';
  return text === undefined ? [] : [{ label: 'Last', text, emphasis }];
};

const numberOf = (session: Session, contents: SessionContents | undefined, now: Millis) => {
  const known = provenance(session, now);
  const record = readingRecord(session, now);
  const usedPercent = known?.usedPercent; // the record's percentage is already rounded: rounding it again would differ from the footer
  const report = contextReport({
    runtime: session.agent,
    reading: record && { ...record, ...present({ usedPercent }) },
    cachedTokens: known?.cachedTokens,
    filled: contents?.filled,
    thresholds: sessionThresholds(session),
    compactions: [],
    toolResults: [],
  });
  const number: ReadingFacts = {
    isEstimated: known?.source === 'estimate' || (known?.raised === true && known.source === 'screen'),
    isAfterCompaction: isAfterCompaction(session),
    isWindowAssumed: known?.windowTokens !== undefined && !known.windowCertain,
    tokens: session.fused?.tokens,
    ageMs: known?.ageMs ?? 0,
    isStale: isStale(session.flow),
  };
  return { report, number };
};

/** Why there is no number, in more words than the footer has room for. */
const blankText = (session: Session, now: Millis): string => {
  const { blank } = session;
  if (blank.why === 'unreadable') return `No number: ${blank.reason}.`;
  if (blank.why === 'gone') return "No number: the agent's screen no longer shows it.";
  return noNumberSentence(footerView(session, now).note);
};

/** What a turn reads again, as the agent's last record counts it; only in a large window, where that is much. */
const turnRows = (session: Session, now: Millis): readonly Row[] => {
  const { usedTokens, inputTokens = usedTokens, cachedTokens } = provenance(session, now) ?? {};
  if (!isLargeWindow(session) || inputTokens === undefined || cachedTokens === undefined) return [];
  if (cachedTokens > inputTokens) return []; // they are not of the same request
  const [cached, fresh] = [groupDigits(cachedTokens), groupDigits(inputTokens - cachedTokens)];
  const text = `reads ${groupDigits(inputTokens)} tokens again: ${cached} from the cache, ${fresh} fresh`;
  return [{ label: 'Each turn', text }];
};

const economyRows = ({ cache, limits }: Session, now: Millis): readonly Row[] => {
  const plan = limitsSentence(limits, now);
  return [
    ...(cache === undefined ? [] : [{ label: 'Cache', text: cacheSentence(cache, now) }]),
    ...(plan === '' ? [] : [{ label: 'Plan', text: plan }]),
  ];
};

const modeTexts: Readonly<Record<Mode, string>> = {
  auto: 'auto: compacts at a safe moment',
  ask: 'ask: suggests compacting',
  warn: 'warn: only shows the numbers',
  off: 'off',
};

const modeRows = ({ mode, isProactive }: Compaction): readonly Row[] => [
  { label: 'Mode', text: modeTexts[mode] },
  ...(mode === 'auto' || mode === 'ask'
    ? [
        {
          label: '',
          text: `proactive ${isProactive ? 'on: at warn, also counts text since the last number' : 'off'}`,
        },
      ]
    : []),
];

const LEAST_SPAN_MS = 60_000; // a span of seconds is not informative, and would change every second

const usageSection = ({ usage: history }: OverviewHistory, report: ContextReport, now: Millis): Section => {
  const [first] = history.samples;
  const isDrawable = history.samples.some(
    ({ fill }) => (fill?.usedPercent ?? fill?.usedTokens) !== undefined,
  );
  if (!first || !isDrawable) return { rows: [] };
  const spanMs = now - first.at;
  const title = spanMs < LEAST_SPAN_MS ? 'Usage' : `Usage over ${formatDuration(spanMs)}`;
  return { title, usage: { history, now, marks: barMarks(report) }, rows: [] };
};

/** The last compactions, newest first. */
const attemptRows = ({ record, now }: OverviewFacts): readonly Row[] => {
  const rows = record.past.attempts.toReversed().map(({ ended, next }) => {
    const { before, outcome, startedAt, endedAt, evidence } = ended;
    const known = outcome.kind === 'verified' ? outcome.after : undefined;
    return compactionRow({
      when: formatAge(Math.max(0, now - endedAt)),
      before,
      after: known ?? next,
      isNext: known === undefined && next !== undefined,
      durationMs: endedAt - startedAt,
      by: byText(ended),
      outcome: outcomeText(outcome),
      hasFailed: outcome.kind !== 'verified',
      evidence,
    });
  });
  return rows;
};

const byText = ({ initiator, isManual }: EndedCompaction): string => {
  switch (initiator) {
    case 'ctxwrap':
      return isManual ? 'ctxwrap, at your request' : 'ctxwrap';
    case 'user':
      return 'you';
    case 'agent':
      return 'the agent';
  }
};

// What happens next, in one sentence: the countdown, what ctxwrap is waiting for, or the distance to the next threshold.

/** The key for a compaction while the overview is open. */
const ASK = 'c';

type NextFacts = Pick<OverviewFacts, 'session' | 'compaction' | 'now'>;

const nextSentence = ({ session, compaction, now }: NextFacts): string => {
  const { phase, request } = compaction;
  if (phase.kind === 'countdown') {
    const why = countdownReason(compaction);
    return `Compacts in ${secondsTo(phase.until, now)} s${why} · p: not now.`;
  }
  // there is room for a whole sentence about the uncertainty
  const isDoubted = phase.kind === 'doubted' && messageRoom(compaction, now) === 'free';
  const words = isDoubted ? undefined : comingText(compaction, now, ASK);
  if (words !== undefined) {
    const sentence = request ? `compaction requested, ${words}` : words;
    return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`;
  }
  return restSentence({ session, compaction, now });
};

/** The number is the size that a compaction left, and the next one will be exact. */
const isAfterCompaction = ({ evidence, fused }: Session): boolean =>
  evidence.isVoid && fused?.reading.source === 'estimate';

const restSentence = ({ session, compaction, now }: NextFacts): string => {
  const { fused } = session;
  const { mode } = compaction;
  if (compaction.activity === 'dead') return 'The agent has ended.';
  if (compaction.settings.command === undefined)
    return 'Nothing is typed: the compact command of this agent is not known, or switched off.';
  if (mode === 'warn' || mode === 'off') return watchingSentence(session, mode);
  if (!fused) return `Waiting for the ${session.blank.why === 'pending' ? 'next' : 'first'} usage number.`;
  if (isWindowUnknown(fused) && sessionLadder(session).auto?.unit !== 'tokens')
    return 'The window is not known: set --window, or --auto in tokens (150k).';
  const doubt = fused.exact || isAfterCompaction(session) ? undefined : uncertaintyOf(fused);
  if (doubt === 'sources' && !session.contest?.isLasting)
    return 'Nothing is typed until another source confirms the screen.';
  if (doubt) return doubtTexts[doubt];
  const coming = comingSentence(session, mode);
  const isOurs = !watched.includes(nextPoint(sessionLadder(session), mode).kind);
  const pause = isOurs ? pauseOf(compaction, now) : undefined;
  return pause === undefined ? coming : coming.replace(/\.$/, `, ${pauseText(pause, now)}.`);
};

/** What ctxwrap only looks on at. */
const watched: readonly NextKind[] = ['own', 'hard'];

/** As the end of a sentence about what ctxwrap will do. */
const pauseText = (pause: BlockReason, now: Millis): string => {
  switch (pause.why) {
    case 'breaker':
      return `not in the next ${formatDuration(pause.until - now)} because it failed ${pause.failures}×; ${ASK} tries now`;
    case 'cooldown':
    case 'proactive':
      return `not in the next ${formatDuration(pause.until - now)}`;
    case 'refills':
      return `but is paused because the window was full again after ${pause.refills} compactions; ${ASK} tries now`;
    case 'attempts':
      return `but is paused after ${pause.attempts} attempts; ${ASK} tries now`;
    default:
      return 'not before your next turn';
  }
};

const doubtTexts: Readonly<Record<Uncertainty, string>> = {
  assumed: 'Nothing is typed while the window is only assumed: set --window.',
  window: 'Nothing is typed while the window is not certain.',
  estimate: 'Nothing is typed on an estimate: waiting for an exact number.',
  sources: 'Nothing is typed while the sources differ: the higher number may be wrong.',
};

/** In a mode in which ctxwrap only looks on. */
const watchingSentence = (session: Session, mode: Mode): string =>
  nextPoint(sessionLadder(session), mode).kind === 'own'
    ? comingSentence(session, mode, { own: `In mode ${mode} only the agent compacts,` })
    : `Nothing happens automatically in mode ${mode}; c compacts.`;

/** The next point, and how far it is. */
const comingSentence = (
  session: Session,
  mode: Mode,
  { own = 'The agent compacts on its own' }: { readonly own?: string } = {},
): string => {
  const { point, left } = approachOf(sessionLadder(session), mode, session.fused);
  if (point.kind === 'hard') return 'Nothing happens automatically: there is no auto threshold.';
  const ours = mode === 'ask' ? 'Suggests compacting' : 'Compacts';
  const what = point.kind === 'own' ? own : ours;
  const at = `${what} at ${point.kind === 'limit' ? 'your limit of ' : ''}${boundText(point)}`;
  if (left === undefined) return `${at}.`;
  if (left <= 0) return `${at}, which is reached.`;
  return `${at} (${point.unit === 'percent' ? `${Math.ceil(left)} points` : groupDigits(left)} to go).`;
};

const sizeText = (known: SourceReading): string => {
  const { usedTokens, usedPercent } = known;
  if (usedTokens !== undefined) return groupDigits(usedTokens);
  return formatOwnPercent(known) ?? (usedPercent === undefined ? '' : formatPercent(usedPercent));
};

// The second page: all sources, the agent's activity, and the attempts.

const detailSections = (facts: OverviewFacts): readonly Section[] => {
  const { session, compaction, contents, now } = facts;
  const { activity, activitySince, asks, place, witnesses } = session;
  const known = provenance(session, now);
  const details = asks ?? place;
  const doing = `${activity} for ${formatDuration(Math.max(0, now - activitySince))}`;
  return [
    {
      title: 'Where the number comes from',
      rows: [
        { text: known?.reason ?? blankText(session, now) },
        ...(known?.candidates ?? []).map((each): Row => ({
          values: [sizeText(each)],
          text: [
            ...(each.tier ? [each.tier] : []),
            sourceTextOf(each.source, isAfterCompaction(session)),
            formatAge(each.ageMs),
          ].join(', '),
        })),
      ],
    },
    {
      title: 'What the agent is doing',
      rows: [{ text: details === undefined ? doing : `${doing}: ${details}`, notes: witnesses }],
    },
    { title: 'Compacting', rows: policyTexts(compaction, now).map((text) => ({ text })) },
    { title: 'The last compaction', rows: attemptRows(facts).slice(0, 1) },
    resultsSection(contents?.toolResults, session.compactions > 0),
  ];
};

const policyTexts = ({ policy, settings, episodeSince }: Compaction, now: Millis): readonly string[] => {
  const { attempts, hardAttempts, failures, refills } = policy;
  const breaker = breakerOf(policy, now);
  const inARow = `${failures} failure${failures === 1 ? '' : 's'} in a row`;
  const paused = breaker
    ? `Paused for ${formatDuration(breaker.until - now)} more`
    : policy.openedAt === undefined
      ? undefined
      : 'One more attempt is allowed';
  return [
    settings.command === undefined ? 'No command is known.' : `The command is ${settings.command}.`,
    episodeSince === undefined
      ? 'The window is not full.'
      : `The window has been full for ${formatDuration(now - episodeSince)}, ${attempts + hardAttempts} attempts.`,
    paused === undefined
      ? failures === 0
        ? 'No recent failures.'
        : `${inARow}.`
      : `${paused}, after ${inARow}.`,
    ...(refills > 0 ? [`Full again soon after compacting, ${refills}× in a row.`] : []),
  ];
};

const pages: Readonly<Record<OverviewPage, (facts: OverviewFacts) => readonly Section[]>> = {
  main: mainSections,
  detail: detailSections,
  help: helpSections,
  limit: ({ session, compaction, limit }) => [limitSection(session, compaction, limit)],
  recap: ({ recap }) => (recap ? recapSections(recap) : []),
};
