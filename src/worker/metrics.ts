import type { Effect } from '../core/compaction/state.js';
import { errorText } from '../core/errors.js';
import {
  countCompaction,
  noCompactions,
  prometheusText,
  windowGauges,
  type SessionMetrics,
  type WindowGauges,
} from '../core/metrics.js';
import type { Session } from '../core/session.js';
import { systemReason } from '../storage/errors.js';
import { metricsFile, sweepMetrics } from '../storage/sessions.js';
import type { WrapSession } from '../session/options.js';
import type { OtlpExport } from './otlp.js';
import { endsWithin, serialize } from '../storage/timing.js';

// The numbers of a session for a monitoring system, where the user has named one: a file for Prometheus, an OpenTelemetry collector, or both.

const WRITE_MS = 5_000; // between two writes of the file
const FRESH_MS = 60_000; // it is written again, so that its age shows whether the session lives
const END_MS = 1_000; // for the last numbers; a disk or a collector that hangs must not keep the user's shell waiting
const UNANSWERED_MS = 200; // the same for a collector that has taken nothing so far, or not the last numbers

export interface Metrics {
  readonly onState: (state: Session) => void;
  /** each effect of the core */
  readonly onEffect: (effect: Effect) => void;
  /** resolves when the last numbers are told or have failed */
  readonly end: () => Promise<void>;
}

/** The file of a session for node_exporter. */
interface Textfile {
  /** the numbers have changed */
  readonly update: (metrics: SessionMetrics) => void;
  readonly end: (last: SessionMetrics) => Promise<void>;
}

/** Undefined where the user wants no metrics. Never throws and never rejects. */
export const openMetrics = (session: WrapSession): Metrics | undefined => {
  const { wrapper, agent, values, log } = session;
  const { 'metrics.textfile': folder, 'metrics.otlp': endpoint } = values;
  if (!wrapper || (folder === undefined && endpoint === undefined)) return undefined;
  let compactions = noCompactions;
  let gauges: WindowGauges = {};
  let last = JSON.stringify(gauges);
  const metrics = (): SessionMetrics => ({ agent: agent.name, session: wrapper.id, gauges, compactions });
  const file =
    folder === undefined
      ? undefined
      : openTextfile(
          folder,
          wrapper.id,
          makeOnce((reason) => log.warn(`the metrics cannot be written to ${folder}: ${reason}`)),
        );
  const otlp = endpoint === undefined ? undefined : openOtlp(endpoint, { session, metrics });
  file?.update(metrics());
  return {
    onState: (state) => {
      gauges = windowGauges(state);
      const text = JSON.stringify(gauges);
      if (text === last) return;
      last = text;
      file?.update(metrics());
      otlp?.update();
    },
    onEffect: (effect) => {
      if (effect.type !== 'ended') return;
      compactions = countCompaction(compactions, effect.ended);
      otlp?.onEnded(effect.ended);
      file?.update(metrics());
    },
    end: async () => {
      const counted = { ...metrics(), gauges: {} }; // the window is gone, what was counted is not
      await Promise.all([endsWithin(END_MS, Promise.resolve(file?.end(counted))), otlp?.end()]);
    },
  };
};

const makeOnce = (tell: (reason: string) => void): ((reason: string) => void) => {
  let isTold = false;
  return (reason) => {
    if (!isTold) tell(reason);
    isTold = true;
  };
};

const openTextfile = (folder: string, id: string, onFailure: (reason: string) => void): Textfile => {
  const file = metricsFile(folder, id);
  let latest: SessionMetrics | undefined;
  let writtenAt = -Infinity;
  let later: NodeJS.Timeout | undefined;
  const writeNow = serialize(async () => {
    if (latest)
      await file.write(prometheusText(latest)).catch((error: unknown) => onFailure(systemReason(error)));
  });
  const write = (): Promise<void> => {
    clearTimeout(later);
    later = undefined;
    writtenAt = performance.now();
    return writeNow();
  };
  const fresh = setInterval(write, FRESH_MS).unref();
  void sweepMetrics(folder, Date.now());
  return {
    update: (metrics) => {
      latest = metrics;
      later ??= setTimeout(write, Math.max(0, writtenAt + WRITE_MS - performance.now())).unref();
    },
    end: async (last) => {
      clearInterval(fresh);
      latest = last;
      await write();
      await sweepMetrics(folder, Date.now());
    },
  };
};

interface OtlpParts {
  readonly session: WrapSession;
  readonly metrics: () => SessionMetrics;
}

/** The OpenTelemetry SDK is loaded only here. What ends before it is loaded is counted then. */
const openOtlp = (
  endpoint: string,
  { session: { wrapper, log }, metrics }: OtlpParts,
): Pick<OtlpExport, 'update' | 'onEnded' | 'end'> => {
  const fail = makeOnce((reason) => log.warn(`the metrics do not reach the collector: ${reason}`));
  let started: OtlpExport | undefined;
  const loading = import('./otlp.js')
    .then(({ startOtlp }) => {
      started = startOtlp({ endpoint, version: wrapper?.version ?? '', metrics, onFailure: fail });
    })
    .catch((error: unknown) => fail(errorText(error)));
  return {
    update: () => void loading.then(() => started?.update()),
    onEnded: (ended) => void loading.then(() => started?.onEnded(ended)),
    end: async () => {
      const limitMs = started?.isAnswering() ? END_MS : UNANSWERED_MS;
      const isTold = await endsWithin(
        limitMs,
        loading.then(() => started?.end()),
      );
      if (!isTold) fail('it has not answered');
    },
  };
};
