import type { LaunchSession } from '../session/options.js';
import { childSize } from '../terminal/child-size.js';
import { REGION_OFF, reserveFooterSequence } from '../terminal/footer-room.js';
import { startQuestions, type StartQuestions } from '../terminal/questions.js';
import type { SttyProcess } from '../terminal/stty-process.js';
import { listenToSignals, openTty, sendToItself, type Size, type Tty } from '../terminal/tty.js';

// What is done to the terminal as soon as the child runs, before what shows the child is loaded: raw mode for input, room for the footer,
// and the first questions. The answers wait in the terminal until somebody reads them.

/** The sizes that a session starts with. */
export interface StartSizes {
  readonly terminal: Size;
  readonly child: Size;
}

/** The terminal of a session that begins. */
export interface PreparedTerminal {
  readonly tty: Tty;
  readonly sizes: StartSizes;
  /** undefined in mode off, where nothing is asked */
  readonly asked: (StartQuestions & { readonly at: number }) | undefined;
  /** the signals that have come since; from now on somebody else has to handle them */
  readonly takeSignals: () => readonly NodeJS.Signals[];
  /**
   * Restores the terminal unless it has been closed, and sends itself the signals that nobody has taken; for a session that could not
   * begin.
   */
  readonly abandon: () => Promise<void>;
}

/** The size of the child in this terminal. */
export const startSizes = (terminal: Size, { values }: Pick<LaunchSession, 'values'>): StartSizes => {
  const isPassthrough = values.mode === 'off';
  return { terminal, child: childSize(terminal, { isFooterWanted: values.footer !== false, isPassthrough }) };
};

const LAST_ANSWERS_MS = 100; // what comes later is typed into the user's shell

const ignore = (): void => undefined;

/** Takes the terminal. */
export const prepareTerminal = (
  { values, env }: Pick<LaunchSession, 'values' | 'env'>,
  { terminal, child }: StartSizes,
  sttyProcess: SttyProcess,
): PreparedTerminal => {
  const early: NodeJS.Signals[] = [];
  const stopListening = listenToSignals({
    onForward: (signal) => void early.push(signal),
    onSuspend: () => void early.push('SIGTSTP'),
    onResize: ignore,
    onChild: ignore,
  });
  const tty = openTty();
  tty.setRaw();
  sttyProcess.arm(REGION_OFF);
  let asked: PreparedTerminal['asked'];
  if (values.mode !== 'off') {
    const questions = startQuestions(env, values.theme);
    tty.write(reserveFooterSequence({ rows: child.rows, terminalRows: terminal.rows }) + questions.text);
    asked = { ...questions, at: performance.now() };
  }
  return {
    tty,
    sizes: { terminal, child },
    asked,
    takeSignals: () => {
      stopListening();
      return early.splice(0);
    },
    abandon: async () => {
      if (!tty.isClosed()) {
        tty.write(REGION_OFF);
        tty.listen({ onInput: ignore, onDrain: ignore, onHangUp: ignore });
        await new Promise((resolve) => setTimeout(resolve, LAST_ANSWERS_MS));
        tty.restoreTermios();
        tty.close();
      }
      stopListening();
      early.splice(0).forEach(sendToItself); // those that nobody has taken
    },
  };
};
