// Follows an append-only file by asking for its size: no watcher, no open file between two reads.
import { growingFile } from './growing-file.js';
import type { GrowingFileOptions } from './growing-file.js';

export interface TailOptions extends GrowingFileOptions {
  readonly intervalMs: number;
  /** the end was reached after something new was read */
  readonly onCaughtUp: () => void;
  /** said once until reading works again; the tail goes on trying */
  readonly onProblem: (reason: string) => void;
}

/** A line nobody can use is told of and skipped; reading it again would fail again. */
const skipUnusable =
  ({ path, onProblem }: TailOptions, use: ((line: string) => void) | undefined) =>
  (line: string): void => {
    try {
      use?.(line);
    } catch (error) {
      onProblem(`${path}: ${textOf(error)}`);
    }
  };

/** Reads what is in the file, of a long one its end, and then whatever is appended, until stopped. */
export const tail = (options: TailOptions): { readonly stop: () => void } => {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let problem: string | undefined;
  const file = growingFile({
    ...options,
    onLine: skipUnusable(options, options.onLine),
    onHead: skipUnusable(options, options.onHead),
  });

  const poll = async (): Promise<void> => {
    try {
      const isNew = await file.readNew();
      problem = undefined;
      if (isNew && !stopped) options.onCaughtUp();
    } catch (error) {
      const reason = `${options.path}: ${textOf(error)}`;
      if (!stopped && reason !== problem) options.onProblem(reason);
      problem = reason;
      // Everything is read again then: whoever was told of the problem has let go of the last number.
      file.forget();
    }
    if (!stopped) timer = setTimeout(poll, options.intervalMs).unref();
  };

  void poll();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      file.stop();
    },
  };
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
