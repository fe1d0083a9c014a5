/** The value below which this share of the (unsorted) values lies. */
export const percentile = (values, share) => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
};

export const median = (values) => percentile(values, 0.5);

/** The median of each number that the records have in common. */
export const medians = (records) =>
  Object.fromEntries(Object.keys(records[0]).map((key) => [key, median(records.map((each) => each[key]))]));

/** The same values in another order, each order as likely as any other. */
export const shuffled = (values) =>
  values
    .map((value) => ({ value, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ value }) => value);

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
