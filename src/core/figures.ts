/** Tokens in at most four characters up to 999M: `950`, `9.5k`, `124k`, `1.0M`. */
export const tokensText = (tokens: number): string => {
  if (tokens < 999.5) return String(Math.round(tokens));
  // the bounds are where rounding would carry into the next unit: 999 500 is `1.0M`, not `1000k`
  if (tokens < 999_500) return scaled(tokens / 1000, 'k');
  return scaled(tokens / 1_000_000, 'M');
};

const scaled = (value: number, unit: string): string =>
  value < 9.95 ? `${value.toFixed(1)}${unit}` : `${Math.round(value)}${unit}`;

/** Whole percent that never claims an end that is not reached: `<1%` above zero, `99%` below a hundred, `>100%` for all above. */
export const percentText = (percent: number): string => {
  if (percent > 100) return '>100%';
  if (percent > 0 && percent < 0.5) return '<1%';
  const whole = Math.round(percent);
  return `${whole === 100 && percent < 100 ? 99 : whole}%`;
};

/** The percentage of a fill, which is clamped; `isOver`: more is used than there is room for. */
export const shareText = (percent: number, isOver: boolean | undefined): string =>
  percentText(isOver ? Infinity : percent);

/** Filled cells of a bar; like the percent, neither empty nor full before it is. */
export const filledCells = (percent: number, cells: number): number => {
  if (percent <= 0) return 0;
  if (percent >= 100) return cells;
  return Math.min(cells - 1, Math.max(1, Math.round((percent / 100) * cells)));
};

/** A number that can be drawn; NaN, infinite and negative values are no observation. */
export const isDrawable = (value: number | undefined): value is number =>
  value !== undefined && Number.isFinite(value) && value >= 0;
