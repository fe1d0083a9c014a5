// Waits for what happens by itself, however busy the machine is: the limit only ends a test that would wait for ever.
import { vi } from 'vitest';

const MOST_MS = 60_000;

/** Resolves with what the assertion gives once it does not throw; `interval` is in milliseconds, between two looks. */
export const eventually = <Result>(
  assertion: () => Result | Promise<Result>,
  { interval = 20 }: { readonly interval?: number } = {},
): Promise<Result> => vi.waitFor(assertion, { timeout: MOST_MS, interval });
