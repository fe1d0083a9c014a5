/** One at a time, and once more afterwards for however many were asked for meanwhile. */
export const inTurn = (work: () => Promise<void>): (() => Promise<void>) => {
  let running = Promise.resolve();
  let isWaiting = false;
  return () => {
    if (isWaiting) return running;
    isWaiting = true;
    running = running.then(() => {
      isWaiting = false;
      return work();
    });
    return running;
  };
};

/** Resolves with the work, or after so many milliseconds; the work then goes on by itself. No timer is left. */
export const atMost = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => {
    timer = setTimeout(done, ms).unref();
  });
  await Promise.race([
    work.then(
      () => undefined,
      () => undefined,
    ),
    late,
  ]);
  clearTimeout(timer);
};
