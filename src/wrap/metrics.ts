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
import { metricsFile, sweepMetrics } from '../storage/sessions.js';
import type { WrapSession } from './options.js';
import type { OtlpExport } from './otlp.js';
import { endsWithin, serialize } from './timing.js';

// The numbers of a session for a monitoring system, where the user has named one: a file for Prometheus, an OpenTelemetry collector, or both.

const WRITE_MS = 5_000; // between two writes of the file
const FRESH_MS = 60_000; // it is written again, so that its age shows whether the session lives
const END_MS = 1_000; // for the last numbers; a collector that hangs must not keep the user's shell waiting

export interface Metrics {
  readonly onState: (state: Session) => void;
  /** each effect of the core */
  readonly onEffect: (effect: Effect) => void;
  /** resolves when the last numbers are told or have failed */
  readonly end: () => Promise<void>;
}

/** Where the numbers of a session go. */
interface Sink {
  /** the numbers have changed */
  readonly update: (metrics: SessionMetrics) => void;
  readonly end: (last: SessionMetrics) => Promise<void>;
}

/** Undefined where the user wants no metrics. Never throws and never rejects. */
export const openMetrics = (session: WrapSession): Metrics | undefined => {
  const { wrapper, agent, values, log } = session;
  const { 'metrics.textfile': folder, 'metrics.otlp': endpoint } = values;
  if (!wrapper || (folder === undefined && endpoint === undefined)) return undefined;
  const sinks: Sink[] = [];
  const fail = (what: string) => makeOnce((reason: string) => log.warn(`${what}: ${reason}`));
  if (folder !== undefined)
    sinks.push(openTextfile(folder, wrapper.id, fail('the metrics cannot be written')));
  let compactions = noCompactions;
  let gauges: WindowGauges = {};
  let last = '';
  const metrics = (): SessionMetrics => ({ agent: agent.name, session: wrapper.id, gauges, compactions });
  const otlp = endpoint === undefined ? undefined : openOtlp(endpoint, { session, metrics, log });
  const update = (): void => sinks.forEach((sink) => sink.update(metrics()));
  update();
  return {
    onState: (state) => {
      gauges = windowGauges(state);
      const text = JSON.stringify(gauges);
      if (text !== last) update();
      last = text;
    },
    onEffect: (effect) => {
      if (effect.type !== 'ended') return;
      compactions = countCompaction(compactions, effect.ended);
      otlp?.onEnded(effect.ended);
      update();
    },
    end: async () => {
      gauges = {}; // the window is gone, what was counted is not
      await endsWithin(END_MS, Promise.all([...sinks.map((sink) => sink.end(metrics())), otlp?.end()]));
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

const openTextfile = (folder: string, id: string, onFailure: (reason: string) => void): Sink => {
  const file = metricsFile(folder, id);
  let latest: SessionMetrics | undefined;
  let writtenAt = -Infinity;
  let later: NodeJS.Timeout | undefined;
  const writeNow = serialize(async () => {
    if (latest)
      await file.write(prometheusText(latest)).catch((error: unknown) => onFailure(errorText(error)));
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
  readonly log: WrapSession['log'];
}

/** The OpenTelemetry SDK is loaded only here. What ends before it is loaded is counted then. */
const openOtlp = (
  endpoint: string,
  { session, metrics, log }: OtlpParts,
): Pick<OtlpExport, 'onEnded' | 'end'> => {
  const fail = makeOnce((reason) => log.warn(`the metrics do not reach the collector: ${reason}`));
  const loading = import('./otlp.js')
    .then(({ startOtlp }) =>
      startOtlp({ endpoint, version: session.wrapper?.version ?? '', metrics, onFailure: fail }),
    )
    .catch((error: unknown) => fail(errorText(error)));
  return {
    onEnded: (ended) => void loading.then((otlp) => otlp?.onEnded(ended)),
    end: async () => (await loading)?.end(),
  };
};
