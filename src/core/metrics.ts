import { outcomeKinds, type EndedCompaction, type OutcomeKind } from './compaction/outcome.js';
import { windowPercent } from './reading.js';
import type { Session } from './session.js';
import { toOneLine } from './text.js';
import { present } from './present.js';

// Numbers of a session for a monitoring system: how full its window is, and how its compactions have ended. No text, no paths.

/** Who wanted a compaction: ctxwrap by itself, somebody through ctxwrap, the user in the agent, or the agent. */
export type Trigger = 'auto' | 'request' | 'user' | 'agent';

const triggers: readonly Trigger[] = ['auto', 'request', 'user', 'agent'];

/** How many compactions of one kind have ended. */
export interface CompactionCount {
  readonly trigger: Trigger;
  readonly outcome: OutcomeKind;
  readonly count: number;
}

/** The counts of a session; they only grow. */
export interface CompactionCounts {
  readonly counts: readonly CompactionCount[];
  /** how many took at most so many seconds, in the order of `durationBounds`; the longer ones are only in `durations` */
  readonly buckets: readonly number[];
  readonly durations: number;
  readonly durationSeconds: number;
}

/** Upper bounds in seconds. */
export const durationBounds = [5, 10, 20, 30, 60, 120, 300] as const;

/** True for what has begun: a skipped attempt has typed no key. */
const isCountedKind = (kind: OutcomeKind): boolean => kind !== 'skipped-busy';

export const isCounted = ({ outcome }: Pick<EndedCompaction, 'outcome'>): boolean =>
  isCountedKind(outcome.kind);

/** Zeros for all that can happen: Prometheus takes the first value of a counter as where it began, so that a first 1 is no increase. */
export const noCompactions: CompactionCounts = {
  counts: triggers.flatMap((trigger) =>
    outcomeKinds.filter(isCountedKind).map((outcome) => ({ trigger, outcome, count: 0 })),
  ),
  buckets: durationBounds.map(() => 0),
  durations: 0,
  durationSeconds: 0,
};

export const triggerOf = ({
  initiator,
  isManual = false,
}: Pick<EndedCompaction, 'initiator' | 'isManual'>): Trigger =>
  initiator === 'ctxwrap' ? (isManual ? 'request' : 'auto') : initiator;

export const durationOf = ({ startedAt, endedAt }: Pick<EndedCompaction, 'startedAt' | 'endedAt'>): number =>
  Math.max(0, endedAt - startedAt) / 1000;

/** The counts after a compaction has ended. */
export const countCompaction = (before: CompactionCounts, ended: EndedCompaction): CompactionCounts => {
  if (!isCounted(ended)) return before;
  const trigger = triggerOf(ended);
  const outcome = ended.outcome.kind;
  const seconds = durationOf(ended);
  return {
    counts: before.counts.map((each) =>
      each.trigger === trigger && each.outcome === outcome ? { ...each, count: each.count + 1 } : each,
    ),
    buckets: before.buckets.map((count, index) =>
      seconds <= (durationBounds[index] ?? Infinity) ? count + 1 : count,
    ),
    durations: before.durations + 1,
    durationSeconds: before.durationSeconds + seconds,
  };
};

/** How full the window is. Unknown numbers are absent. */
export interface WindowGauges {
  readonly usedTokens?: number;
  readonly windowTokens?: number;
  /** 0…1 and above */
  readonly usedRatio?: number;
  readonly model?: string;
}

/** An estimate counts as well: a graph with gaps says less. */
export const windowGauges = ({ fused }: Session): WindowGauges => {
  if (!fused) return {};
  const { reading, window } = fused;
  const { usedTokens, model } = reading;
  const percent = windowPercent(reading);
  const windowTokens = window?.windowTokens;
  const usedRatio =
    usedTokens !== undefined && windowTokens ? usedTokens / windowTokens : percent && percent / 100;
  return {
    ...present({ usedTokens, windowTokens }),
    ...(usedRatio === undefined ? {} : { usedRatio: Math.round(usedRatio * 1e4) / 1e4 }),
    ...(model === undefined ? {} : { model: modelName(model) }),
  };
};

const LONGEST_MODEL = 100; // characters

/** A model that runs on this machine may be named by the path of its file: only the file's name is published. */
const modelName = (model: string): string => {
  const name = /^[/~.\\]|^[A-Za-z]:\\/.test(model)
    ? (model.split(/[/\\]/).findLast((part) => part !== '') ?? '')
    : model;
  return toOneLine(name, LONGEST_MODEL);
};

/** What is exported of a session. */
export interface SessionMetrics {
  readonly agent: string;
  /** id of the wrapper's session, which keeps the series of several sessions apart */
  readonly session: string;
  readonly gauges: WindowGauges;
  readonly compactions: CompactionCounts;
}

/** What the metrics say, in the words of their help. */
export const metricTexts = {
  usedTokens: 'Tokens in the context window.',
  windowTokens: 'Size of the context window in tokens.',
  usedRatio: 'How much of the context window is used; 1 is full.',
  compactions: 'Compactions that have ended, by who wanted them and by outcome.',
  duration: 'How long compactions took, in seconds.',
} as const;

type Labels = Readonly<Record<string, string>>;

const sample = (name: string, labels: Labels, value: number): string =>
  `${name}{${Object.entries(labels)
    .map(([label, text]) => `${label}="${escaped(text)}"`)
    .join(',')}} ${value}`;

const escaped = (text: string): string =>
  text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));

const family = (name: string, type: string, help: string, samples: readonly string[]): readonly string[] =>
  samples.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples];

/** The metrics in the text format of Prometheus. The help texts are the same for every session, as node_exporter requires. */
export const prometheusText = ({ agent, session, gauges, compactions }: SessionMetrics): string => {
  const own = { agent, session };
  const gauge = (name: string, help: string, value: number | undefined): readonly string[] =>
    family(name, 'gauge', help, value === undefined ? [] : [sample(name, own, value)]);
  const duration = 'ctxwrap_compaction_duration_seconds';
  const { counts, buckets, durations, durationSeconds } = compactions;
  const lines = [
    ...gauge('ctxwrap_context_used_tokens', metricTexts.usedTokens, gauges.usedTokens),
    ...gauge('ctxwrap_context_window_tokens', metricTexts.windowTokens, gauges.windowTokens),
    ...gauge('ctxwrap_context_used_ratio', metricTexts.usedRatio, gauges.usedRatio),
    ...family(
      'ctxwrap_compactions_total',
      'counter',
      metricTexts.compactions,
      counts.map(({ trigger, outcome, count }) =>
        sample('ctxwrap_compactions_total', { ...own, trigger, outcome }, count),
      ),
    ),
    ...family(duration, 'histogram', metricTexts.duration, [
      ...durationBounds.map((bound, index) =>
        sample(`${duration}_bucket`, { ...own, le: String(bound) }, buckets[index] ?? 0),
      ),
      sample(`${duration}_bucket`, { ...own, le: '+Inf' }, durations),
      sample(`${duration}_sum`, own, durationSeconds),
      sample(`${duration}_count`, own, durations),
    ]),
  ];
  return lines.map((line) => `${line}\n`).join('');
};
