import { ValueType, type Meter, type MetricOptions } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import type { EndedCompaction } from '../core/compaction/outcome.js';
import { errorText } from '../core/errors.js';
import {
  durationBounds,
  durationOf,
  isCounted,
  metricTexts,
  triggerOf,
  type SessionMetrics,
  type WindowGauges,
} from '../core/metrics.js';

// Sends a session's metrics to an OpenTelemetry collector (OTLP over HTTP, JSON). Names of attributes are those of the GenAI semantic
// conventions where they have one. No resource is detected: neither the machine's name nor a path is sent.

const FIRST_MS = 2_000; // after the first number: a session may be short, and its end should know whether the collector answers
const EVERY_MS = 15_000;
const TIMEOUT_MS = 5_000;
const SIGNAL_PATH = '/v1/metrics';

export interface OtlpOptions {
  /** of the collector, with or without the path of the signal */
  readonly endpoint: string;
  /** of ctxwrap */
  readonly version: string;
  readonly metrics: () => SessionMetrics;
  /** called for each failure */
  readonly onFailure: (reason: string) => void;
  readonly everyMs?: number;
}

export interface OtlpExport {
  /** there is a number to send */
  readonly update: () => void;
  readonly onEnded: (ended: EndedCompaction) => void;
  /** true if the collector has taken the last numbers that were sent */
  readonly isAnswering: () => boolean;
  /** sends the last numbers; resolves when that is done or has failed */
  readonly end: () => Promise<void>;
}

export const startOtlp = ({ endpoint, version, everyMs = EVERY_MS, ...options }: OtlpOptions): OtlpExport => {
  const { metrics, onFailure } = options;
  let isAnswering = false;
  let first: NodeJS.Timeout | undefined;
  const exporter = new OTLPMetricExporter({ url: signalUrl(endpoint), timeoutMillis: TIMEOUT_MS });
  const onResult = (error: Error | undefined): void => {
    isAnswering = error === undefined;
    if (error) onFailure(errorText(error));
  };
  const reader = new PeriodicExportingMetricReader({
    exporter: watched(exporter, onResult),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(everyMs, TIMEOUT_MS),
  });
  const provider = new MeterProvider({
    readers: [reader],
    resource: resourceFromAttributes({
      'service.name': 'ctxwrap',
      'service.version': version,
      'service.instance.id': metrics().session,
    }),
  });
  return {
    update: () => {
      first ??= setTimeout(() => void provider.forceFlush().catch(() => undefined), FIRST_MS).unref();
    },
    onEnded: makeInstruments(provider.getMeter('ctxwrap', version), metrics),
    isAnswering: () => isAnswering,
    end: () => {
      clearTimeout(first);
      return provider.shutdown().catch((error: unknown) => onFailure(errorText(error)));
    },
  };
};

/** The instruments, of which those for the window observe by themselves; returns what counts a compaction. */
const makeInstruments = (meter: Meter, metrics: () => SessionMetrics): OtlpExport['onEnded'] => {
  const named = { 'gen_ai.agent.name': metrics().agent };
  const valueType = ValueType.INT;
  const gauge = (
    name: string,
    about: MetricOptions,
    valueOf: (gauges: WindowGauges) => number | undefined,
  ): void =>
    meter.createObservableGauge(name, about).addCallback((result) => {
      const { gauges } = metrics();
      const value = valueOf(gauges);
      const model = gauges.model === undefined ? {} : { 'gen_ai.response.model': gauges.model };
      if (value !== undefined) result.observe(value, { ...named, ...model });
    });
  gauge(
    'ctxwrap.context.used_tokens',
    { unit: '{token}', description: metricTexts.usedTokens, valueType },
    ({ usedTokens }) => usedTokens,
  );
  gauge(
    'ctxwrap.context.window_tokens',
    { unit: '{token}', description: metricTexts.windowTokens, valueType },
    ({ windowTokens }) => windowTokens,
  );
  gauge(
    'ctxwrap.context.used_ratio',
    { unit: '1', description: metricTexts.usedRatio },
    ({ usedRatio }) => usedRatio,
  );
  const compactions = meter.createCounter('ctxwrap.compactions', {
    unit: '{compaction}',
    description: metricTexts.compactions,
    valueType,
  });
  const durations = meter.createHistogram('ctxwrap.compaction.duration', {
    unit: 's',
    description: metricTexts.duration,
    advice: { explicitBucketBoundaries: [...durationBounds] },
  });
  return (ended) => {
    if (!isCounted(ended)) return;
    const [trigger, outcome] = [triggerOf(ended), ended.outcome.kind];
    compactions.add(1, { ...named, 'ctxwrap.trigger': trigger, 'ctxwrap.outcome': outcome });
    durations.record(durationOf(ended), named);
  };
};

const signalUrl = (endpoint: string): string => {
  const bare = endpoint.replace(/\/+$/, '');
  return bare.endsWith(SIGNAL_PATH) ? bare : bare + SIGNAL_PATH;
};

/**
 * The SDK tells failures only to a logger of its own. And it repeats the last value of a gauge that is no longer observed, as after a
 * compaction or of a former model, unless the gauge counts as delta; in what is sent a gauge has no such property.
 */
const watched = (
  exporter: OTLPMetricExporter,
  onResult: (error: Error | undefined) => void,
): PushMetricExporter => ({
  export: (metrics, done) =>
    exporter.export(metrics, (result) => {
      onResult(result.error);
      done(result);
    }),
  forceFlush: () => exporter.forceFlush(),
  shutdown: () => exporter.shutdown(),
  selectAggregation: (type) => exporter.selectAggregation(type),
  selectAggregationTemporality: (type) =>
    type === InstrumentType.OBSERVABLE_GAUGE
      ? AggregationTemporality.DELTA
      : exporter.selectAggregationTemporality(type),
});
