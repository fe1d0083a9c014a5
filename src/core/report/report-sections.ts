import type { Fill } from '../compaction/outcome.js';
import { type ContextReport, type PartName, partNames } from './context-report.js';
import {
  formatAge,
  formatDuration,
  formatOwnPercent,
  formatPercent,
  formatFill,
  formatTokens,
} from '../format.js';
import {
  groupDigits,
  shortReason,
  thresholdNames,
  type Bound,
  type Threshold,
  type Tier,
} from '../ladder.js';
import { isGuessedWindow, type Millis, type Source, type ToolResult } from '../reading.js';
import { basisTexts, usedText, windowTexts } from './report.js';
import type { UsageHistory } from './history.js';

// The sections of a report about a context window, as titled rows of text. The overview and `ctxwrap context` display the same ones.

/** `tier`: in the colour of the current tier. */
export type Emphasis = 'plain' | 'strong' | 'quiet' | 'accent' | 'tier' | 'success' | 'failure';

/** A row of a section. With values it is part of a table: the values are aligned in columns, and the text explains them. */
export interface Row {
  /** the part of the bar that the row describes, or the marker of the threshold that was passed last */
  readonly sign?: PartName | 'reached' | 'none';
  readonly label?: string;
  readonly values?: readonly string[];
  readonly text?: string;
  /** applies to the label and values, or to the text if there are no values */
  readonly emphasis?: Emphasis;
  /** the text may be truncated, because it is a name of any length */
  readonly isOneLine?: true;
  /** supporting facts, one per line */
  readonly notes?: readonly string[];
}

export interface Section {
  readonly title?: string;
  readonly bar?: Bar;
  /** how full the window was until now, for a chart */
  readonly usage?: { readonly history: UsageHistory; readonly now: Millis; readonly marks: Bar['marks'] };
  readonly rows: readonly Row[];
  /** columns that the first values have at least */
  readonly valueColumns?: number;
  /** the labels are keys to press, or symbols */
  readonly hasKeys?: true;
}

/** A row of a report, by its places. */
export interface MarkedRow {
  readonly section: number;
  readonly row: number;
}

/** The complete report, from top to bottom. */
export interface Report {
  readonly sections: readonly Section[];
  readonly tier?: Tier | undefined;
  /** the number has not changed during minutes of output */
  readonly isStale?: boolean;
}

/** The bar that shows how full the window is. */
export interface Bar {
  /** shares that add up to 1; empty if the window is unknown */
  readonly parts: readonly { readonly name: PartName; readonly share: number }[];
  /** where the tiers begin, 0…1, in order */
  readonly marks: readonly { readonly name: Exclude<Tier, 'safe'>; readonly share: number }[];
  /** `83%`, `~83%?`, `>100%`, or tokens without a percentage */
  readonly fill: string;
  readonly tier: Tier | undefined;
}

/** A reading and facts that its record does not contain. */
export interface ReadingFacts {
  /** displayed with `~` */
  readonly isEstimated: boolean;
  /** the size that the agent's record of its compaction gives, until the next number */
  readonly isAfterCompaction?: boolean;
  /** the size of the window is uncertain: displayed with `?` */
  readonly isWindowAssumed: boolean;
  /** since the source last repeated it; absent if unknown */
  readonly ageMs?: number;
  /** tokens for the bar, if the agent's percentage refers to something else */
  readonly tokens?: number | undefined;
  readonly isStale?: boolean;
}

export const barSection = (report: ContextReport, facts: ReadingFacts): Section => {
  const { reading, tier } = report;
  if (!reading) return { rows: [] };
  const { usedTokens = 0, usedPercent, over } = reading;
  const mark = facts.isEstimated ? '~' : '';
  const own = formatOwnPercent(reading);
  const bar: Bar =
    usedPercent === undefined || own !== undefined
      ? { parts: [], marks: [], fill: own ?? `${mark}${formatTokens(usedTokens)} tokens`, tier }
      : {
          parts: barParts(report, facts),
          marks: barMarks(report),
          fill: `${formatFill(usedPercent, over, mark)}${facts.isWindowAssumed ? '?' : ''}`,
          tier,
        };
  return { bar, rows: [] };
};

const barParts = (report: ContextReport, { tokens }: ReadingFacts): Bar['parts'] => {
  const { reading, parts, totalTokens } = report;
  const { windowTokens, usedPercent = 0 } = reading ?? {};
  if (totalTokens) return parts.map(({ name, tokens: size }) => ({ name, share: size / totalTokens }));
  const share = Math.min(1, tokens !== undefined && windowTokens ? tokens / windowTokens : usedPercent / 100);
  return [
    { name: 'used', share },
    { name: 'free', share: 1 - share },
  ];
};

/** Where the tiers begin, as shares of the whole bar. */
export const barMarks = (report: ContextReport): Bar['marks'] => {
  const wholeTokens = report.totalTokens ?? report.reading?.windowTokens;
  return shownThresholds(report).flatMap(({ name, value, unit }) => {
    const share = unit === 'percent' ? value / 100 : wholeTokens ? value / wholeTokens : Infinity;
    return name !== 'effective' && name !== 'native' && share <= 1 ? [{ name, share }] : [];
  });
};

/** The rows about used tokens and their source. */
export const usedRows = ({ reading }: ContextReport, facts: ReadingFacts): readonly Row[] => {
  if (!reading) return [];
  const { usedTokens, answerTokens, usedPercent, basis, source, over } = reading;
  const mark = facts.isEstimated ? '~' : '';
  const isPercentShown = usedPercent !== undefined && (usedTokens === undefined || basis !== 'window');
  const used = [
    ...(usedTokens === undefined ? [] : [`${mark}${usedText({ usedTokens, answerTokens })}`]),
    ...(isPercentShown ? [`${formatFill(usedPercent, over, mark)} ${basisTexts[basis]}`] : []),
  ];
  const from = [sourceText(source, facts), ...(facts.ageMs === undefined ? [] : [formatAge(facts.ageMs)])];
  return [
    { label: 'Used', text: `${used.join(', ')} (${from.join(', ')})` },
    ...(over
      ? [{ label: '', text: 'The conversation is larger than the window.', emphasis: 'tier' } as const]
      : []),
    ...(facts.isStale
      ? [{ label: '', text: 'The agent has been writing for minutes, but the number has not changed.' }]
      : []),
    { label: 'Window', text: windowText(reading, facts) },
  ];
};

const sourceText = (source: Source, { isAfterCompaction }: ReadingFacts): string => {
  return source === 'estimate' && isAfterCompaction ? 'record of the compaction' : shortSources[source];
};

/** Like `sourceTexts`, but short, for a row with little room. */
const shortSources: Readonly<Record<Source, string>> = {
  official: 'status line',
  log: 'session file',
  screen: 'screen',
  estimate: 'estimated from the text',
};

const windowText = (
  { windowTokens, windowSource, usedPercent }: NonNullable<ContextReport['reading']>,
  { isWindowAssumed }: ReadingFacts,
): string => {
  if (windowTokens === undefined)
    return usedPercent === undefined ? 'not known (set --window)' : 'not known in tokens';
  const sourceName =
    isWindowAssumed && windowSource !== 'remembered' ? 'default' : (windowSource ?? 'default');
  const source = isGuessedWindow(sourceName)
    ? `${windowTexts[sourceName]}; set --window`
    : windowTexts[sourceName];
  return `${groupDigits(windowTokens)} tokens (${source})`;
};

export const partsSection = ({ parts, totalTokens = 0 }: ContextReport): Section => ({
  title: 'What fills it',
  rows:
    parts.length === 0
      ? []
      : [
          ...parts.map(({ name, tokens, percent, estimated }) => ({
            sign: name,
            label: partNames[name],
            values: [`${estimated ? '~' : ''}${groupDigits(tokens)}`, `${percent.toFixed(1)}%`],
          })),
          { label: 'Total', values: [groupDigits(totalTokens), '100.0%'], emphasis: 'quiet' },
        ],
});

/** In ascending order, percentages first. Hard is left out if it equals auto. */
const shownThresholds = ({ thresholds }: ContextReport): ContextReport['thresholds'] =>
  thresholds
    .filter((each) => each.name !== 'hard' || each.current || !isLikeAuto(each, thresholds))
    .toSorted((a, b) => (a.unit === b.unit ? a.value - b.value : a.unit === 'percent' ? -1 : 1));

/** A boundary above the point where the agent compacts by itself, unless the window is already beyond it. */
const isBehindNative = (
  { name, value, unit, current, reason }: ContextReport['thresholds'][number],
  thresholds: readonly Threshold[],
): boolean => {
  const native = thresholds.find((each) => each.name === 'native');
  const isTier = name === 'warn' || name === 'auto' || name === 'hard';
  const isOwn = /: (?:custom|your limit)/.test(reason); // which says more about it
  return isTier && !current && !isOwn && native !== undefined && unit === native.unit && value > native.value;
};

const isLikeAuto = ({ value, unit }: Threshold, thresholds: readonly Threshold[]): boolean =>
  thresholds.some((each) => each.name === 'auto' && each.value === value && each.unit === unit);

export const thresholdsSection = (report: ContextReport): Section => {
  const { thresholds, tier, ownLadder, runtime: agent } = report;
  const shown = shownThresholds(report);
  const quiet = (text: string): Row => ({ text, emphasis: 'quiet' });
  return {
    title: 'Thresholds',
    rows:
      shown.length === 0
        ? []
        : [
            ...shown.map((each): Row => ({
              sign: each.current ? 'reached' : 'none',
              label: thresholdNames[each.name],
              values: [each.unit === 'percent' ? `${each.value}%` : groupDigits(each.value)],
              text: isBehindNative(each, thresholds)
                ? 'not reached: the agent compacts first'
                : shortReason(each),
              emphasis: each.current ? 'tier' : 'plain',
            })),
            ...(tier === 'safe' ? [quiet('Below every threshold (tier: safe).')] : []),
            ...(shown.length < thresholds.length ? [quiet('Hard is the same as auto.')] : []),
            ...(ownLadder ? [quiet(ownText(ownLadder, agent))] : []),
          ],
  };
};

/** A boundary in a sentence. */
export const boundText = ({ unit, value }: Bound): string =>
  unit === 'percent' ? `${value}%` : `${groupDigits(value)} tokens`;

const ownText = (own: NonNullable<ContextReport['ownLadder']>, agent: string): string =>
  `For comparison, ${agent}'s own: effective ${groupDigits(own.effective)}, warn ${groupDigits(own.warn)}, ` +
  `auto ${groupDigits(own.auto)}, hard ${groupDigits(own.hard)}`;

/** A finished compaction. */
export interface CompactionFacts {
  /** time, as text */
  readonly when: string;
  readonly before: Fill | undefined;
  /** the agent did not report the number before */
  readonly isBeforeEstimated?: boolean;
  readonly after: Fill | undefined;
  /** the number after the compaction comes from the next turn, so it is slightly higher than what was left */
  readonly isNext: boolean;
  /** 0 if only its end was observed */
  readonly durationMs?: number | undefined;
  readonly by?: string | undefined;
  /** absent if it succeeded or its result is unknown */
  readonly outcome?: string;
  readonly hasFailed?: boolean;
  readonly evidence?: readonly string[];
}

/** `7 min ago  164k → 12k, 14 s, by ctxwrap: verified`. */
export const compactionRow = (facts: CompactionFacts): Row => {
  const { when, durationMs = 0, by, outcome, hasFailed, evidence = [] } = facts;
  const what = [
    sizesText(facts),
    ...(durationMs > 0 ? [formatDuration(durationMs)] : []),
    ...(by === undefined ? [] : [`by ${by}`]),
  ].filter((each) => each !== '');
  return {
    label: when,
    text: `${what.join(', ')}${outcome === undefined ? '' : `: ${outcome}`}`,
    emphasis: hasFailed ? 'strong' : 'plain',
    notes: evidence,
  };
};

/** Both numbers in the same unit if possible; `~` marks one that came with the next turn, or was computed. */
const sizesText = ({ before, isBeforeEstimated, after, isNext }: CompactionFacts): string => {
  const inTokens = before?.usedTokens !== undefined || before?.usedPercent === undefined;
  const [from, to] = [before, after].map((fill) => {
    const tokens = fill?.usedTokens === undefined ? undefined : formatTokens(fill.usedTokens);
    const percent = fill?.usedPercent === undefined ? undefined : formatPercent(fill.usedPercent);
    return inTokens ? (tokens ?? percent) : (percent ?? tokens);
  });
  const known = from === undefined ? undefined : `${isBeforeEstimated ? '~' : ''}${from}`;
  if (to === undefined) return known ?? '';
  return `${known ?? '?'} → ${isNext ? '~' : ''}${to}`;
};

/** The largest tool results in the window, by an estimate of their text. */
export const resultsSection = (
  results: readonly ToolResult[] | undefined,
  isAfterCompaction: boolean,
): Section => {
  return {
    title: `Largest tool results${isAfterCompaction ? ' since the compaction' : ''}`,
    rows: (results ?? []).map(({ tokens, name, label }) => ({
      values: [`~${groupDigits(tokens)}`],
      label: name,
      text: label,
      isOneLine: true,
    })),
  };
};
