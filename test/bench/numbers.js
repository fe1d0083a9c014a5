/** The value below which this share of the (unsorted) values lies. */
export const percentile = (values, share) => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
};

export const median = (values) => percentile(values, 0.5);

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
