import type { ScreenModel } from './screen-model.js';
import type { Size } from './tty.js';

// The screen model, loaded after the child has started.

const MAX_WAIT_MS = 1_000; // a failed model never resolves, and a resize must not hold the child's output for it

const waitAtMost = async (promise: Promise<void> | undefined): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
};

/**
 * Loads the screen model in the turn of the event loop after the start of the child: loading xterm.js takes 25 ms, as long as everything
 * else before the child. Output waits until then. If loading fails or the model fails later, `onFailure` is called once and the screen
 * stays unknown.
 */
export const makeLazyScreenModel = (
  size: Size,
  seed: () => string,
  onFailure: (error: unknown) => void,
): ScreenModel => {
  let screen: ScreenModel | undefined;
  let hasFailed = false;
  let waiting: ((loaded: ScreenModel) => void)[] = [];

  const whenLoaded = (act: (loaded: ScreenModel) => void): void => {
    if (screen) act(screen);
    else if (!hasFailed) waiting.push(act);
  };
  const load = async (): Promise<void> => {
    const { makeScreenModel } = await import('./screen-model.js');
    const loaded = makeScreenModel(size, seed, onFailure);
    for (const act of waiting.splice(0)) act(loaded);
    screen = loaded;
  };
  const loaded = new Promise<void>((resolve) => {
    setImmediate(() => void load().catch(fail).then(resolve));
  });
  const fail = (error: unknown): void => {
    hasFailed = true;
    waiting = [];
    onFailure(error);
  };
  return {
    feed: (bytes) => whenLoaded((model) => model.feed(bytes)),
    alignCursor: (row) => whenLoaded((model) => model.alignCursor(row)),
    eraseBelow: (rows) => whenLoaded((model) => model.eraseBelow(rows)),
    resize: async (next) => {
      await loaded;
      await waitAtMost(screen?.resize(next));
    },
    settled: async () => {
      await loaded;
      await waitAtMost(screen?.settled());
    },
    rowsBelowCursor: () => screen?.rowsBelowCursor() ?? 0,
    rowsWrappedAt: (columns) => screen?.rowsWrappedAt(columns) ?? 0,
    lastRow: () => screen?.lastRow() ?? Infinity,
    isBehind: () => screen?.isBehind() ?? !hasFailed,
    isMidFrame: () => screen?.isMidFrame() ?? false,
    snapshot: () => screen?.snapshot(),
    saveScreen: () => screen?.saveScreen(),
    startCounting: () => whenLoaded((model) => model.startCounting()),
    writtenText: () => screen?.writtenText(),
  };
};
