import type { renderFooter } from '../ui/Footer.js';
import type { renderOverview } from '../ui/Overview.js';
import type { Log } from '../storage/log-file.js';

// Loads Ink and what draws with it, in the first moment in which nothing goes on: that takes 100 ms of processor time where its code is kept
// compiled, half of it in V8's own threads, and more where it is not, in which keys are slower.

const QUIET_MS = 2_000; // without a key and without output
const AGAIN_MS = 60_000; // after a failure: an update may have been replacing the files
const NO_KEYS_MS = 15_000; // without a key, of an agent that writes all the time

/** What draws with Ink. */
export interface Drawings {
  readonly renderFooter: typeof renderFooter;
  readonly renderOverview: typeof renderOverview;
}

export interface InkLoader {
  /** undefined until it is loaded */
  readonly loaded: () => Drawings | undefined;
  /** loads it now; rejects where that fails, and the next call tries again */
  readonly load: () => Promise<void>;
  readonly noteOutput: () => void;
  readonly stop: () => void;
}

/** `typedCount` grows with every key, also with one that nobody has told of yet. `onLoad` is called once, when it is loaded. */
export const makeInkLoader = (log: Log, typedCount: () => number, onLoad: () => void): InkLoader => {
  const startedAt = performance.now();
  let [lastOutput, lastKeys] = [startedAt, startedAt];
  let typed = typedCount();
  let drawings: Drawings | undefined;
  let loading: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const load = async (): Promise<void> => {
    try {
      const [footer, overview] = await Promise.all([import('../ui/Footer.js'), import('../ui/Overview.js')]);
      drawings = { renderFooter: footer.renderFooter, renderOverview: overview.renderOverview };
    } catch (error) {
      loading = undefined;
      timer = setTimeout(wait, AGAIN_MS).unref();
      log.error(`Ink could not be loaded, so the footer stays plain; a new session has it: ${String(error)}`);
      throw error;
    }
    log.info('Ink is loaded: the overview can be opened');
    onLoad();
  };
  const start = (): Promise<void> => {
    clearTimeout(timer);
    return (loading ??= load());
  };
  const quietAt = (): number => Math.min(Math.max(lastOutput, lastKeys) + QUIET_MS, lastKeys + NO_KEYS_MS);
  const lookForKeys = (): void => {
    if (typedCount() === typed) return;
    typed = typedCount();
    lastKeys = performance.now(); // or a while ago
  };
  const wait = (): void => {
    lookForKeys();
    const left = quietAt() - performance.now();
    if (left <= 0) void start().catch(() => undefined);
    else timer = setTimeout(wait, left).unref();
  };
  wait();
  return {
    loaded: () => drawings,
    load: start,
    noteOutput: () => void (lastOutput = performance.now()),
    stop: () => clearTimeout(timer),
  };
};
