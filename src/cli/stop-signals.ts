/** Signals that end what is waited for, so that it can be taken back before this process goes. */
export const stopSignals = () => {
  const controller = new AbortController();
  let name: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    name ??= signal;
    controller.abort();
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const each of names) process.on(each, stop);
  return {
    signal: controller.signal,
    name: () => name,
    release: () => {
      for (const each of names) process.off(each, stop);
    },
  };
};
