import type { ContextReport, PastCompaction } from '../core/report/context-report.js';
import { leftTokens } from '../core/evidence.js';
import { noNumberSentence } from '../core/format.js';
import { isGuessedWindow, type Millis } from '../core/reading.js';
import {
  barSection,
  compactionRow,
  type ReadingFacts,
  partsSection,
  type Report,
  resultsSection,
  type Row,
  type Section,
  thresholdsSection,
  usedRows,
} from '../core/report/report-sections.js';

/** The text of `ctxwrap context`: the overview's sections, plus what the session file and the wrapper add. `name`: the session's id in `ps`. */
export const contextSections = (report: ContextReport, name?: string): Report => {
  const { reading, note, tier, compactions = [], toolResults = [] } = report;
  const number: ReadingFacts = {
    isEstimated: reading?.source === 'estimate',
    isWindowAssumed: isGuessedWindow(reading?.windowSource),
  };
  return {
    tier,
    sections: [
      headSection(report, name),
      reading ? barSection(report, number) : { rows: [{ text: noNumberSentence(note) }] },
      { rows: usedRows(report, number) },
      partsSection(report),
      thresholdsSection(report),
      compactionsSection(report),
      toolResults.length > 0 ? resultsSection(toolResults, compactions.length > 0) : { rows: [] },
    ],
  };
};

const headSection = (
  { runtime: agent, reading, session, path }: ContextReport,
  name: string | undefined,
): Section => ({
  rows: [
    {
      text: [agent, ...(reading?.model === undefined ? [] : [reading.model])].join(' · '),
      emphasis: 'strong',
    },
    ...(name === undefined
      ? []
      : [
          {
            label: 'Session',
            text: session ? `${name} (pid ${session.pid}, ${session.liveness})` : name,
          },
        ]),
    ...(path === undefined ? [] : [{ label: 'File', text: path }]),
  ],
});

const MOST_SHOWN = 10;

/** Newest first. */
const compactionsSection = ({ compactions, path }: ContextReport): Section => {
  if (!compactions) return { rows: [] };
  const shown = compactions.slice(-MOST_SHOWN).toReversed();
  const earlier = compactions.length - shown.length;
  const rows = shown.map(pastRow);
  return {
    title: `Compactions: ${compactions.length}`,
    rows: [
      ...(path !== undefined && rows.length === 0
        ? [{ text: 'None in this session.', emphasis: 'quiet' } as const]
        : rows),
      ...(earlier > 0 ? [{ text: `… ${earlier} earlier`, emphasis: 'quiet' } as const] : []),
    ],
  };
};

const pastRow = (past: PastCompaction): Row => {
  const {
    at,
    initiator,
    preTokens,
    isEstimated,
    postTokens,
    isPostEstimated,
    fixedTokens,
    nextTokens,
    durationMs,
  } = past;
  const after = leftTokens(past) ?? nextTokens;
  return compactionRow({
    when: timeText(at),
    before: preTokens === undefined ? undefined : { usedTokens: preTokens },
    isBeforeEstimated: isEstimated === true,
    after: after === undefined ? undefined : { usedTokens: after },
    isNext: postTokens === undefined || fixedTokens !== undefined || isPostEstimated === true,
    durationMs,
    by: initiator === 'agent' ? 'the agent' : initiator === 'user' ? 'you' : initiator,
  });
};

const two = (value: number): string => String(value).padStart(2, '0');

/** In the local time zone: `2026-11-21 08:37`. */
export const timeText = (at: Millis): string => {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
};
