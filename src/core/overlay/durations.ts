const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A time span in words that stay short: `8 s`, `42 min`, `2 h 5 min`, `3 d 4 h`. */
export const durationText = (ms: number): string => {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.floor(ms / SECOND_MS))} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  return ms < DAY_MS ? pair(ms, HOUR_MS, 'h', [MINUTE_MS, 'min']) : pair(ms, DAY_MS, 'd', [HOUR_MS, 'h']);
};

const pair = (
  ms: number,
  unitMs: number,
  unit: string,
  [restMs, rest]: readonly [number, string],
): string => {
  const more = Math.floor((ms % unitMs) / restMs);
  return `${Math.floor(ms / unitMs)} ${unit}${more > 0 ? ` ${more} ${rest}` : ''}`;
};

/** How long ago; the first seconds are now, so that the text does not change with each of them. */
export const agoText = (ms: number): string => (ms < 5 * SECOND_MS ? 'now' : `${durationText(ms)} ago`);
