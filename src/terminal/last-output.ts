import { closeSync, constants, openSync } from 'node:fs';

/**
 * The program's side of the child's terminal, held open by us too. Without that the terminal hangs up when the child exits, and what
 * has not been read by then is lost: libuv takes a short read together with a hang-up for the end, and a PTY on Linux gives 4 KB a read.
 */
export interface LastOutput {
  noteOutput: () => void;
  /** the child may have just ended: what it wrote must be read now, whatever it costs */
  isEnding: () => boolean;
  /** lets the terminal hang up */
  close: () => void;
}

// SIGCHLD may be about another child, or a stop; node-pty waits 200 ms for the last output of one that has ended.
const ENDING_MS = 1_000;
const LOOK_MS = 5; // without output in this time everything has been read

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

/** Without it the session goes on; only the last output of a child under back-pressure may be lost. */
const openTerminal = (path: string): number | undefined => {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
};

/** `path` is the terminal's; `onEnding` is called whenever the child may have ended. */
export const holdLastOutput = (path: string, pid: number, onEnding: () => void): LastOutput => {
  let held = openTerminal(path);
  let endingUntil = -Infinity;
  let hasOutput = false;
  let timer: NodeJS.Timeout | undefined = setTimeout(() => look(), LOOK_MS); // it may be gone before we listen

  const close = (): void => {
    clearTimeout(timer);
    process.off('SIGCHLD', onSignal);
    if (held !== undefined) closeSync(held);
    held = undefined;
  };
  const isEnding = (): boolean => performance.now() < endingUntil;
  const closeIfRead = (): void => {
    if (held === undefined) return;
    if (!hasOutput) return close();
    timer ??= setTimeout(look, LOOK_MS);
  };
  const look = (): void => {
    timer = undefined;
    const gone = isGone(pid);
    // on a busy machine the time may pass without anybody looking for output; before an immediate it has been looked for
    if (gone && !hasOutput) return void setImmediate(closeIfRead);
    hasOutput = false;
    if (gone || isEnding()) timer = setTimeout(look, LOOK_MS);
  };
  const onSignal = (): void => {
    endingUntil = performance.now() + ENDING_MS;
    hasOutput = true; // the first look is for what has come until then
    onEnding();
    timer ??= setTimeout(look, 0);
  };
  process.on('SIGCHLD', onSignal);
  return {
    noteOutput: () => {
      hasOutput = true;
    },
    isEnding,
    close,
  };
};
