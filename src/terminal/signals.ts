/** What the process is told from outside, each with its own reaction. */
export interface SignalListener {
  /** HUP INT QUIT TERM USR1 USR2: meant for the child */
  onForward: (signal: NodeJS.Signals) => void;
  onResize: () => void;
  /** somebody stops us (TSTP) */
  onStop: () => void;
}

const forwarded: readonly NodeJS.Signals[] = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'];

/** Listens until the returned function is called. */
export const listenToSignals = ({ onForward, onResize, onStop }: SignalListener): (() => void) => {
  for (const signal of forwarded) process.on(signal, onForward);
  process.on('SIGWINCH', onResize);
  process.on('SIGTSTP', onStop);
  return () => {
    for (const signal of forwarded) process.off(signal, onForward);
    process.off('SIGWINCH', onResize);
    process.off('SIGTSTP', onStop);
  };
};

const AFTER_STOP_MS = 50; // timers do not run while we are stopped

/**
 * Stops our whole process group, as the terminal driver does at Ctrl-Z, and resolves when we run again. In a group that no shell
 * watches over (orphaned, POSIX 2.4.3) the system ignores the stop, and we go on at once.
 */
export const stopOurselves = (): Promise<void> =>
  new Promise((resolve) => {
    const listeners = process.listeners('SIGTSTP');
    process.removeAllListeners('SIGTSTP');
    setTimeout(() => {
      for (const listener of listeners) process.on('SIGTSTP', listener);
      resolve();
    }, AFTER_STOP_MS);
    process.kill(0, 'SIGTSTP');
  });

/** Calls back for anything thrown that nobody caught, instead of ending the process. Returns the function that ends this. */
export const catchStrayErrors = (onError: (error: unknown) => void): (() => void) => {
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
  return () => {
    process.off('uncaughtException', onError);
    process.off('unhandledRejection', onError);
  };
};
