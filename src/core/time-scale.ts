import type { Millis } from './reading.js';

/** Set by build.js: 1 in what users run, less in the bundle for the tests. Source that runs as it is has none. */
declare const WAIT_SHARE: number | undefined;

const share = typeof WAIT_SHARE === 'undefined' ? 1 : WAIT_SHARE;

/**
 * A wait on purpose, such as a countdown, which the bundle for the tests shortens. What guards against a slow machine, such as a time limit,
 * is never scaled: a test would then depend on how busy the machine is.
 */
export const scaledWait = (ms: Millis): Millis => ms * share;
