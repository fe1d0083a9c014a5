import type { Screen } from './screen.js';
import type { Size } from './tty.js';

const PATIENCE_MS = 1_000; // a model that has failed never answers, and a resize must not wait for it with the child's output held

const atMost = async (promise: Promise<void> | undefined): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
};

/**
 * The screen model, loaded in the turn after the one that starts the child: xterm.js takes 25 ms, as long as all the rest before the
 * child. What it is fed until then waits. If it can't be loaded or fails later, it says so once, and nothing is known of the screen.
 */
export const makeLazyScreen = (
  size: Size,
  seed: () => string,
  onFailure: (error: unknown) => void,
): Screen => {
  let screen: Screen | undefined;
  let failed = false;
  let waiting: ((loaded: Screen) => void)[] = [];

  const whenLoaded = (act: (loaded: Screen) => void): void => {
    if (screen) act(screen);
    else if (!failed) waiting.push(act);
  };
  const load = async (): Promise<void> => {
    const { makeScreen } = await import('./screen.js');
    const loaded = makeScreen(size, seed, onFailure);
    for (const act of waiting.splice(0)) act(loaded);
    screen = loaded;
  };
  const loaded = new Promise<void>((resolve) => {
    setImmediate(() => void load().catch(fail).then(resolve));
  });
  const fail = (error: unknown): void => {
    failed = true;
    waiting = [];
    onFailure(error);
  };
  return {
    feed: (bytes) => whenLoaded((model) => model.feed(bytes)),
    alignCursor: (row) => whenLoaded((model) => model.alignCursor(row)),
    eraseBelow: (rows) => whenLoaded((model) => model.eraseBelow(rows)),
    resize: async (next) => {
      await loaded;
      await atMost(screen?.resize(next));
    },
    settled: async () => {
      await loaded;
      await atMost(screen?.settled());
    },
    rowsBelowCursor: () => screen?.rowsBelowCursor() ?? 0,
    rowsWrappedAt: (columns) => screen?.rowsWrappedAt(columns) ?? 0,
    lastRow: () => screen?.lastRow() ?? Infinity,
    isBehind: () => screen?.isBehind() ?? !failed,
    isMidFrame: () => screen?.isMidFrame() ?? false,
    seen: () => screen?.seen(),
    picture: () => screen?.picture(),
    countWritten: () => whenLoaded((model) => model.countWritten()),
    written: () => screen?.written(),
  };
};
