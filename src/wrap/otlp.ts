import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
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
  triggerOf,
  type SessionMetrics,
  type WindowGauges,
} from '../core/metrics.js';

// Sends a session's metrics to an OpenTelemetry collector (OTLP over HTTP, JSON). Names of attributes are those of the GenAI semantic
// conventions where they have one. No resource is detected: neither the machine's name nor a path is sent.

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
  readonly onEnded: (ended: EndedCompaction) => void;
  /** sends the last numbers; resolves when that is done or has failed */
  readonly end: () => Promise<void>;
}

export const startOtlp = ({ endpoint, version, everyMs = EVERY_MS, ...options }: OtlpOptions): OtlpExport => {
  const { metrics, onFailure } = options;
  const { agent, session } = metrics();
  const exporter = new OTLPMetricExporter({ url: signalUrl(endpoint), timeoutMillis: TIMEOUT_MS });
  const reader = new PeriodicExportingMetricReader({
    exporter: withFailures(exporter, onFailure),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(everyMs, TIMEOUT_MS),
  });
  const provider = new MeterProvider({
    readers: [reader],
    resource: resourceFromAttributes({
      'service.name': 'ctxwrap',
      'service.version': version,
      'service.instance.id': session,
    }),
  });
  const meter = provider.getMeter('ctxwrap', version);
  const named = { 'gen_ai.agent.name': agent };
  const gauge = (name: string, unit: string, valueOf: (gauges: WindowGauges) => number | undefined): void =>
    meter.createObservableGauge(name, { unit }).addCallback((result) => {
      const { gauges } = metrics();
      const value = valueOf(gauges);
      const model = gauges.model === undefined ? {} : { 'gen_ai.response.model': gauges.model };
      if (value !== undefined) result.observe(value, { ...named, ...model });
    });
  gauge('ctxwrap.context.used_tokens', '{token}', ({ usedTokens }) => usedTokens);
  gauge('ctxwrap.context.window_tokens', '{token}', ({ windowTokens }) => windowTokens);
  gauge('ctxwrap.context.used_ratio', '1', ({ usedRatio }) => usedRatio);
  const compactions = meter.createCounter('ctxwrap.compactions', { unit: '{compaction}' });
  const durations = meter.createHistogram('ctxwrap.compaction.duration', {
    unit: 's',
    advice: { explicitBucketBoundaries: [...durationBounds] },
  });
  return {
    onEnded: (ended) => {
      if (!isCounted(ended)) return;
      compactions.add(1, {
        ...named,
        'ctxwrap.trigger': triggerOf(ended),
        'ctxwrap.outcome': ended.outcome.kind,
      });
      durations.record(durationOf(ended), named);
    },
    end: () => provider.shutdown().catch((error: unknown) => onFailure(errorText(error))),
  };
};

const signalUrl = (endpoint: string): string => {
  const bare = endpoint.replace(/\/+$/, '');
  return bare.endsWith(SIGNAL_PATH) ? bare : bare + SIGNAL_PATH;
};

/** The SDK tells failures only to a logger of its own. */
const withFailures = (
  exporter: OTLPMetricExporter,
  onFailure: (reason: string) => void,
): PushMetricExporter => ({
  export: (metrics, onResult) =>
    exporter.export(metrics, (result) => {
      if (result.error) onFailure(errorText(result.error));
      onResult(result);
    }),
  forceFlush: () => exporter.forceFlush(),
  shutdown: () => exporter.shutdown(),
  selectAggregation: (type) => exporter.selectAggregation(type),
  selectAggregationTemporality: (type) => exporter.selectAggregationTemporality(type),
});
